package check

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/algorithms/lamport"
	"dmebench/dme"
	"dmebench/dme/vnet"
)

// walk takes steps that pick chooses, until something is broken or so many are taken.
func walk(s *Search, most int, pick func(n *vnet.Network, steps []vnet.Step) int) {
	n := vnet.New(s.model)
	for n.Violation == nil && n.Steps < most {
		steps := n.Enabled(nil)
		if len(steps) == 0 {
			return
		}
		n.Do(steps[pick(n, steps)])
	}
}

// The highest priority goes first; of several messages of its link that need not keep
// order, any.
func TestPrioritiesGoFirst(t *testing.T) {
	s := searchOf(t, lamport.Algorithm(), Options{Nodes: 3, Requests: 6, Unordered: true})
	later := 0
	for seed := range uint64(50) {
		p := newPriorities(3, 6, rand.New(rand.NewPCG(seed, 1)))
		walk(s, 200, func(n *vnet.Network, steps []vnet.Step) int {
			best := p.best(n, steps)
			for _, x := range steps {
				if p.of[owner(n, x)] > p.of[owner(n, steps[best])] {
					t.Fatalf("seed %d: %v goes before %v, which has a higher priority", seed, steps[best], x)
				}
			}
			if steps[best].Index > 0 {
				later++
			}
			return best
		})
	}
	if later == 0 {
		t.Error("no message overtakes another")
	}
}

// Each link has an owner of its own, and so has each node, for all that it does alone.
func TestOwnersOfSteps(t *testing.T) {
	const nodes = 4
	n := vnet.New(searchOf(t, lamport.Algorithm(), Options{Nodes: nodes, Requests: 4}).model)
	owners := map[int]vnet.Step{}
	own := func(x vnet.Step) int {
		at := owner(n, x)
		if other, taken := owners[at]; taken || at < 0 || at >= nodes*nodes+nodes {
			t.Errorf("%v is owned by %d, as is %v", x, at, other)
		}
		owners[at] = x
		return at
	}
	for id := range n.IDs() {
		at := own(vnet.Step{Kind: vnet.Ask, Node: id})
		for _, kind := range []vnet.StepKind{vnet.Exit, vnet.Fire, vnet.Crash} {
			if owner(n, vnet.Step{Kind: kind, Node: id}) != at {
				t.Errorf("node %v owns some of its steps only", id)
			}
		}
		for from := range n.IDs() {
			at := own(vnet.Step{Kind: vnet.Deliver, From: from, Node: id})
			if owner(n, vnet.Step{Kind: vnet.Down, From: from, Node: id}) != at || owner(n, vnet.Step{Kind: vnet.Up, From: from, Node: id}) != at {
				t.Errorf("the link from %v to %v owns some of its steps only", from, id)
			}
		}
	}
}

// Where nothing but what is held back can happen, the newest goes, or what has the highest
// priority, but for a few steps; then new victims are drawn now and then.
func TestIsolationLetsGo(t *testing.T) {
	const nodes = 4
	s := searchOf(t, lamport.Algorithm(), Options{Nodes: nodes, Requests: 40, Unordered: true})
	for _, newest := range []bool{false, true} {
		picks, others, drawn, early := 0, 0, 0, 0
		for seed := range uint64(60) {
			x := newIsolation(s.model, 40, rand.New(rand.NewPCG(seed, 22)))
			x.newest = newest
			walk(s, 1500, func(n *vnet.Network, steps []vnet.Step) int {
				rest := !slices.ContainsFunc(steps, func(y vnet.Step) bool { return asks(y) || !x.held.holds(n, y) })
				kept := func(at int) bool { return !asks(steps[at]) && x.held.holds(n, steps[at]) }
				before := x.held.held
				late := newestOf(n, steps)
				if !rest {
					at := x.Pick(n, steps)
					if x.held.held != before {
						t.Fatal("new victims are drawn while something else can happen")
					}
					if kept(at) {
						early++
					}
					return at
				}
				of := slices.Clone(x.links.of)
				at := x.Pick(n, steps)
				picks++
				if x.held.held != before {
					drawn++
				}
				highest := slices.MaxFunc(steps, func(a, b vnet.Step) int { return of[owner(n, a)] - of[owner(n, b)] })
				if newest && at != late || !newest && owner(n, steps[at]) != owner(n, highest) {
					others++
				}
				return at
			})
		}
		if picks < 300 || 12*others > picks || 200*early > 60*1500 {
			t.Errorf("newest %v: %d of %d times another goes; %d times one goes early", newest, others, picks, early)
		}
		often(t, "new victims", drawn, picks, 1./(4*nodes))
	}
}

