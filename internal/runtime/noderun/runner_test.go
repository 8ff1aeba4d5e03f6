package noderun

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"dmebench/dme"
)

// script is a node whose handlers a test writes; a nil one does nothing.
type script struct {
	request, release, start, stop, shared func(out *dme.Outbox)
	receive                               func(from dme.NodeID, m dme.Message, out *dme.Outbox)
	timeout                               func(id dme.TimerID, out *dme.Outbox)
	queue                                 int
}

func call(f func(*dme.Outbox), out *dme.Outbox) {
	if f != nil {
		f(out)
	}
}

func (s *script) Request(out *dme.Outbox)       { call(s.request, out) }
func (s *script) RequestShared(out *dme.Outbox) { call(s.shared, out) }
func (s *script) Release(out *dme.Outbox)       { call(s.release, out) }
func (s *script) Start(out *dme.Outbox)         { call(s.start, out) }
func (s *script) Stop(out *dme.Outbox)          { call(s.stop, out) }
func (s *script) State(v *dme.Visitor)          { v.Int("queue", &s.queue) }
func (s *script) QueueLength() int              { return s.queue }
func (s *script) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if s.receive != nil {
		s.receive(from, m, out)
	}
}

// timed is a script with timers.
type timed struct{ *script }

func (s timed) Timeout(id dme.TimerID, out *dme.Outbox) { s.timeout(id, out) }

// one is a system whose every node is the same script.
type one struct{ node dme.Node }

func (o one) Node(dme.NodeID) dme.Node { return o.node }

// world notes what a runner asks for.
type world struct {
	did   []string
	enter func(id dme.NodeID, stamp dme.Stamp)
}

func (w *world) note(format string, args ...any) { w.did = append(w.did, fmt.Sprintf(format, args...)) }

func (w *world) Send(from, to dme.NodeID, m *dme.Message) {
	w.note("send %d-%d kind %d vec %v", from, to, m.Kind, m.Vec)
}

func (w *world) Broadcast(from dme.NodeID, m *dme.Message) int {
	w.note("broadcast %d kind %d", from, m.Kind)
	return 1
}

func (w *world) Enter(id dme.NodeID, stamp dme.Stamp) {
	w.note("enter %d %v", id, stamp)
	if w.enter != nil {
		w.enter(id, stamp)
	}
}

func (w *world) SetTimer(id dme.NodeID, t dme.TimerID, d time.Duration) {
	w.note("set %d timer %d to %v", id, t, d)
}

func (w *world) CancelTimer(id dme.NodeID, t dme.TimerID) {
	w.note("cancel %d timer %d", id, t)
}

// hosted returns node 2 of 4, of an algorithm with two kinds of message.
func hosted(node dme.Node) (*Runner, *world) {
	a := &dme.Algorithm{Name: "test", Kinds: []string{"A", "B"}, QueueLength: dme.OfNode((*script).QueueLength)}
	w := new(world)
	return newRunner(a, one{node}, 4, 2, w, new(Counters)), w
}

// panics returns what f panics with.
func panics(f func()) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	f()
	return
}

func newRunner(a *dme.Algorithm, sys dme.System, nodes int, id dme.NodeID, w World, c *Counters) *Runner {
	h := NewGroup(a, sys, nodes, w).Runner(id, c, new(Traffic))
	return &h
}

