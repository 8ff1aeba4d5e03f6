package maekawa

import (
	"math"
	"slices"

	"dmebench/algorithms"
	"dmebench/algorithms/quorum"
)

const (
	paper    = "Maekawa 1985, "
	slides   = "slides \"A short story\", "
	textbook = "textbook, "
)

// InquiresPerLock is the number of INQUIRE messages over that of LOCKED messages.
const InquiresPerLock algorithms.Quantity = "INQUIRE messages per LOCKED message"

// The option that every claim about other request sets names.
const optQuorum = quorum.OptionQuorum

// claims lists what has been said about the algorithm. K is the size of a
// request set.
func claims() []algorithms.Claim {
	return slices.Concat(
		algorithms.SafeAndLive(paper+"sections 6.1 and 6.2"),
		costs(), kinds(), otherSets(), times(), setClaims(), planeClaims(),
	)
}

func costs() []algorithms.Claim {
	return []algorithms.Claim{
		{
			Quantity: algorithms.MessagesPerCS, Formula: "3(K−1)", Load: algorithms.Light, Kind: algorithms.Exact,
			Source:  slides + "light traffic; " + paper + "section 1",
			Predict: perMember(3),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "3(K−1), K the mean", Load: algorithms.Light, Kind: algorithms.Mean,
			Source: paper + "section 3: other N by relaxing (c) and (d)",
			Predict: func(s algorithms.Setting) (float64, bool) {
				k := setSizes(s)
				return 3 * k.others, k.min != k.max || !k.self
			},
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "3√N", Load: algorithms.Light, Kind: algorithms.Asymptotic,
			Source:  paper + "section 1; " + textbook + "section 9.8",
			Predict: onPlane(func(n float64) float64 { return 3 * math.Sqrt(n) }),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "3(K−1)", Load: algorithms.AnyLoad, Kind: algorithms.LowerBound,
			Source:  paper + "abstract: c is between 3 and 5",
			Predict: published(perMember(3)),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "4(K−1)", Load: algorithms.Saturated, Kind: algorithms.Mean,
			Source:  slides + "heavy traffic, the node is locked",
			Predict: published(perMember(4)),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "5(K−1)", Load: algorithms.Contention, Kind: algorithms.UpperBound,
			Source:  slides + "heavy traffic, the lock is relinquished",
			Predict: published(perMember(5)),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "5√N", Load: algorithms.Saturated, Kind: algorithms.UpperBound,
			Source:  paper + "abstract: c is between 3 and 5",
			Predict: published(onPlane(func(n float64) float64 { return 5 * math.Sqrt(n) })),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "5(K−1)", Load: algorithms.Worst, Kind: algorithms.UpperBound,
			Source:     slides + "heavy traffic, the lock is relinquished",
			Predict:    published(perMember(5)),
			KnownFalse: "a node whose lock was relinquished needs a second LOCKED, so that one REQUEST can cause six messages",
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "5√N", Load: algorithms.Worst, Kind: algorithms.UpperBound,
			Source:     textbook + "section 9.8.1",
			Predict:    published(onPlane(func(n float64) float64 { return 5 * math.Sqrt(n) })),
			KnownFalse: "one REQUEST can cause six messages; a burst on 307 nodes in the worst order takes 5.2√N",
		},
		{
			Quantity: algorithms.SyncDelay, Formula: "2T", Load: algorithms.Saturated, Kind: algorithms.UpperBound,
			Source: textbook + "section 9.8",
			// It is T where the common member of the two sets is one of the two
			// nodes. Where sets meet in several nodes, as in a grid, the entry
			// waits for the slowest of several chains of two messages.
			Predict: published(onPlane(func(float64) float64 { return 2 })),
		},
		{
			Quantity: algorithms.EntryOrder, Formula: "0", Load: algorithms.Contention, Kind: algorithms.Exact,
			Source:     textbook + "exercise 9.5, which asks whether it holds",
			Predict:    algorithms.Constantly(0),
			KnownFalse: "a request that has locked all its members does not give way to a more preceding one that arrives later",
		},
		{
			Quantity: InquiresPerLock, Formula: "1", Load: algorithms.Contention, Kind: algorithms.UpperBound,
			Source:  paper + "section 4(2): not while the reply to another is outstanding",
			Predict: algorithms.Constantly(1),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "3(√N − 1)", Load: algorithms.Light, Kind: algorithms.Exact,
			Source:     slides + "light traffic: 3(K−1) = 3(√N−1)",
			Predict:    onTruePlane(func(k, n float64) float64 { return 3 * (math.Sqrt(n) - 1) }),
			KnownFalse: "K − 1 is (√(4N−3) − 1)/2, more than √N − 1: 9 messages, and not 7.8, on 13 nodes",
		},
		{
			// K cannot be smaller where all nodes do equal work.
			Quantity: algorithms.MessagesPerCS, Formula: "3(√(4N−3) − 1)/2: it can be proven that this is optimal", Load: algorithms.Light, Kind: algorithms.LowerBound,
			Source:  paper + "sections 1 and 3",
			Predict: equalWork(func(n float64) float64 { return 3 * (smallestSet(n) - 1) }),
		},
		{
			Quantity: algorithms.WorkSpread, Formula: "1: equal work and equal responsibility", Load: algorithms.Saturated, Kind: algorithms.Mean,
			Source:  paper + "section 2, properties (c) and (d)",
			Predict: published(onTruePlane(func(_, _ float64) float64 { return 1 })),
		},
	}
}

