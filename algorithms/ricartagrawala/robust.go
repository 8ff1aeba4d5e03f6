package ricartagrawala

import (
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
)

// Robust describes section 7, considerations for practical networks: nodes may crash and come back,
// join and leave while the others go on. The group are the nodes that take part; statements of
// section 2 about all nodes are about them. Its parts stand in files of their own:
//
//   - robust.go: section 2, with the set Awaiting_Reply of 7.4.
//   - robust_names.go: 7.1. Node numbers come from a larger range, by NAMES.
//   - robust_failure.go: 7.4 and 7.3. A node that waits too long for a REPLY asks ARE_YOU_THERE; a
//     silent one has FAILED, and all are told. And 7.3: a node that leaves tells the others and
//     waits for their acknowledgements.
//   - robust_insertion.go: 7.2. A newcomer says that it FAILED, waits, finds the group, and becomes
//     part of it by a sponsor or by a broadcast. By 7.2.3 it asks only when its
//     Highest_Sequence_Number is high enough, which it learns in one of five ways.
//
// Departures from the printed text, which published.go keeps as it is:
//
//   - Those of section 2 (see the package): a REPLY names its request, and Highest_Sequence_Number
//     covers own numbers. Otherwise a REPLY that ARE_YOU_THERE has drawn beside a deferred one
//     serves a later request, and a newcomer that asks all for the highest number misses theirs.
//   - ARE_YOU_THERE carries the number of the request and is handled as that REQUEST, sent again.
//     The text has it answered by REPLY if no reply is deferred, even by a node that never saw the
//     REQUEST and has priority over it.
//   - The sponsor waits for acknowledgements of the newcomer's number before it admits the
//     newcomer, and for the newcomer's before it leaves: the next sponsor finds a group on which
//     all agree. In the broadcast form the newcomer waits for acknowledgements. It learns from them
//     which nodes are there beside those on the list of a nearby node, which may be newcomers like
//     itself.
//   - A newcomer finds a sponsor by WHO_IS_THERE. If no node of a group answers twice, and no
//     newcomer with a smaller number is there, it founds a group of its own: the text does not say
//     how to begin again after all have failed.
//   - A node that joins waits for the restart interval too: it cannot know that it has not been
//     there before.
//   - The ways b, c and e of 7.2.3 wait for REQUESTs, which may never come. After the time of way d
//     the newcomer goes on as there. Way d asks a nearby node for its number in any case, and not
//     only if no REQUEST was received: then it does not matter whether the estimate of the critical
//     section holds.
//
// # Timers
//
// The bound B on a message's delay, handling included, is the option bound: the user vouches for
// it. The option cs-bound is the estimate E of the time in a critical section. The first period of
// 7.4 is 2B+E, the second 2B: a node that fails is removed at most 4B+E after a node asks for its
// REPLY and the last other REPLY has come. A wrong E costs probes and nothing else. The restart
// interval is 2B, in two legs: after the first all have heard that the node failed, and after the
// second what others have said about it has arrived.
//
// # What it survives, and what not
//
// It survives any crashes while one node is left: of requesters, of the node in the critical
// section, of a sponsor at work, of newcomers. A failed node is not noticed until one asks.
//
// If the network breaks the bound, a node that is alive may be declared failed. If it is in its
// critical section, another enters beside it; if it waits, and has all but one REPLY, likewise. It
// is told so by the FAILED that is broadcast or, if that is lost, by a RESTART in answer to its
// next REQUEST, and returns as a newcomer, after its critical section if it is inside. A network
// that falls into parts makes each part a group: two nodes may be in the critical section, and the
// groups do not find each other again. No scheme that goes on without a majority can do better.
func Robust() *dme.Algorithm {
	a := describeRobust("ricart-agrawala-robust", "Ricart–Agrawala, robust",
		func(n *robustNode) dme.Node { return n })
	a.Description = "Ricart-Agrawala for nodes that crash, come back, join and leave. A node that waits too long for a reply asks " +
		"ARE_YOU_THERE; a node that stays silent is declared failed to all, and the rest goes on without it. Newcomers are let " +
		"in by a sponsor. While nobody fails an entry costs 2(N-1) messages, as ever. It rests on a known bound on the delay of messages: a " +
		"pause or a partition that is longer than the bound is taken for a crash, and can let two nodes in."
	a.Survives = dme.SurvivesAny
	a.Claims = claim.Lazy(robustClaims)
	a.Gauges = robustGauges()
	return a
}