func TestEffectsInOrder(t *testing.T) {
	h, w := hosted(&script{request: func(out *dme.Outbox) {
		out.Send(1, dme.Message{Kind: 2, Vec: []uint64{7}})
		out.SetTimer(3, time.Second)
		out.Enter(dme.Stamp{Clock: 5, Node: 2})
		out.Broadcast(dme.Message{Kind: 1})
		out.CancelTimer(3)
		out.Send(4, dme.Message{Kind: 2})
	}})
	h.Request()
	want := []string{
		"send 2-1 kind 2 vec [7]", "set 2 timer 3 to 1s", "enter 2 (5,2)", "broadcast 2 kind 1", "cancel 2 timer 3", "send 2-4 kind 2 vec []",
	}
	if !slices.Equal(w.did, want) {
		t.Errorf("did %q\nwant %q", w.did, want)
	}
	// The outbox is reused: nothing of this event may come again, nor keep a
	// vector alive that has been handed over.
	if e := h.out.Effects()[:1][0]; e.Msg.Vec != nil {
		t.Error("the outbox keeps a vector that it has handed over")
	}
	w.did = nil
	h.Release()
	if len(w.did) > 0 {
		t.Errorf("the release did %q", w.did)
	}
}

func TestCounters(t *testing.T) {
	node := &script{request: func(out *dme.Outbox) {
		out.Send(1, dme.Message{Kind: 2, Clock: 300}) // 2 bytes and a varint of 2
		out.Broadcast(dme.Message{Kind: 1})           // 2 bytes, to 3 nodes
	}}
	node.receive = func(_ dme.NodeID, _ dme.Message, out *dme.Outbox) {
		node.queue++
		out.Enter(dme.Stamp{})
	}
	h, _ := hosted(node)
	c := h.Counters()
	h.Request()
	if h.Activity() != Requesting || Activity(c.Activity.Load()) != Requesting {
		t.Errorf("activity %v", h.Activity())
	}
	h.Receive(1, &dme.Message{Kind: 1})
	if h.Activity() != Inside || Activity(c.Activity.Load()) != Inside {
		t.Errorf("activity %v", h.Activity())
	}
	h.Release()
	if h.Activity() != Idle || Activity(c.Activity.Load()) != Idle {
		t.Errorf("activity %v", h.Activity())
	}
	m := h.traffic
	for _, x := range []struct {
		name      string
		got, want uint64
	}{
		{"sent A", m.Sent[1].Load(), 3}, {"sent B", m.Sent[2].Load(), 1}, {"sent", c.Sent.Load(), 4},
		{"transmissions", m.Transmissions.Load(), 2}, {"bytes", c.Bytes.Load(), 4 + 3*2}, {"longest message", c.LongestMessage.Load(), 4},
		{"handled A", m.Handled[1].Load(), 1}, {"handled", c.Handled.Load(), 1}, {"requests", c.Requests.Load(), 1},
		{"entries", c.Entries.Load(), 1}, {"longest queue", c.LongestQueue.Load(), 1},
		{"refused", c.Refused.Load(), 0}, {"unasked", c.Unasked.Load(), 0},
	} {
		if x.got != x.want {
			t.Errorf("%s: %d, want %d", x.name, x.got, x.want)
		}
	}
	node.queue = 0
	h.Request()
	if c.LongestQueue.Load() != 1 {
		t.Error("the longest queue is forgotten when it shrinks")
	}
}

// TestHandledIsCountedAfterWhatItSent looks at the counters at the moment when
// the answer is handed over: a reader must never see all handled while the
// answer is not yet counted.
func TestHandledIsCountedAfterWhatItSent(t *testing.T) {
	var h *Runner
	h, _ = hosted(&script{receive: func(from dme.NodeID, _ dme.Message, out *dme.Outbox) {
		out.Enter(dme.Stamp{})
		out.Send(from, dme.Message{Kind: 1})
	}})
	h.Request()
	w := &world{enter: func(dme.NodeID, dme.Stamp) {
		if h.Counters().Handled.Load() != 0 {
			t.Error("a message counts as handled before its handler's effects")
		}
	}}
	h.world = w
	h.Receive(1, &dme.Message{Kind: 1})
	if c := h.Counters(); c.Handled.Load() != 1 || c.Sent.Load() != 1 || len(w.did) != 2 {
		t.Errorf("handled %d, sent %d, did %q", c.Handled.Load(), c.Sent.Load(), w.did)
	}
}

