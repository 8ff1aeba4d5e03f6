package raymond

import (
	"math"
	"slices"
	"strings"

	"dmebench/algorithms"
)

func claims() []algorithms.Claim {
	const source = "textbook, section 9.12.5"
	line := map[string]string{optTree: "line"}
	return []algorithms.Claim{
		{
			Quantity: algorithms.MessagesPerCS, Formula: "O(log N) (trees of bounded degree)",
			Load: algorithms.Light, Kind: algorithms.Asymptotic, Source: source,
			Predict: func(s algorithms.Setting) (float64, bool) {
				name, _, _ := strings.Cut(s.Options.Get(optTree), ":")
				bounded := name == "binary" || name == "kary" || name == "radiating"
				return math.Log2(float64(s.Nodes)), s.Nodes >= 2 && bounded
			},
		},
		{
			// The longest path has at most two edges for each level below the
			// root, and level d ends with node 1 + K((K−1)^d − 1)/(K−2).
			Quantity: algorithms.MessagesPerCS, Formula: "O(log_(K−1) N) (radiating star of degree K)",
			Load: algorithms.Worst, Kind: algorithms.Asymptotic, Source: source,
			Set: map[string]string{optTree: "radiating:3"},
			Predict: func(s algorithms.Setting) (float64, bool) {
				name, k, _ := strings.Cut(s.Options.Get(optTree), ":")
				children, err := degree(k, 3)
				if name != "radiating" || err != nil {
					return 0, false
				}
				return math.Log(float64(s.Nodes)) / math.Log(float64(children-1)), s.Nodes >= 2
			},
		},
		{
			// A REQUEST and a PRIVILEGE on each edge between the requester and
			// the holder, who is the last requester. The text takes 2N/3 from
			// the mean distance (N+1)/3 of two different nodes; with
			// probability 1/N they are the same.
			Quantity: algorithms.MessagesPerCS, Formula: "2 · (N+1)/3 · (N−1)/N ≈ 2N/3 (line, uniformly drawn requesters)",
			Load: algorithms.Light, Kind: algorithms.Mean, Source: source,
			Set:     line,
			Predict: onTree(func(t *tree) float64 { return 2 * t.meanDistance() }, "line"),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "2 · mean distance (uniformly drawn requesters)",
			Load: algorithms.Light, Kind: algorithms.Mean, Source: source,
			Predict: onTree(func(t *tree) float64 { return 2 * t.meanDistance() }),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "2 · longest path",
			Load: algorithms.Worst, Kind: algorithms.UpperBound, Source: source,
			Predict: onTree(func(t *tree) float64 { return 2 * float64(t.longestPath()) }),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "2(N−1) (line)",
			Load: algorithms.Worst, Kind: algorithms.UpperBound, Source: source,
			Set:     line,
			Predict: onTree(func(t *tree) float64 { return 2 * float64(t.nodes()-1) }, "line"),
		},
		{
			// One tour of the tree, twice along each edge, each time a
			// PRIVILEGE in response to a REQUEST, serves all N nodes.
			Quantity: algorithms.MessagesPerCS, Formula: "4(N−1)/N",
			Load: algorithms.Saturated, Kind: algorithms.Mean, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return 4 * (n - 1) / n }),
		},
		{
			Quantity: algorithms.KindPerCS("PRIVILEGE"), Formula: "2(N−1)/N: twice along each edge, for N entries",
			Load: algorithms.Saturated, Kind: algorithms.Mean, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return 2 * (n - 1) / n }),
		},
		{
			Quantity: algorithms.KindPerCS("REQUEST"), Formula: "2(N−1)/N: one for each PRIVILEGE",
			Load: algorithms.Saturated, Kind: algorithms.Mean, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return 2 * (n - 1) / n }),
		},
		{
			Quantity: algorithms.QueueLength, Formula: "degree + 1",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: "textbook, section 9.12.2",
			Predict: onTree(func(t *tree) float64 { return float64(t.maxDegree() + 1) }),
		},
	}
}

// onTree is a prediction from the tree, for all shapes or for those named.
func onTree(f func(*tree) float64, shapes ...string) func(algorithms.Setting) (float64, bool) {
	return func(s algorithms.Setting) (float64, bool) {
		sys, ok := s.System.(*system)
		if !ok {
			return 0, false
		}
		all := len(shapes) == 0
		return f(sys.tree), all || slices.Contains(shapes, s.Options.Get(optTree))
	}
}
