package toys

import (
	"time"

	"dmebench/dme"
	"dmebench/dme/collections"
)

// nonAtomic is Ricart–Agrawala's algorithm with the decision to defer a reply
// taken in one step and recorded in another (a timer that fires at any time
// stands for the process that has lost the processor in between).
func nonAtomic() *dme.Algorithm {
	return New("non-atomic", func(id dme.NodeID, n int) dme.Node { return &raLiteral{id: id, n: n} },
		"REQUEST", "REPLY")
}

type raLiteral struct {
	id         dme.NodeID
	n          int
	our        uint64
	highest    uint64
	requesting bool
	count      uint64
	decided    collections.NodeQueue // to be deferred, not yet recorded
	deferred   collections.NodeQueue
}

func (r *raLiteral) Request(out *dme.Outbox) {
	r.requesting = true
	r.highest++
	r.our = r.highest
	r.count = uint64(r.n - 1)
	out.Broadcast(dme.Message{Kind: 1, Clock: r.our})
}

func (r *raLiteral) Release(out *dme.Outbox) {
	r.requesting = false
	for !r.deferred.Empty() {
		out.Send(r.deferred.Pop(), dme.Message{Kind: 2})
	}
}

func (r *raLiteral) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Kind == 2 {
		if r.count--; r.count == 0 {
			out.Enter(dme.Stamp{Clock: r.our, Node: r.id})
		}
		return
	}
	r.highest = max(r.highest, m.Clock)
	ours, theirs := dme.Stamp{Clock: r.our, Node: r.id}, dme.Stamp{Clock: m.Clock, Node: from}
	if r.requesting && ours.Precedes(theirs) {
		r.decided.Push(from)
		out.SetTimer(1, 0)
		return
	}
	out.Send(from, dme.Message{Kind: 2})
}

func (r *raLiteral) Timeout(_ dme.TimerID, _ *dme.Outbox) {
	for !r.decided.Empty() {
		r.deferred.Push(r.decided.Pop())
	}
}

func (r *raLiteral) State(v *dme.Visitor) {
	v.Uint("our", &r.our)
	v.Uint("highest", &r.highest)
	v.Bool("requesting", &r.requesting)
	v.Uint("count", &r.count)
	r.decided.Show(v, "decided")
	r.deferred.Show(v, "deferred")
}

// implicit is the implicit reply of TR-869, section 6.1, for two nodes: a node enters unless it
// gets a DEFERRED within a round trip. patience is how long it waits, in bounds on the delay of a
// message.
func implicit(name string, patience int) *dme.Algorithm {
	const bound = 10 * time.Millisecond
	a := New(name, func(id dme.NodeID, n int) dme.Node {
		return &implicitNode{id: id, wait: time.Duration(patience) * bound}
	}, "REQUEST", "DEFERRED", "REPLY")
	return bounded(a)
}

type implicitNode struct {
	id       dme.NodeID
	wait     time.Duration
	our      uint64
	highest  uint64
	pending  bool
	inside   bool
	balance  bool // deferred, and not yet replied to
	deferred bool
}

func (n *implicitNode) Request(out *dme.Outbox) {
	n.highest++
	n.our, n.pending, n.balance = n.highest, true, false
	out.Broadcast(dme.Message{Kind: 1, Clock: n.our})
	out.SetTimer(0, n.wait)
}

func (n *implicitNode) Release(out *dme.Outbox) {
	n.inside = false
	if n.deferred {
		n.deferred = false
		out.Broadcast(dme.Message{Kind: 3})
	}
}

func (n *implicitNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case 1:
		n.highest = max(n.highest, m.Clock)
		ours, theirs := dme.Stamp{Clock: n.our, Node: n.id}, dme.Stamp{Clock: m.Clock, Node: from}
		if n.inside || n.pending && ours.Precedes(theirs) {
			n.deferred = true
			out.Send(from, dme.Message{Kind: 2})
		}
	case 2:
		n.balance = true
	case 3:
		n.balance = false
		if n.pending {
			n.enter(out)
		}
	}
}

func (n *implicitNode) Timeout(_ dme.TimerID, out *dme.Outbox) {
	if n.pending && !n.balance {
		n.enter(out)
	}
}

func (n *implicitNode) enter(out *dme.Outbox) {
	n.pending, n.inside = false, true
	out.CancelTimer(0)
	out.Enter(dme.Stamp{Clock: n.our, Node: n.id})
}

func (n *implicitNode) State(v *dme.Visitor) {
	v.Uint("our", &n.our)
	v.Uint("highest", &n.highest)
	v.Bool("pending", &n.pending)
	v.Bool("inside", &n.inside)
	v.Bool("balance", &n.balance)
	v.Bool("deferred", &n.deferred)
}

// phoenix enters at once: it is safe if one node alone asks. All talk to those they know to be up,
// and come back after a crash.
func phoenix() *dme.Algorithm {
	a := New("phoenix", func(id dme.NodeID, n int) dme.Node { return &firebird{id: id, up: everybody(n)} }, "ASK", "GO", "BYE")
	a.Survives = dme.SurvivesAny
	return a
}

func everybody(n int) collections.NodeSet {
	set := collections.MakeNodeSet(n)
	set.AddOthers(n, dme.None)
	return set
}

type firebird struct {
	id dme.NodeID
	up collections.NodeSet
	n  uint64
}

func (f *firebird) Request(out *dme.Outbox) {
	f.n++
	out.Enter(dme.Stamp{})
	for peer := range f.up.All() {
		if peer != f.id {
			out.Send(peer, dme.Message{Kind: 1, Num: f.n})
		}
	}
}

func (f *firebird) Release(out *dme.Outbox) {}

func (f *firebird) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Kind == 1 {
		out.Send(from, dme.Message{Kind: 2})
	}
}

func (f *firebird) Restart(out *dme.Outbox) {
	f.n = 7
	for peer := range f.up.All() {
		if peer != f.id {
			out.Send(peer, dme.Message{Kind: 3})
		}
	}
	out.SetTimer(1, 1)
}

func (f *firebird) Timeout(dme.TimerID, *dme.Outbox) { f.n = 8 }

func (f *firebird) Down(peer dme.NodeID, _ *dme.Outbox) { f.up.Remove(peer) }
func (f *firebird) Up(peer dme.NodeID, _ *dme.Outbox)   { f.up.Add(peer) }

func (f *firebird) State(v *dme.Visitor) {
	v.Uint("n", &f.n)
	f.up.Show(v, "up")
}
