// Package maekawa is the quorum algorithm of
//
//	M. Maekawa, A √N Algorithm for Mutual Exclusion in Decentralized Systems,
//	ACM Transactions on Computer Systems 3(2), May 1985, pp. 145–159.
//
// A node i that wants its critical section asks every member of its request set S_i and enters when
// it has locked them all. Any two request sets have a common member, which is locked for one
// REQUEST at a time (package [dmebench/algorithms/quorum] builds the sets). So that nodes that have
// locked some members each do not wait for each other for ever, a member tells those who must wait
// behind another request that they FAILED, and sends INQUIRE to the holder of its lock when a more
// preceding REQUEST arrives; a holder that has failed elsewhere gives the lock back by RELINQUISH.
//
// Every node plays two parts. As a requester it executes the paper's steps (1), (3), (5) and (6),
// as an arbiter the steps (2), (4) and (7). A node that is a member of its own request set
// arbitrates for itself in the same atomic step, by the same rules, without a message.
//
// # Departures from the printed text
//
// Read literally, section 4 can deadlock and can let two nodes in. Repairs, each marked in the code
// by its name:
//
//   - R1. A REQUEST that is the most preceding one when it arrives causes an INQUIRE and gets no
//     FAILED (step (2)). When a still more preceding one arrives later, nothing tells the first
//     that it has been passed; its node, inquired elsewhere, defers its answer for ever. It is sent
//     FAILED then.
//   - R2. "If an INQUIRE message has arrived after the node has sent a RELEASE message, it is
//     simply ignored" (step (3)) leaves out that the node may have asked again by then: the answer
//     would give away a lock that is not held, or belongs to the next request. An INQUIRE is acted
//     upon only while waiting and holding the sender's lock for the current request.
//   - R3. "It has received a FAILED message from some of its members" must be known for each member
//     and for the current request: a member that has locked the node since has no longer failed it,
//     and one whose lock was relinquished has, though it says nothing. Else no node yields.
//   - R4. A deferred INQUIRE is remembered for each member and answered at the next FAILED; it
//     lapses at the entry.
//   - The sequence numbers of step (1) exceed those of all REQUESTs "sent, received, or observed".
//     A node sees few REQUESTs and would fall far behind nodes outside its sets, and overtake them
//     thousands of times. Here every message carries the sender's clock.
//
// Kept as printed: FAILED compares with the lock and with the queue; there is at most one INQUIRE
// for each lock; a member that is given back always locks itself for its most preceding REQUEST.
//
// # Failed nodes
//
// The paper supposes that nothing fails (section 1). The treatment of nodes that crash, and
// come back, is ours (recovery.go); a node asks another quorum of its construction then: of
// majority and weighted any nodes with more than half of the votes, of tree a tree quorum, of the
// others the request set of another node. Any two of them meet as well, whatever each of two nodes
// knows of failures. With singleton there is none but node 1.
//
//   - R5. The REQUEST of a failed node is taken out of the WAITING QUEUE, and a lock that it had is
//     free again, even if it was in its critical section. The lock of a failed member no longer
//     counts for a request that is pending.
//   - R6. When the members of a pending request change, it keeps its number and the locks that it
//     has; new members get the REQUEST, and one that is no longer needed a WITHDRAW. LOCKED, FAILED
//     and INQUIRE that have crossed a WITHDRAW are recognized by their number: how many of them the
//     arbiter has received from the node. While there is no quorum, the request waits until a node
//     comes back.
//   - R7. A node that comes back has forgotten which request it was locked for, and that node may
//     be in its critical section still. Every node that hears that it is there tells it by RECLAIM
//     what it holds: the REQUEST of which it is in the critical section by this lock, or nothing.
//     Until all that are up have said so, the node is locked for no request, and REQUESTs wait.
//     They are then handled in their order, as if they had come one after the other.
//
// Without failures none of this takes a message or a byte.
//
// # Options
//
// quorum is the construction of the request sets, weights the votes of the nodes if it counts
// votes. A node that is not in its own request set asks its members all the same and enters without
// a say of its own.
//
// With yield=always a requester answers every INQUIRE by RELINQUISH unless it has locked all
// members. No FAILED exists, and nothing of R1, R3 and R4.
//
// The algorithm needs messages between two nodes in order (section 1). With grants=numbered it does
// not: LOCKED, INQUIRE and RELINQUISH carry the number of the arbiter's grant, FAILED and RELEASE
// the request that they belong to, so that a message that was overtaken is recognized. A request
// then keeps its members: it waits for one that has failed, since on such links a WITHDRAW could
// overtake the REQUEST that it takes back.
//
// # Guarantees
//
// No two nodes are in their critical sections together, and every request is served, on reliable
// links. Once a node's REQUESTs have arrived, any other node enters at most twice before it. An
// entry takes 3(K−1) messages if no other node asks, and at most 6K−3 on average of any run: three
// for each member, and for each REQUEST either a FAILED or an INQUIRE, a RELINQUISH and a second
// LOCKED.
//
// Nodes may crash and come back at any time, also in their critical sections. No two nodes that are
// up are ever in theirs together. With grants=plain the requests of nodes that are up are served as
// long as there is a quorum without the failed nodes; with grants=numbered, once the failed ones
// are back. Both rest on being told of crashes truly.
//
// [AsPublished] and [TextbookAsPublished] are the printed texts (published.go), kept as negative
// controls.
package maekawa

