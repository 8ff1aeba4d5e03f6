package maekawa

import (
	"math"
	"slices"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/claim"
)

const (
	paper    = "Maekawa 1985, "
	slides   = "slides \"A short story\", "
	textbook = "textbook, "
)

// InquiresPerLock is the number of INQUIRE messages over that of LOCKED messages.
var InquiresPerLock = claim.KindPerKind("INQUIRE", "LOCKED")

// The option that every claim about other request sets names.
const optQuorum = quorum.OptionQuorum

// claims lists what has been said about the algorithm. K is the size of a
// request set.
func claims() claim.List {
	return slices.Concat(
		claim.SafeAndLive(paper+"sections 6.1 and 6.2"),
		costs(), kinds(), otherSets(), times(), setClaims(), planeClaims(),
	)
}

func costs() claim.List {
	return claim.List{
		claim.MessagesPerCS.Is("3(K−1)", claim.Light, slides+"light traffic; "+paper+"section 1").
			Where(equal),
		claim.MessagesPerCS.Averages("3(K−1), K the mean",
			claim.Light, paper+"section 3: other N by relaxing (c) and (d)").
			Where(func(s dme.Setting) bool { return !equal(s) }),
		claim.MessagesPerCS.Grows(claim.Growth{Exponent: 0.5}, "3√N",
			claim.Light, paper+"section 1; "+textbook+"section 9.8").Where(with("plane")),
		claim.MessagesPerCS.AtLeast("3(K−1)", claim.AnyLoad, paper+"abstract: c is between 3 and 5").
			Where(both(published, equal)),
		claim.MessagesPerCS.Averages("4(K−1)", claim.Saturated, slides+"heavy traffic, the node is locked").
			Where(both(published, equal)),
		claim.MessagesPerCS.AtMost("5(K−1)", claim.Contention, slides+"heavy traffic, the lock is relinquished").
			Where(both(published, equal)),
		claim.MessagesPerCS.AtMost("5√N", claim.Saturated, paper+"abstract: c is between 3 and 5").
			Where(both(published, with("plane"))),
		claim.MessagesPerCS.AtMost("5(K−1)", claim.Worst, slides+"heavy traffic, the lock is relinquished").
			Where(both(published, equal)).
			Refuted("a node whose lock was relinquished needs a second LOCKED, so that one REQUEST can cause six messages"),
		claim.MessagesPerCS.AtMost("5√N", claim.Worst, textbook+"section 9.8.1").Named("five-roots").
			Where(both(published, with("plane"))).
			Refuted("one REQUEST can cause six messages; a burst on 307 nodes in the worst order takes 5.2√N"),
		// It is T if the common member of the two sets is one of the two nodes. If sets meet in
		// several nodes, as in a grid, the entry waits for the slowest of several chains of two
		// messages.
		claim.SyncDelay.AtMost("2T", claim.Saturated, textbook+"section 9.8").
			Where(both(published, with("plane"))),
		claim.EntryOrder.Is("0", claim.Contention, textbook+"exercise 9.5, which asks whether it holds").
			Refuted("a request that has locked all its members does not give way to a more preceding one that arrives later"),
		InquiresPerLock.AtMost("1",
			claim.Contention, paper+"section 4(2): not while the reply to another is outstanding"),
		claim.MessagesPerCS.Is("3(√N − 1)", claim.Light, slides+"light traffic: 3(K−1) = 3(√N−1)").
			Named("three-roots").Where(onTruePlane).
			Refuted("K − 1 is (√(4N−3) − 1)/2, more than √N − 1: 9 messages, and not 7.8, on 13 nodes"),
		// K cannot be smaller if all nodes do equal work.
		claim.MessagesPerCS.AtLeast("3(√(4N−3) − 1)/2: it can be proven that this is optimal",
			claim.Light, paper+"sections 1 and 3").Where(equalWork),
		claim.WorkSpread.Averages("1: equal work and equal responsibility",
			claim.Saturated, paper+"section 2, properties (c) and (d)").Where(both(published, onTruePlane)),
	}
}

