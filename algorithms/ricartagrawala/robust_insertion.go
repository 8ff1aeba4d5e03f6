package ricartagrawala

import (
	"time"

	"dmebench/dme"
)

// Sections 7.2.1 and 7.2.2, the insertion of new nodes.
//
// insertion=sponsor:
//
//  1. A newcomer tells all others that it FAILED, and waits until that is known and all that was
//     said about it before has arrived.
//  2. It asks WHO_IS_THERE. Newcomers and nodes of the group answer HERE.
//  3. It asks the first node of the group that has answered to SPONSOR it.
//  4. The sponsor asks for the critical section; in it, it sends INSERT to the group. All add the
//     newcomer and acknowledge.
//  5. When all have acknowledged, the sponsor sends WELCOME with the list of the group, and leaves
//     the critical section when the newcomer has acknowledged.
//
// insertion=broadcast:
//
//  3. The newcomer takes the list of the first node of the group that has answered, and broadcasts
//     INSERT. All that are there add it and acknowledge.
//  4. After a round trip it is part of the group: all that are there have acknowledged, and are on
//     its list.
//
// A node may have others in its group that are not part of it: newcomers whose sponsor has failed,
// or nodes that have just left. They cost nothing but time: a newcomer replies to every REQUEST,
// and nodes that are gone are found to have failed. That one is missing must not happen.

// Restart is step 1, after a crash.
func (n *robustNode) Restart(out *dme.Outbox) { n.restart(out) }

// Join is step 1, of a node that cannot know whether it has been there before.
func (n *robustNode) Join(out *dme.Outbox) { n.restart(out) }

func (n *robustNode) restart(out *dme.Outbox) {
	n.rest(out)
	n.group.Clear()
	n.newcomers.Clear()
	n.replyDeferred.Clear()
	n.newcomer = dme.None
	n.requestingCriticalSection = false
	n.admitted, n.synchronized, n.removed = false, false, false
	out.Broadcast(dme.Message{Kind: kindFailed, Node: n.me})
	n.await(restarting, out)
}

// seek is step 2.
func (n *robustNode) seek(out *dme.Outbox) {
	n.awaiting.Clear()
	out.Broadcast(dme.Message{Kind: kindWhoIsThere})
	n.await(seeking, out)
}

func (n *robustNode) receiveWhoIsThere(from dme.NodeID, out *dme.Outbox) {
	n.meetNewcomer(from)
	m := dme.Message{Kind: kindHere}
	if n.admitted && n.stage != departing {
		m.Flags = byMember
		if n.broadcasts {
			m.Vec = n.list(from)
		}
	}
	out.Send(from, m)
}

// meetNewcomer notes a newcomer that will found a group if one is to be founded.
func (n *robustNode) meetNewcomer(j dme.NodeID) {
	if n.stage == seeking && j < n.me {
		n.hindered = true
	}
}

// list returns the group, ourselves included and one node left out.
func (n *robustNode) list(without dme.NodeID) []uint64 {
	list := make([]uint64, 0, n.group.Len()+1)
	for j := range n.group.All() {
		if j != without {
			list = append(list, uint64(j))
		}
	}
	return append(list, uint64(n.me))
}

// addAll puts the nodes of a list into the group. Those that are in it stay: they
// were inserted while the list was on its way.
func (n *robustNode) addAll(list []uint64) {
	for _, j := range list {
		if j <= uint64(n.n) && n.other(dme.NodeID(j)) {
			n.group.Add(dme.NodeID(j))
		}
	}
}

// receiveHere is step 3.
func (n *robustNode) receiveHere(from dme.NodeID, m *dme.Message, out *dme.Outbox) {
	switch {
	case m.Flags != byMember:
		n.meetNewcomer(from)
		if n.stage == applying || n.stage == probing && !n.admitted {
			n.answered(from, out) // was to sponsor us, and cannot
		}
		return
	case n.stage != seeking:
		return // another was faster
	}
	n.silent, n.hindered = 0, false
	if n.broadcasts {
		n.addAll(m.Vec)
		n.announce(out)
		return
	}
	n.awaiting.Add(from)
	out.Send(from, dme.Message{Kind: kindSponsor})
	n.watch(out)
}

// nobodyHere is step 2 if no node of a group has answered for a round trip. One that has just been
// admitted may have answered before it was: after a second one there is none.
func (n *robustNode) nobodyHere(out *dme.Outbox) {
	n.silent++
	if n.silent >= 2 {
		if !n.hindered {
			n.silent, n.synchronized = 0, true
			n.admit(out)
			return
		}
		n.silent, n.hindered = 0, false
	}
	n.seek(out)
}

// admit makes the node a part of the group.
func (n *robustNode) admit(out *dme.Outbox) {
	n.rest(out)
	n.admitted = true
	n.goOn(out)
}

// receiveSponsor is step 4 at the sponsor.
func (n *robustNode) receiveSponsor(from dme.NodeID, out *dme.Outbox) {
	if !n.sponsors(from) {
		out.Send(from, dme.Message{Kind: kindHere})
		return
	}
	n.goOn(out)
}

