package ricartagrawala

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
)

// Ring describes section 6.3, a logical ring. A REQUEST travels from node to node through the
// circuit 1, 2, …, N, 1 instead of going to all at once. Two forms:
//
// form=echo: the REQUEST itself is the reply.
//
//  1. A node that asks chooses a number above any that it has seen and sends REQUEST to its
//     successor.
//  2. A node that receives another's REQUEST passes it on, unless it has priority (it is requesting
//     itself, with the smaller number, or among equals the smaller node number); then it keeps it
//     until it leaves.
//  3. A node whose own REQUEST has come home enters.
//
// That takes N messages, the fewest there can be if each node must receive and send one, and the
// delays of all stops add up.
//
// form=notes: the REQUEST goes round without a pause.
//
//  1. As above.
//  2. A node that has priority passes the REQUEST on too, with the note 'DEFERRED by' itself, and
//     keeps a copy.
//  3. A node that leaves sends a REPLY to each node whose REQUEST it keeps a copy of.
//  4. A node enters when its REQUEST is home and all nodes that noted a deferral have replied.
//
// That takes N messages and one for each note.
//
// Departure from the printed text: it sets Outstanding_Reply_Count from the notes when the REQUEST
// is home. A REPLY may be home before it, and would be counted off nothing: the node then waits for
// ever. Here a balance is kept for each node.
func Ring() *dme.Algorithm {
	a := describe("ricart-agrawala-ring", "Ricart–Agrawala, ring", "6.3")
	a.Description = "The request travels round a ring instead of going to all nodes at once, and is its own reply: a node with priority " +
		"keeps it until it has left, all others pass it on, and when it is home its node enters. An entry costs N messages, " +
		"half of Ricart-Agrawala's. The price is time: N delays in a row, when nobody else asks. With form=notes the request " +
		"does not stop, but carries notes of the nodes that deferred it; they send a reply later. Good if messages are " +
		"expensive and time is not."
	a.Options = []dme.Option{dme.Choice("form",
		"echo: a deferred REQUEST waits where it is; notes: it goes on with a note, and a REPLY follows", "echo", "notes")}
	a.Claims = claim.Lazy(ringClaims)
	a.Invariants = ringInvariants()
	a.Peers = dme.OfSystem(echoSystem.Peers)
	a.Prepare = func(c dme.Config) (dme.System, error) {
		if c.Options.Get("form") == "notes" {
			return dme.Unshared(newNotesNode)(c)
		}
		return echoSystem{n: c.Nodes}, nil
	}
	return a
}

// ringNode is what both forms have in common.
type ringNode struct {
	variables
	inside bool // the critical section
}

// successor is the next of n nodes on the ring.
func successor(n int, id dme.NodeID) dme.NodeID { return id%dme.NodeID(n) + 1 }

// Request is step 1.
func (n *ringNode) Request(out *dme.Outbox) {
	n.choose(n.highestSequenceNumber + 1)
	if n.n == 1 {
		n.enter(out) // there is no ring
		return
	}
	n.pass(n.ourRequest(), nil, out)
}

// pass sends a REQUEST on with its notes.
func (n *ringNode) pass(r dme.Stamp, notes []uint64, out *dme.Outbox) {
	out.Send(successor(n.n, n.me), dme.Message{Kind: kindRequest, Req: r, Vec: notes})
}

// plausible reports whether a REQUEST may have come from the predecessor, and
// refuses it if not.
func (n *ringNode) plausible(from dme.NodeID, r dme.Stamp, out *dme.Outbox) bool {
	switch {
	case successor(n.n, from) != n.me:
		out.Refuse("REQUEST that did not come from the predecessor")
	case r.Clock == 0 || r.Node < 1 || int(r.Node) > n.n:
		out.Refuse("REQUEST of no node")
	case r.Node == n.me && (r != n.ourRequest() || !n.requestingCriticalSection || n.inside):
		out.Refuse("REQUEST of our own that is not on its way")
	default:
		return true
	}
	return false
}

func (n *ringNode) enter(out *dme.Outbox) {
	n.inside = true
	out.Enter(n.ourRequest())
}

func (n *ringNode) State(v *dme.Visitor) {
	n.show(v)
	v.Bool("Inside", &n.inside)
	n.replyDeferred.Show(v, "Deferred")
}

// echoSystem is the system of form=echo.
type echoSystem struct{ n int }

func (s echoSystem) Node(id dme.NodeID) dme.Node {
	return &echoNode{ringNode{variables: variables{me: id, n: s.n}}}
}

// Peers returns the successor: nodes send to no other.
func (s echoSystem) Peers(id dme.NodeID) []dme.NodeID {
	if s.n == 1 {
		return nil
	}
	return []dme.NodeID{successor(s.n, id)}
}

// echoNode is a node of form=echo.
type echoNode struct{ ringNode }

// Receive is steps 2 and 3.
func (n *echoNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Kind != kindRequest {
		out.Refuse("REPLY where a REQUEST is its own")
		return
	}
	if !n.plausible(from, m.Req, out) {
		return
	}
	if m.Req.Node == n.me {
		n.enter(out)
		return
	}
	n.highestSequenceNumber = max(n.highestSequenceNumber, m.Req.Clock)
	if n.defers(m.Req) {
		n.keep(m.Req, out)
		return
	}
	n.pass(m.Req, nil, out)
}

// Release ends the stops of step 2.
func (n *echoNode) Release(out *dme.Outbox) {
	n.requestingCriticalSection, n.inside = false, false
	for _, r := range n.replyDeferred {
		n.pass(r, nil, out)
	}
	n.replyDeferred.Clear()
}

// notesNode is a node of form=notes.
type notesNode struct {
	ringNode
	home bool    // our REQUEST has gone round
	owed balance // the REPLYs to come
}

