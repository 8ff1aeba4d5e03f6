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
		{
			Quantity: claim.MessagesPerCS, Formula: "3(K−1)", Load: claim.Light, Kind: claim.Exact,
			Source: slides + "light traffic; " + paper + "section 1", Applies: equal,
		},
		{
			Quantity: claim.MessagesPerCS, Formula: "3(K−1), K the mean", Load: claim.Light, Kind: claim.Mean,
			Source: paper + "section 3: other N by relaxing (c) and (d)", Applies: func(s dme.Setting) bool { return !equal(s) },
		},
		{
			Quantity: claim.MessagesPerCS, Formula: "3√N", Load: claim.Light, Kind: claim.Asymptotic, Growth: claim.Growth{Exponent: 0.5},
			Source: paper + "section 1; " + textbook + "section 9.8", Applies: with("plane"),
		},
		{
			Quantity: claim.MessagesPerCS, Formula: "3(K−1)", Load: claim.AnyLoad, Kind: claim.LowerBound,
			Source: paper + "abstract: c is between 3 and 5", Applies: both(published, equal),
		},
		{
			Quantity: claim.MessagesPerCS, Formula: "4(K−1)", Load: claim.Saturated, Kind: claim.Mean,
			Source: slides + "heavy traffic, the node is locked", Applies: both(published, equal),
		},
		{
			Quantity: claim.MessagesPerCS, Formula: "5(K−1)", Load: claim.Contention, Kind: claim.UpperBound,
			Source: slides + "heavy traffic, the lock is relinquished", Applies: both(published, equal),
		},
		{
			Quantity: claim.MessagesPerCS, Formula: "5√N", Load: claim.Saturated, Kind: claim.UpperBound,
			Source: paper + "abstract: c is between 3 and 5", Applies: both(published, with("plane")),
		},
		{
			Quantity: claim.MessagesPerCS, Formula: "5(K−1)", Load: claim.Worst, Kind: claim.UpperBound,
			Source: slides + "heavy traffic, the lock is relinquished", Applies: both(published, equal),
			KnownFalse: "a node whose lock was relinquished needs a second LOCKED, so that one REQUEST can cause six messages",
		},
		{
			Name:     "five-roots",
			Quantity: claim.MessagesPerCS, Formula: "5√N", Load: claim.Worst, Kind: claim.UpperBound,
			Source: textbook + "section 9.8.1", Applies: both(published, with("plane")),
			KnownFalse: "one REQUEST can cause six messages; a burst on 307 nodes in the worst order takes 5.2√N",
		},
		{
			Quantity: claim.SyncDelay, Formula: "2T", Load: claim.Saturated, Kind: claim.UpperBound,
			Source: textbook + "section 9.8",
			// It is T where the common member of the two sets is one of the two
			// nodes. Where sets meet in several nodes, as in a grid, the entry
			// waits for the slowest of several chains of two messages.
			Applies: both(published, with("plane")),
		},
		{
			Quantity: claim.EntryOrder, Formula: "0", Load: claim.Contention, Kind: claim.Exact,
			Source:     textbook + "exercise 9.5, which asks whether it holds",
			KnownFalse: "a request that has locked all its members does not give way to a more preceding one that arrives later",
		},
		{
			Quantity: InquiresPerLock, Formula: "1", Load: claim.Contention, Kind: claim.UpperBound,
			Source: paper + "section 4(2): not while the reply to another is outstanding",
		},
		{
			Name:     "three-roots",
			Quantity: claim.MessagesPerCS, Formula: "3(√N − 1)", Load: claim.Light, Kind: claim.Exact,
			Source: slides + "light traffic: 3(K−1) = 3(√N−1)", Applies: onTruePlane,
			KnownFalse: "K − 1 is (√(4N−3) − 1)/2, more than √N − 1: 9 messages, and not 7.8, on 13 nodes",
		},
		{
			// K cannot be smaller where all nodes do equal work.
			Quantity: claim.MessagesPerCS, Formula: "3(√(4N−3) − 1)/2: it can be proven that this is optimal",
			Load: claim.Light, Kind: claim.LowerBound, Source: paper + "sections 1 and 3", Applies: equalWork,
		},
		{
			Quantity: claim.WorkSpread, Formula: "1: equal work and equal responsibility", Load: claim.Saturated, Kind: claim.Mean,
			Source: paper + "section 2, properties (c) and (d)", Applies: both(published, onTruePlane),
		},
	}
}

