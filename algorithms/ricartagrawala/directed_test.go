package ricartagrawala

import (
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/vnet"
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
			case dme.Receive:
				return !slices.ContainsFunc(all, func(h held) bool { return h.holds(x, d.Message(x)) })
			case dme.Exit:
				return !slices.Contains(inside, x.Node)
			}
			return x.Kind == dme.PeerDown || x.Kind == dme.PeerUp
		})
		if at < 0 {
			at = slices.IndexFunc(steps, func(x vnet.Step) bool { return x.Kind == dme.Timeout })
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

func (d directed) ask(id dme.NodeID) { d.Do(vnet.Step{Kind: dme.Request, Node: id}) }

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
	x := vnet.Step{Kind: dme.Receive, From: from, Node: to, Index: d.find(from, to, kind)}
	if !d.Possible(x) {
		d.t.Fatalf("%v is not possible", x)
	}
	d.Do(x)
}

func (d directed) wantInside(want ...dme.NodeID) {
	d.t.Helper()
	if got := d.Inside(); !slices.Equal(got, want) {
		d.t.Fatalf("%v are in the critical section, want %v\n%v", got, want, strings.Join(d.States(), "\n"))
	}
}

func (d directed) fire(id dme.NodeID) {
	d.t.Helper()
	x := vnet.Step{Kind: dme.Timeout, Node: id, Timer: answerDue}
	if !d.Possible(x) {
		d.t.Fatalf("%v is not possible; on its way: %v", x, d.InFlight())
	}
	d.Do(x)
}