func newNotesNode(n int, id dme.NodeID) dme.Node {
	return &notesNode{ringNode: ringNode{variables: variables{me: id, n: n}}, owed: makeBalance(n)}
}

// Request is step 1.
func (n *notesNode) Request(out *dme.Outbox) {
	n.home = false
	n.ringNode.Request(out)
}

// Receive is steps 2 and 4.
func (n *notesNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Kind == kindReply {
		n.receiveReply(from, m.Clock, out)
		return
	}
	if !n.plausible(from, m.Req, out) {
		return
	}
	if !n.notesPlausible(&m) {
		out.Refuse("REQUEST with a note by no node")
		return
	}
	if m.Req.Node == n.me {
		n.receiveHome(m.Vec, out)
		return
	}
	n.highestSequenceNumber = max(n.highestSequenceNumber, m.Req.Clock)
	if n.defers(m.Req) {
		if !n.keep(m.Req, out) {
			return
		}
		m.Vec = append(m.Vec, uint64(n.me)) // 'DEFERRED by node me'
	}
	n.pass(m.Req, m.Vec, out)
}

// notesPlausible reports whether the notes are those of nodes that the REQUEST
// has passed, in their order on the ring.
func (n *notesNode) notesPlausible(m *dme.Message) bool {
	last := 0
	for _, by := range m.Vec {
		if by < 1 || by > uint64(n.n) {
			return false
		}
		hops := n.hops(m.Req.Node, dme.NodeID(by))
		if hops <= last || m.Req.Node != n.me && hops >= n.hops(m.Req.Node, n.me) {
			return false
		}
		last = hops
	}
	return true
}

// hops is how far it is from one node to another, going round.
func (n *notesNode) hops(from, to dme.NodeID) int {
	return (int(to) - int(from) + n.n) % n.n
}

// receiveHome is step 4 when the REQUEST is home.
func (n *notesNode) receiveHome(notes []uint64, out *dme.Outbox) {
	if n.home {
		out.Refuse("REQUEST of our own that has been home")
		return
	}
	n.home = true
	for _, by := range notes {
		n.owed.deferred(dme.NodeID(by))
	}
	n.enterIfAllReplied(out)
}

// receiveReply is step 4 when a REPLY arrives.
func (n *notesNode) receiveReply(from dme.NodeID, number uint64, out *dme.Outbox) {
	pending := n.requestingCriticalSection && !n.inside && number == n.ourSequenceNumber
	if !pending || n.home && !n.owed.deferredBy.Has(from) || !n.owed.replied(from) {
		out.Refuse("REPLY that is not awaited")
		return
	}
	n.enterIfAllReplied(out)
}

func (n *notesNode) enterIfAllReplied(out *dme.Outbox) {
	if n.home && n.owed.allReplied() {
		n.owed.clear()
		n.enter(out)
	}
}

// Release is step 3.
func (n *notesNode) Release(out *dme.Outbox) {
	n.inside = false
	n.release(kindReply, out)
}

func (n *notesNode) State(v *dme.Visitor) {
	n.ringNode.State(v)
	v.Bool("Home", &n.home)
	n.owed.show(v)
}

// LastLap is the delay of a handover on the ring at its worst: node 2 is inside, and the
// REQUEST of node 1, its predecessor, has reached it; in T, from the exit to the entry.
var LastLap = claim.Quantity{ID: "last-lap", Name: "delay of a handover to the predecessor on the ring / T"}

// lastLap lets it happen on a network on which every message takes T.
func lastLap(s dme.Setting) (rounds float64, ok bool) {
	if s.Nodes < 2 {
		return 0, false
	}
	net := claim.Rehearse(s)
	net.Do(2, dme.Node.Request)
	net.Settle()
	net.Do(1, dme.Node.Request)
	net.Settle()
	if net.Entered != 2 {
		return 0, false
	}
	net.Do(2, dme.Node.Release)
	for ; net.Entered != 1; rounds++ {
		if !net.Round() {
			return 0, false
		}
	}
	return rounds, true
}

func ringClaims() claim.List {
	const source = "TR-869, section 6.3"
	const notes = "form=notes"
	return slices.Concat(claim.SafeAndLive("TR-869, sections 3 and 6.3"), oneDelay(), claim.List{
		claim.MessagesPerCS.Is("N", claim.AnyLoad, source+"; section 4.2").Where(of("echo")),
		claim.MessagesPerCS.Is("N with little contention", claim.Light, source).With(notes).Where(of("notes")),
		claim.MessagesPerCS.AtLeast("N", claim.AnyLoad, "TR-869, section 4.2").With(notes).Where(of("notes")),
		claim.MessagesPerCS.AtMost("2N−1: N and a REPLY for each note", claim.AnyLoad, source).With(notes).
			Where(of("notes")),
		// The REQUEST passes through all nodes, one after the other.
		claim.ResponseTime.Averages("N·T + E", claim.Light, "TR-869, sections 4.2 and 6.3"),
		LastLap.Is("N−1 (form=echo): the REQUEST goes on from the stop at which it was deferred",
			claim.Static, source).Where(of("echo")).MeasuredBy(lastLap),
		LastLap.Is("1 (form=notes): without the cumulative delays at each stop", claim.Static, source).With(notes).
			Where(of("notes")).MeasuredBy(lastLap),
		claim.InOrder("0: entries in timestamp order", "TR-869, section 2.4"),
		claim.MessagesPerCS.AtLeast("N: the minimum for serial processing",
			claim.AnyLoad, "TR-869, sections 4.2 and 6.3").Where(of("echo")),
		claim.WorkSpread.Is("1: a message into and one out of each node", claim.AnyLoad, "TR-869, section 4.2").
			Where(of("echo")),
	})
}
