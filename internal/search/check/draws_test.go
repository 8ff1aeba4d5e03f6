package check

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/algorithms/lamport"
	"dmebench/dme"
	"dmebench/dme/vnet"
)

// often checks that something that happened so many times of all happens with that
// probability: within five standard deviations.
func often(t *testing.T, what string, times, of int, probability float64) {
	t.Helper()
	n := float64(of)
	if mean := n * probability; math.Abs(float64(times)-mean) > 5*math.Sqrt(mean*(1-probability)) {
		t.Errorf("%s: %d of %d times, want %.3g", what, times, of, mean)
	}
}

// An isolation mostly has a node that hears nothing, and seldom a second victim; each of
// its habits is drawn by itself.
func TestIsolationsAreDrawn(t *testing.T) {
	s := searchOf(t, lamport.Algorithm(), Options{Nodes: 4, Requests: 8})
	const draws = 20_000
	x := newIsolation(s.model, 8, rand.New(rand.NewPCG(1, 6)))
	deaf, more := 0, 0
	for range draws {
		x.draw()
		if v := x.held.held[0]; v.what == aReceiver {
			deaf++
		}
		if x.alone != x.held.held[0].to || x.held.held[2] != (victim{}) {
			t.Fatalf("%v is alone, and victims are %v", x.alone, x.held.held)
		}
		if x.held.held[1] != (victim{}) {
			more++
		}
	}
	often(t, "a node hears nothing", deaf, draws, 3./4+1./4/float64(victimKinds))
	often(t, "there is a second victim", more, draws, 1./8)
	var first, again, newest int
	const seeds = 4000
	for seed := range uint64(seeds) {
		x := newIsolation(s.model, 8, rand.New(rand.NewPCG(seed, 7)))
		count := func(yes bool, n *int) {
			if yes {
				*n++
			}
		}
		count(x.first, &first)
		count(x.again, &again)
		count(x.newest, &newest)
	}
	often(t, "the one that hears nothing asks first", first, seeds, 3./4)
	often(t, "who leaves asks again", again, seeds, 3./4)
	often(t, "the newest goes first", newest, seeds, 1./2)
}

// Where the victim asks first it does so before the others, as long as nobody has entered.
func TestWhoIsAloneAsksFirst(t *testing.T) {
	s := searchOf(t, lamport.Algorithm(), Options{Nodes: 4, Requests: 8})
	const seeds = 400
	for _, first := range []bool{true, false} {
		alone, after := 0, 0
		for seed := range uint64(seeds) {
			x := newIsolation(s.model, 8, rand.New(rand.NewPCG(seed, 8)))
			x.first = first
			n := vnet.New(s.model)
			steps := n.Enabled(nil)
			at := x.Pick(n, steps)
			if !asks(steps[at]) {
				t.Fatalf("%v before anybody has asked", steps[at])
			}
			if steps[at].Node == x.alone {
				alone++
			}
			if n.Entries = 1; steps[x.Pick(n, steps)].Node == x.alone {
				after++
			}
		}
		if first != (alone > seeds*9/10) {
			t.Errorf("first %v: %d of %d times the victim asks first", first, alone, seeds)
		}
		often(t, "once somebody has entered it asks", after, seeds, 1./4)
	}
}

// The message that was sent last is the newest, wherever its arrival stands among the
// possible steps.
func TestTheNewestMessage(t *testing.T) {
	s := searchOf(t, lamport.Algorithm(), Options{Nodes: 3, Requests: 9, Unordered: true})
	rng := rand.New(rand.NewPCG(1, 9))
	looked := 0
	for range 20 {
		walk(s, 200, func(n *vnet.Network, steps []vnet.Step) int {
			at := newestOf(n, steps)
			for _, x := range steps {
				if !arrives(x) {
					continue
				}
				if looked++; !arrives(steps[at]) || n.Number(x) > n.Number(steps[at]) {
					t.Fatalf("%v is taken for the newest, and %v is newer", steps[at], x)
				}
			}
			return rng.IntN(len(steps))
		})
	}
	if looked == 0 {
		t.Error("there was no message")
	}
}

