package check

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// alarmed: node 1 enters at once, with a timer that it cancels as it leaves unless it has
// fired; then it sets others, of which one is set anew each time, and says so to node 2,
// who answers.
func alarmed() *dme.Algorithm {
	of := script{
		request: func(s *script, out *dme.Outbox) {
			out.SetTimer(1, time.Second)
			enter(s, out)
		},
		release: func(s *script, out *dme.Outbox) {
			out.CancelTimer(1)
			if s.x++; s.x%2 == 0 {
				out.SetTimer(2, time.Second)
			} else {
				out.CancelTimer(2)
				out.SetTimer(3, time.Second)
			}
			ping(s, out)
		},
		receive: func(s *script, _ dme.NodeID, _ dme.Message, out *dme.Outbox) {
			if s.id == 2 {
				ping(s, out)
			}
		},
		timeout: func(s *script, id dme.TimerID, out *dme.Outbox) {
			if s.y++; s.y%2 == 0 { // every other one is set again as it fires
				out.SetTimer(id, time.Second)
			}
		},
	}
	return toy("alarmed", func(id dme.NodeID, n int) dme.Node {
		node := of
		node.id, node.n = id, n
		return &early{node}
	})
}

// early has a message and a timer from the start.
type early struct{ script }

func (e *early) Start(out *dme.Outbox) {
	ping(&e.script, out)
	out.SetTimer(4, time.Second)
}

// How long things are held back is counted again by the events of a run: messages from
// their sending, exits from the entry, timers from when they were set and not cancelled.
func TestDelays(t *testing.T) {
	s := searchOf(t, alarmed(), Options{Nodes: 2, Requests: 60, Requesters: []dme.NodeID{1}, Unordered: true, Duplicate: true, Lose: 5})
	kinds := map[vnet.StepKind]int{}
	cancelled := 0
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 14))
		n := vnet.New(s.model)
		d := newDelays(n)
		sent, inside, set := map[uint64]int{}, map[dme.NodeID]int{}, map[timer]int{}
		for _, e := range n.Started {
			for _, f := range e.Effects {
				if f.Kind == dme.EffectSend {
					sent[f.Number] = 0
				} else {
					set[timer{e.Node, f.Timer}] = 0
				}
			}
		}
		if len(sent) != 2 || len(set) != 2 {
			t.Fatalf("at the start messages %v and timers %v", sent, set)
		}
		longest := 0
		since := func(x vnet.Step) (from int, ok bool) {
			switch x.Kind {
			case vnet.Deliver, vnet.Lose, vnet.Copy:
				from, ok = sent[n.Number(x)]
			case vnet.Exit:
				from, ok = inside[x.Node]
			case vnet.Fire:
				from, ok = set[timer{x.Node, x.Timer}]
			}
			return from, ok
		}
		for n.Violation == nil && n.Steps < 300 {
			steps := n.Enabled(nil)
			if len(steps) == 0 {
				break
			}
			for _, x := range steps {
				age, ok := d.of(x)
				if from, want := since(x); ok != want || ok && age != n.Steps-from {
					t.Fatalf("seed %d, %v after %d steps: held back for %d, want %d since %d", seed, x, n.Steps, age, n.Steps-from, from)
				}
			}
			x := steps[rng.IntN(len(steps))]
			if from, ok := since(x); ok {
				longest = max(longest, n.Steps-from)
			}
			kinds[x.Kind]++
			d.before(x)
			e := n.Do(x)
			d.after()
			if x.Kind == vnet.Exit {
				delete(inside, x.Node)
			}
			if x.Kind == vnet.Fire {
				delete(set, timer{x.Node, x.Timer})
			}
			for _, f := range e.Effects {
				switch f.Kind {
				case dme.EffectSend:
					sent[f.Number] = n.Steps
				case dme.EffectEnter:
					inside[e.Node] = n.Steps
				case dme.EffectSetTimer:
					if _, there := set[timer{e.Node, f.Timer}]; !there {
						set[timer{e.Node, f.Timer}] = n.Steps
					}
				}
			}
			for id := range set {
				if !slices.ContainsFunc(n.Timers(), func(y vnet.Timer) bool { return y.Node == id.node && y.ID == id.id }) {
					cancelled++
					delete(set, id)
				}
			}
			if x.Kind == vnet.Copy { // it is on its way once more, as one that is sent now
				if _, there := sent[n.Sent()]; !there {
					sent[n.Sent()] = n.Steps
				}
			}
			if d.longest != longest || len(d.timers) != len(set) || len(d.inside) != len(inside) {
				t.Fatalf("seed %d, after %v: %d steps at most, want %d; timers %v, want %v", seed, e.Step, d.longest, longest, d.timers, set)
			}
			most := longest
			for _, from := range inside {
				most = max(most, n.Steps-from)
			}
			for _, y := range n.Enabled(nil) {
				if from, ok := since(y); ok && y.Kind == vnet.Deliver {
					most = max(most, n.Steps-from)
				}
			}
			if got := d.most(); got != most {
				t.Fatalf("seed %d, after %v: %d steps at most until now, want %d", seed, e.Step, got, most)
			}
		}
	}
	for _, k := range []vnet.StepKind{vnet.Deliver, vnet.Lose, vnet.Copy, vnet.Exit, vnet.Fire} {
		if kinds[k] < 10 {
			t.Errorf("steps %v", kinds)
		}
	}
	if cancelled < 10 {
		t.Errorf("%d timers were cancelled", cancelled)
	}
}

// A fair schedule owes exits and arrivals, and a step does the one that it is: the link
// from node f to node t is number (f−1)·N+t−1.
func TestStepsDoDuties(t *testing.T) {
	const n = LivenessMost
	g := newGraph(searchOf(t, silence(), Options{Nodes: n, Unlimited: true}))
	var links []int
	for i := range n * n {
		links = append(links, i)
	}
	steps := []vnet.Step{{Kind: vnet.Ask, Node: n}, {Kind: vnet.AskShared, Node: 1}, {Kind: vnet.Fire, Node: 2, Timer: 1}}
	for id := dme.NodeID(1); id <= n; id++ {
		steps = append(steps, vnet.Step{Kind: vnet.Exit, Node: id})
		for to := dme.NodeID(1); to <= n; to++ {
			if id != to {
				steps = append(steps, vnet.Step{Kind: vnet.Deliver, From: id, Node: to})
			}
		}
	}
	for _, x := range steps {
		d := duties{nodes: 1<<n - 1, links: slices.Clone(links)}
		d.do(g, 0, &edge{label: g.labelOf(x)})
		wantNodes, wantLinks := uint32(1<<n-1), slices.Clone(links)
		switch x.Kind {
		case vnet.Exit:
			wantNodes -= 1 << (x.Node - 1)
		case vnet.Deliver:
			at := int(x.From-1)*n + int(x.Node-1)
			wantLinks = slices.Delete(wantLinks, at, at+1)
		}
		if d.nodes != wantNodes || !slices.Equal(d.links, wantLinks) {
			t.Errorf("after %v exits of %b and arrivals on %d links are owed, want %b and %d", x, d.nodes, len(d.links), wantNodes, len(wantLinks))
		}
	}
}
