package noderun

import (
	"slices"
	"testing"
	"time"

	"dmebench/dme"
)

// echo answers every message, and asks and enters at once.
type echo struct{}

func (echo) Node(dme.NodeID) dme.Node { return echo{} }
func (echo) Request(out *dme.Outbox) {
	out.Broadcast(dme.Message{Kind: 1})
	out.Enter(dme.Stamp{Clock: 3, Node: 2})
}
func (echo) Release(out *dme.Outbox)                                 { out.SetTimer(4, time.Second) }
func (echo) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) { out.Send(from, m) }
func (echo) Timeout(dme.TimerID, *dme.Outbox)                        {}
func (echo) State(*dme.Visitor)                                      {}

// nowhere is a world in which nothing arrives.
type nowhere struct{}

func (nowhere) Send(dme.NodeID, dme.NodeID, *dme.Message)       {}
func (nowhere) Broadcast(dme.NodeID, *dme.Message) int          { return 1 }
func (nowhere) Enter(dme.NodeID, dme.Stamp)                     {}
func (nowhere) SetTimer(dme.NodeID, dme.TimerID, time.Duration) {}
func (nowhere) CancelTimer(dme.NodeID, dme.TimerID)             {}

func echoing() *Runner {
	a := &dme.Algorithm{Name: "echo", Kinds: []string{"PING"}}
	return newRunner(a, echo{}, 3, 2, nowhere{}, new(Counters))
}

type observed []Event

func (o *observed) Observe(id dme.NodeID, h Event) {
	if id != 2 {
		panic("another node's")
	}
	h.Msg = nil // valid during the call
	*o = append(*o, h)
}

// An observer is told everything, what calls a handler before what the handler does.
func TestObserver(t *testing.T) {
	h := echoing()
	var got observed
	h.SetObserver(&got)
	h.Start()
	h.Request()
	h.Release()
	h.Receive(3, &dme.Message{Kind: 1})
	h.Receive(2, &dme.Message{Kind: 1}) // which cannot be
	h.Timeout(4)
	h.Crash()
	want := observed{
		{Kind: dme.Start}, {Kind: dme.Request}, {Kind: dme.Send, Peer: 1}, {Kind: dme.Send, Peer: 3},
		{Kind: dme.Enter, Stamp: dme.Stamp{Clock: 3, Node: 2}},
		{Kind: dme.Exit}, {Kind: dme.SetTimer, Timer: 4, Delay: time.Second}, {Kind: dme.Receive, Peer: 3}, {Kind: dme.Send, Peer: 3},
		{Kind: dme.Receive, Peer: 2}, {Kind: dme.Refuse, Reason: "sender is not another node of this system"}, {Kind: dme.Timeout, Timer: 4},
		{Kind: dme.Crash},
	}
	if !slices.Equal(got, want) {
		t.Errorf("observed\n%+v, want\n%+v", got, want)
	}
}

// Nobody pays for an observer who is not there: BenchmarkReceive of a commit before
// there were any takes as long.
func BenchmarkReceive(b *testing.B) {
	h := echoing()
	m := &dme.Message{Kind: 1, Clock: 100}
	for b.Loop() {
		h.Receive(3, m)
	}
}
