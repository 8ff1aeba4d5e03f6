// Package agrawalelabbadi is the tree-quorum algorithm of
//
//	D. Agrawal and A. El Abbadi, An Efficient and Fault-Tolerant Solution for
//	Distributed Mutual Exclusion, ACM Transactions on Computer Systems 9(1), 1991,
//
// as the textbook (Kshemkalyani and Singhal, Distributed Computing, chapter 9) gives it in section
// 9.9.
//
// The nodes form a binary tree, shaped like a heap with node 1 at the root. A node that wants its
// critical section asks a tree quorum, the nodes on a path from the root to a leaf, for their
// permission; any two paths meet, at least in the root. A site gives its permission to one request
// at a time. When a more preceding request arrives it inquires of the holder, which yields unless
// it has all its permissions.
//
// # Departures from the printed text
//
// The quorums of sections 9.9.1 to 9.9.4 are right; the protocol of section 9.9.5 lets two nodes
// in, and can stop. Repairs, marked in the code by their names:
//
//   - A1. By steps 2, 3 and 6 a newcomer that precedes all others is at the head of the queue, and
//     thereby granted, while the old head still holds the permission. Here the granted request is
//     kept apart from the queue, and a permission is given only when there is none.
//   - A2. Step 6 inquires for every newcomer that precedes the head; two Yields can come back, and
//     the second gives away another node's permission. Here there is one Inquire for each grant.
//     (With A3 more would do no harm, but cost messages.)
//   - A3. Step 7 yields whenever not all replies are there, also for a request that was released
//     meanwhile, and for a permission that was not given yet. Here a node yields only while it
//     waits and holds that site's permission for the current request. Any other Inquire has crossed
//     the Relinquish that answers it.
//   - A4. After a Yield the permission goes to "the pending request on behalf of which the Inquire
//     was sent" (step 8). A still more preceding one may have arrived since; it caused no Inquire
//     of its own, and waits for ever. Here it goes to the most preceding request.
//   - A5. Nothing says which request is granted after a Relinquish (step 5). Here it is the most
//     preceding request that waits.
//   - Every message carries its sender's clock (the text says nothing about clocks), so that
//     requests of different nodes are numbered in the order in which they were made, nearly.
//
// There is no FAILED message, and none is needed: every Yield goes to a strictly more preceding
// request, and the most preceding of all never yields, since no site inquires of it. [AsPublished]
// is the printed text, as a negative control.
//
// # Failed nodes
//
// A failed node is replaced as section 9.9.4 says, also in the quorum of a request that is pending:
// by two paths from its children to leaves (algorithm 9.6). A node then asks sites that are not on
// its own path; all tree quorums meet, whatever each of two nodes knows of failures. While there is
// no quorum, a request waits until a node comes back: section 9.9.4 lets "the operation be
// aborted", and a process that wants its critical section would try again.
//
// Of failures the protocol of section 9.9.5 says nothing (recovery.go):
//
//   - A6. The request of a failed node is taken out of the queues, and what it was granted is free
//     again, even if it was in its critical section. A permission that a failed site had given no
//     longer counts for a request that is pending.
//   - A7. When the quorum of a pending request changes, the request keeps its timestamp and the
//     replies that it has; new sites are asked, and a site that is no longer needed is told by
//     Withdraw. A Reply or Inquire that has crossed a Withdraw is recognized by its number: how
//     many Withdraws of the node the site has received. It must not be taken for one about a later
//     request.
//   - A8. A site that comes back after a crash has forgotten which node has its permission, and
//     that node may be in its critical section still, with this site as the only one that its
//     quorum has in common with another. Every node that hears that the site is there tells it by
//     Reclaim what it holds: the request of which it is in the critical section by this site's
//     permission, or nothing. Until all have told that are up, the site grants nothing; requests
//     wait in its queue. That takes n−1 messages for a restart, and no fewer will do, since each of
//     the others may be the one. Asking others, the node need not wait.
//
// Without failures none of this takes a message or a byte.
//
// # Options
//
// With path=self a node asks the path through itself, always the same, and answers itself without a
// message. With path=random it draws a leaf for each request, uniformly, which spreads the load
// over the nodes of a level.
//
// # Guarantees
//
// No two nodes are in their critical sections together, and every request is served, on reliable
// links that keep order. If no other node asks, an entry takes three messages for each other node
// of the path.
//
// Nodes may crash and come back at any time, also in their critical sections. No two nodes that are
// up are ever in theirs together. The requests of nodes that are up are served as long as there is
// a tree quorum without the failed nodes: in any case while fewer than log2(n+1) have failed, and
// perhaps until log2(n+1) are left. Both rest on being told of crashes truly: a node that is taken
// for failed and is not may be in its critical section with another one.
package agrawalelabbadi

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/claim"
)

