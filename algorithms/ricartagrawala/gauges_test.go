package ricartagrawala

import (
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/dme/claim"
)

// moments tells a meter what happened at which node, 1 ms apart.
type moments struct {
	t     *testing.T
	meter dme.Meter
	nodes map[dme.NodeID]dme.Node
	now   time.Duration
}

func follow(t *testing.T, a *dme.Algorithm, q claim.Quantity, nodes int) *moments {
	t.Helper()
	sys, err := a.New(nodes, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &moments{t: t, nodes: map[dme.NodeID]dme.Node{}}
	for id := dme.NodeID(1); int(id) <= nodes; id++ {
		m.nodes[id] = sys.Node(id)
	}
	for _, g := range a.Gauges {
		if g.Quantity == q.ID {
			m.meter = g.Begin(dme.Setting{Nodes: nodes, System: sys})
			if a.Name != Robust().Name && g.Begin(dme.Setting{Nodes: 5000, System: sys}) != nil {
				t.Error("it would follow all pairs of 5,000 nodes")
			}
		}
	}
	return m
}

func (m *moments) note(what dme.EventKind, id dme.NodeID) {
	m.now += time.Millisecond
	m.meter.Note(&dme.Event{Kind: what, ID: id, At: m.now, Node: m.nodes[id]})
}

func (m *moments) ask(id dme.NodeID) {
	m.nodes[id].Request(new(dme.Outbox))
	m.note(dme.Request, id)
}

func (m *moments) enter(id dme.NodeID) { m.note(dme.Enter, id) }

func (m *moments) hear(id, from dme.NodeID, kind dme.Kind, about dme.NodeID) {
	m.now += time.Millisecond
	m.meter.Note(&dme.Event{
		Kind: dme.Receive, ID: id, At: m.now, Node: m.nodes[id], Peer: from, Msg: dme.Message{Kind: kind, Node: about},
	})
}

func (m *moments) wants(value float64, ok bool) {
	m.t.Helper()
	if got, known := m.meter.Value(); known != ok || ok && got != value {
		m.t.Errorf("%v %v, want %v %v", got, known, value, ok)
	}
}

func TestLaterFirst(t *testing.T) {
	m := follow(t, Algorithm(), LaterFirst, 3)
	m.ask(3)
	m.ask(1)
	m.wants(0, false)
	m.enter(1) // asked later, and without having heard of the other
	m.wants(1, true)
	m.enter(3)
	m.wants(1, true) // each pair counts once
	m.ask(2)
	m.hear(3, 2, kindRequest, 0)
	m.ask(3) // no conflict: it has heard of the other
	m.enter(3)
	m.enter(2)
	m.wants(1, true)
	m.ask(2)
	m.ask(3) // what it heard was an earlier REQUEST
	m.enter(2)
	m.wants(0.5, true)
	m.enter(3)
	m.ask(1)
	m.now -= time.Millisecond
	m.ask(2) // at the same instant: nobody is later
	m.enter(2)
	m.wants(0.5, true)
}

// Of the conflicts those count in which both nodes ask with the same number.
func TestTieLaterFirst(t *testing.T) {
	m := follow(t, Algorithm(), TieLaterFirst, 3)
	m.ask(3)
	m.nodes[2].Receive(3, dme.Message{Kind: kindRequest, Clock: 4}, new(dme.Outbox))
	m.ask(2) // with 5
	m.enter(3)
	m.enter(2)
	m.wants(0, false)
	m = follow(t, Algorithm(), TieLaterFirst, 3)
	m.ask(3)
	m.ask(1)
	m.enter(3)
	m.wants(0, true)
	m.ask(2)
	m.enter(2)
	m.wants(0.5, true) // before node 1
}

func TestLowerWins(t *testing.T) {
	m := follow(t, Priority(), LowerFirst, 3)
	m.ask(1)
	m.ask(2)
	m.enter(2)
	m.wants(0, true)
	m.enter(1)
	m.nodes[1].Release(new(dme.Outbox))
	m.nodes[2].Release(new(dme.Outbox))
	m.ask(3)
	m.ask(1) // it has seen a higher number than 3 had: that decides, and does not count
	m.enter(1)
	m.wants(0, true)
}

func TestEntriesAfterProcessing(t *testing.T) {
	m := follow(t, Algorithm(), EntriesAfterProcessing, 3)
	m.ask(1)
	m.enter(2)
	m.wants(0, false) // nobody had processed a REQUEST
	m.hear(2, 1, kindRequest, 0)
	m.hear(3, 1, kindRequest, 0)
	m.enter(2)
	m.enter(3)
	m.wants(1, true)
	m.enter(2)
	m.wants(2, true)
	m.enter(1)
	m.enter(2)
	m.enter(2)
	m.wants(2, true) // node 1 has entered
}

func TestFalseSuspicions(t *testing.T) {
	m := follow(t, Robust(), FalseSuspicion, 3)
	m.wants(0, false) // nobody was suspected
	m.said(1, dme.Message{Kind: kindAreYouThere, Clock: 1})
	m.wants(0, true)
	m.hear(1, 2, kindFailed, 2) // node 2 is back, and says so itself
	m.note(dme.Crash, 3)
	m.hear(1, 2, kindFailed, 3)
	m.wants(0, true)
	m.note(dme.Restart, 3)
	m.hear(1, 2, kindFailed, 3)
	m.wants(1, true)
}

// said tells of a message that a node has sent.
func (m *moments) said(id dme.NodeID, msg dme.Message) {
	m.now += time.Millisecond
	m.meter.Note(&dme.Event{Kind: dme.Send, ID: id, At: m.now, Node: m.nodes[id], Msg: msg})
}

func TestDetectionTime(t *testing.T) {
	m := follow(t, Robust(), DetectionTime, 3)
	m.nodes[1].Request(new(dme.Outbox))
	m.said(1, dme.Message{Kind: kindRequest, Clock: 1})
	m.hear(1, 2, kindReply, 0)
	m.said(1, dme.Message{Kind: kindAreYouThere, Clock: 1})
	m.said(2, dme.Message{Kind: kindFailed, Node: 3}) // it asks for nothing
	m.wants(0, false)
	m.said(1, dme.Message{Kind: kindFailed, Node: 3})
	m.wants(0.003, true)
	m.hear(1, 2, kindYesIAmHere, 0)
	m.said(1, dme.Message{Kind: kindFailed, Node: 2})
	m.wants(0.003, true)
	m.now += time.Second
	m.said(1, dme.Message{Kind: kindFailed, Node: 1}) // of itself: it has come back
	m.wants(0.003, true)
}

// Section 7.2.3 speaks of every REQUEST that the newcomer would have received, and not
// only of those that have been served.
func TestLatecomers(t *testing.T) {
	request := func(m *moments, from dme.NodeID, number uint64, to ...dme.NodeID) {
		for _, j := range to {
			m.now += time.Millisecond
			m.meter.Note(&dme.Event{Kind: dme.Send, ID: from, At: m.now, Node: m.nodes[from], Peer: j,
				Msg: dme.Message{Kind: kindRequest, Clock: number}})
		}
	}
	for _, x := range []struct {
		name  string
		then  func(*moments)
		count float64
		asked bool
	}{
		{"nobody has come", func(m *moments) { request(m, 3, 1, 1, 2, 4) }, 0, false},
		{"above what was sent while it was away", func(m *moments) { request(m, 2, 4, 1, 3, 4) }, 0, true},
		{"as high", func(m *moments) { request(m, 2, 3, 1, 3, 4) }, 1, true},
		{"as high as a REQUEST that was sent without it since, and waits",
			func(m *moments) { request(m, 1, 5, 3, 4); request(m, 2, 5, 1, 3, 4) }, 1, true},
		{"as high as one that was sent without it before the next",
			func(m *moments) { request(m, 1, 5, 3, 4); request(m, 1, 7, 2, 3, 4); request(m, 2, 5, 1, 3, 4) }, 1, true},
		{"as high as one that is on its way to it", func(m *moments) { request(m, 1, 5, 2, 3, 4); request(m, 2, 5, 1, 3, 4) }, 0, true},
		{"above one that was sent without it", func(m *moments) { request(m, 1, 5, 3, 4); request(m, 2, 6, 1, 3, 4) }, 0, true},
		{"a newcomer once only", func(m *moments) { request(m, 2, 4, 1, 3, 4); request(m, 2, 1, 1, 3, 4) }, 0, true},
		{"as high as its own before", func(m *moments) { m.note(dme.Restart, 3); request(m, 3, 3, 1, 2, 4) }, 1, true},
	} {
		m := follow(t, Robust(), Latecomers, 4)
		request(m, 1, 2, 3, 4)
		request(m, 3, 3, 1, 4)
		if x.asked {
			m.note(dme.Restart, 2)
		}
		x.then(m)
		if got, known := m.meter.Value(); known != x.asked || got != x.count {
			t.Errorf("%s: %v %v, want %v %v", x.name, got, known, x.count, x.asked)
		}
	}
}
