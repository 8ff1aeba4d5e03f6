package ricartagrawala

import (
	"slices"

	"dmebench/dme"
)

// The invariants of section 3, which argues with what two nodes know of each other. Those of a
// modification are the same if its nodes are.

// party is a node of section 2, or one that has grown from it.
type party interface {
	dme.Node
	base() *node
	owes(id dme.NodeID) bool // whether it has a node's REQUEST and has not answered
}

func (n *node) base() *node { return n }

func (n *node) owes(id dme.NodeID) bool { return n.replyDeferred.Has(id) }

func (n *delayingNode) owes(id dme.NodeID) bool { return n.delayed.Has(id) || n.node.owes(id) }

// pairInvariants are those of nodes of type T: of any two, one at a time has the other's reply,
// unless together allows both.
func pairInvariants[T party](together func(a, b T) bool) []dme.Invariant {
	return []dme.Invariant{
		dme.PairInvariant("one reply of two", "TR-869, section 3.1",
			"of two nodes that are requesting or inside, at most one has the other's reply",
			func(_ dme.GlobalView, i, j dme.NodeID, a, b T) error {
				return oneOfTwo(i, j, a, b, together)
			}),
		dme.PairInvariant("one answer", "TR-869, sections 2.2 and 3.2",
			"a node that awaits a reply has one REQUEST on its way, or is deferred, or has the REPLY on its way to it; "+
				"no other node has any of these", oneAnswer[T]),
	}
}

// numbersNear is the invariant of section 6.4. (Readers who do not wait for each other
// get further apart.)
func numbersNear[T party]() dme.Invariant {
	return dme.PairInvariant("numbers within N", "TR-869, section 6.4",
		"the sequence numbers of all nodes that are requesting or inside lie within N of each other, from x to x+N−1",
		func(_ dme.GlobalView, _, _ dme.NodeID, a, b T) error {
			least, most := a.base(), b.base()
			if !least.requestingCriticalSection || !most.requestingCriticalSection ||
				most.ourSequenceNumber < least.ourSequenceNumber+uint64(least.n) {
				return nil
			}
			return dme.Broken([]dme.NodeID{least.me, most.me}, "the numbers of the requests of nodes %d and %d are %d and %d",
				least.me, most.me, least.ourSequenceNumber, most.ourSequenceNumber)
		})
}

func oneOfTwo[T party](i, j dme.NodeID, a, b T, together func(a, b T) bool) error {
	x, y := a.base(), b.base()
	if i < j && x.requestingCriticalSection && y.requestingCriticalSection && !x.awaitingReply.Has(j) && !y.awaitingReply.Has(i) &&
		(together == nil || !together(a, b)) {
		return dme.Broken([]dme.NodeID{i, j}, "nodes %d and %d are requesting or inside, with %v and %v, and each has the other's reply",
			i, j, x.ourRequest(), y.ourRequest())
	}
	return nil
}

func oneAnswer[T party](v dme.GlobalView, i, j dme.NodeID, a, b T) error {
	if i == j {
		return nil
	}
	n := a.base()
	requests, replies, deferred := dme.Between(v, kindRequest, i, j), 0, dme.Count(b.owes(i))
	for _, m := range v.Between(j, i) {
		replies += dme.Count(m.Kind == kindReply && answers(m, i))
	}
	if want := dme.Count(n.requestingCriticalSection && n.awaitingReply.Has(j)); requests+replies+deferred != want {
		return dme.Broken([]dme.NodeID{i, j}, "node %d awaits %d replies of node %d, which has deferred %d, "+
			"with %d REQUESTs and %d REPLYs on their way", i, want, j, deferred, requests, replies)
	}
	return nil
}

// answers reports whether a REPLY to node i answers a request of node i: a broadcast one lists the
// nodes it answers (section 6.2).
func answers(m *dme.Message, i dme.NodeID) bool {
	if len(m.Vec) == 0 {
		return true
	}
	_, listed := recipient(m.Vec, i)
	return listed
}

// invariants are those of section 2, of nodes that number their requests one by one.
func invariants[T party]() []dme.Invariant {
	return append(pairInvariants[T](nil), numbersNear[T]())
}

// boundedInvariants are those of section 6.4.
func boundedInvariants() []dme.Invariant {
	return append(pairInvariants[*boundedNode](nil), dme.StateInvariant("numbers within N", "TR-869, section 6.4",
		"the sequence numbers of all nodes that are requesting or inside lie among N successive residues modulo M",
		residuesNear))
}

