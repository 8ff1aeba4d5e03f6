package raymond

import (
	"slices"

	"dmebench/algorithms/spanning"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
)

// Robust describes Raymond's algorithm with its beginning and its recovery as messages, the
// textbook's sections 9.12.6 and 9.12.7. Tree, variables, routines and events are those of
// [Algorithm].
//
// INITIALIZE (9.12.6): node 1 is chosen as the privileged one. INITIALIZE goes from it through the
// tree, and HOLDER points to where it came from. A node that has received it asks although others
// have not; before, a request waits in REQUEST_Q.
//
// RESTART and ADVISE (9.12.7): a node that comes back after a crash knows the tree and nothing
// else. It sends RESTART to its neighbours, which answer ADVISE with their HOLDER, ASKED and
// REQUEST_Q. A neighbour B whose HOLDER is the node has the privilege on the far side, and if it
// has ASKED, it belongs in REQUEST_Q; else the privilege is on B's side, HOLDER is B, and ASKED
// says whether the node stands in B's REQUEST_Q. If all neighbours point to the node, the privilege
// was lost with it or on the way to it, and the node makes it again. Until it knows HOLDER it takes
// in what comes, and runs neither routine.
//
// Gaps and errors of the text:
//
//   - 'HOLDER can be computed from the ADVISE messages': a PRIVILEGE that has arrived meanwhile is
//     overwritten, and lost for ever. Here it wins.
//   - 'Selects a delay period for the recovery phase': a neighbour that is down does not answer
//     within any, and may be the one with the privilege on its side; a node that goes on without it
//     makes a second one. Here the phase has no length. It ends when HOLDER is known: when a
//     neighbour is found on whose side the privilege is, or all have said that it is not on theirs.
//     A neighbour that comes back later is asked again.
//   - Any message tells of its sender's HOLDER as well as ADVISE does: REQUEST that it is the
//     receiver, with ASKED; PRIVILEGE too, without; INITIALIZE that it is another node. ADVISE that
//     comes later tells nothing new, and would put a neighbour into REQUEST_Q that has the
//     privilege by then.
//   - Neighbours that are recovering at the same time would wait for each other. RESTART is
//     answered once HOLDER is known. And where a node lacks only the word of its parent in the
//     tree, which is recovering too, it gives way: HOLDER is the parent. So of several that forgot,
//     the uppermost makes the privilege again.
//   - A crash before INITIALIZE has passed: RESTART from the parent serves as INITIALIZE, since a
//     node that was never initialized has no privilege below it.
//   - ADVISE of an earlier recovery phase, which the text tells by identifiers: a network gives no
//     incarnation of a node what was meant for an earlier one.
//   - Duplicates in REQUEST_Q, which the text allows, are not made.
//   - REQUEST_Q is rebuilt in the order in which neighbours answer; time stamps that would keep the
//     old order are not sent. No node starves by it.
//
// Links must keep order: else ADVISE overtakes PRIVILEGE, and the node makes a second one. No bound
// on delays is needed, and no node need know which are down: only that a neighbour has come back.
//
// Nothing is survived without the nodes that crashed: they must all come back. Until then, those
// nodes are served whose way to the privilege leads over live nodes, and none if the privilege is
// lost. A node that never comes back cuts the tree for ever. Requests of a process that crashed are
// lost with it.
func Robust() *dme.Algorithm {
	return &dme.Algorithm{
		Name:  "raymond-robust",
		Title: "Raymond, with recovery",
		Description: "Raymond's algorithm with its two additions: the tree finds out by INITIALIZE messages where the token is, and a node " +
			"that crashed and came back learns its state from its neighbours by RESTART and ADVISE. While nobody fails costs are " +
			"those of Raymond. It survives a crash only once the node is back: until then its part of the tree waits. Requests of a " +
			"process that crashed are lost with it.",
		Citation: "K. Raymond: A Tree-Based Algorithm for Distributed Mutual Exclusion, ACM TOCS 7(1), 1989; " +
			"textbook, sections 9.12.6 and 9.12.7",
		Class:       dme.Token,
		Needs:       dme.Always(dme.Needs{Reliable: true, FIFO: true}),
		Kinds:       []string{"REQUEST", "PRIVILEGE", "INITIALIZE", "RESTART", "ADVISE"},
		Options:     []dme.Option{spanning.Option("binary")},
		Claims:      claim.Lazy(robustClaims),
		Invariants:  robustInvariants(),
		HasToken:    dme.OfNode(holder.HasToken),
		QueueLength: dme.OfNode(holder.QueueLength),
		Waits:       dme.OfNode(holder.Waits),
		Root:        spanning.Root,
		Peers:       dme.OfSystem(robustSystem.Peers),
		Prepare: func(c dme.Config) (dme.System, error) {
			s, err := prepare(c)
			return robustSystem{s}, err
		},
	}
}

