package maekawa

import (
	"math"
	"slices"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
)

const (
	paper    = "Maekawa 1985, "
	slides   = "slides \"A short story\", "
	textbook = "textbook, "
)

// InquiresPerLock is the number of INQUIRE messages over that of LOCKED messages.
var InquiresPerLock = dme.KindPerKind("INQUIRE", "LOCKED")

// The option that every claim about other request sets names.
const optQuorum = quorum.OptionQuorum

// claims lists what has been said about the algorithm. K is the size of a
// request set.
func claims() []dme.Claim {
	return slices.Concat(
		dme.SafeAndLive(paper+"sections 6.1 and 6.2"),
		costs(), kinds(), otherSets(), times(), setClaims(), planeClaims(),
	)
}

func costs() []dme.Claim {
	return []dme.Claim{
		{
			Quantity: dme.MessagesPerCS, Formula: "3(K−1)", Load: dme.Light, Kind: dme.Exact,
			Source:  slides + "light traffic; " + paper + "section 1",
			Predict: perMember(3),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "3(K−1), K the mean", Load: dme.Light, Kind: dme.Mean,
			Source: paper + "section 3: other N by relaxing (c) and (d)",
			Predict: func(s dme.Setting) (float64, bool) {
				k := setSizes(s)
				return 3 * k.others, k.min != k.max || !k.self
			},
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "3√N", Load: dme.Light, Kind: dme.Asymptotic, Growth: dme.Growth{Exponent: 0.5},
			Source:  paper + "section 1; " + textbook + "section 9.8",
			Predict: onPlane(func(n float64) float64 { return 3 * math.Sqrt(n) }),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "3(K−1)", Load: dme.AnyLoad, Kind: dme.LowerBound,
			Source:  paper + "abstract: c is between 3 and 5",
			Predict: published(perMember(3)),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "4(K−1)", Load: dme.Saturated, Kind: dme.Mean,
			Source:  slides + "heavy traffic, the node is locked",
			Predict: published(perMember(4)),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "5(K−1)", Load: dme.Contention, Kind: dme.UpperBound,
			Source:  slides + "heavy traffic, the lock is relinquished",
			Predict: published(perMember(5)),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "5√N", Load: dme.Saturated, Kind: dme.UpperBound,
			Source:  paper + "abstract: c is between 3 and 5",
			Predict: published(onPlane(func(n float64) float64 { return 5 * math.Sqrt(n) })),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "5(K−1)", Load: dme.Worst, Kind: dme.UpperBound,
			Source:     slides + "heavy traffic, the lock is relinquished",
			Predict:    published(perMember(5)),
			KnownFalse: "a node whose lock was relinquished needs a second LOCKED, so that one REQUEST can cause six messages",
		},
		{
			Name:     "five-roots",
			Quantity: dme.MessagesPerCS, Formula: "5√N", Load: dme.Worst, Kind: dme.UpperBound,
			Source:     textbook + "section 9.8.1",
			Predict:    published(onPlane(func(n float64) float64 { return 5 * math.Sqrt(n) })),
			KnownFalse: "one REQUEST can cause six messages; a burst on 307 nodes in the worst order takes 5.2√N",
		},
		{
			Quantity: dme.SyncDelay, Formula: "2T", Load: dme.Saturated, Kind: dme.UpperBound,
			Source: textbook + "section 9.8",
			// It is T where the common member of the two sets is one of the two
			// nodes. Where sets meet in several nodes, as in a grid, the entry
			// waits for the slowest of several chains of two messages.
			Predict: published(onPlane(func(float64) float64 { return 2 })),
		},
		{
			Quantity: dme.EntryOrder, Formula: "0", Load: dme.Contention, Kind: dme.Exact,
			Source:     textbook + "exercise 9.5, which asks whether it holds",
			Predict:    dme.Constantly(0),
			KnownFalse: "a request that has locked all its members does not give way to a more preceding one that arrives later",
		},
		{
			Quantity: InquiresPerLock, Formula: "1", Load: dme.Contention, Kind: dme.UpperBound,
			Source:  paper + "section 4(2): not while the reply to another is outstanding",
			Predict: dme.Constantly(1),
		},
		{
			Name:     "three-roots",
			Quantity: dme.MessagesPerCS, Formula: "3(√N − 1)", Load: dme.Light, Kind: dme.Exact,
			Source:     slides + "light traffic: 3(K−1) = 3(√N−1)",
			Predict:    onTruePlane(func(k, n float64) float64 { return 3 * (math.Sqrt(n) - 1) }),
			KnownFalse: "K − 1 is (√(4N−3) − 1)/2, more than √N − 1: 9 messages, and not 7.8, on 13 nodes",
		},
		{
			// K cannot be smaller where all nodes do equal work.
			Quantity: dme.MessagesPerCS, Formula: "3(√(4N−3) − 1)/2: it can be proven that this is optimal", Load: dme.Light, Kind: dme.LowerBound,
			Source:  paper + "sections 1 and 3",
			Predict: equalWork(func(n float64) float64 { return 3 * (smallestSet(n) - 1) }),
		},
		{
			Quantity: dme.WorkSpread, Formula: "1: equal work and equal responsibility", Load: dme.Saturated, Kind: dme.Mean,
			Source:  paper + "section 2, properties (c) and (d)",
			Predict: published(onTruePlane(func(_, _ float64) float64 { return 1 })),
		},
	}
}