// kinds lists the claims about kinds of messages.
func kinds() claim.List {
	says := func(formula string, load claim.Load, kind claim.Kind, source string) claim.Claim {
		return claim.MessagesPerCS.Claim(kind, formula, load, source).Where(both(published, equal))
	}
	light := says("K−1", claim.Light, claim.Exact, slides+"light traffic; "+paper+"section 1")
	idle := says("0", claim.Light, claim.Exact, slides+"light traffic")
	root := claim.MessagesPerCS.Grows(claim.Growth{Exponent: 0.5}, "√N",
		claim.Light, paper+"section 1; "+textbook+"section 9.8").Where(with("plane"))
	relinquished := says("K−1", claim.Contention, claim.UpperBound, slides+"heavy traffic, the lock is relinquished")
	// In smaller systems no node ever has to give a lock back.
	locked := says("K−1", claim.Contention, claim.Exact, slides+"heavy traffic, the lock is relinquished").
		Where(func(s dme.Setting) bool { return s.Nodes >= 7 })
	locked.KnownFalse = "a node whose lock was relinquished needs a second LOCKED: in bursts on 13 nodes there are as many more " +
		"than K−1 as there are RELINQUISHs"
	return slices.Concat(
		claim.KindsPerCS(light, "REQUEST", "LOCKED", "RELEASE"),
		claim.KindsPerCS(idle, "FAILED", "INQUIRE", "RELINQUISH"),
		claim.KindsPerCS(root, "REQUEST", "LOCKED", "RELEASE"),
		claim.KindsPerCS(says("K−1", claim.AnyLoad, claim.Exact, slides+"light and heavy traffic"), "REQUEST", "RELEASE"),
		claim.KindsPerCS(says("K−1", claim.Saturated, claim.Mean, slides+"heavy traffic, the node is locked"), "LOCKED", "FAILED"),
		claim.KindsPerCS(says("0", claim.Saturated, claim.Mean, slides+"heavy traffic, the node is locked"), "INQUIRE", "RELINQUISH"),
		claim.KindsPerCS(relinquished, "INQUIRE", "RELINQUISH"),
		claim.KindsPerCS(locked, "LOCKED"),
	)
}

// halvingThirds is N^(log 2 / log 3), 2^k of 3^k nodes.
func halvingThirds(s dme.Setting) (float64, bool) {
	return math.Pow(float64(s.Nodes), math.Log(2)/math.Log(3)), true
}

// otherSets lists what the paper says of earlier algorithms, as of other request
// sets for its own.
func otherSets() claim.List {
	const before = paper + "section 1"
	majority := optQuorum + "=majority"
	central := optQuorum + "=singleton"
	const kumar = "A. Kumar: Hierarchical Quorum Consensus, IEEE Transactions on Computers 40(9), 1991"
	hierarchical := optQuorum + "=hierarchical"
	return claim.List{
		claim.KindPerCS("LOCKED").Is("N/2 permissions (majority)",
			claim.Light, before+": Thomas's majority consensus").As("⌊N/2⌋").With(majority).
			Where(with("majority")),
		claim.MessagesPerCS.Is("3⌊N/2⌋ (majority)", claim.Light, before+": Thomas's majority consensus").
			With(majority).Where(with("majority")),
		claim.QuorumSize.Is("⌊N/2⌋ + 1 (majority)", claim.Static, before+": Thomas's majority consensus").
			Named("majority").With(majority).Where(with("majority")).MeasuredBy(meanSize),
		claim.QuorumSize.Is("K = N (majority)", claim.Static, paper+"section 2").Named("all-nodes").
			With(majority).Where(with("majority")).MeasuredBy(meanSize).
			Refuted("a majority is enough, ⌊N/2⌋ + 1 of N nodes, as section 1 says itself"),
		claim.QuorumSize.Grows(claim.Growth{Exponent: math.Log(2) / math.Log(3), Order: true}, "O(N^0.63) (hierarchical)", claim.Static, kumar).
			With(hierarchical).Where(with("hierarchical")).Predicting(halvingThirds).MeasuredBy(meanSize),
		claim.MessagesPerCS.Averages("3(N^0.63 − 1) of N = 3^k nodes (hierarchical)", claim.Light, kumar).With(hierarchical).
			Where(func(s dme.Setting) bool {
				return with("hierarchical")(s) && math.Abs(math.Remainder(math.Log(float64(s.Nodes))/math.Log(3), 1)) < 1e-9
			}).
			Predicting(func(s dme.Setting) (float64, bool) {
				k, ok := halvingThirds(s)
				return 3 * (k - 1), ok
			}),
		// Node 1 answers itself without a message.
		claim.MessagesPerCS.Averages("3, but 0 for the controller: 3(N−1)/N (singleton)",
			claim.Light, paper+"section 2: centralized control").As("3(N−1)/N").With(central).
			Where(with("singleton")),
		claim.QuorumSize.Is("K = 1 (singleton)", claim.Static, paper+"section 2: centralized control").
			With(central).Where(with("singleton")).MeasuredBy(meanSize),
		ResponsibilitySpread.Is("N: the controller is in every set (singleton)",
			claim.Static, paper+"section 2: centralized control violates property (d)").With(central).
			Where(with("singleton")).MeasuredBy(responsibility),
		ResponsibilitySpread.Is("N: full weight at one of 7 nodes is centralized control", claim.Static, before).
			With(optQuorum+"=weighted", quorum.OptionWeights+"=1,0,0,0,0,0,0").Where(with("weighted")).
			MeasuredBy(responsibility),
		claim.QuorumSize.Is("K = 1: full weight at one of 7 nodes", claim.Static, before).
			With(optQuorum+"=weighted", quorum.OptionWeights+"=1,0,0,0,0,0,0").Where(with("weighted")).
			MeasuredBy(meanSize),
		// That it is not equal at all: the next value above is one set more
		// for a node of D sets on average.
		ResponsibilitySpread.AtLeast("above 1: weights 4, 2, 1, 1, 1, 1, 1 of 7 nodes",
			claim.Static, before+": nodes with higher weights bear more responsibility").
			With(optQuorum+"=weighted", quorum.OptionWeights+"=4,2,1,1,1,1,1").
			Predicting(func(s dme.Setting) (float64, bool) {
				return 1 + 1/setSizes(s).Mean, s.Options.Get(optQuorum) == "weighted"
			}).MeasuredBy(responsibility),
	}
}