// The kinds behind INITIALIZE.
const (
	kindRestart = kindInitialize + 1 + iota
	kindAdvise  // Node: HOLDER; Flags: flagAsked; Vec: REQUEST_Q
)

// flagAsked in ADVISE is the sender's ASKED.
const flagAsked uint8 = 1

type robustSystem struct{ *system }

func (s robustSystem) Node(id dme.NodeID) dme.Node {
	near := s.tree.Neighbours(id)
	return &robust{
		node: node{self: id, tree: s.tree}, near: near, parent: s.tree.Parent(id),
		awaited: collections.MakeMemberSet(len(near)), owed: collections.MakeMemberSet(len(near)),
	}
}

type robust struct {
	node
	near   []dme.NodeID // the neighbours, in ascending order
	parent dme.NodeID   // the one in whose direction node 1 is; None at node 1

	recovering bool                  // back after a crash, HOLDER is not known yet
	awaited    collections.MemberSet // of near: have not said where their HOLDER points since this node came back
	owed       collections.MemberSet // of near: have sent RESTART, and wait for ADVISE
}

// Start is the beginning of 9.12.6, at the node that is chosen.
func (n *robust) Start(out *dme.Outbox) {
	if n.self == spanning.Root {
		n.initialize(n.self, out)
	}
}

// initialize makes HOLDER known for the first time, and passes the word on.
func (n *robust) initialize(holder dme.NodeID, out *dme.Outbox) {
	n.holder = holder
	for i, id := range n.near {
		// To a node that has sent RESTART, ADVISE says the same.
		if id != holder && !n.owed.Has(i) {
			out.Send(id, dme.Message{Kind: kindInitialize})
		}
	}
	n.proceed(out)
}

// Restart is the beginning of 9.12.7.
func (n *robust) Restart(out *dme.Outbox) {
	n.recovering = true
	for i, id := range n.near {
		n.awaited.Add(i)
		out.Send(id, dme.Message{Kind: kindRestart})
	}
	n.recover(out)
}

// Up asks a neighbour that was down when this node sent it RESTART.
func (n *robust) Up(peer dme.NodeID, out *dme.Outbox) {
	if i, found := slices.BinarySearch(n.near, peer); found && n.recovering && n.awaited.Has(i) {
		out.Send(peer, dme.Message{Kind: kindRestart})
	}
}

// Down changes nothing: a neighbour is waited for until it is back, and what is
// known of its side of the tree remains true.
func (n *robust) Down(dme.NodeID, *dme.Outbox) {}

func (n *robust) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	i, found := slices.BinarySearch(n.near, from)
	if !found {
		out.Refuse("the sender is not a neighbour in the tree")
		return
	}
	switch m.Kind {
	case kindRequest:
		n.receiveRequest(i, out)
	case kindPrivilege:
		n.receivePrivilege(i, out)
	case kindInitialize:
		n.receiveInitialize(i, out)
	case kindRestart:
		n.receiveRestart(i, out)
	case kindAdvise:
		n.receiveAdvise(i, m, out)
	}
}

func (n *robust) receiveRequest(i int, out *dme.Outbox) {
	from := n.near[i]
	if n.holder == dme.None && !n.recovering {
		out.Refuse("REQUEST from a neighbour that is not initialized")
		return
	}
	if n.requestQ.Has(from) {
		out.Refuse("REQUEST from a neighbour that has asked already")
		return
	}
	n.awaited.Remove(i)
	n.requestQ.Push(from)
	n.proceed(out)
}

func (n *robust) receivePrivilege(i int, out *dme.Outbox) {
	from := n.near[i]
	if expected := n.recovering && n.awaited.Has(i) || n.holder == from && n.asked; !expected {
		out.Refuse("PRIVILEGE that this node did not ask for")
		return
	}
	n.awaited.Remove(i)
	n.holder, n.asked = n.self, false
	n.proceed(out)
}

func (n *robust) receiveInitialize(i int, out *dme.Outbox) {
	from := n.near[i]
	switch {
	case n.holder != dme.None || from != n.parent:
		out.Refuse("INITIALIZE to a node that is initialized, or from below")
	case n.recovering:
		n.learn(i, from, false, out)
	default:
		n.initialize(from, out)
	}
}

func (n *robust) receiveRestart(i int, out *dme.Outbox) {
	from := n.near[i]
	n.owed.Add(i)
	if n.holder == dme.None && !n.recovering && from == n.parent {
		n.initialize(from, out)
		return
	}
	n.proceed(out)
}

