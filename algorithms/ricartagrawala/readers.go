package ricartagrawala

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
)

// ReadersWriters describes section 6.6, readers and writers. Several readers may
// be in the critical section at once, a writer is in it alone. One rule is added
// to section 2.2:
//
//   - A reader, from its request to its release, never defers the REQUEST of
//     another reader; it replies at once. Writers follow the original algorithm.
//
// That means:
//
//   - The text speaks of writers that are given priority. They are not: a
//     writer and a reader go in the order of their numbers, like any two
//     requests, and a reader that has asked first goes first. It is true that
//     readers who ask after a writer wait for it, so that a stream of readers
//     cannot shut a writer out.
//   - Readers have no order among themselves. A reader that all writers have
//     let pass, but whose last REPLY is still on its way, may see others enter
//     any number of times.
//
// Departure from the printed text: a REQUEST says whether it is a reader's,
// since its receiver must know. Readers enter without a timestamp: checks of the
// order of entries are about writers.
func ReadersWriters() *dme.Algorithm {
	a := describe("readers-writers", "Ricart–Agrawala, readers and writers", "6.6")
	a.Description = "Ricart-Agrawala for shared and exclusive access. Readers do not defer their replies to each other and so may be inside " +
		"together; a writer is alone. Every entry costs 2(N-1) messages, a reader's too. Good if most accesses are reads " +
		"that take long compared with a message."
	a.Claims = claim.Lazy(readersClaims)
	bothRead := func(a, b *readerNode) bool { return a.reading && b.reading }
	a.Invariants = pairInvariants(bothRead)
	a.Prepare = dme.Unshared(func(n int, id dme.NodeID) dme.Node { return &readerNode{node: newNode(n, id)} })
	return a
}

// Flags of a REQUEST.
const (
	byWriter uint8 = iota
	byReader
)

// readerNode is a node of section 2 that may also read.
type readerNode struct {
	node
	reading bool // the pending request is a reader's
}

// Request is the first process of section 2.2 up to its WAITFOR, for a writer.
func (n *readerNode) Request(out *dme.Outbox) { n.request(byWriter, out) }

// RequestShared is the same for a reader.
func (n *readerNode) RequestShared(out *dme.Outbox) { n.request(byReader, out) }

func (n *readerNode) request(who uint8, out *dme.Outbox) {
	n.reading = who == byReader
	if n.ask(dme.Message{Kind: kindRequest, Clock: n.highestSequenceNumber + 1, Flags: who}, out) {
		n.enter(out)
	}
}

// Release is the rest of the first process.
func (n *readerNode) Release(out *dme.Outbox) {
	n.reading = false
	n.node.Release(out)
}

// Receive is the second and the third process.
func (n *readerNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch {
	case m.Kind == kindRequest:
		n.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, m.Flags, out)
	case n.isLastReply(from, m.Clock, out):
		n.enter(out)
	}
}

// receiveRequest is the second process, with the rule that is added.
func (n *readerNode) receiveRequest(r dme.Stamp, who uint8, out *dme.Outbox) {
	if r.Clock == 0 || who > byReader {
		out.Refuse("REQUEST without a sequence number, or by neither reader nor writer")
		return
	}
	n.highestSequenceNumber = max(n.highestSequenceNumber, r.Clock)
	bothRead := n.reading && who == byReader
	n.answer(r, n.defers(r) && !bothRead, out)
}

func (n *readerNode) enter(out *dme.Outbox) {
	if n.reading {
		out.Enter(dme.Stamp{})
	} else {
		out.Enter(n.ourRequest())
	}
}

func (n *readerNode) State(v *dme.Visitor) {
	n.show(v)
	v.Bool("Reading", &n.reading)
	n.awaitingReply.Show(v, "Awaiting_Reply")
	n.replyDeferred.Show(v, "Reply_Deferred")
}

func readersClaims() claim.List {
	const source = "TR-869, section 6.6"
	return slices.Concat(claim.SafeAndLive("TR-869, sections 3 and 6.6"), oneDelay(), claim.List{
		claim.CostPerPeer(2, claim.AnyLoad, claim.Exact, "TR-869, sections 4 and 6.6"),
		claim.InOrder("0: writers in timestamp order", "TR-869, section 2.4"),
		// Were it so, a writer that waits would see no reader enter.
		claim.ReadersBeforeWriter.AtMost("0 readers while a writer waits: writers are given priority",
			claim.Contention, source).
			Refuted("readers and writers go in the order of their numbers: a reader that asked first goes first"),
		claim.ReadersInside.Is("N: a reader never defers another reader's REQUEST", claim.Burst, source),
	})
}