// What concerns a victim waits for as long as anything else can happen, but for one step
// in 64; new victims are drawn within 8N² steps, each kind of them as often.
func TestVictimsWait(t *testing.T) {
	const nodes = 4
	s := searchOf(t, lamport.Algorithm(), Options{Nodes: nodes, Requests: 40})
	kinds := map[victimKind]int{}
	drawn, held, picks, longest := 0, 0, 0, 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 10))
		v := &victims{fair: vnet.Chance{Rand: rng}, nodes: nodes, kinds: len(s.model.Algorithm.Kinds)}
		walk(s, 2000, func(n *vnet.Network, steps []vnet.Step) int {
			due, until, victims := n.Steps >= v.until, v.until, v.held
			at := v.Pick(n, steps)
			if !due && (v.until != until || v.held != victims) {
				t.Fatalf("at step %d there are new victims, which were to be drawn at %d", n.Steps, until)
			}
			if due {
				if v.until <= n.Steps || v.until > n.Steps+8*nodes*nodes {
					t.Fatalf("at step %d new victims are to be drawn at %d", n.Steps, v.until)
				}
				longest = max(longest, v.until-n.Steps)
				for _, h := range v.held {
					drawn++
					kinds[h.what]++
					if h.from < 1 || h.from > nodes || h.to < 1 || h.to > nodes || h.kind < 1 || int(h.kind) > v.kinds {
						t.Fatalf("a victim %+v", h)
					}
				}
			}
			if free := slices.ContainsFunc(steps, func(x vnet.Step) bool { return !v.holds(n, x) }); free {
				if picks++; v.holds(n, steps[at]) {
					held++
				}
			}
			return at
		})
	}
	for k := range victimKinds {
		often(t, "a kind of victims", kinds[k], drawn, 1/float64(victimKinds))
	}
	if len(kinds) != int(victimKinds) || longest < 8*nodes*nodes-4 {
		t.Errorf("victims %v, for %d steps at most", kinds, longest)
	}
	if 64*held > picks || 400*held < picks { // chance may also take what is free
		t.Errorf("%d of %d times a victim goes before the others", held, picks)
	}
}

// Links and processes have priorities of their own, which change at so many steps at most
// as are worth it.
func TestPrioritiesAreDrawn(t *testing.T) {
	const nodes, requests, seeds = 3, 5, 3000
	changes := map[int]int{}
	latest := 0
	for seed := range uint64(seeds) {
		p := newPriorities(nodes, requests, rand.New(rand.NewPCG(seed, 11)))
		if of := slices.Sorted(slices.Values(p.of)); len(of) != nodes*nodes+nodes || of[0] != 0 || of[len(of)-1] != len(of)-1 {
			t.Fatalf("priorities %v", p.of)
		}
		changes[len(p.changes)]++
		for _, at := range p.changes {
			if latest = max(latest, at); at < 0 || at >= 4*nodes*requests {
				t.Fatalf("a change at step %d", at)
			}
		}
	}
	for k := range 6 {
		often(t, "a number of changes", changes[k], seeds, 1./6)
	}
	if latest != 4*nodes*requests-1 || len(changes) != 6 {
		t.Errorf("the latest change is at step %d; numbers of changes %v", latest, changes)
	}
}

