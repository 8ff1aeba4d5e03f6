package raymond

import (
	"math"
	"slices"
	"strings"

	"dmebench/algorithms"
)

// Quantities that describe a tree.
const (
	LongestPath  algorithms.Quantity = "edges on the longest path"
	MeanDistance algorithms.Quantity = "mean distance of two different nodes"
)

func claims() []algorithms.Claim {
	const source = "textbook, section 9.12.5"
	line := map[string]string{optTree: "line"}
	return slices.Concat(algorithms.SafeAndLive("textbook, section 9.12.4, and 9.12.3: messages may overtake each other"), shapeClaims(source), []algorithms.Claim{
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
			Predict: tour(4),
		},
		{
			Quantity: algorithms.KindPerCS("PRIVILEGE"), Formula: "2(N−1)/N: twice along each edge, for N entries",
			Load: algorithms.Saturated, Kind: algorithms.Mean, Source: source,
			Predict: tour(2),
		},
		{
			Quantity: algorithms.KindPerCS("REQUEST"), Formula: "2(N−1)/N: one for each PRIVILEGE",
			Load: algorithms.Saturated, Kind: algorithms.Mean, Source: source,
			Predict: tour(2),
		},
		{
			Quantity: algorithms.QueueLength, Formula: "degree + 1",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: "textbook, section 9.12.2",
			Predict: onTree(func(t *tree) float64 { return float64(t.maxDegree() + 1) }),
		},
		{
			Quantity: algorithms.SyncDelay, Formula: "2T(N−1)/N: the PRIVILEGE passes 2(N−1) edges for N entries",
			Load: algorithms.Saturated, Kind: algorithms.Mean, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return 2 * (n - 1) / n }),
		},
		{
			Quantity: algorithms.Throughput, Formula: "1/(2T(N−1)/N + E)",
			Load: algorithms.Saturated, Kind: algorithms.Mean, Source: source + "; textbook, section 9.2.3",
			Predict: algorithms.FromTimes(func(n, t, e float64) float64 { return 1 / (2*t*(n-1)/n + e) }),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "fewer than under light load, 2 · mean distance: the more request, the fewer messages",
			Load: algorithms.Saturated, Kind: algorithms.UpperBound, Source: source,
			Predict: largeTree(onTree(func(t *tree) float64 { return 2 * t.meanDistance() }, "binary")),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "fewer than under light load, 2 · mean distance (line)",
			Load: algorithms.Saturated, Kind: algorithms.UpperBound, Source: source,
			Set:     line,
			Predict: largeTree(onTree(func(t *tree) float64 { return 2 * t.meanDistance() }, "line")),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "fewer than under light load, 2 · mean distance (star)",
			Load: algorithms.Saturated, Kind: algorithms.UpperBound, Source: source,
			Set:     map[string]string{optTree: "star"},
			Predict: largeTree(onTree(func(t *tree) float64 { return 2 * t.meanDistance() }, "star")),
			KnownFalse: "on a star it is 4(N−1)/N with all requesting and 4(N−1)²/N² with one, " +
				"3.69 and 3.41 on 13 nodes: the requester may be the last one again",
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "4",
			Load: algorithms.Saturated, Kind: algorithms.UpperBound, Source: "textbook, section 9.12: approximately four",
			Predict: algorithms.Constantly(4),
		},
	})
}

// tour predicts so many messages for each edge, for an entry of each node. Of
// two nodes, the one inside may ask again before the other's REQUEST arrives.
func tour(messages float64) func(algorithms.Setting) (float64, bool) {
	return func(s algorithms.Setting) (float64, bool) {
		n := float64(s.Nodes)
		return messages * (n - 1) / n, s.Nodes >= 3
	}
}

// shapeClaims lists what is said of trees, whatever runs on them.
func shapeClaims(source string) []algorithms.Claim {
	line := map[string]string{optTree: "line"}
	longest := onTree(func(t *tree) float64 { return float64(t.longestPath()) })
	return []algorithms.Claim{
		{
			Quantity: LongestPath, Formula: "N−1 (line): the worst topology",
			Load: algorithms.Static, Kind: algorithms.Exact, Source: source,
			Set:     line,
			Predict: algorithms.PerN(func(n float64) float64 { return n - 1 }), Measure: longest,
		},
		{
			Quantity: LongestPath, Formula: "at most N−1: no tree is worse than a line",
			Load: algorithms.Static, Kind: algorithms.UpperBound, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return n - 1 }), Measure: longest,
		},
		{
			Quantity: MeanDistance, Formula: "(N+1)/3 (line)",
			Load: algorithms.Static, Kind: algorithms.Exact, Source: source,
			Set:     line,
			Predict: algorithms.PerN(func(n float64) float64 { return (n + 1) / 3 }),
			Measure: onTree(func(t *tree) float64 {
				n := float64(t.nodes())
				return t.meanDistance() * n / (n - 1) // of which one in n pairs is of a node with itself
			}),
		},
		{
			Quantity: LongestPath, Formula: "O(log N) (binary)",
			Load: algorithms.Static, Kind: algorithms.Asymptotic, Source: source,
			Predict: onTree(func(t *tree) float64 { return math.Log2(float64(t.nodes())) }, "binary"), Measure: longest,
		},
		{
			Quantity: LongestPath, Formula: "O(log_(K−1) N) (radiating star of degree K = 4)",
			Load: algorithms.Static, Kind: algorithms.Asymptotic, Source: source,
			Set:     map[string]string{optTree: "radiating:4"},
			Predict: onTree(func(t *tree) float64 { return math.Log(float64(t.nodes())) / math.Log(3) }, "radiating:4"), Measure: longest,
		},
		{
			Quantity: LongestPath, Formula: "at most that of degree 3 (radiating star of degree 6): higher fan-outs are preferred",
			Load: algorithms.Static, Kind: algorithms.UpperBound, Source: source,
			Set: map[string]string{optTree: "radiating:6"},
			Predict: onTree(func(t *tree) float64 {
				return float64(newTree(t.nodes(), radiating(3)).longestPath())
			}, "radiating:6"),
			Measure: longest,
		},
	}
}

// largeTree restricts a prediction to trees on which what is said of many
// requesters can show: on fewer than seven nodes almost every request finds the
// privilege next to it.
func largeTree(f func(algorithms.Setting) (float64, bool)) func(algorithms.Setting) (float64, bool) {
	return func(s algorithms.Setting) (float64, bool) {
		value, ok := f(s)
		return value, ok && s.Nodes >= 7
	}
}

// onTree is a prediction from the tree, or a measurement of it, for all shapes or
// for those named.
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