// describeRobust says what the repaired algorithm and the published one have in
// common; wrap makes a node of either.
func describeRobust(name, title string, wrap func(*robustNode) dme.Node) *dme.Algorithm {
	a := describe(name, title, "7")
	a.Needs = func(o dme.Options) dme.Needs {
		return dme.Needs{Reliable: true, BoundedDelay: true, FIFO: o.Get("synchronized") == "fourth"}
	}
	a.Kinds = []string{
		"REQUEST", "REPLY", "ARE_YOU_THERE", "YES_I_AM_HERE", "FAILED", "RESTART", "WHO_IS_THERE", "HERE",
		"SPONSOR", "INSERT", "ACKNOWLEDGE", "WELCOME", "ASK_HIGHEST", "HIGHEST", "LEAVE",
	}
	a.Options = robustOptions()
	a.ValidNodes = func(n int, o dme.Options) error {
		_, err := namesOf(n, o)
		return err
	}
	a.Prepare = func(c dme.Config) (dme.System, error) {
		s, err := prepareRobust(c)
		s.wrap = wrap
		return s, err
	}
	return a
}

// The kinds behind REPLY.
const (
	kindAreYouThere dme.Kind = kindReply + 1 + iota // Clock: the number of the REQUEST; 0: SPONSOR
	kindYesIAmHere                                  // Clock: as in the ARE_YOU_THERE
	kindFailed                                      // Node: the failed node
	kindRestart                                     // Clock: the number of the REQUEST
	kindWhoIsThere
	kindHere        // Flags: byMember, or none; Vec, for a broadcast: the group
	kindSponsor     // the sender wants to be sponsored
	kindInsert      // Node: the newcomer; Clock: the sponsor's number
	kindAcknowledge // Node: the node that is inserted, or leaves; Clock: as in the INSERT
	kindWelcome     // Clock: the sponsor's number; Vec: the group
	kindAskHighest
	kindHighest // Clock: the number; Flags: byMember if it can be relied upon
	kindLeave
)

// byMember is the flag of an answer by a node of the group.
const byMember uint8 = 1

// stage says what a node waits for from the nodes in awaiting, which have until its timer fires.
type stage uint64

const (
	resting    stage = iota // nothing: it asks for nothing, or is in its critical section
	restarting              // 7.2.1: the restart interval
	seeking                 // 7.2.2: HERE from a node of the group
	applying                // 7.2.2: WELCOME from the sponsor
	announcing              // 7.2.2, broadcast: acknowledgements of its own insertion
	listening               // 7.2.3: REQUESTs
	comparing               // 7.2.3: HIGHEST from all
	consulting              // 7.2.3: HIGHEST from one, the suspect
	asking                  // section 2: REPLYs
	probing                 // 7.4: a sign of life of the suspects
	inserting               // 7.2.2, as a sponsor: acknowledgements of the newcomer
	welcoming               // 7.2.2, as a sponsor: the newcomer's acknowledgement
	departing               // 7.3: acknowledgements
)

// robustNode is a node of section 7.
type robustNode struct {
	variables
	*robustSystem

	group    collections.NodeSet // the other nodes that take part, as far as is known
	awaiting collections.NodeSet // nodes that have yet to answer; Awaiting_Reply of 7.4 while it asks
	suspects collections.NodeSet // silent after ARE_YOU_THERE, or being consulted; empty at other stages
	stage    stage
	legs     uint64 // of the bound until the timer counts

	admitted     bool // part of the group
	synchronized bool // its Highest_Sequence_Number is high enough
	wanted       bool // the local process has asked, and is not inside
	inside       bool // the local process is in the critical section
	leaving      bool // told to leave
	removed      bool // others hold it for failed, which it heard in its critical section

	hindered bool   // seeking: there is a newcomer with a smaller number
	silent   uint64 // seeking: how often no node of a group has answered

	newcomers collections.NodeSet // nodes that want to be sponsored
	newcomer  dme.NodeID          // the node being inserted

	first    uint64   // listening: the first number that was received
	received []uint64 // listening: by node, from 1: how many REQUESTs
}

