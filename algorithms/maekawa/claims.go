package maekawa

import (
	"math"
	"slices"

	"dmebench/algorithms"
)

const (
	paper    = "Maekawa 1985, "
	slides   = "slides \"A √N Algorithm for Mutual Exclusion in Decentralized Systems: a short story\", "
	textbook = "Kshemkalyani and Singhal, Distributed Computing, "
)

// InquiresPerLock is the number of INQUIRE messages over that of LOCKED messages.
const InquiresPerLock algorithms.Quantity = "INQUIRE messages per LOCKED message"

// claims lists what has been said about the algorithm. K is the size of a
// request set.
func claims() []algorithms.Claim {
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
			Quantity: algorithms.QuorumSize, Formula: "K = (1+√(4N−3))/2", Load: algorithms.Static, Kind: algorithms.Exact,
			Source: paper + "section 3: N = K(K−1)+1; " + slides + "construction",
			Predict: func(s algorithms.Setting) (float64, bool) {
				n := float64(s.Nodes)
				k := (1 + math.Sqrt(4*n-3)) / 2
				return k, s.Options.Get("quorum") == "plane" && s.Nodes == int(k)*(int(k)-1)+1 && setSizes(s).max == int(k)
			},
		},
		{
			Quantity: algorithms.QuorumSize, Formula: "K ≈ √N", Load: algorithms.Static, Kind: algorithms.Asymptotic,
			Source:  paper + "section 3",
			Predict: onPlane(math.Sqrt),
		},
		{
			Quantity: InquiresPerLock, Formula: "1", Load: algorithms.Contention, Kind: algorithms.UpperBound,
			Source:  paper + "section 4(2): not while the reply to another is outstanding",
			Predict: algorithms.Constantly(1),
		},
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
		return f(float64(s.Nodes)), s.Options.Get("quorum") == "plane"
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
		if slices.Contains(set, id) {
			others--
		} else {
			k.self = false
		}
	}
	k.others = float64(others) / float64(s.Nodes)
	return k
}