// kinds lists what is said of the kinds of messages.
func kinds() []dme.Claim {
	claim := func(formula string, load dme.Load, kind dme.ClaimKind, source string, c float64) dme.Claim {
		return dme.Claim{Formula: formula, Load: load, Kind: kind, Source: source, Predict: published(perMember(c))}
	}
	light := claim("K−1", dme.Light, dme.Exact, slides+"light traffic; "+paper+"section 1", 1)
	idle := claim("0", dme.Light, dme.Exact, slides+"light traffic", 0)
	root := dme.Claim{
		Formula: "√N", Load: dme.Light, Kind: dme.Asymptotic, Growth: dme.Growth{Exponent: 0.5},
		Source:  paper + "section 1; " + textbook + "section 9.8",
		Predict: onPlane(math.Sqrt),
	}
	relinquished := claim("K−1", dme.Contention, dme.UpperBound, slides+"heavy traffic, the lock is relinquished", 1)
	locked := claim("K−1", dme.Contention, dme.Exact, slides+"heavy traffic, the lock is relinquished", 1)
	locked.Predict = atLeastSeven(locked.Predict)
	locked.KnownFalse = "a node whose lock was relinquished needs a second LOCKED: in bursts on 13 nodes there are as many more " +
		"than K−1 as there are RELINQUISHs"
	return slices.Concat(
		dme.KindsPerCS(light, "REQUEST", "LOCKED", "RELEASE"),
		dme.KindsPerCS(idle, "FAILED", "INQUIRE", "RELINQUISH"),
		dme.KindsPerCS(root, "REQUEST", "LOCKED", "RELEASE"),
		dme.KindsPerCS(claim("K−1", dme.AnyLoad, dme.Exact, slides+"light and heavy traffic", 1), "REQUEST", "RELEASE"),
		dme.KindsPerCS(claim("K−1", dme.Saturated, dme.Mean, slides+"heavy traffic, the node is locked", 1), "LOCKED", "FAILED"),
		dme.KindsPerCS(claim("0", dme.Saturated, dme.Mean, slides+"heavy traffic, the node is locked", 0), "INQUIRE", "RELINQUISH"),
		dme.KindsPerCS(relinquished, "INQUIRE", "RELINQUISH"),
		dme.KindsPerCS(locked, "LOCKED"),
	)
}