func times() claim.List {
	return claim.List{
		claim.Throughput.AtLeast("1/(2T + E)", claim.Saturated, textbook+"sections 9.2.3 and 9.8").
			Where(both(published, truePlane)),
		claim.SyncDelay.Averages("2T: two messages, one after the other",
			claim.Saturated, textbook+"section 9.8: two sequential message transfers").
			Where(both(published, truePlane)).
			Refuted("if the common member of two sets is one of the two nodes, one message is enough: with the numbers that " +
				"the planes have here (labelling=natural) always if nodes enter in turn, else for two of K pairs"),
		// S_i = i + D, with 0 and 1 in D: S_i and S_(i+1) meet in i+1.
		StrangeNeighbours.Is("0 (labelling=natural): the sets of neighbours meet in one of the two",
			claim.Static, labelled).Where(truePlane).MeasuredBy(strangeNeighbours),
		claim.SyncDelay.Averages("T (labelling=natural, links of equal delay): neighbours enter in turn",
			claim.Saturated, labelled).Named("natural").OnEqualDelays().Where(both(published, truePlane)),
		// T if one of the two is the common member: of the N−1 others K−1 are in a node's set, and
		// it is in as many of theirs.
		claim.SyncDelay.Averages("(2 − 2/K)T (labelling=shuffled, links of equal delay)",
			claim.Saturated, labelled).Named("shuffled").With(quorum.OptionLabelling + "=shuffled").OnEqualDelays().
			Where(both(published, onTruePlane)),
		// Of K−1 round trips the slowest counts.
		claim.ResponseTime.Averages("2T + E (links of equal delay)", claim.Light, textbook+"section 9.2.3").
			OnEqualDelays().Where(func(s dme.Setting) bool { return setSizes(s).Min > 1 }),
	}
}

// equal reports whether all request sets are equally large and contain their node.
func equal(s dme.Setting) bool {
	k := setSizes(s)
	return k.self && k.Equal()
}

// with is about one construction of the sets.
func with(construction string) func(dme.Setting) bool {
	return func(s dme.Setting) bool { return s.Options.Get(optQuorum) == construction }
}

// published is about the algorithm that the paper describes.
func published(s dme.Setting) bool { return s.Options.Get("yield") == "failed" }

