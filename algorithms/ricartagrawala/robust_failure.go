package ricartagrawala

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/collections"
)

// Section 7.4, node failures:
//
//  1. A node that asks starts a timer. It is restarted when a REPLY is received, and cancelled when
//     the node enters.
//  2. If it expires, all nodes whose REPLY is awaited are suspected, and asked ARE_YOU_THERE.
//  3. A node that receives ARE_YOU_THERE answers YES_I_AM_HERE if it defers its reply, and REPLY
//     otherwise.
//  4. A node that has not answered after a second period has failed. That is broadcast. If all have
//     answered, a new first period begins.
//  5. A node that hears of a failure does not await the failed node any more, and removes it from
//     the group.
//  6. A node that receives a REQUEST from a node outside its group answers RESTART; the receiver
//     returns to the group as a newcomer.
//
// A newcomer watches over its sponsor in the same way. If an answer is due at once, as an
// acknowledgement is, there is only the second period.

// answerDue is the one timer of a node: a node waits for one thing at a time.
const answerDue dme.TimerID = 1

// watch is step 1: it begins a first period.
func (n *robustNode) watch(out *dme.Outbox) {
	n.stage = applying
	if n.requestingCriticalSection {
		n.stage = asking
	}
	n.legs = 1
	out.SetTimer(answerDue, legs*n.bound+n.csBound)
}

// await begins a stage that ends after a round trip: two legs of the bound. After the first, what
// was sent has arrived, and nodes that crashed before will send no more; after the second,
// everything sent before has arrived, whoever sent it.
func (n *robustNode) await(s stage, out *dme.Outbox) {
	n.stage, n.legs = s, legs
	out.SetTimer(answerDue, n.bound)
}

// Timeout ends a leg, and with the last one a stage.
func (n *robustNode) Timeout(_ dme.TimerID, out *dme.Outbox) {
	if n.legs > 1 {
		n.legs--
		out.SetTimer(answerDue, n.bound)
		return
	}
	switch n.stage {
	case asking, applying:
		n.probe(out)
	case probing, consulting:
		n.declareFailed(&n.suspects, out)
	case inserting, welcoming, departing, comparing:
		n.declareFailed(&n.awaiting, out)
	case announcing:
		n.announced(out)
	case restarting:
		n.silent, n.hindered = 0, false
		n.seek(out)
	case seeking:
		n.nobodyHere(out)
	case listening:
		n.listenedEnough(out)
	}
}

// probe is step 2.
func (n *robustNode) probe(out *dme.Outbox) {
	m := dme.Message{Kind: kindAreYouThere, Clock: n.probed()}
	for j := range n.awaiting.All() {
		n.suspects.Add(j)
		out.Send(j, m)
	}
	n.await(probing, out)
}

// probed is the number of the request whose replies are awaited; 0 if the sponsor's WELCOME is.
func (n *robustNode) probed() uint64 {
	if n.requestingCriticalSection {
		return n.ourSequenceNumber
	}
	return 0
}

// receiveAreYouThere is step 3.
func (n *robustNode) receiveAreYouThere(from dme.NodeID, number uint64, out *dme.Outbox) {
	if number == 0 {
		if n.admitted && !n.leaving {
			out.Send(from, dme.Message{Kind: kindYesIAmHere})
		}
		n.receiveSponsor(from, out)
		return
	}
	if !n.receivable(from, number, out) {
		return
	}
	kind := kindReply
	if n.deferReply(from, number) {
		kind = kindYesIAmHere
	}
	out.Send(from, dme.Message{Kind: kind, Clock: number})
}

// receiveYesIAmHere is step 4 for a node that is alive.
func (n *robustNode) receiveYesIAmHere(from dme.NodeID, number uint64, out *dme.Outbox) {
	if n.stage != probing || number != n.probed() {
		return // the answer to an earlier probe
	}
	n.suspects.Remove(from)
	n.watchIfNoSuspects(out)
}

func (n *robustNode) watchIfNoSuspects(out *dme.Outbox) {
	if n.suspects.Empty() {
		n.watch(out)
	}
}

// declareFailed is step 4 for nodes that have not answered.
func (n *robustNode) declareFailed(silent *collections.NodeSet, out *dme.Outbox) {
	for _, j := range slices.Collect(silent.All()) {
		out.Broadcast(dme.Message{Kind: kindFailed, Node: j})
		n.remove(j, out)
	}
}

// receiveFailed is step 5. The sender may speak of itself, as in 7.2.1, or of us.
func (n *robustNode) receiveFailed(from, failed dme.NodeID, out *dme.Outbox) {
	switch {
	case failed == n.me:
		n.returnAsNewcomer(out)
	case !n.other(failed):
		out.Refuse("FAILED of no node")
	default:
		if failed == from {
			n.meetNewcomer(from)
		}
		n.remove(failed, out)
	}
}

// remove takes a node that has failed, or leaves, out of the group. Its answer is
// not awaited any more: we 'pretend that a REPLY was received'.
func (n *robustNode) remove(j dme.NodeID, out *dme.Outbox) {
	n.group.Remove(j)
	n.newcomers.Remove(j)
	n.forgetDeferred(j)
	if n.newcomer == j {
		n.newcomer = dme.None
		n.enter(out) // the critical section is still ours
		return
	}
	n.answered(j, out)
}

func (n *robustNode) forgetDeferred(j dme.NodeID) {
	n.replyDeferred = slices.DeleteFunc(n.replyDeferred, func(r dme.Stamp) bool { return r.Node == j })
}

// receiveRestart is step 6.
func (n *robustNode) receiveRestart(number uint64, out *dme.Outbox) {
	if n.requestingCriticalSection && number == n.ourSequenceNumber {
		n.returnAsNewcomer(out)
	}
}

// returnAsNewcomer is what a node does that others hold for failed. In the
// critical section it can only be too late.
func (n *robustNode) returnAsNewcomer(out *dme.Outbox) {
	switch {
	case !n.admitted: // about to return
	case n.inside:
		n.removed = true
	default:
		n.restart(out)
	}
}

// Section 7.3, the removal of nodes:
//
//  1. A node that wishes to leave notifies all others. Until all have acknowledged it does not ask,
//     and goes on to reply to REQUESTs.
//  2. A notified node removes it from the group, does not await its REPLY any more, and
//     acknowledges. The REPLY may still come: it is known by its request and its sender, and counts
//     for nothing else.

// Depart is step 1. A node that is inserting a newcomer ends that first.
func (n *robustNode) Depart(out *dme.Outbox) {
	n.leaving = true
	n.goOn(out)
}

func (n *robustNode) depart(out *dme.Outbox) {
	n.awaitGroup()
	if n.awaiting.Empty() {
		out.Left()
		return
	}
	n.sendToGroup(dme.Message{Kind: kindLeave}, out)
	n.await(departing, out)
}

// receiveLeave is step 2.
func (n *robustNode) receiveLeave(from dme.NodeID, out *dme.Outbox) {
	out.Send(from, dme.Message{Kind: kindAcknowledge, Node: from})
	n.remove(from, out)
}