// kinds lists what is said of the kinds of messages.
func kinds() claim.List {
	says := func(formula string, load claim.Load, kind claim.Kind, source string) claim.Claim {
		return claim.Claim{Formula: formula, Load: load, Kind: kind, Source: source, Applies: both(published, equal)}
	}
	light := says("K−1", claim.Light, claim.Exact, slides+"light traffic; "+paper+"section 1")
	idle := says("0", claim.Light, claim.Exact, slides+"light traffic")
	root := claim.Claim{
		Formula: "√N", Load: claim.Light, Kind: claim.Asymptotic, Growth: claim.Growth{Exponent: 0.5},
		Source: paper + "section 1; " + textbook + "section 9.8", Applies: with("plane"),
	}
	relinquished := says("K−1", claim.Contention, claim.UpperBound, slides+"heavy traffic, the lock is relinquished")
	// In smaller systems nobody ever has to give a lock back.
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

// otherSets lists what the paper says of earlier algorithms, as of other request
// sets for its own.
func otherSets() claim.List {
	const before = paper + "section 1"
	majority := map[string]string{optQuorum: "majority"}
	central := map[string]string{optQuorum: "singleton"}
	return claim.List{
		{
			Quantity: claim.KindPerCS("LOCKED"), Formula: "N/2 permissions (majority)", Expression: "⌊N/2⌋", Load: claim.Light, Kind: claim.Exact,
			Source: before + ": Thomas's majority consensus", Set: majority, Applies: with("majority"),
		},
		{
			Quantity: claim.MessagesPerCS, Formula: "3⌊N/2⌋ (majority)", Load: claim.Light, Kind: claim.Exact,
			Source: before + ": Thomas's majority consensus", Set: majority, Applies: with("majority"),
		},
		{
			Name:     "majority",
			Quantity: claim.QuorumSize, Formula: "⌊N/2⌋ + 1 (majority)", Load: claim.Static, Kind: claim.Exact,
			Source: before + ": Thomas's majority consensus", Set: majority, Applies: with("majority"), Measure: meanSize,
		},
		{
			Name:     "all-nodes",
			Quantity: claim.QuorumSize, Formula: "K = N (majority)", Load: claim.Static, Kind: claim.Exact,
			Source: paper + "section 2", Set: majority, Applies: with("majority"), Measure: meanSize,
			KnownFalse: "a majority is enough, ⌊N/2⌋ + 1 of N nodes, as section 1 says itself",
		},
		{
			// Node 1 answers itself without a message.
			Quantity: claim.MessagesPerCS, Formula: "3, but 0 for the controller: 3(N−1)/N (singleton)",
			Expression: "3(N−1)/N", Load: claim.Light, Kind: claim.Mean,
			Source: paper + "section 2: centralized control", Set: central, Applies: with("singleton"),
		},
		{
			Quantity: claim.QuorumSize, Formula: "K = 1 (singleton)", Load: claim.Static, Kind: claim.Exact,
			Source: paper + "section 2: centralized control", Set: central, Applies: with("singleton"), Measure: meanSize,
		},
		{
			Quantity: ResponsibilitySpread, Formula: "N: the controller is in every set (singleton)", Load: claim.Static, Kind: claim.Exact,
			Source: paper + "section 2: centralized control violates property (d)", Set: central,
			Applies: with("singleton"), Measure: responsibility,
		},
		{
			Quantity: ResponsibilitySpread, Formula: "N: full weight at one of 7 nodes is centralized control",
			Load: claim.Static, Kind: claim.Exact, Source: before,
			Set:     map[string]string{optQuorum: "weighted", quorum.OptionWeights: "1,0,0,0,0,0,0"},
			Applies: with("weighted"), Measure: responsibility,
		},
		{
			Quantity: claim.QuorumSize, Formula: "K = 1: full weight at one of 7 nodes", Load: claim.Static, Kind: claim.Exact,
			Source: before, Set: map[string]string{optQuorum: "weighted", quorum.OptionWeights: "1,0,0,0,0,0,0"},
			Applies: with("weighted"), Measure: meanSize,
		},
		{
			Quantity: ResponsibilitySpread, Formula: "above 1: weights 4, 2, 1, 1, 1, 1, 1 of 7 nodes", Load: claim.Static, Kind: claim.LowerBound,
			Source: before + ": nodes with higher weights bear more responsibility",
			Set:    map[string]string{optQuorum: "weighted", quorum.OptionWeights: "4,2,1,1,1,1,1"},
			// That it is not equal at all: the next value above is one set more
			// for a node of D sets on average.
			Predict: func(s dme.Setting) (float64, bool) {
				return 1 + 1/setSizes(s).mean, s.Options.Get(optQuorum) == "weighted"
			},
			Measure: responsibility,
		},
	}
}

func times() claim.List {
	return claim.List{
		{
			Quantity: claim.Throughput, Formula: "1/(2T + E)", Load: claim.Saturated, Kind: claim.LowerBound,
			Source: textbook + "sections 9.2.3 and 9.8", Applies: both(published, truePlane),
		},
		{
			Quantity: claim.SyncDelay, Formula: "2T on average", Load: claim.Saturated, Kind: claim.Mean,
			Source: textbook + "section 9.8: two sequential message transfers", Applies: both(published, truePlane),
			KnownFalse: "where the common member of two sets is one of the two nodes, one message is enough: with the numbers that " +
				"the planes have here (labelling=natural) always, where nodes enter in turn, else for two of K pairs",
		},
		{
			// S_i = i + D, with 0 and 1 in D: S_i and S_(i+1) meet in i+1.
			Quantity: StrangeNeighbours, Formula: "0 (labelling=natural): the sets of neighbours meet in one of the two",
			Load: claim.Static, Kind: claim.Exact, Source: labelled, Applies: truePlane, Measure: strangeNeighbours,
		},
		{
			Name:     "natural",
			Quantity: claim.SyncDelay, Formula: "T on average (labelling=natural, links of equal delay): neighbours enter in turn",
			Load: claim.Saturated, Kind: claim.Mean, Source: labelled,
			EqualDelays: true, Applies: both(published, truePlane),
		},
		{
			// T where one of the two is the common member: of the N−1 others K−1 are in a
			// node's set, and it is in as many of theirs.
			Name:     "shuffled",
			Quantity: claim.SyncDelay, Formula: "(2 − 2/K)T on average (labelling=shuffled, links of equal delay)",
			Load: claim.Saturated, Kind: claim.Mean, Source: labelled,
			Set:         map[string]string{quorum.OptionLabelling: "shuffled"},
			EqualDelays: true, Applies: both(published, onTruePlane),
		},
		{
			// Of K−1 round trips the slowest counts.
			Quantity: claim.ResponseTime, Formula: "2T + E (links of equal delay)", Load: claim.Light, Kind: claim.Mean,
			Source:      textbook + "section 9.2.3",
			EqualDelays: true, Applies: func(s dme.Setting) bool { return setSizes(s).min > 1 },
		},
	}
}

// equal reports whether all request sets are equally large and contain their node.
func equal(s dme.Setting) bool {
	k := setSizes(s)
	return k.self && k.min == k.max
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
	min, max int
	mean     float64
	self     bool // every node is in its own set
}

func setSizes(s dme.Setting) sizes {
	k := sizes{min: math.MaxInt, self: true}
	for id, set := range setsOf(s).RequestSets() {
		k.min, k.max = min(k.min, len(set)), max(k.max, len(set))
		k.mean += float64(len(set)) / float64(s.Nodes)
		k.self = k.self && slices.Contains(set, id)
	}
	return k
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

// impossible says why no node that keeps to the algorithm can have sent this
// message, over links that keep their guarantees; "" where one can. Messages
// that are merely late are not impossible: the handlers ignore them.
func (n *node) impossible(from dme.NodeID, m *dme.Message) string {
	if !quorum.Believable(m.Clock) && m.Kind != kindReclaim { // of which the sender may have had no message yet
		return "no such clock"
	}
	switch m.Kind {
	case kindRequest:
		return n.impossibleRequest(dme.Stamp{Clock: m.Clock, Node: from}, m.Flags&substitute != 0)
	case kindLocked, kindFailed, kindInquire:
		return n.impossibleAnswer(from, m)
	case kindRelinquish:
		if n.locking.Node != from || !n.inquiring || m.Num != n.grant {
			return "RELINQUISH of a lock that was not inquired about"
		}
	case kindRelease:
		if n.numbered && n.failures.Expects(from) && n.locking.Node != from {
			break // it has overtaken the RECLAIM of what it gives back
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
	j := n.MemberIndex(from)
	if j < 0 {
		if m.Kind == kindInquire {
			return "" // of a substitute, about a lock of an earlier request
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