// residuesNear looks for a number from which on all others are less than N away.
func residuesNear(v dme.GlobalView) error {
	var requesting []dme.NodeID
	near := false
	for i, a := range dme.NodesOf[*boundedNode](v) {
		if !a.requestingCriticalSection {
			continue
		}
		requesting = append(requesting, i)
		first := true
		for _, b := range dme.NodesOf[*boundedNode](v) {
			if b.requestingCriticalSection && (b.ourSequenceNumber+a.modulus-a.ourSequenceNumber)%a.modulus >= uint64(a.nodes) {
				first = false
			}
		}
		near = near || first
	}
	if near || requesting == nil {
		return nil
	}
	return dme.Broken(requesting, "the numbers of the requests of nodes %v do not lie among N successive residues", requesting)
}

// ringInvariants are those of section 6.3, in which a REQUEST is its own reply.
func ringInvariants() []dme.Invariant {
	return []dme.Invariant{dme.StateInvariant("one REQUEST", "TR-869, section 6.3",
		"the REQUEST of a node that waits is on its way round the ring, or waits at one node that has deferred it, or with "+
			"form=notes has come home; no other node has any of these", oneRequest)}
}

func oneRequest(v dme.GlobalView) error {
	for i := dme.NodeID(1); int(i) <= v.Setting().Nodes; i++ {
		requests, deferred, home := 0, 0, 0
		for _, f := range v.InFlight() {
			requests += dme.Count(f.Kind == kindRequest && f.Req.Node == i)
		}
		var n *ringNode
		if echo := dme.NodeOf[*echoNode](v, i); echo != nil {
			n = &echo.ringNode
			for _, other := range dme.NodesOf[*echoNode](v) {
				deferred += dme.Count(other.replyDeferred.Has(i))
			}
		} else {
			notes := dme.NodeOf[*notesNode](v, i)
			n = &notes.ringNode
			home = dme.Count(n.requestingCriticalSection && !n.inside && notes.home)
		}
		if requests+deferred+home != dme.Count(n.requestingCriticalSection && !n.inside) {
			return dme.Broken([]dme.NodeID{i}, "node %d is %v: %d REQUESTs of it are on their way, %d are deferred, and %d have come home",
				i, v.Activity(i), requests, deferred, home)
		}
	}
	return nil
}

// The nodes of all sections wait for the following, see [dme.Algorithm.Waits].

const reply = "REPLY"

// Waits of a node of section 2 are the replies that it lacks.
func (n *node) Waits() []dme.Wait { return dme.WaitsFor(reply, n.awaitingReply.All()) }

// Waits in section 6.1 are the replies of nodes that have said DEFERRED. Silence may still become a
// reply, and is not waited for.
func (n *implicitNode) Waits() []dme.Wait { return dme.WaitsFor(reply, n.owed.deferredBy.All()) }

// Waits of section 6.2.1 are the replies of those whose REQUEST came first.
func (l *listener) Waits() []dme.Wait {
	var first []dme.NodeID
	for _, r := range l.waiting {
		if r.Node == l.me {
			slices.Sort(first)
			return dme.WaitsFor(reply, slices.Values(first))
		}
		first = append(first, r.Node)
	}
	return nil
}

// circulating is what a REQUEST does, for all that its node knows.
const circulating = "REQUEST, which is kept on its way round"

// Waits of section 6.3, first form, is for the REQUEST to come home.
func (n *echoNode) Waits() []dme.Wait {
	return dme.WaitIf(n.requestingCriticalSection && !n.inside, circulating, dme.None)
}

// Waits in section 6.3, second form, is for the REQUEST to come home and then for the nodes that
// have noted a deferral on it.
func (n *notesNode) Waits() []dme.Wait {
	if n.requestingCriticalSection && !n.home && !n.inside {
		return dme.WaitIf(true, circulating, dme.None)
	}
	return dme.WaitsFor(reply, n.owed.deferredBy.All())
}

// Waits in section 7 are the answers that are due. A newcomer that looks for a group, or listens
// for REQUESTs, waits for time to pass.
func (n *robustNode) Waits() []dme.Wait {
	switch n.stage {
	case asking, probing, applying:
		what := "WELCOME"
		if n.requestingCriticalSection {
			what = reply
		}
		return dme.WaitsFor(what, n.awaiting.All())
	case inserting, welcoming, departing, announcing:
		return dme.WaitsFor("ACKNOWLEDGE", n.awaiting.All())
	case comparing:
		return dme.WaitsFor("HIGHEST", n.awaiting.All())
	case consulting:
		return dme.WaitsFor("HIGHEST", n.suspects.All())
	case listening:
		if n.way == "each" {
			return dme.WaitsFor("REQUEST", n.awaiting.All())
		}
	}
	return nil
}
