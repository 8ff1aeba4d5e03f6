package vnet

import (
	"fmt"
	"slices"
	"testing"

	"dmebench/dme"
)

// The oldest of what is on its way is what was sent first, a message or news, as long as
// it may arrive.
func TestOldest(t *testing.T) {
	n := newDiaries(t, Config{Nodes: 3, Crashes: 1})
	if x, ok := n.Oldest(); ok {
		t.Errorf("%v, and nothing is on its way", x)
	}
	do(t, n, Step{Kind: dme.Request, Node: 2}, Step{Kind: dme.Request, Node: 3}, Step{Kind: dme.Crash, Node: 3})
	var got []string
	for x, ok := n.Oldest(); ok; x, ok = n.Oldest() {
		flights := n.InFlight()
		if first := &flights[0]; first.From != x.From || first.To != x.Node || first.Arrival() != x.Kind {
			t.Errorf("%v is the oldest, and the first is %+v", x, first)
		}
		kind, news := n.News(x.From, x.Node)
		if kind != x.Kind || news != (x.Kind == dme.PeerDown) {
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
	take(Step{Kind: dme.Request, Node: 2}, "0 0 ", "0 ")
	take(Step{Kind: dme.Receive, From: 2, Node: 1}, "1 1 c", "1 c")
	take(Step{Kind: dme.Receive, From: 2, Node: 3}, "2 2 a", "2 a")
	take(Step{Kind: dme.Request, Node: 1}, "2 2 a", "2 a")
	take(Step{Kind: dme.Receive, From: 1, Node: 2}, "3 3 a", "3 a")
}

// What carries messages says what arrives, and is told who sends to whom.
func TestMessagesAreCarried(t *testing.T) {
	c := Config{Nodes: 3, Carry: func(from, to dme.NodeID, m *dme.Message) dme.Message {
		return dme.Message{Kind: m.Kind, Num: 10*uint64(from) + uint64(to)}
	}}
	n := newDiaries(t, c)
	e := n.Do(Step{Kind: dme.Request, Node: 2})
	if got := e.Describe(n.Algorithm); got != "node 2 asks: ASK 2→1 num=21, ASK 2→3 num=23, timer 1 set to 1ns" {
		t.Error(got)
	}
	if got := n.Do(Step{Kind: dme.Receive, From: 2, Node: 3}); got.Msg.Num != 23 {
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