// otherSets lists what the paper says of earlier algorithms, as of other request
// sets for its own.
func otherSets() []dme.Claim {
	const before = paper + "section 1"
	majority := map[string]string{optQuorum: "majority"}
	central := map[string]string{optQuorum: "singleton"}
	half := func(n float64) float64 { return math.Floor(n / 2) }
	return []dme.Claim{
		{
			Quantity: dme.KindPerCS("LOCKED"), Formula: "N/2 permissions (majority)", Load: dme.Light, Kind: dme.Exact,
			Source: before + ": Thomas's majority consensus", Set: majority,
			Predict: with("majority", half),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "3⌊N/2⌋ (majority)", Load: dme.Light, Kind: dme.Exact,
			Source: before + ": Thomas's majority consensus", Set: majority,
			Predict: with("majority", func(n float64) float64 { return 3 * half(n) }),
		},
		{
			Name:     "majority",
			Quantity: dme.QuorumSize, Formula: "⌊N/2⌋ + 1 (majority)", Load: dme.Static, Kind: dme.Exact,
			Source: before + ": Thomas's majority consensus", Set: majority,
			Predict: with("majority", func(n float64) float64 { return half(n) + 1 }), Measure: meanSize,
		},
		{
			Name:     "all-nodes",
			Quantity: dme.QuorumSize, Formula: "K = N (majority)", Load: dme.Static, Kind: dme.Exact,
			Source: paper + "section 2", Set: majority,
			Predict: with("majority", func(n float64) float64 { return n }), Measure: meanSize,
			KnownFalse: "a majority is enough, ⌊N/2⌋ + 1 of N nodes, as section 1 says itself",
		},
		{
			// Node 1 answers itself without a message.
			Quantity: dme.MessagesPerCS, Formula: "3, but 0 for the controller: 3(N−1)/N (singleton)", Load: dme.Light, Kind: dme.Mean,
			Source: paper + "section 2: centralized control", Set: central,
			Predict: with("singleton", func(n float64) float64 { return 3 * (n - 1) / n }),
		},
		{
			Quantity: dme.QuorumSize, Formula: "K = 1 (singleton)", Load: dme.Static, Kind: dme.Exact,
			Source: paper + "section 2: centralized control", Set: central,
			Predict: with("singleton", func(float64) float64 { return 1 }), Measure: meanSize,
		},
		{
			Quantity: ResponsibilitySpread, Formula: "N: the controller is in every set (singleton)", Load: dme.Static, Kind: dme.Exact,
			Source: paper + "section 2: centralized control violates property (d)", Set: central,
			Predict: with("singleton", func(n float64) float64 { return n }), Measure: responsibility,
		},
		{
			Quantity: ResponsibilitySpread, Formula: "N: full weight at one of 7 nodes is centralized control", Load: dme.Static, Kind: dme.Exact,
			Source: before, Set: map[string]string{optQuorum: "weighted", quorum.OptionWeights: "1,0,0,0,0,0,0"},
			Predict: with("weighted", func(n float64) float64 { return n }), Measure: responsibility,
		},
		{
			Quantity: dme.QuorumSize, Formula: "K = 1: full weight at one of 7 nodes", Load: dme.Static, Kind: dme.Exact,
			Source: before, Set: map[string]string{optQuorum: "weighted", quorum.OptionWeights: "1,0,0,0,0,0,0"},
			Predict: with("weighted", func(float64) float64 { return 1 }), Measure: meanSize,
		},
		{
			Quantity: ResponsibilitySpread, Formula: "above 1: weights 4, 2, 1, 1, 1, 1, 1 of 7 nodes", Load: dme.Static, Kind: dme.LowerBound,
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

func times() []dme.Claim {
	members := func(s dme.Setting) bool { return setSizes(s).min > 1 }
	return []dme.Claim{
		dme.Claim{
			Quantity: dme.Throughput, Formula: "1/(2T + E)", Load: dme.Saturated, Kind: dme.LowerBound,
			Source:  textbook + "sections 9.2.3 and 9.8",
			Predict: published(dme.FromTimes(func(_, t, e float64) float64 { return 1 / (2*t + e) })),
		}.Where(truePlane),
		dme.Claim{
			Quantity: dme.SyncDelay, Formula: "2T on average", Load: dme.Saturated, Kind: dme.Mean,
			Source:  textbook + "section 9.8: two sequential message transfers",
			Predict: published(dme.AtLeastTwo(2)),
			KnownFalse: "where the common member of two sets is one of the two nodes, one message is enough: with the numbers that " +
				"the planes have here (labelling=natural) always, where nodes enter in turn, else for two of K pairs",
		}.Where(truePlane),
		dme.Claim{
			// S_i = i + D, with 0 and 1 in D: S_i and S_(i+1) meet in i+1.
			Quantity: StrangeNeighbours, Formula: "0 (labelling=natural): the sets of neighbours meet in one of the two",
			Load: dme.Static, Kind: dme.Exact, Source: labelled,
			Predict: dme.Constantly(0), Measure: strangeNeighbours,
		}.Where(truePlane),
		dme.Claim{
			Name:     "natural",
			Quantity: dme.SyncDelay, Formula: "T on average (labelling=natural, links of equal delay): neighbours enter in turn",
			Load: dme.Saturated, Kind: dme.Mean, Source: labelled,
			EqualDelays: true,
			Predict:     published(dme.AtLeastTwo(1)),
		}.Where(truePlane),
		dme.Claim{
			// T where one of the two is the common member: of the N−1 others K−1 are in a
			// node's set, and it is in as many of theirs.
			Name:     "shuffled",
			Quantity: dme.SyncDelay, Formula: "(2 − 2/K)T on average (labelling=shuffled, links of equal delay)",
			Load: dme.Saturated, Kind: dme.Mean, Source: labelled,
			Set:         map[string]string{quorum.OptionLabelling: "shuffled"},
			EqualDelays: true,
			Predict:     published(onTruePlane(func(k, _ float64) float64 { return 2 - 2/k })),
		},
		dme.Claim{
			// Of K−1 round trips the slowest counts.
			Quantity: dme.ResponseTime, Formula: "2T + E (links of equal delay)", Load: dme.Light, Kind: dme.Mean,
			Source:      textbook + "section 9.2.3",
			EqualDelays: true,
			Predict:     dme.FromTimes(func(_, t, e float64) float64 { return 2*t + e }),
		}.Where(members),
	}
}

// perMember predicts c messages for each other member of a request set, where
// all sets are equally large and contain their node.
func perMember(c float64) func(dme.Setting) (float64, bool) {
	return func(s dme.Setting) (float64, bool) {
		k := setSizes(s)
		return c * k.others, k.self && k.min == k.max
	}
}

// onPlane restricts a prediction that depends on N to the sets of which the
// paper makes it.
func onPlane(f func(n float64) float64) func(dme.Setting) (float64, bool) {
	return func(s dme.Setting) (float64, bool) {
		return f(float64(s.Nodes)), s.Options.Get(optQuorum) == "plane"
	}
}

// with restricts a prediction from N to one construction.
func with(construction string, f func(n float64) float64) func(dme.Setting) (float64, bool) {
	return func(s dme.Setting) (float64, bool) {
		return f(float64(s.Nodes)), s.Options.Get(optQuorum) == construction
	}
}

// atLeastSeven restricts a prediction to systems that are not so small that
// nobody ever has to give a lock back.
func atLeastSeven(f func(dme.Setting) (float64, bool)) func(dme.Setting) (float64, bool) {
	return func(s dme.Setting) (float64, bool) {
		value, ok := f(s)
		return value, ok && s.Nodes >= 7
	}
}

// published restricts a prediction to the algorithm that the paper describes.
func published(f func(dme.Setting) (float64, bool)) func(dme.Setting) (float64, bool) {
	return func(s dme.Setting) (float64, bool) {
		value, ok := f(s)
		return value, ok && s.Options.Get("yield") == "failed"
	}
}

// sizes describes the request sets of a system.
type sizes struct {
	min, max int
	mean     float64
	others   float64 // K−1: mean number of members other than the node itself
	self     bool    // every node is in its own set
}

func setSizes(s dme.Setting) sizes {
	k := sizes{min: math.MaxInt, self: true}
	others := 0
	for id, set := range setsOf(s).RequestSets() {
		k.min, k.max = min(k.min, len(set)), max(k.max, len(set))
		others += len(set)
		k.mean += float64(len(set)) / float64(s.Nodes)
		if slices.Contains(set, id) {
			others--
		} else {
			k.self = false
		}
	}
	k.others = float64(others) / float64(s.Nodes)
	return k
}

// labelled is the source of what follows from which node stands where on a plane.
const labelled = "textbook, section 9.8, and Maekawa 1985, section 4, for the numbers that the nodes have"

// StrangeNeighbours counts the nodes i whose request set meets that of the next node
// in neither of the two.
var StrangeNeighbours = dme.Quantity{ID: "strange-neighbours", Name: "neighbours whose common member is a third node"}

func strangeNeighbours(s dme.Setting) (count float64, ok bool) {
	sets := s.System.(dme.Quorate)
	for i := range s.Nodes {
		a, b := dme.NodeID(i+1), dme.NodeID((i+1)%s.Nodes+1)
		other := sets.RequestSet(b)
		common := func(id dme.NodeID) bool { return slices.Contains(sets.RequestSet(a), id) && slices.Contains(other, id) }
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