// sponsors takes on a newcomer, and reports whether it can.
func (n *robustNode) sponsors(j dme.NodeID) bool {
	if !n.admitted || n.leaving {
		return false
	}
	n.newcomers.Add(j)
	return true
}

// insert is step 4 when the sponsor is in the critical section.
func (n *robustNode) insert(newcomer dme.NodeID, out *dme.Outbox) {
	n.newcomer = newcomer
	n.awaitGroup()
	n.awaiting.Remove(newcomer)
	for j := range n.awaiting.All() {
		out.Send(j, dme.Message{Kind: kindInsert, Node: newcomer, Clock: n.ourSequenceNumber})
	}
	if n.awaiting.Empty() {
		n.welcome(out)
		return
	}
	n.await(inserting, out)
}

func (n *robustNode) receiveInsert(from, newcomer dme.NodeID, number uint64, out *dme.Outbox) {
	if n.other(newcomer) {
		n.group.Add(newcomer)
		if n.stage == departing {
			out.Send(newcomer, dme.Message{Kind: kindLeave})
		}
	} else if newcomer != n.me {
		out.Refuse("INSERT of no node")
		return
	}
	out.Send(from, dme.Message{Kind: kindAcknowledge, Node: newcomer, Clock: number})
}

// welcome is step 5.
func (n *robustNode) welcome(out *dme.Outbox) {
	out.Send(n.newcomer, dme.Message{Kind: kindWelcome, Clock: n.ourSequenceNumber, Vec: n.list(n.newcomer)})
	n.group.Add(n.newcomer)
	n.awaiting.Add(n.newcomer)
	n.await(welcoming, out)
}

// receiveWelcome is step 5 at the newcomer. It acknowledges twice if it was sponsored twice,
// because its ARE_YOU_THERE has crossed the WELCOME.
func (n *robustNode) receiveWelcome(from dme.NodeID, m *dme.Message, out *dme.Outbox) {
	sponsored := !n.admitted && (n.stage == applying || n.stage == probing) && n.awaiting.Has(from)
	if !sponsored && !n.admitted {
		out.Refuse("WELCOME from a node that is not the sponsor")
		return
	}
	n.addAll(m.Vec)
	out.Send(from, dme.Message{Kind: kindAcknowledge, Node: n.me, Clock: m.Clock})
	if sponsored {
		n.admit(out)
	}
}

func (n *robustNode) receiveAcknowledge(from, node dme.NodeID, number uint64, out *dme.Outbox) {
	switch {
	case n.stage == inserting && node == n.newcomer && number == n.ourSequenceNumber,
		n.stage == departing && node == n.me:
		n.answered(from, out)
	case n.stage == welcoming && node == n.newcomer && from == node && number == n.ourSequenceNumber:
		n.newcomers.Remove(from)
		n.newcomer = dme.None
		n.enter(out)
	case n.stage == announcing && node == n.me:
		n.group.Add(from)
		n.answered(from, out)
	}
}

// announce is step 3 of the broadcast.
func (n *robustNode) announce(out *dme.Outbox) {
	n.awaitGroup()
	out.Broadcast(dme.Message{Kind: kindInsert, Node: n.me})
	n.await(announcing, out)
}

// announced is step 4 of the broadcast. A node that is on the list and has not acknowledged has
// failed.
func (n *robustNode) announced(out *dme.Outbox) {
	n.declareFailed(&n.awaiting, out)
	n.admit(out)
}

// Section 7.2.3: the Highest_Sequence_Number of a newcomer must not be below the
// number of any REQUEST that it would have received, had it always been part of the group. Those
// are the REQUESTs that were sent to the group before all had added the newcomer. The newcomer may
// ask when it has, or when they have all been served:
//
//   - synchronized=highest, way a: it has asked all others for their Highest_Sequence_Number, and
//     used the largest.
//   - synchronized=each, way b: it has received one REQUEST from each. A node's earlier request is
//     over when it sends the next.
//   - synchronized=rise, way c: the numbers on REQUESTs that it has received since it was admitted
//     have risen by N−1. Numbers of requests that wait together are no further apart, and the first
//     REQUEST that it receives waits for its REPLY.
//   - synchronized=time, way d: time has passed in which all could have been served. Then it uses
//     the number of a nearby node, which has received every REQUEST that was on its way.
//   - synchronized=fourth, way e: it has received four REQUESTs from one node since it was
//     admitted, on links that keep order (appendix).
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
		n.sendToGroup(dme.Message{Kind: kindAskHighest}, out)
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

// heardFromAll is way b, once no REQUEST is awaited any more.
func (n *robustNode) heardFromAll(out *dme.Outbox) {
	if n.way == "each" || n.group.Empty() {
		n.synchronizedNow(out)
	}
}

// listenedEnough is way d, and the end of the others if too few ask.
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

// receiveHighest is way a, and the end of way d. A nearby node that is no more synchronized than
// this one does not help; but if all are like that, no node has asked.
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
