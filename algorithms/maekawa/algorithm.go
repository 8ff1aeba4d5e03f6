package maekawa

import (
	"dmebench/algorithms/quorum"
	"dmebench/dme"
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

// substitute is the flag of a REQUEST that a node gets only because others are
// down.
const substitute = 1

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
		dme.Option{
			Name: "yield", Default: "failed", Words: []string{"failed", "always"},
			Help: "when a node that waits answers INQUIRE by RELINQUISH: once it has failed at some member, or at once",
		},
		dme.Option{
			Name: "grants", Default: "plain", Words: []string{"plain", "numbered"},
			Help: "whether messages name the grant or request that they belong to; if so, links need not keep order",
		},
	)
	a.Kinds = append(a.Kinds, "WITHDRAW", "RECLAIM")
	a.Survives = survives
	a.Claims = claims()
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
	a.Options = append(a.Options, dme.Option{
		Name: "yield", Default: "and", Words: []string{"and", "or"},
		Help: "whether a site that is inquired of needs a FAILED and an earlier YIELD to yield, as printed, or one of them",
	})
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
		Remarks:     func(s dme.System) []string { return s.(*system).Remarks() },
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
	members := s.Site(id)
	return s.newNode(site{Site: members, sets: s.System, locked: collections.MakeMemberSet(len(members.Members))})
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

// pending reports whether the node has asked and not yet entered.
func (s *site) pending() bool { return !s.request.IsZero() && !s.inside }

// QueueLength returns the length of the WAITING QUEUE.
func (s *site) QueueLength() int { return len(s.waiting) }