func both(a, b func(dme.Setting) bool) func(dme.Setting) bool {
	return func(s dme.Setting) bool { return a(s) && b(s) }
}

// sizes describes the request sets of a system.
type sizes struct {
	quorum.Spread
	self bool // every node is in its own set
}

func setSizes(s dme.Setting) sizes {
	return sizes{setsOf(s).Sizes(), len(setsOf(s).Selfless()) == 0}
}

// labelled is the source of what follows from which node stands where on a plane.
const labelled = "textbook, section 9.8, and Maekawa 1985, section 4, for the numbers that the nodes have"

// StrangeNeighbours counts the nodes i whose request set meets that of the next node
// in neither of the two.
var StrangeNeighbours = claim.Quantity{ID: "strange-neighbours", Name: "neighbours whose common member is a third node"}

func strangeNeighbours(s dme.Setting) (count float64, ok bool) {
	for i := range s.Nodes {
		a, b := dme.NodeID(i+1), dme.NodeID((i+1)%s.Nodes+1)
		other := s.RequestSet(b)
		common := func(id dme.NodeID) bool { return slices.Contains(s.RequestSet(a), id) && slices.Contains(other, id) }
		if !common(a) && !common(b) {
			count++
		}
	}
	return count, true
}

// impossible says why no node that keeps to the algorithm can have sent this message, over links
// that keep their guarantees; "" if one can. Messages that are merely late are not impossible: the
// handlers ignore them.
func (n *node) impossible(from dme.NodeID, m *dme.Message) string {
	if !quorum.Believable(m.Clock) && m.Kind != kindReclaim { // the sender may have had no message about it yet
		return "no such clock"
	}
	switch m.Kind {
	case kindRequest:
		return n.impossibleRequest(dme.Stamp{Clock: m.Clock, Node: from}, m.Flags&quorum.Substitute != 0)
	case kindLocked, kindFailed, kindInquire:
		return n.impossibleAnswer(from, m)
	case kindRelinquish:
		if n.locking.Node != from || !n.inquiring || m.Num != n.grant {
			return "RELINQUISH of a lock that was not inquired about"
		}
	case kindRelease:
		if n.numbered && n.failures.Expects(from) && n.locking.Node != from {
			break // overtook the RECLAIM of what it gives back
		}
		if n.locking.Node != from || n.numbered && m.Req != n.locking {
			return "RELEASE of a lock that is not held"
		}
	case kindWithdraw:
		if n.locking.Node != from && !n.waiting.Has(from) {
			return "WITHDRAW of no request"
		}
	case kindReclaim:
		return n.impossibleReclaim(from, m.Req)
	default:
		return "no such kind of message"
	}
	return ""
}

func (n *node) impossibleRequest(r dme.Stamp, substitute bool) string {
	if !substitute && !n.Serves(r.Node) {
		return "REQUEST of a node that must not ask this one"
	}
	// With numbers, a REQUEST may overtake the RELEASE of the one before it.
	if n.locking.Node == r.Node && !(n.numbered && n.locking.Precedes(r)) {
		return "REQUEST of a node that holds the lock"
	}
	if n.waiting.Has(r.Node) {
		return "REQUEST of a node that waits already"
	}
	return ""
}

func (n *node) impossibleAnswer(from dme.NodeID, m *dme.Message) string {
	if n.stale(from, m) {
		return ""
	}
	n.ready()
	j := n.MemberIndex(from)
	if j < 0 {
		if m.Kind == kindInquire {
			return "" // from a substitute, about a lock of an earlier request
		}
		return "answer of a node that was not asked"
	}
	switch m.Kind {
	case kindLocked:
		if !n.pending() || n.locked.Has(j) || n.numbered && m.Num <= n.grants[j] {
			return "LOCKED without a request"
		}
	case kindFailed:
		// In order, a FAILED comes before the LOCKED that makes up for it.
		if !n.numbered && (!n.pending() || n.locked.Has(j)) {
			return "FAILED without a request, or after LOCKED"
		}
		if n.yieldAlways {
			return "FAILED where nobody fails"
		}
	case kindInquire:
		// It may speak of a lock that is on its way, not of a later one.
		if n.numbered && m.Num > n.grants[j] && (!n.pending() || n.locked.Has(j)) {
			return "INQUIRE about a lock that does not exist"
		}
	}
	return ""
}
