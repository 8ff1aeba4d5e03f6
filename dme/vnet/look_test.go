package vnet

import (
	"fmt"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// The oldest of what is on its way is what was sent first, a message or news, as long as
// it may arrive.
func TestOldest(t *testing.T) {
	n := newDiaries(t, Config{Nodes: 3, Crashes: 1})
	if x, ok := n.Oldest(); ok {
		t.Errorf("%v, and nothing is on its way", x)
	}
	do(t, n, Step{Kind: Ask, Node: 2}, Step{Kind: Ask, Node: 3}, Step{Kind: Crash, Node: 3})
	var got []string
	for x, ok := n.Oldest(); ok; x, ok = n.Oldest() {
		flights := n.InFlight()
		if first := &flights[0]; first.From != x.From || first.To != x.Node || first.Arrival() != x.Kind {
			t.Errorf("%v is the oldest, and the first is %+v", x, first)
		}
		kind, news := n.News(x.From, x.Node)
		if kind != x.Kind || news != (x.Kind == Down) {
			t.Errorf("%v: the next is %v, news: %v", x, kind, news)
		}
		got = append(got, x.String())
		n.Do(x)
	}
	// Node 2 has asked first, and what it sent to node 3 is lost; node 1 answers both.
	want := []string{"deliver 2->1", "deliver 3->1", "deliver 3->2", "down 3->1", "down 3->2", "deliver 1->2"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if kind, news := n.News(1, 2); news {
		t.Errorf("news %v on a link that holds nothing", kind)
	}
}

// What nodes that leave had still to ask for nobody waits for.
func TestServedWithoutThoseWhoLeave(t *testing.T) {
	n := newDiaries(t, Config{Nodes: 3, Absent: []dme.NodeID{1}, Departures: 1})
	for id := range n.IDs() {
		n.processes[id].requests = int(id) / 3 // node 3 alone asks
	}
	if n.Served() {
		t.Error("node 3 has not asked yet")
	}
	do(t, n, Step{Kind: Depart, Node: 3}, Step{Kind: Deliver, From: 3, Node: 2}, Step{Kind: Deliver, From: 2, Node: 3})
	if got := n.Activity(3); got != noderun.Down || !n.Served() {
		t.Errorf("node 3 is %v; all are served: %v", got, n.Served())
	}
}

// refuser refuses what it receives, each time for a reason of its own.
type refuser struct{ id dme.NodeID }

func (r refuser) Request(out *dme.Outbox) { out.Broadcast(dme.Message{Kind: 1}) }
func (refuser) Release(*dme.Outbox)       {}
func (refuser) State(*dme.Visitor)        {}

func (r refuser) Receive(_ dme.NodeID, _ dme.Message, out *dme.Outbox) {
	out.Refuse([]string{"", "c", "b", "a"}[r.id])
}

// Messages that are refused are counted: in a network all, between vectors each once, with
// the first reason in the order of the alphabet.
func TestRefusedMessages(t *testing.T) {
	m, err := NewModel(Config{Nodes: 3, Algorithm: &dme.Algorithm{
		Name: "refuser", Kinds: []string{"NOTE"}, Prepare: dme.Unshared(func(_ int, id dme.NodeID) dme.Node { return refuser{id} }),
	}, Requests: func(dme.NodeID) int { return 1 }})
	if err != nil {
		t.Fatal(err)
	}
	n := New(m)
	space := NewSpace(m)
	walker := space.NewWalker()
	total := func() string {
		count, reason := n.Refused()
		sum := n.Counts(dme.None).Refused
		return fmt.Sprintf("%d %d %s", count, sum, reason)
	}
	take := func(x Step, network, vectors string) {
		t.Helper()
		v, h := space.Of(n)
		for range 2 { // the same step again is nothing new
			walker.Do(v, h, x)
		}
		e := n.Do(x)
		count, reason := walker.Refused()
		if got := fmt.Sprintf("%d %s", count, reason); total() != network || got != vectors {
			t.Errorf("after %v (%s): %s refused, and %s between vectors; want %s and %s", x, e.Refused, total(), got, network, vectors)
		}
	}
	take(Step{Kind: Ask, Node: 2}, "0 0 ", "0 ")
	take(Step{Kind: Deliver, From: 2, Node: 1}, "1 1 c", "1 c")
	take(Step{Kind: Deliver, From: 2, Node: 3}, "2 2 a", "2 a")
	take(Step{Kind: Ask, Node: 1}, "2 2 a", "2 a")
	take(Step{Kind: Deliver, From: 1, Node: 2}, "3 3 a", "3 a")
}

// More requests are allowed to all, also to those who were told that none would come.
func TestMoreIsAllowed(t *testing.T) {
	n := newDiaries(t, Config{Nodes: 2})
	for id := range n.IDs() {
		n.processes[id].requests, n.processes[id].stopped = int(id)-1, true
	}
	n.AllowMore(2)
	for id := range n.IDs() {
		if p := n.processes[id]; p.requests != int(id)+1 || p.stopped || !n.Possible(Step{Kind: Ask, Node: id}) {
			t.Errorf("node %d: %+v", id, p)
		}
	}
}

// A copy of an event stays as it is, whatever becomes of the event.
func TestEventsAreCopied(t *testing.T) {
	vector := func() []uint64 { return []uint64{1, 2} }
	e := &Event{
		Step: Step{Kind: Deliver, From: 1, Node: 2}, Number: 7, Msg: dme.Message{Kind: 1, Vec: vector()}, Refused: "no",
		Effects: []Effect{{Effect: dme.Effect{Kind: dme.EffectSend, To: 1, Msg: dme.Message{Kind: 2, Vec: vector()}}, Number: 8}},
	}
	c, want := e.Clone(), fmt.Sprintf("%+v", *e)
	e.Msg.Vec[0], e.Effects[0].Msg.Vec[0] = 9, 9
	e.Effects[0].Lost = true
	if got := fmt.Sprintf("%+v", c); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if c.Entered() {
		t.Error("nobody enters by sending")
	}
	c.Effects = append(c.Effects, Effect{Effect: dme.Effect{Kind: dme.EffectEnter}})
	if !c.Entered() {
		t.Error("an entry is none")
	}
}

// What carries messages says what arrives, and is told who sends to whom.
func TestMessagesAreCarried(t *testing.T) {
	c := Config{Nodes: 3, Carry: func(from, to dme.NodeID, m *dme.Message) dme.Message {
		return dme.Message{Kind: m.Kind, Num: 10*uint64(from) + uint64(to)}
	}}
	n := newDiaries(t, c)
	e := n.Do(Step{Kind: Ask, Node: 2})
	if got := e.Describe(n.Algorithm); got != "node 2 asks: ASK 2→1 num=21, ASK 2→3 num=23, timer 1 set to 1ns" {
		t.Error(got)
	}
	if got := n.Do(Step{Kind: Deliver, From: 2, Node: 3}); got.Msg.Num != 23 {
		t.Errorf("%+v arrives", got.Msg)
	}
}

// Nodes do not come and go on a sequenced medium, and who does not know how does not join.
func TestModelsThatThereAreNot(t *testing.T) {
	plain := diaries()
	plain.Prepare = dme.Unshared(func(int, dme.NodeID) dme.Node { return refuser{} })
	for i, x := range []struct {
		c    Config
		want bool
	}{
		{Config{Algorithm: diaries(), Sequenced: true}, true}, {Config{Algorithm: diaries(), Crashes: 1}, true},
		{Config{Algorithm: diaries(), Sequenced: true, Crashes: 1}, false}, {Config{Algorithm: diaries(), Sequenced: true, Faults: true}, false},
		{Config{Algorithm: diaries(), Absent: []dme.NodeID{2}}, true}, {Config{Algorithm: plain, Absent: []dme.NodeID{2}}, false},
		{Config{Algorithm: plain, Crashes: 1}, true},
	} {
		x.c.Nodes = 3
		if _, err := NewModel(x.c); (err == nil) != x.want {
			t.Errorf("model %d: %v, want one: %v", i, err, x.want)
		}
	}
}