func (n *robust) receiveAdvise(i int, m dme.Message, out *dme.Outbox) {
	from := n.near[i]
	switch {
	case !n.awaited.Has(i):
		// It has said so by another message.
	case m.Node != n.self:
		n.learn(i, from, slices.Contains(m.Vec, uint64(n.self)), out)
	default:
		n.awaited.Remove(i)
		if m.Flags&flagAsked != 0 {
			n.requestQ.Push(from)
		}
		n.proceed(out)
	}
}

// learn takes in that the privilege is on the side of the i-th neighbour, and
// whether it has been asked for there.
func (n *robust) learn(i int, holder dme.NodeID, asked bool, out *dme.Outbox) {
	if n.holder != dme.None {
		out.Refuse("the privilege is said to be in two directions")
		return
	}
	n.awaited.Remove(i)
	n.holder, n.asked = holder, asked
	n.proceed(out)
}

// recover ends the recovery once HOLDER follows from what the neighbours have said.
func (n *robust) recover(out *dme.Outbox) {
	switch n.awaited.Len() {
	case 0:
		n.holder = n.self
	case 1:
		i, found := slices.BinarySearch(n.near, n.parent)
		if !found || !n.awaited.Has(i) || !n.owed.Has(i) {
			return
		}
		n.awaited.Remove(i)
		n.holder = n.parent
	default:
		return
	}
	n.proceed(out)
}

// proceed goes on after an event: with the recovery, or with what follows from a
// HOLDER that is known.
func (n *robust) proceed(out *dme.Outbox) {
	if n.holder == dme.None {
		if n.recovering {
			n.recover(out)
		}
		return
	}
	n.recovering = false
	for i := range n.owed.All() {
		out.Send(n.near[i], n.advice())
	}
	n.owed.Clear()
	n.assignPrivilege(out)
	n.makeRequest(out)
}

// advice returns ADVISE as it is now.
func (n *robust) advice() dme.Message {
	m := dme.Message{Kind: kindAdvise, Node: n.holder}
	if n.asked {
		m.Flags = flagAsked
	}
	for id := range n.requestQ.All() {
		m.Vec = append(m.Vec, uint64(id))
	}
	return m
}

func (n *robust) State(v *dme.Visitor) {
	n.node.State(v)
	v.Bool("RECOVERING", &n.recovering)
	n.awaited.Show(v, "AWAITED", n.near)
	n.owed.Show(v, "OWED", n.near)
}

// Waits names the neighbour that the privilege is to come from, or those whose
// word is missing about where it is.
func (n *robust) Waits() []dme.Wait {
	switch {
	case n.recovering:
		var waits []dme.Wait
		for i := range n.awaited.All() {
			waits = append(waits, dme.Wait{For: n.near[i], What: "ADVISE"})
		}
		return waits
	case n.holder == dme.None && !n.requestQ.Empty():
		return []dme.Wait{{For: n.parent, What: "INITIALIZE"}}
	}
	return n.node.Waits()
}

// robustClaims are those about the algorithm without failures, and those about
// failures.
func robustClaims() claim.List {
	var all claim.List
	for _, c := range treeClaims() {
		if c.Quantity == claim.MessagesPerCS && c.Load == claim.Light && c.Kind == claim.Mean {
			// INITIALIZE is counted with all messages, and belongs to no entry.
			all = append(all, claim.KindsPerCS(halved(c), "REQUEST", "PRIVILEGE")...)
			continue
		}
		all = append(all, c)
	}
	const source = "textbook, section 9.12.7"
	return append(append(all, initClaim()), claim.List{
		claim.Violations.Is("0: there is one privilege, whichever nodes fail", claim.Faults, source).
			TestedBy("TestRecoveryAtRandom"),
		claim.Unserved.Is("0 once all nodes have restarted: lost information can be reconstructed",
			claim.Faults, source).TestedBy("TestRecoveryAtRandom"),
		claim.KindPerKind("ADVISE", "RESTART").AtMost("1: a message from each immediate neighbour that is up",
			claim.Faults, source).Where(claim.AtLeastTwo).TestedBy("TestRecoveryAtRandom"),
	}...)
}

// halved returns the claim about one half of the messages: on each edge that a
// request crosses there is a REQUEST and a PRIVILEGE.
func halved(c claim.Claim) claim.Claim {
	both := c
	c.Formula = "half of " + c.Formula
	c.Predict = func(s dme.Setting) (float64, bool) {
		value, ok := both.Prediction(s)
		return value / 2, ok
	}
	return c
}