func TestProtocol(t *testing.T) {
	enter := func(out *dme.Outbox) { out.Enter(dme.Stamp{}) }
	for _, x := range []struct {
		name string
		do   func(h *Runner)
		want string
	}{
		{"leaves without being inside", func(h *Runner) { h.Release() }, "Release while idle"},
		{"asks inside", func(h *Runner) { h.Request(); h.Request() }, "Request while in the critical section"},
		{"asks as a reader inside", func(h *Runner) { h.Request(); h.RequestShared() }, "Request while in the critical section"},
		{"has a timer, but no Timeout", func(h *Runner) { h.Timeout(1) }, "no Timeout"},
		{"is fine", func(h *Runner) { h.Request(); h.Release(); h.Request(); h.Release() }, "<nil>"},
	} {
		h, _ := hosted(&script{request: enter})
		if got := panics(func() { x.do(h) }); !strings.Contains(got, x.want) {
			t.Errorf("a process that %s: %s, want %s", x.name, got, x.want)
		}
	}
}

func TestImpossibleMessagesPanic(t *testing.T) {
	for _, x := range []struct {
		name string
		to   dme.NodeID
		kind dme.Kind
		want string
	}{
		{"to itself", 2, 1, "node 2 sends to node 2 of 4: queue=6"},
		{"to nobody", 0, 1, "sends to node 0"},
		{"beyond the last", 5, 1, "sends to node 5"},
		{"of no kind", 1, 0, "undeclared kind 0"},
		{"of a kind it has not declared", 1, 3, "undeclared kind 3"},
	} {
		h, _ := hosted(&script{queue: 6, request: func(out *dme.Outbox) { out.Send(x.to, dme.Message{Kind: x.kind}) }})
		if got := panics(h.Request); !strings.Contains(got, x.want) {
			t.Errorf("a message %s: %s, want %s", x.name, got, x.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	received := 0
	h, _ := hosted(&script{receive: func(_ dme.NodeID, m dme.Message, out *dme.Outbox) {
		if received++; m.Num == 9 {
			out.Refuse("nine")
		}
	}})
	c := h.Counters()
	for _, x := range []struct {
		name string
		from dme.NodeID
		m    dme.Message
		want string
	}{
		{"from itself", 2, dme.Message{Kind: 1}, "sender"},
		{"from nobody", 0, dme.Message{Kind: 1}, "sender"},
		{"from beyond the last", 5, dme.Message{Kind: 1}, "sender"},
		{"of no kind", 1, dme.Message{}, "kind"},
		{"of a foreign kind", 1, dme.Message{Kind: 3}, "kind"},
	} {
		before := c.Refused.Load()
		h.Receive(x.from, &x.m)
		if c.Refused.Load() != before+1 || !strings.Contains(h.LastRefusal(), x.want) {
			t.Errorf("%s: %d refused, because %q", x.name, c.Refused.Load()-before, h.LastRefusal())
		}
	}
	if received != 0 || h.traffic.Handled[0].Load() != 5 || c.Handled.Load() != 5 {
		t.Errorf("the node received %d; handled as foreign: %d of %d", received, h.traffic.Handled[0].Load(), c.Handled.Load())
	}
	h.Receive(1, &dme.Message{Kind: 2, Num: 9})
	if c.Refused.Load() != 6 || h.LastRefusal() != "nine" || h.traffic.Handled[2].Load() != 1 {
		t.Errorf("the node's own refusal: %d, %q, handled %d", c.Refused.Load(), h.LastRefusal(), h.traffic.Handled[2].Load())
	}
}

func TestEntryThatNobodyAskedFor(t *testing.T) {
	enter := func(out *dme.Outbox) { out.Enter(dme.Stamp{}) }
	h, w := hosted(&script{start: enter, request: enter, release: enter})
	h.Start()
	h.Request()
	h.Release()
	if n := h.Counters().Unasked.Load(); n != 2 || h.Activity() != Idle {
		t.Errorf("%d entries that nobody asked for, want 2; now %v", n, h.Activity())
	}
	if want := []string{"enter 2 (0,0)"}; !slices.Equal(w.did, want) {
		t.Errorf("did %q, want %q: only the one that was asked for", w.did, want)
	}
}

func TestOptionalHandlers(t *testing.T) {
	send := func(kind dme.Kind) func(out *dme.Outbox) {
		return func(out *dme.Outbox) { out.Send(1, dme.Message{Kind: kind}) }
	}
	s := &script{start: send(1), stop: send(2), shared: func(out *dme.Outbox) { out.Enter(dme.Stamp{}) }}
	s.timeout = func(id dme.TimerID, out *dme.Outbox) {
		out.Send(dme.NodeID(id), dme.Message{Kind: 1})
	}
	h, w := hosted(timed{s})
	h.Start()
	h.Stop()
	h.Timeout(3)
	h.RequestShared()
	want := []string{"send 2-1 kind 1 vec []", "send 2-1 kind 2 vec []", "send 2-3 kind 1 vec []", "enter 2 (0,0)"}
	if !slices.Equal(w.did, want) || !h.Shared() {
		t.Errorf("did %q, want %q; shared %v", w.did, want, h.Shared())
	}
	h.Release()
	if h.Request(); h.Shared() {
		t.Error("a writer's request is shared")
	}

	type bare struct{ dme.Node } // neither Start nor Stop
	h, w = hosted(bare{&script{}})
	h.Start()
	h.Stop()
	if len(w.did) > 0 {
		t.Errorf("a node without Start and Stop did %q", w.did)
	}
}

func TestAloneNothingIsSent(t *testing.T) {
	a := &dme.Algorithm{Name: "test", Kinds: []string{"A"}}
	w := new(world)
	node := &script{request: func(out *dme.Outbox) {
		out.Broadcast(dme.Message{Kind: 1})
		out.Enter(dme.Stamp{})
	}}
	h := newRunner(a, one{node}, 1, 1, w, new(Counters))
	h.Request()
	if c := h.Counters(); c.Sent.Load() != 0 || h.traffic.Transmissions.Load() != 0 || !slices.Equal(w.did, []string{"enter 1 (0,0)"}) {
		t.Errorf("did %q, sent %d by %d transmissions", w.did, c.Sent.Load(), h.traffic.Transmissions.Load())
	}
}

func TestCountersFillCacheLines(t *testing.T) {
	if size := unsafe.Sizeof(Counters{}); size%64 != 0 {
		t.Errorf("%d bytes: neighbours in shared memory would share a cache line", size)
	}
}

func TestNoAllocationPerEvent(t *testing.T) {
	node := &script{request: func(out *dme.Outbox) { out.Enter(dme.Stamp{}) }}
	node.receive = func(from dme.NodeID, m dme.Message, out *dme.Outbox) {
		for to := dme.NodeID(3); to <= 4; to++ {
			out.Send(to, m)
		}
	}
	h, _ := hosted(node)
	h.world = quiet{}
	m := &dme.Message{Kind: 1, Clock: 7}
	h.Receive(1, m)
	if n := testing.AllocsPerRun(100, func() { h.Receive(1, m); h.Request(); h.Release() }); n > 0 {
		t.Errorf("%v allocations per event", n)
	}
}

// quiet is a world that does nothing.
type quiet struct{}

func (quiet) Send(_, _ dme.NodeID, _ *dme.Message)            {}
func (quiet) Broadcast(dme.NodeID, *dme.Message) int          { return 1 }
func (quiet) Enter(dme.NodeID, dme.Stamp)                     {}
func (quiet) SetTimer(dme.NodeID, dme.TimerID, time.Duration) {}
func (quiet) CancelTimer(id dme.NodeID, t dme.TimerID)        {}