import (
	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
)

// The kinds of messages, in the order of [dme.Algorithm.Kinds].
const (
	kindRequest dme.Kind = iota + 1
	kindLocked           // REPLY in the textbook
	kindFailed
	kindInquire
	kindRelinquish // YIELD in the textbook
	kindRelease

	// Of failures; not in the paper.
	kindWithdraw
	kindReclaim
)

// Algorithm describes the algorithm.
func Algorithm() *dme.Algorithm {
	a := describe(func(opt dme.Options) func(site) dme.Node {
		r := rulesOf(opt)
		return func(s site) dme.Node { return newNode(s, r) }
	})
	a.Name, a.Title = "maekawa", "Maekawa"
	a.Description = "A node asks the K members of its quorum only, and any two quorums share a member, which grants one request at a time. " +
		"On finite projective planes K is about the square root of N, so an entry costs 3(K-1) messages when nobody else asks " +
		"and up to 5(K-1) when many do: a member that has granted too soon takes its grant back by INQUIRE and RELINQUISH, " +
		"which is what keeps the algorithm from deadlock. A handover takes up to two delays. Good for tens to hundreds of nodes " +
		"whose work should be equal. With --set quorum the same protocol runs on grids, majorities and trees."
	a.Citation = "M. Maekawa, A √N Algorithm for Mutual Exclusion in Decentralized Systems, ACM TOCS 3(2), 1985, section 4"
	a.Needs = func(opt dme.Options) dme.Needs {
		return dme.Needs{Reliable: true, FIFO: opt.Get("grants") != "numbered"}
	}
	a.Options = append(a.Options,
		dme.Choice("yield",
			"when a node that waits answers INQUIRE by RELINQUISH: once it has failed at some member, or at once", "failed", "always"),
		dme.Choice("grants",
			"whether messages name the grant or request that they belong to; if so, links need not keep order", "plain", "numbered"),
	)
	a.Kinds = append(a.Kinds, "WITHDRAW", "RECLAIM")
	a.Survives = survives
	a.Claims = claim.Lazy(claims)
	a.Invariants = invariants()
	return a
}

// survives reports whether there is a quorum without these nodes that a request
// can change to.
func survives(s dme.Setting, down []dme.NodeID) bool {
	return len(down) == 0 || !rulesOf(s.Options).numbered && s.System.(*system).Survives(down)
}