// The kinds of messages, in the order of [dme.Algorithm.Kinds].
const (
	kindRequest dme.Kind = iota + 1
	kindReply
	kindInquire
	kindYield
	kindRelinquish

	// Of failures; not in the printed protocol.
	kindWithdraw
	kindReclaim
)

const citation = "D. Agrawal and A. El Abbadi, An Efficient and Fault-Tolerant Solution for " +
	"Distributed Mutual Exclusion, ACM TOCS 9(1), 1991; textbook, section 9.9"

const optPath = "path"

// Algorithm describes the repaired algorithm.
func Algorithm() *dme.Algorithm {
	a := describe(newNode)
	a.Name, a.Title = "agrawal-el-abbadi", "Agrawal–El Abbadi"
	a.Description = "Quorums from a binary tree: while all is well a quorum is a path from the root to a leaf, of log2(N+1) nodes; a node " +
		"that has failed is replaced by the paths through both its children. An entry costs about 3 log2 N messages under light " +
		"load. It goes on while any quorum is left, which grows to half of the nodes as failures accumulate. The root takes " +
		"part in nearly every entry. A handover takes up to two delays. Good if messages should be few and failures must be " +
		"survived."
	a.Citation = citation
	a.Kinds = append(a.Kinds, "Withdraw", "Reclaim")
	a.Survives = survives
	a.Claims = claim.Lazy(claims)
	a.Invariants = invariants()
	a.Gauges = []dme.Gauge{{Quantity: Multicasts.ID, Begin: newMulticasts}}
	return a
}

// survives reports whether there is a tree quorum without these nodes: with
// either path, a node then asks that one.
func survives(s dme.Setting, down []dme.NodeID) bool {
	_, ok := quorum.TreeQuorum(s.Nodes, 1, func(id dme.NodeID) bool { return !slices.Contains(down, id) })
	return ok
}

// AsPublished describes the protocol as section 9.9.5 prints it, which is known
// to be wrong.
func AsPublished() *dme.Algorithm {
	a := describe(newPublished)
	a.Name, a.Title = "agrawal-el-abbadi-as-published", "Agrawal–El Abbadi, as published"
	a.Description = "The textbook's protocol on tree quorums (section 9.9.5) to the letter. The quorums are right, the handling of grants " +
		"is not: a newcomer can be granted while another holds the grant, and two nodes are inside at once. Kept as a negative " +
		"control; use agrawal-el-abbadi."
	a.Citation = citation + ", read literally"
	a.AsPublished = true
	return a
}

// describe returns what the two have in common.
func describe(newNode func(requester) dme.Node) *dme.Algorithm {
	return &dme.Algorithm{
		Class:  dme.Quorum,
		Needs:  dme.Always(dme.Needs{Reliable: true, FIFO: true}),
		Kinds:  []string{"Request", "Reply", "Inquire", "Yield", "Relinquish"},
		Clocks: dme.ClockInMessages,
		Options: []dme.Option{dme.Choice(optPath,
			"which path from the root to a leaf a node asks: the one through itself, or one to a leaf drawn for each request", "self", "random")},
		QueueLength: dme.OfNode(voter.QueueLength),
		Waits:       dme.OfNode(voter.Waits),
		RequestSet:  dme.OfSystem(ownPaths.RequestSet),
		Peers:       dme.OfSystem(ownPaths.Peers),
		Prepare: func(cfg dme.Config) (dme.System, error) {
			if cfg.Options.Get(optPath) == "random" {
				return drawnPaths{leaves{cfg.Nodes, cfg.Seed}, newNode}, nil
			}
			paths, err := quorum.New("tree", quorum.Config{Nodes: cfg.Nodes})
			return ownPaths{paths, newNode}, err
		},
	}
}

