package ricartagrawala

import (
	"time"

	"dmebench/dme"
)

// This file is section 7.2.3: the Highest_Sequence_Number of a newcomer must not
// be below the number of any REQUEST that it would have received, had it always
// been part of the group. Those are the REQUESTs that were sent to the group
// before everybody had added the newcomer. The newcomer may ask when it has, or
// when they have all been served:
//
//   - synchronized=highest, way a: it has asked everybody for their
//     Highest_Sequence_Number, and used the largest.
//   - synchronized=each, way b: it has received one REQUEST from each. A node's
//     earlier request is over when it sends the next.
//   - synchronized=rise, way c: the numbers on REQUESTs that it has received since
//     it was admitted have risen by N−1. Numbers of requests that wait together are
//     no further apart, and the first REQUEST that it receives waits for its REPLY.
//   - synchronized=time, way d: time has passed in which all could have been
//     served. Then it uses the number of a nearby node, which has received every
//     REQUEST that was on its way.
//   - synchronized=fourth, way e: it has received four REQUESTs from one node since
//     it was admitted, on links that keep order (appendix).
//
// Until then it does not ask, and replies to every REQUEST.

// synchronize begins to wait.
func (n *robustNode) synchronize(out *dme.Outbox) {
	n.awaitGroup()
	if n.awaiting.Empty() {
		n.synchronizedNow(out)
		return
	}
	if n.way == "highest" {
		n.tellGroup(dme.Message{Kind: kindAskHighest}, out)
		n.await(comparing, out)
		return
	}
	n.stage, n.legs, n.first = listening, 1, 0
	n.received = append(n.received[:0], make([]uint64, n.n+1)...)
	out.SetTimer(answerDue, n.timeForAll())
}

// timeForAll is the time of way d: a round trip, and a critical section with its
// hand-over for each of N−1 nodes.
func (s *robustSystem) timeForAll() time.Duration {
	return legs*s.bound + time.Duration(s.nodes-1)*(s.bound+s.csBound)
}

// listen is ways b, c and e when a REQUEST arrives.
func (n *robustNode) listen(from dme.NodeID, number uint64, out *dme.Outbox) {
	n.received[from]++
	if n.first == 0 {
		n.first = number
	}
	switch n.way {
	case "each":
		n.answered(from, out)
	case "rise":
		if number >= n.first+uint64(n.n)-1 {
			n.synchronizedNow(out)
		}
	case "fourth":
		if n.received[from] >= 4 {
			n.synchronizedNow(out)
		}
	}
}

// heardFromAll is way b when nobody is left of whom a REQUEST is awaited.
func (n *robustNode) heardFromAll(out *dme.Outbox) {
	if n.way == "each" || n.group.Empty() {
		n.synchronizedNow(out)
	}
}

// listenedEnough is way d, and the end of the others where too few ask.
func (n *robustNode) listenedEnough(out *dme.Outbox) {
	n.awaitGroup()
	if n.awaiting.Empty() {
		n.synchronizedNow(out)
		return
	}
	n.consult(out)
}

// consult asks a nearby node for its number: the next of those that have not been
// asked.
func (n *robustNode) consult(out *dme.Outbox) {
	nearby := dme.None
	for j := range n.awaiting.All() {
		if nearby == dme.None || nearby < n.me && n.me < j {
			nearby = j
		}
	}
	n.suspects.Add(nearby)
	out.Send(nearby, dme.Message{Kind: kindAskHighest})
	n.await(consulting, out)
}

func (n *robustNode) receiveAskHighest(from dme.NodeID, out *dme.Outbox) {
	m := dme.Message{Kind: kindHighest, Clock: n.highestSequenceNumber}
	if n.synchronized {
		m.Flags = byMember
	}
	out.Send(from, m)
}

// receiveHighest is way a, and the end of way d. A nearby node that is no more
// synchronized than we are is no help; but if all are like that, nobody has asked.
func (n *robustNode) receiveHighest(from dme.NodeID, m *dme.Message, out *dme.Outbox) {
	switch n.stage {
	case comparing:
		n.highestSequenceNumber = max(n.highestSequenceNumber, m.Clock)
		n.answered(from, out)
	case consulting:
		if !n.suspects.Has(from) {
			return
		}
		n.highestSequenceNumber = max(n.highestSequenceNumber, m.Clock)
		if m.Flags == byMember {
			n.synchronizedNow(out)
		} else {
			n.answered(from, out)
		}
	}
}

// synchronizedNow ends the wait: the node may ask.
func (n *robustNode) synchronizedNow(out *dme.Outbox) {
	n.rest(out)
	n.synchronized = true
	n.received = n.received[:0]
	n.first = 0
	n.goOn(out)
}