// Request is the first process of section 2.2 up to its WAITFOR. A node that is
// not ready keeps the request until it is.
func (n *robustNode) Request(out *dme.Outbox) {
	n.wanted = true
	n.goOn(out)
}

// Release is the rest of the first process.
func (n *robustNode) Release(out *dme.Outbox) {
	n.inside = false
	n.release(kindReply, out)
	n.goOn(out)
}

// goOn begins what there is to do next, in a node that may begin something.
func (n *robustNode) goOn(out *dme.Outbox) {
	switch {
	case n.stage != resting || n.inside:
	case n.removed:
		n.restart(out)
	case n.leaving && (n.newcomers.Empty() || !n.synchronized):
		n.depart(out)
	case !n.synchronized:
		n.synchronize(out)
	case n.wanted || !n.newcomers.Empty():
		n.ask(out)
	}
}

// ask sends a REQUEST to the group: for the local process, or to insert a
// newcomer.
func (n *robustNode) ask(out *dme.Outbox) {
	n.choose(n.highestSequenceNumber + 1)
	n.sendToGroup(dme.Message{Kind: kindRequest, Clock: n.ourSequenceNumber}, out)
	n.awaitGroup()
	if n.awaiting.Empty() {
		n.enter(out)
		return
	}
	n.watch(out)
}

// sendToGroup sends m, which has no vector, to the others of the group.
func (n *robustNode) sendToGroup(m dme.Message, out *dme.Outbox) {
	if n.group.Len() == n.n-1 {
		out.Broadcast(m)
		return
	}
	for j := range n.group.All() {
		out.Send(j, m)
	}
}

// awaitGroup expects an answer from every node of the group.
func (n *robustNode) awaitGroup() {
	n.awaiting.Clear()
	for j := range n.group.All() {
		n.awaiting.Add(j)
	}
}

// rest ends a stage.
func (n *robustNode) rest(out *dme.Outbox) {
	if n.stage != resting {
		out.CancelTimer(answerDue)
	}
	n.stage, n.legs = resting, 0
	n.awaiting.Clear()
	n.suspects.Clear()
}

// enter ends the WAITFOR of the first process: the critical section is ours.
// Newcomers are inserted first.
func (n *robustNode) enter(out *dme.Outbox) {
	n.rest(out)
	for j := range n.newcomers.All() {
		n.insert(j, out)
		return
	}
	if n.wanted {
		n.wanted, n.inside = false, true
		out.Enter(n.ourName())
		return
	}
	n.release(kindReply, out)
	n.goOn(out)
}

// Receive hands a message to the section that it belongs to.
func (n *robustNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case kindRequest:
		n.receiveRequest(from, m.Clock, out)
	case kindReply:
		n.receiveReply(from, m.Clock, out)
	case kindAreYouThere:
		n.receiveAreYouThere(from, m.Clock, out)
	case kindYesIAmHere:
		n.receiveYesIAmHere(from, m.Clock, out)
	case kindFailed:
		n.receiveFailed(from, m.Node, out)
	case kindRestart:
		n.receiveRestart(m.Clock, out)
	case kindWhoIsThere:
		n.receiveWhoIsThere(from, out)
	case kindHere:
		n.receiveHere(from, &m, out)
	case kindSponsor:
		n.receiveSponsor(from, out)
	case kindInsert:
		n.receiveInsert(from, m.Node, m.Clock, out)
	case kindAcknowledge:
		n.receiveAcknowledge(from, m.Node, m.Clock, out)
	case kindWelcome:
		n.receiveWelcome(from, &m, out)
	case kindAskHighest:
		n.receiveAskHighest(from, out)
	case kindHighest:
		n.receiveHighest(from, &m, out)
	case kindLeave:
		n.receiveLeave(from, out)
	}
}