// voter is a node of either text.
type voter interface {
	QueueLength() int
	Waits() []dme.Wait
}

// ownPaths is a system with path=self: the quorum of a node is always the same.
type ownPaths struct {
	*quorum.System
	newNode func(requester) dme.Node
}

// Node returns node id, idle and with its permission to give.
func (s ownPaths) Node(id dme.NodeID) dme.Node {
	r := requester{Site: s.Site(id), paths: s.System}
	r.Know()
	r.own, r.Members = r.Members, nil
	return s.newNode(r)
}

// drawnPaths is a system with path=random: a node asks the path to a leaf that is
// drawn for each request.
type drawnPaths struct {
	leaves
	newNode func(requester) dme.Node
}

// Node returns node id, idle and with its permission to give.
func (s drawnPaths) Node(id dme.NodeID) dme.Node {
	return s.newNode(requester{Site: quorum.Site{ID: id}, leaves: s.leaves})
}

// leaves are the leaves of a tree, to draw from.
type leaves struct {
	nodes int
	seed  uint64
}

// draw draws a leaf for the request of that number of node id. It depends on
// nothing but these and the seed, so that no generator is part of a node's
// state.
func (l leaves) draw(id dme.NodeID, request uint64) dme.NodeID {
	first, last := quorum.TreeLeaves(l.nodes)
	draw := rand.NewPCG(l.seed, uint64(id)<<40^request).Uint64()
	k, _ := bits.Mul64(draw, uint64(last-first+1)) // draw as a fraction of 2^64
	return first + dme.NodeID(k)
}

// turns says for the request of that number of node id at which nodes a path goes to the right:
// towards the leaf that is drawn if that is below, and else as chance will have it.
func (l leaves) turns(id dme.NodeID, request uint64) func(dme.NodeID) bool {
	leaf := l.draw(id, request)
	return func(at dme.NodeID) bool {
		if deeper := bits.Len32(uint32(leaf)) - bits.Len32(uint32(at)); deeper > 0 && leaf>>deeper == at {
			return leaf>>(deeper-1)&1 == 1
		}
		return rand.NewPCG(l.seed^uint64(at), uint64(id)<<40^request).Uint64()&1 == 1
	}
}

// largestListed is the largest tree whose quorums are all compared with one another: there are 255
// of them on 15 nodes, and 65,535 on 31.
const largestListed = 15

// setsIn returns the sets that the text of an example names: "{1,2,3}, {2,4,5}".
func setsIn(text string) (sets [][]dme.NodeID) {
	for part := range strings.SplitSeq(text, "{") {
		if list, _, ok := strings.Cut(part, "}"); ok {
			nodes, err := dme.ParseNodes(list)
			if err != nil {
				panic("agrawalelabbadi: " + err.Error())
			}
			sets = append(sets, nodes)
		}
	}
	return sets
}

// disjoint counts the pairs of quorums without a common node.
func disjoint(all [][]dme.NodeID) (pairs float64) {
	for p := range quorum.Pairs(all) {
		if p.Common == 0 {
			pairs++
		}
	}
	return pairs
}

// superfluous counts the pairs of quorums in which one contains the other.
func superfluous(all [][]dme.NodeID) (pairs float64) {
	for p := range quorum.Pairs(all) {
		if p.Common == min(len(all[p.I]), len(all[p.J])) {
			pairs++
		}
	}
	return pairs
}