// kinds lists what is said of the kinds of messages.
func kinds() []algorithms.Claim {
	claim := func(formula string, load algorithms.Load, kind algorithms.ClaimKind, source string, c float64) algorithms.Claim {
		return algorithms.Claim{Formula: formula, Load: load, Kind: kind, Source: source, Predict: published(perMember(c))}
	}
	light := claim("K−1", algorithms.Light, algorithms.Exact, slides+"light traffic; "+paper+"section 1", 1)
	idle := claim("0", algorithms.Light, algorithms.Exact, slides+"light traffic", 0)
	root := algorithms.Claim{
		Formula: "√N", Load: algorithms.Light, Kind: algorithms.Asymptotic, Source: paper + "section 1; " + textbook + "section 9.8",
		Predict: onPlane(math.Sqrt),
	}
	relinquished := claim("K−1", algorithms.Contention, algorithms.UpperBound, slides+"heavy traffic, the lock is relinquished", 1)
	locked := claim("K−1", algorithms.Contention, algorithms.Exact, slides+"heavy traffic, the lock is relinquished", 1)
	locked.Predict = atLeastSeven(locked.Predict)
	locked.KnownFalse = "a node whose lock was relinquished needs a second LOCKED: in bursts on 13 nodes there are as many more " +
		"than K−1 as there are RELINQUISHs"
	return slices.Concat(
		algorithms.KindsPerCS(light, "REQUEST", "LOCKED", "RELEASE"),
		algorithms.KindsPerCS(idle, "FAILED", "INQUIRE", "RELINQUISH"),
		algorithms.KindsPerCS(root, "REQUEST", "LOCKED", "RELEASE"),
		algorithms.KindsPerCS(claim("K−1", algorithms.AnyLoad, algorithms.Exact, slides+"light and heavy traffic", 1), "REQUEST", "RELEASE"),
		algorithms.KindsPerCS(claim("K−1", algorithms.Saturated, algorithms.Mean, slides+"heavy traffic, the node is locked", 1), "LOCKED", "FAILED"),
		algorithms.KindsPerCS(claim("0", algorithms.Saturated, algorithms.Mean, slides+"heavy traffic, the node is locked", 0), "INQUIRE", "RELINQUISH"),
		algorithms.KindsPerCS(relinquished, "INQUIRE", "RELINQUISH"),
		algorithms.KindsPerCS(locked, "LOCKED"),
	)
}