// receiveRequest is the second process.
func (n *robustNode) receiveRequest(from dme.NodeID, number uint64, out *dme.Outbox) {
	if !n.receivable(from, number, out) {
		return
	}
	if !n.deferReply(from, number) {
		out.Send(from, dme.Message{Kind: kindReply, Clock: number})
	}
	if n.stage == listening {
		n.listen(from, number, out)
	}
}

// receivable reports whether a REQUEST is to be answered, and takes note of its number. A node of
// the group tells the sender if that is not in the group.
func (n *robustNode) receivable(from dme.NodeID, number uint64, out *dme.Outbox) bool {
	if number == 0 {
		out.Refuse("REQUEST without a sequence number")
		return false
	}
	if n.admitted && !n.group.Has(from) {
		out.Send(from, dme.Message{Kind: kindRestart, Clock: number})
		return false
	}
	n.highestSequenceNumber = max(n.highestSequenceNumber, number)
	return true
}

// deferReply defers the reply if our own request has priority, and reports whether it did. A node
// has one request at a time: a newer one takes the place of an older.
func (n *robustNode) deferReply(from dme.NodeID, number uint64) bool {
	r := dme.Stamp{Clock: number, Node: from}
	if !n.requestingCriticalSection || !n.precedes(n.ourRequest(), r) {
		return false
	}
	if !n.replyDeferred.Add(r) {
		n.forgetDeferred(from)
		n.replyDeferred.Add(r)
	}
	return true
}

// receiveReply is the third process. A REPLY may come twice, and late: if ARE_YOU_THERE has drawn
// one beside it, or where it was taken for granted because its sender left.
func (n *robustNode) receiveReply(from dme.NodeID, number uint64, out *dme.Outbox) {
	if number > n.ourSequenceNumber {
		out.Refuse("REPLY to a request that was not made")
		return
	}
	if n.pending(number) {
		n.answered(from, out)
	}
}

// pending reports whether replies to the request of this number are awaited.
func (n *robustNode) pending(number uint64) bool {
	return n.requestingCriticalSection && number == n.ourSequenceNumber && (n.stage == asking || n.stage == probing)
}

// answered notes that j has answered, or need not any more, and goes on if no other node is
// awaited.
func (n *robustNode) answered(j dme.NodeID, out *dme.Outbox) {
	if !n.awaiting.Has(j) {
		return
	}
	n.awaiting.Remove(j)
	n.suspects.Remove(j)
	if n.awaiting.Empty() {
		n.allAnswered(out)
		return
	}
	switch n.stage {
	case asking:
		n.watch(out) // the timer is restarted when a REPLY is received
	case probing:
		n.watchIfNoSuspects(out)
	case consulting:
		if n.suspects.Empty() {
			n.consult(out)
		}
	}
}

// allAnswered ends a stage whose answers are all there.
func (n *robustNode) allAnswered(out *dme.Outbox) {
	switch n.stage {
	case asking, probing, applying:
		if n.requestingCriticalSection {
			n.enter(out)
		} else {
			n.seek(out) // the sponsor is gone
		}
	case inserting:
		n.welcome(out)
	case comparing, consulting:
		n.synchronizedNow(out)
	case listening:
		n.heardFromAll(out)
	case departing:
		n.rest(out)
		out.Left()
	}
}

func (n *robustNode) State(v *dme.Visitor) {
	n.show(v)
	n.group.Show(v, "Group")
	n.awaiting.Show(v, "Awaiting")
	n.suspects.Show(v, "Suspects")
	n.replyDeferred.Show(v, "Reply_Deferred")
	v.Uint("Stage", (*uint64)(&n.stage))
	v.Uint("Legs", &n.legs)
	v.Bool("Admitted", &n.admitted)
	v.Bool("Synchronized", &n.synchronized)
	v.Bool("Wanted", &n.wanted)
	v.Bool("Inside", &n.inside)
	v.Bool("Leaving", &n.leaving)
	v.Bool("Removed", &n.removed)
	v.Bool("Hindered", &n.hindered)
	v.Uint("Silent", &n.silent)
	n.newcomers.Show(v, "Newcomers")
	v.Node("Newcomer", &n.newcomer)
	v.ClockWhile(n.first != 0, dme.None, "First", &n.first)
	v.Uints("Received", &n.received)
}