// AsPublished describes section 4 of Maekawa 1985, read literally.
func AsPublished() *dme.Algorithm {
	a := describe(func(dme.Options) func(site) dme.Node { return newPaperNode })
	a.Name, a.Title = "maekawa-as-published", "Maekawa, as published"
	a.Description = "Section 4 of Maekawa's paper to the letter. It is safe but can deadlock: a request that was the best at its member, " +
		"and was passed later by a better one, is never told so, and a circle of nodes that wait for each other stays closed. " +
		"`dmebench check` finds such a schedule. Kept to show what the repaired maekawa changes."
	a.Citation = Algorithm().Citation + ", read literally"
	a.AsPublished = true
	return a
}

// TextbookAsPublished describes algorithm 9.5 and section 9.8.1 of the textbook,
// read literally.
func TextbookAsPublished() *dme.Algorithm {
	a := describe(func(opt dme.Options) func(site) dme.Node {
		either := opt.Get("yield") == "or"
		return func(s site) dme.Node { return newTextbookNode(s, either) }
	})
	a.Name, a.Title = "maekawa-textbook-as-published", "Maekawa, as in the textbook"
	a.Description = "The textbook's wording of Maekawa's algorithm (sections 9.8 and 9.8.1) to the letter. Since a node yields only after " +
		"it has yielded before, nobody ever does, and it deadlocks. Kept as a negative control; use maekawa."
	a.Citation = "A. Kshemkalyani and M. Singhal, Distributed Computing, Cambridge University Press, 2008, " +
		"sections 9.8 and 9.8.1, read literally"
	a.AsPublished = true
	a.Kinds = []string{"REQUEST", "REPLY", "FAILED", "INQUIRE", "YIELD", "RELEASE"}
	a.Options = append(a.Options, dme.Choice("yield",
		"whether a site that is inquired of needs a FAILED and an earlier YIELD to yield, as printed, or one of them", "and", "or"))
	return a
}

// describe returns what the three texts have in common. nodes says how the nodes
// are made with these options.
func describe(nodes func(dme.Options) func(site) dme.Node) *dme.Algorithm {
	return &dme.Algorithm{
		Class:       dme.Quorum,
		Needs:       dme.Always(dme.Needs{Reliable: true, FIFO: true}),
		Kinds:       []string{"REQUEST", "LOCKED", "FAILED", "INQUIRE", "RELINQUISH", "RELEASE"},
		Clocks:      clocks,
		Options:     quorum.Options(),
		ValidNodes:  quorum.ValidNodes,
		QueueLength: dme.OfNode(voter.QueueLength),
		Waits:       dme.OfNode(voter.Waits),
		RequestSet:  dme.OfSystem((*system).RequestSet),
		Peers:       dme.OfSystem((*system).Peers),
		Remarks: func(s dme.System) []string {
			if own, ok := s.(*system); ok {
				return own.Remarks()
			}
			return nil
		},
		Prepare: func(cfg dme.Config) (dme.System, error) {
			sets, err := quorum.Prepare(cfg)
			if err != nil {
				return nil, err
			}
			return &system{sets, nodes(cfg.Options)}, nil
		},
	}
}

// voter is a node of any of the three texts.
type voter interface {
	QueueLength() int
	Waits() []dme.Wait
}

// system is what the nodes share: the request sets, and how a node is made.
type system struct {
	*quorum.System
	newNode func(site) dme.Node
}

// Node returns node id, idle and unlocked.
func (s *system) Node(id dme.NodeID) dme.Node {
	return s.newNode(site{Site: s.Site(id), sets: s.System})
}

// site is what a node has in all three texts: it locks all members of its request
// set, and is locked for one request at a time.
type site struct {
	quorum.Site
	sets *quorum.System // the request sets of all nodes

	request dme.Stamp             // the current REQUEST; zero while there is none
	inside  bool                  // in the critical section
	locked  collections.MemberSet // members that are locked for the current REQUEST, as far as this node knows

	locking dme.Stamp                // the REQUEST for which this node is locked; zero while unlocked
	waiting collections.RequestQueue // the WAITING QUEUE
}

// ready has room for the answers to a request.
func (s *site) ready() {
	s.Know()
	s.locked.Reset(len(s.Members))
}

func (s *site) pending() bool { return !s.request.IsZero() && !s.inside }

func (s *site) QueueLength() int { return len(s.waiting) }