// At a change the highest priority becomes the lowest of all, once; else none changes.
func TestPrioritiesChange(t *testing.T) {
	s := searchOf(t, lamport.Algorithm(), Options{Nodes: 3, Requests: 9})
	changed, chance, picks := 0, 0, 0
	for seed := range uint64(60) {
		p := newPriorities(3, 9, rand.New(rand.NewPCG(seed, 12)))
		p.changes = []int{30, 4, 4}
		walk(s, 120, func(n *vnet.Network, steps []vnet.Step) int {
			of, left := slices.Clone(p.of), slices.Clone(p.changes)
			best := owner(n, steps[p.best(n, steps)])
			at := p.Pick(n, steps)
			picks++
			switch due := slices.IndexFunc(left, func(at int) bool { return at <= n.Steps }); {
			case len(p.changes) == len(left):
				if !slices.Equal(of, p.of) {
					t.Fatalf("priorities change without a reason, at step %d of %v", n.Steps, left)
				}
				if due >= 0 || owner(n, steps[at]) != best {
					chance++ // one step in a while is left to it
				}
			default:
				changed++
				lowest := p.of[best]
				if p.of[best] = of[best]; due < 0 || !slices.Equal(of, p.of) || lowest >= slices.Min(of) {
					t.Fatalf("at step %d of %v: priorities %v become %v, with %d for the best", n.Steps, left, of, p.of, lowest)
				}
				p.of[best] = lowest
				if !slices.Equal(p.changes, slices.Delete(left, due, due+1)) {
					t.Fatalf("changes left: %v", p.changes)
				}
				if now := owner(n, steps[p.best(n, steps)]); owner(n, steps[at]) != now {
					t.Fatalf("after a change %d goes before %d", owner(n, steps[at]), now)
				}
			}
			return at
		})
	}
	if changed != 180 || 30*chance > picks || chance == 0 {
		t.Errorf("%d changes; %d of %d steps by chance", changed, chance, picks)
	}
}

// A starver picks what is held back for too long, the longest first; else what does not
// concern its victim, with the exits of others when it says so.
func TestWhatStarversHoldBack(t *testing.T) {
	const nodes, patience = 4, 12
	s := searchOf(t, lamport.Algorithm(), Options{Nodes: nodes, Requests: 60})
	for when, rank := range map[exits]func(concerns, leaves bool) int{
		soon: func(concerns, leaves bool) int { return map[bool]int{true: 1}[concerns] },
		late: func(concerns, leaves bool) int {
			switch {
			case concerns:
				return 2
			case leaves:
				return 1
			}
			return 0
		},
		last: func(concerns, leaves bool) int {
			switch {
			case leaves:
				return 2
			case concerns:
				return 1
			}
			return 0
		},
	} {
		overdue, held := 0, 0
		for seed := range uint64(12) {
			n := vnet.New(s.model)
			d := newDelays(n)
			victim := dme.NodeID(1 + seed%nodes)
			x := newStarver(plan{model: s.model, victim: victim, patience: patience}, d, rand.New(rand.NewPCG(seed, 13)))
			x.exits = when
			for n.Steps < 400 {
				steps := n.Enabled(nil)
				if len(steps) == 0 {
					break
				}
				oldest, least, most := -1, 3, 0
				for _, y := range steps {
					if age, ok := d.of(y); ok {
						oldest = max(oldest, age)
					}
					of := y.Node == victim || arrives(y) && y.From == victim
					k := rank(of, y.Kind == vnet.Exit)
					least, most = min(least, k), max(most, k)
				}
				y := steps[x.Pick(n, steps)]
				age, ok := d.of(y)
				of := y.Node == victim || arrives(y) && y.From == victim
				switch {
				case oldest > patience:
					if overdue++; !ok || age != oldest {
						t.Fatalf("%v goes, held back for %d steps, where others wait for %d", y, age, oldest)
					}
				case rank(of, y.Kind == vnet.Exit) != least:
					t.Fatalf("exits %d, victim %v: %v goes before others of %v", when, victim, y, steps)
				case most > least:
					held++
				}
				d.before(y)
				n.Do(y)
				d.after()
			}
		}
		if overdue == 0 && when != last || held == 0 { // in the last case all goes before the exits
			t.Errorf("exits %d: %d steps were overdue, and %d times something was held back", when, overdue, held)
		}
	}
}