// otherSets lists what the paper says of earlier algorithms, as of other request
// sets for its own.
func otherSets() []algorithms.Claim {
	const before = paper + "section 1"
	majority := map[string]string{optQuorum: "majority"}
	central := map[string]string{optQuorum: "singleton"}
	half := func(n float64) float64 { return math.Floor(n / 2) }
	return []algorithms.Claim{
		{
			Quantity: algorithms.KindPerCS("LOCKED"), Formula: "N/2 permissions (majority)", Load: algorithms.Light, Kind: algorithms.Exact,
			Source: before + ": Thomas's majority consensus", Set: majority,
			Predict: with("majority", half),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "3⌊N/2⌋ (majority)", Load: algorithms.Light, Kind: algorithms.Exact,
			Source: before + ": Thomas's majority consensus", Set: majority,
			Predict: with("majority", func(n float64) float64 { return 3 * half(n) }),
		},
		{
			Quantity: algorithms.QuorumSize, Formula: "⌊N/2⌋ + 1 (majority)", Load: algorithms.Static, Kind: algorithms.Exact,
			Source: before + ": Thomas's majority consensus", Set: majority,
			Predict: with("majority", func(n float64) float64 { return half(n) + 1 }), Measure: meanSize,
		},
		{
			Quantity: algorithms.QuorumSize, Formula: "K = N (majority)", Load: algorithms.Static, Kind: algorithms.Exact,
			Source: paper + "section 2", Set: majority,
			Predict: with("majority", func(n float64) float64 { return n }), Measure: meanSize,
			KnownFalse: "a majority is enough, ⌊N/2⌋ + 1 of N nodes, as section 1 says itself",
		},
		{
			// Node 1 answers itself without a message.
			Quantity: algorithms.MessagesPerCS, Formula: "3, but 0 for the controller: 3(N−1)/N (singleton)", Load: algorithms.Light, Kind: algorithms.Mean,
			Source: paper + "section 2: centralized control", Set: central,
			Predict: with("singleton", func(n float64) float64 { return 3 * (n - 1) / n }),
		},
		{
			Quantity: algorithms.QuorumSize, Formula: "K = 1 (singleton)", Load: algorithms.Static, Kind: algorithms.Exact,
			Source: paper + "section 2: centralized control", Set: central,
			Predict: with("singleton", func(float64) float64 { return 1 }), Measure: meanSize,
		},
		{
			Quantity: ResponsibilitySpread, Formula: "N: the controller is in every set (singleton)", Load: algorithms.Static, Kind: algorithms.Exact,
			Source: paper + "section 2: centralized control violates property (d)", Set: central,
			Predict: with("singleton", func(n float64) float64 { return n }), Measure: responsibility,
		},
		{
			Quantity: ResponsibilitySpread, Formula: "N: full weight at one of 7 nodes is centralized control", Load: algorithms.Static, Kind: algorithms.Exact,
			Source: before, Set: map[string]string{optQuorum: "weighted", quorum.OptionWeights: "1,0,0,0,0,0,0"},
			Predict: with("weighted", func(n float64) float64 { return n }), Measure: responsibility,
		},
		{
			Quantity: algorithms.QuorumSize, Formula: "K = 1: full weight at one of 7 nodes", Load: algorithms.Static, Kind: algorithms.Exact,
			Source: before, Set: map[string]string{optQuorum: "weighted", quorum.OptionWeights: "1,0,0,0,0,0,0"},
			Predict: with("weighted", func(float64) float64 { return 1 }), Measure: meanSize,
		},
		{
			Quantity: ResponsibilitySpread, Formula: "above 1: weights 4, 2, 1, 1, 1, 1, 1 of 7 nodes", Load: algorithms.Static, Kind: algorithms.LowerBound,
			Source: before + ": nodes with higher weights bear more responsibility",
			Set:    map[string]string{optQuorum: "weighted", quorum.OptionWeights: "4,2,1,1,1,1,1"},
			// That it is not equal at all: the next value above is one set more
			// for a node of D sets in the mean.
			Predict: func(s algorithms.Setting) (float64, bool) {
				return 1 + 1/setSizes(s).mean, s.Options.Get(optQuorum) == "weighted"
			},
			Measure: responsibility,
		},
	}
}

