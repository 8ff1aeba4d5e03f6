package agrawalelabbadi

import (
	"math"

	"dmebench/algorithms"
	"dmebench/algorithms/quorum"
)

// What section 9.9 makes claims about and no other paper does: how many nodes
// may have failed while a quorum can still be formed, with luck and in any case.
const (
	FailuresTolerated algorithms.Quantity = "failures after which a quorum can exist"
	FailuresSurvived  algorithms.Quantity = "failures after which a quorum exists in any case"
)

const section = "textbook, section "

// claims lists what the textbook says. n is the number of nodes, k the level of
// a complete tree, n = 2^(k+1)−1; "log n" is log2(n+1) = k+1, the number of nodes
// on a path. Claims under failures are about the construction, which the
// package quorum computes.
func claims() []algorithms.Claim {
	return []algorithms.Claim{
		{
			Quantity: algorithms.MessagesPerCS, Formula: "3(K−1), K = log2(n+1)", Load: algorithms.Light, Kind: algorithms.Exact,
			Source:  section + "9.9.5: Request, Reply and Relinquish on a path of log n nodes",
			Predict: onEqualPaths(func(k float64) float64 { return 3 * (k - 1) }),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "3(K−1), K the mean (path=self); 3K(n−1)/n (path=random, uniformly drawn requesters)",
			Load: algorithms.Light, Kind: algorithms.Mean,
			Source: section + "9.9.5: Request, Reply and Relinquish on a path",
			Predict: func(s algorithms.Setting) (float64, bool) {
				if self(s) {
					k := pathsOf(s)
					return 3 * (k.mean - 1), k.min != k.max
				}
				// A path has one chance in n for each of its nodes that the
				// requester is this one.
				n := float64(s.Nodes)
				return 3 * meanDepth(s.Nodes) * (n - 1) / n, true
			},
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "3(K−1), K = log2(n+1)", Load: algorithms.AnyLoad, Kind: algorithms.LowerBound,
			Source:  section + "9.9.5: Inquire and Yield come on top",
			Predict: onEqualPaths(func(k float64) float64 { return 3 * (k - 1) }),
		},
		{
			Quantity: algorithms.QuorumSize, Formula: "log n = log2(n+1)", Load: algorithms.Static, Kind: algorithms.Exact,
			Source: section + "9.9.2: the best case, without failures",
			Predict: func(s algorithms.Setting) (float64, bool) {
				return math.Log2(float64(s.Nodes + 1)), self(s) && complete(s.Nodes)
			},
		},
		{
			Quantity: algorithms.QuorumSize, Formula: "O(log n)", Load: algorithms.Static, Kind: algorithms.Asymptotic,
			Source: section + "9.9.2",
			Predict: func(s algorithms.Setting) (float64, bool) {
				return math.Log2(float64(s.Nodes + 1)), self(s)
			},
		},
		{
			Quantity: algorithms.QuorumSize, Formula: "(n+1)/2", Load: algorithms.Faults, Kind: algorithms.UpperBound,
			Source: section + "9.9.2: the worst case",
			Predict: func(s algorithms.Setting) (float64, bool) {
				return float64(s.Nodes+1) / 2, complete(s.Nodes)
			},
		},
		{
			Quantity: algorithms.QuorumSize, Formula: "(k−i)+2i after one failure at level i; 2k where that is the root, i = k", Load: algorithms.Faults, Kind: algorithms.Exact,
			Source: section + "9.9.4",
			Predict: func(s algorithms.Setting) (float64, bool) {
				k := math.Log2(float64(s.Nodes+1)) - 1
				return 2 * k, complete(s.Nodes) && s.Nodes > 1
			},
		},
		{
			Quantity: FailuresTolerated, Formula: "n − ⌊log n⌋, log n = log2(n+1)", Load: algorithms.Faults, Kind: algorithms.Exact,
			Source: section + "9.9.4; 9.9.2: n − O(log n)",
			Predict: func(s algorithms.Setting) (float64, bool) {
				return float64(s.Nodes) - math.Floor(math.Log2(float64(s.Nodes+1))), complete(s.Nodes)
			},
		},
		{
			Quantity: FailuresTolerated, Formula: "n − ⌊log n⌋, log n = log2 n", Load: algorithms.Faults, Kind: algorithms.Exact,
			Source: section + "9.9.4, taken at its word",
			Predict: func(s algorithms.Setting) (float64, bool) {
				return float64(s.Nodes) - math.Floor(math.Log2(float64(s.Nodes))), complete(s.Nodes)
			},
			KnownFalse: "the smallest quorum is a path, of ⌊log2(n+1)⌋ nodes, which is one more than ⌊log2 n⌋ in a complete tree",
		},
		{
			Quantity: FailuresSurvived, Formula: "log n − 1 (\"less than log n\"), log n = log2(n+1)", Load: algorithms.Faults, Kind: algorithms.Exact,
			Source: section + "9.9.4",
			Predict: func(s algorithms.Setting) (float64, bool) {
				return math.Log2(float64(s.Nodes+1)) - 1, complete(s.Nodes)
			},
		},
	}
}

func self(s algorithms.Setting) bool { return s.Options.Get(optPath) == "self" }

// complete reports whether a tree of n nodes has all its leaves at one level.
func complete(n int) bool { return n&(n+1) == 0 }

// lengths describes the paths that the nodes ask.
type lengths struct {
	min, max int
	mean     float64
}

func pathsOf(s algorithms.Setting) lengths {
	sets := s.System.(algorithms.Quorate)
	k := lengths{min: math.MaxInt}
	for id := algorithms.NodeID(1); int(id) <= s.Nodes; id++ {
		size := len(sets.RequestSet(id))
		k.min, k.max = min(k.min, size), max(k.max, size)
		k.mean += float64(size) / float64(s.Nodes)
	}
	return k
}

// onEqualPaths restricts a prediction from K to path=self where all paths are
// equally long.
func onEqualPaths(f func(k float64) float64) func(algorithms.Setting) (float64, bool) {
	return func(s algorithms.Setting) (float64, bool) {
		if !self(s) {
			return 0, false
		}
		k := pathsOf(s)
		return f(float64(k.max)), k.min == k.max
	}
}

// meanDepth returns the mean number of nodes on the path to a leaf of the tree
// of n nodes.
func meanDepth(n int) float64 {
	first, last := quorum.TreeLeaves(n)
	sum := 0
	for leaf := first; leaf <= last; leaf++ {
		sum += len(quorum.AppendTreePath(nil, leaf))
	}
	return float64(sum) / float64(last-first+1)
}