// What a victim is says what is held back for its sake.
func TestVictims(t *testing.T) {
	s := searchOf(t, lamport.Algorithm(), Options{Nodes: 3, Requests: 3})
	n := vnet.New(s.model)
	n.Do(vnet.Step{Kind: vnet.Ask, Node: 1})
	n.Do(vnet.Step{Kind: vnet.Deliver, From: 1, Node: 2}) // which sends a REPLY
	request, reply := vnet.Step{Kind: vnet.Deliver, From: 1, Node: 3}, vnet.Step{Kind: vnet.Deliver, From: 2, Node: 1}
	for _, x := range []vnet.Step{request, reply} {
		if !n.Possible(x) {
			t.Fatalf("%v is not possible", x)
		}
	}
	leave := vnet.Step{Kind: vnet.Exit, Node: 1}
	all := []vnet.Step{request, reply, leave}
	for name, c := range map[string]struct {
		v    victim
		want []vnet.Step
	}{
		"nobody":          {victim{what: nobody, from: 1, to: 3}, nil},
		"link 1 to 3":     {victim{what: aLink, from: 1, to: 3}, []vnet.Step{request}},
		"link 1 to 2":     {victim{what: aLink, from: 1, to: 2}, nil},
		"link 2 to 3":     {victim{what: aLink, from: 2, to: 3}, nil},
		"what 1 sends":    {victim{what: aSender, from: 1, to: 2}, []vnet.Step{request}},
		"what 2 sends":    {victim{what: aSender, from: 2, to: 2}, []vnet.Step{reply}},
		"what 3 sends":    {victim{what: aSender, from: 3, to: 1}, nil},
		"what 1 receives": {victim{what: aReceiver, from: 1, to: 1}, []vnet.Step{reply}},
		"what 3 receives": {victim{what: aReceiver, from: 2, to: 3}, []vnet.Step{request}},
		"REQUEST":         {victim{what: aKind, kind: n.Message(request).Kind}, []vnet.Step{request}},
		"REPLY":           {victim{what: aKind, kind: n.Message(reply).Kind}, []vnet.Step{reply}},
		"what 1 does":     {victim{what: aProcess, from: 1}, []vnet.Step{leave}},
		"what 2 does":     {victim{what: aProcess, from: 2}, nil},
	} {
		var got []vnet.Step
		for _, x := range all {
			if c.v.concerns(n, x) {
				got = append(got, x)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Nodes ask once all else rests that is not held back, but for one step in a while; who
// leaves may ask again at once.
func TestIsolationAsksAtRest(t *testing.T) {
	s := searchOf(t, lamport.Algorithm(), Options{Nodes: 4, Requests: 40})
	for _, again := range []bool{false, true} {
		early, atOnce, picks := 0, 0, 0
		for seed := range uint64(20) {
			x := newIsolation(s.model, 40, rand.New(rand.NewPCG(seed, 2)))
			x.again = again
			var last vnet.Step
			walk(s, 400, func(n *vnet.Network, steps []vnet.Step) int {
				restless := slices.ContainsFunc(steps, func(y vnet.Step) bool { return !asks(y) && !x.held.holds(n, y) })
				waiting := slices.ContainsFunc(steps, asks)
				at := x.Pick(n, steps)
				if restless && waiting {
					picks++
					switch {
					case !asks(steps[at]):
					case last.Kind == vnet.Exit && last.Node == steps[at].Node:
						atOnce++
					default:
						early++
					}
				}
				last = steps[at]
				if left := x.left; (left == last.Node) != (last.Kind == vnet.Exit) || left != last.Node && left != dme.None {
					t.Fatalf("after %v node %v is said to have left", last, left)
				}
				return at
			})
		}
		if picks < 1000 || 50*early > picks { // 1 in 256 is left to chance
			t.Errorf("again %v: %d of %d times a node asks while something else may happen", again, early, picks)
		}
		if again != (50*atOnce > picks) {
			t.Errorf("again %v: %d of %d times a node asks as it has left", again, atOnce, picks)
		}
	}
}

// The adversaries are drawn as often as one another.
func TestAdversariesAreDrawnAlike(t *testing.T) {
	s := searchOf(t, lamport.Algorithm(), Options{Nodes: 3, Requests: 6})
	drawn := map[string]int{}
	for seed := range uint64(900) {
		drawn[fmt.Sprintf("%T", newAdversary(s.model, 6, rand.New(rand.NewPCG(seed, 4))))]++
	}
	for name, times := range drawn {
		if times < 240 || times > 360 {
			t.Errorf("%s is drawn %d times in 900", name, times)
		}
	}
	if len(drawn) != 3 {
		t.Errorf("%d adversaries", len(drawn))
	}
}

// Requests are dealt to any number of nodes, once each and all that there are; who
// starves a node has few or all of the others with it.
func TestRequestsVary(t *testing.T) {
	const nodes, most = 8, 20
	askers, sums := map[int]int{}, map[int]int{}
	rng := rand.New(rand.NewPCG(1, 5))
	for range 2000 {
		requests := vary(rng, nodes, most)
		sum, asking := 0, 0
		for _, k := range requests[1:] {
			if sum += k; k > 0 {
				asking++
			}
		}
		if requests[0] != 0 || sum < asking || sum > most {
			t.Fatalf("%v", requests)
		}
		askers[asking]++
		sums[sum]++
	}
	for k := 1; k <= nodes; k++ {
		if askers[k] == 0 {
			t.Errorf("never do %d nodes ask: %v", k, askers)
		}
	}
	if sums[1] == 0 || sums[most] < 500 {
		t.Errorf("requests in all: %v", sums)
	}
	varied := searchOf(t, lamport.Algorithm(), Options{Nodes: nodes, Requests: most, Vary: true})
	given := searchOf(t, lamport.Algorithm(), Options{Nodes: nodes, Requests: most})
	rivals := map[int]int{}
	for range 200 {
		p, fixed := varied.starvation(*varied.model, rng), given.starvation(*given.model, rng)
		others := 0
		for id := range p.model.IDs() {
			if id != p.victim && p.model.Requests(id) > 0 {
				others++
			}
			if fixed.model.Requests(id) != given.share(id) {
				t.Fatalf("node %v is given %d requests, and shall make %d", id, given.share(id), fixed.model.Requests(id))
			}
		}
		rivals[others]++
	}
	if rivals[0]+rivals[1] > 0 || rivals[2] == 0 || rivals[nodes-1] < 60 {
		t.Errorf("others that ask: %v", rivals)
	}
}