func times() []algorithms.Claim {
	members := func(s algorithms.Setting) bool { return setSizes(s).min > 1 }
	return []algorithms.Claim{
		algorithms.Claim{
			Quantity: algorithms.Throughput, Formula: "1/(2T + E)", Load: algorithms.Saturated, Kind: algorithms.LowerBound,
			Source:  textbook + "sections 9.2.3 and 9.8",
			Predict: published(algorithms.FromTimes(func(_, t, e float64) float64 { return 1 / (2*t + e) })),
		}.Where(truePlane),
		algorithms.Claim{
			Quantity: algorithms.SyncDelay, Formula: "2T in the mean", Load: algorithms.Saturated, Kind: algorithms.Mean,
			Source:  textbook + "section 9.8: two sequential message transfers",
			Predict: published(algorithms.AtLeastTwo(2)),
			KnownFalse: "where the common member of two sets is one of the two nodes, one message is enough: " +
				"T in the mean under saturation on planes of 7 and 13 nodes, where nodes enter in turn",
		}.Where(truePlane),
		algorithms.Claim{
			// Of K−1 round trips the slowest counts.
			Quantity: algorithms.ResponseTime, Formula: "2T + E (links of equal delay)", Load: algorithms.Light, Kind: algorithms.Mean,
			Source:      textbook + "section 9.2.3",
			EqualDelays: true,
			Predict:     algorithms.FromTimes(func(_, t, e float64) float64 { return 2*t + e }),
		}.Where(members),
	}
}

// perMember predicts c messages for each other member of a request set, where
// all sets are equally large and contain their node.
func perMember(c float64) func(algorithms.Setting) (float64, bool) {
	return func(s algorithms.Setting) (float64, bool) {
		k := setSizes(s)
		return c * k.others, k.self && k.min == k.max
	}
}

// onPlane restricts a prediction that depends on N to the sets of which the
// paper makes it.
func onPlane(f func(n float64) float64) func(algorithms.Setting) (float64, bool) {
	return func(s algorithms.Setting) (float64, bool) {
		return f(float64(s.Nodes)), s.Options.Get(optQuorum) == "plane"
	}
}

// with restricts a prediction from N to one construction.
func with(construction string, f func(n float64) float64) func(algorithms.Setting) (float64, bool) {
	return func(s algorithms.Setting) (float64, bool) {
		return f(float64(s.Nodes)), s.Options.Get(optQuorum) == construction
	}
}

// atLeastSeven restricts a prediction to systems that are not so small that
// nobody ever has to give a lock back.
func atLeastSeven(f func(algorithms.Setting) (float64, bool)) func(algorithms.Setting) (float64, bool) {
	return func(s algorithms.Setting) (float64, bool) {
		value, ok := f(s)
		return value, ok && s.Nodes >= 7
	}
}

// published restricts a prediction to the algorithm that the paper describes.
func published(f func(algorithms.Setting) (float64, bool)) func(algorithms.Setting) (float64, bool) {
	return func(s algorithms.Setting) (float64, bool) {
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

func setSizes(s algorithms.Setting) sizes {
	sets := s.System.(algorithms.Quorate)
	k := sizes{min: math.MaxInt, self: true}
	others := 0
	for id := algorithms.NodeID(1); int(id) <= s.Nodes; id++ {
		set := sets.RequestSet(id)
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
