package ricartagrawala

import (
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/runtime/noderun"
)

// directed is a network of section 7 whose steps a test chooses by saying which
// messages, and which exits, have to wait.
type directed struct {
	*vnet.Network
	t *testing.T
}

func direct(t *testing.T, a *dme.Algorithm, set map[string]string, c vnet.Config) directed {
	t.Helper()
	opt, err := a.Resolve(set)
	if err != nil {
		t.Fatal(err)
	}
	c.Algorithm, c.Options, c.Faults = a, opt, true
	c.Requests = func(dme.NodeID) int { return 9 }
	m, err := vnet.NewModel(c)
	if err != nil {
		t.Fatal(err)
	}
	return directed{vnet.New(m), t}
}

// held says what has to wait: messages of a kind from one node to another, where
// None stands for anybody, and the exits of nodes.
type held struct {
	kind     dme.Kind
	from, to dme.NodeID
}

func (h held) holds(x vnet.Step, m *dme.Message) bool {
	return m.Kind == h.kind && (h.from == dme.None || h.from == x.From) && (h.to == dme.None || h.to == x.Node)
}

// run takes steps, messages first and timers last, until nothing is left but what
// is held or 1,000 steps are done. Nobody asks, crashes or comes.
func (d directed) run(inside []dme.NodeID, all ...held) {
	d.t.Helper()
	for range 1000 {
		steps := d.Enabled(nil)
		at := slices.IndexFunc(steps, func(x vnet.Step) bool {
			switch x.Kind {
			case vnet.Deliver:
				return !slices.ContainsFunc(all, func(h held) bool { return h.holds(x, d.Message(x)) })
			case vnet.Exit:
				return !slices.Contains(inside, x.Node)
			}
			return x.Kind == vnet.Down || x.Kind == vnet.Up
		})
		if at < 0 {
			at = slices.IndexFunc(steps, func(x vnet.Step) bool { return x.Kind == vnet.Fire })
		}
		if at < 0 {
			return
		}
		d.Do(steps[at])
		if d.Violation != nil {
			d.t.Fatalf("after %v: %v", steps[at], d.Violation)
		}
	}
}

func (d directed) ask(id dme.NodeID) { d.Do(vnet.Step{Kind: vnet.Ask, Node: id}) }

// A newcomer that asked before it is synchronised would choose a number that is
// too small. Node 1 joins, sponsored by node 5. Nodes 4 and 3 have asked before
// they heard of it, with numbers 2 and 3, and what they sent to node 2 is late.
// Node 2 has asked with number 2 since: of the others that is all that the newcomer
// hears. If it chose number 3, it would have priority over node 3, which does not
// ask for its permission. In the broadcast form all numbers are less by 1.
func TestSynchronized(t *testing.T) {
	for _, way := range []string{"highest", "each", "rise", "time", "fourth"} {
		for _, insertion := range []string{"sponsor", "broadcast"} {
			t.Run(way+" "+insertion, func(t *testing.T) {
				d := direct(t, Robust(), map[string]string{"synchronized": way, "insertion": insertion}, vnet.Config{
					Nodes: 5, Absent: []dme.NodeID{1}, Bounded: true, Unordered: way != "fourth",
				})
				d.Do(vnet.Step{Kind: vnet.Join, Node: 1})
				d.ask(1)
				near := []held{{kindHere, 2, 1}, {kindHere, 3, 1}, {kindHere, 4, 1}}
				d.run(nil, append(near, held{kind: kindSponsor}, held{kind: kindInsert})...)
				if insertion == "sponsor" {
					d.deliver(1, 5, kindSponsor)
					for j := dme.NodeID(2); j < 5; j++ {
						d.deliver(5, j, kindRequest)
						d.deliver(j, 5, kindReply)
					}
				}
				d.ask(4)
				d.deliver(4, 3, kindRequest)
				d.ask(3)
				late := []held{{kindRequest, 4, 2}, {kindRequest, 3, 2}, {kindHighest, 3, 1}, {kindHighest, 4, 1}, {kindHighest, 5, 1}}
				d.run(nil, late...)
				d.ask(2)
				d.run([]dme.NodeID{1, 3}, late...)
				d.run([]dme.NodeID{1, 3}, late[1:]...)
				if a := d.Activity(1); a != noderun.Requesting {
					t.Fatalf("node 1 is %v before it is synchronised", a)
				}
				d.run([]dme.NodeID{1, 3})
				if a := d.Activity(3); a != noderun.Inside {
					t.Fatalf("node 3 is %v\n%v", a, d.States())
				}
				d.run([]dme.NodeID{1})
				if a := d.Activity(1); a != noderun.Inside {
					t.Fatalf("node 1 is %v\n%v", a, d.States())
				}
			})
		}
	}
}

// Way b is over with the REQUEST of the last of the others, before its time is.
func TestOneRequestOfEach(t *testing.T) {
	d := direct(t, Robust(), map[string]string{"synchronized": "each"}, vnet.Config{
		Nodes: 3, Absent: []dme.NodeID{1}, Bounded: true, Unordered: true,
	})
	d.Do(vnet.Step{Kind: vnet.Join, Node: 1})
	welcome := held{kind: kindWelcome}
	d.run(nil, welcome, held{kindHere, 3, 1})
	d.deliver(2, 1, kindWelcome)
	d.deliver(1, 2, kindAcknowledge)
	newcomer := d.Node(1).(*robustNode)
	for j := dme.NodeID(2); j <= 3; j++ {
		if newcomer.synchronized {
			t.Fatalf("node 1 is synchronized before it has heard from node %d", j)
		}
		d.ask(j)
		d.deliver(j, 1, kindRequest)
	}
	if !newcomer.synchronized {
		t.Errorf("node 1 waits for more\n%v", d.States())
	}
}

// find returns the place of a message of a kind on its link.
func (d directed) find(from, to dme.NodeID, kind dme.Kind) int {
	d.t.Helper()
	at := slices.IndexFunc(d.OnTheWay(from, to), func(m dme.Message) bool { return m.Kind == kind })
	if at < 0 {
		d.t.Fatalf("no message of kind %d from node %d to node %d, of %v", kind, from, to, d.OnTheWay(from, to))
	}
	return at
}

func (d directed) deliver(from, to dme.NodeID, kind dme.Kind) {
	d.t.Helper()
	x := vnet.Step{Kind: vnet.Deliver, From: from, Node: to, Index: d.find(from, to, kind)}
	if !d.Possible(x) {
		d.t.Fatalf("%v is not possible", x)
	}
	d.Do(x)
}
