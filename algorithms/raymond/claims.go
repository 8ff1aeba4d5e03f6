package raymond

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"dmebench/algorithms/spanning"
	"dmebench/dme"
	"dmebench/dme/claim"
)

// Quantities that describe a tree.
var (
	LongestPath  = claim.Quantity{ID: "longest-path", Name: "edges on the longest path"}
	MeanDistance = claim.Quantity{ID: "mean-distance", Name: "mean distance of two different nodes"}
)

func claims() claim.List {
	return append(withoutInitialize(treeClaims()), initClaim().With(optInit+"=messages"))
}

// treeClaims are those of all forms of the algorithm.
func treeClaims() claim.List {
	const source = "textbook, section 9.12.5"
	const line = spanning.OptTree + "=line"
	always := claim.SafeAndLive("textbook, section 9.12.4, and 9.12.3: messages may overtake each other")
	return slices.Concat(always, shapeClaims(source), claim.List{
		claim.MessagesPerCS.Grows(claim.Growth{Log: true, Order: true}, "O(log N) (trees of bounded degree)",
			claim.Light, source).As("log2 N").Where(func(s dme.Setting) bool {
			name, _, _ := strings.Cut(s.Options.Get(spanning.OptTree), ":")
			return s.Nodes >= 2 && (name == "binary" || name == "kary" || name == "radiating")
		}),
		// The longest path has at most two edges for each level below the
		// root, and level d ends with node 1 + K((K−1)^d − 1)/(K−2).
		claim.MessagesPerCS.Grows(claim.Growth{Log: true, Order: true}, "O(log_(K−1) N) (radiating star of degree K)",
			claim.Worst, source).With(spanning.OptTree + "=radiating:3").Predicting(func(s dme.Setting) (float64, bool) {
			name, k, _ := strings.Cut(s.Options.Get(spanning.OptTree), ":")
			children, err := strconv.Atoi(k)
			if name != "radiating" || err != nil {
				return 0, false
			}
			return math.Log(float64(s.Nodes)) / math.Log(float64(children-1)), s.Nodes >= 2
		}),
		// A REQUEST and a PRIVILEGE on each edge between the requester and the holder, which is the
		// last requester. The text takes 2N/3 from the mean distance (N+1)/3 of two different
		// nodes; with probability 1/N they are the same.
		claim.MessagesPerCS.Averages("2 · (N+1)/3 · (N−1)/N ≈ 2N/3 (line, uniformly drawn requesters)",
			claim.Light, source).With(line).Where(spanning.Shaped("line")),
		claim.MessagesPerCS.Averages("2 · mean distance (uniformly drawn requesters)", claim.Light, source).
			Predicting(twiceMeanDistance),
		claim.MessagesPerCS.AtMost("2 · longest path", claim.Worst, source).
			Predicting(spanning.On(func(t *spanning.Tree) float64 { return 2 * float64(t.LongestPath()) })),
		claim.MessagesPerCS.AtMost("2(N−1) (line)", claim.Worst, source).With(line).Where(spanning.Shaped("line")),
		// One tour of the tree, twice along each edge, each time a
		// PRIVILEGE in response to a REQUEST, serves all N nodes.
		claim.MessagesPerCS.Averages("4(N−1)/N", claim.Saturated, source).Where(tour),
		claim.KindPerCS("PRIVILEGE").Averages("2(N−1)/N: twice along each edge, for N entries",
			claim.Saturated, source).Where(tour),
		claim.KindPerCS("REQUEST").Averages("2(N−1)/N: one for each PRIVILEGE", claim.Saturated, source).
			Where(tour),
		claim.QueueLength.AtMost("degree + 1", claim.AnyLoad, "textbook, section 9.12.2").
			Predicting(spanning.On(func(t *spanning.Tree) float64 { return float64(t.MaxDegree() + 1) })),
		claim.SyncDelay.Averages("2T(N−1)/N: the PRIVILEGE passes 2(N−1) edges for N entries",
			claim.Saturated, source),
		claim.Throughput.Averages("1/(2T(N−1)/N + E)", claim.Saturated, source+"; textbook, section 9.2.3"),
		claim.MessagesPerCS.AtMost("fewer than under light load, 2 · mean distance: the more request, the fewer messages",
			claim.Saturated, source).Where(many("binary")).Predicting(twiceMeanDistance),
		claim.MessagesPerCS.AtMost("fewer than under light load, 2 · mean distance (line)", claim.Saturated, source).
			With(line).Where(many("line")).Predicting(twiceMeanDistance),
		claim.MessagesPerCS.AtMost("fewer than under light load, 2 · mean distance (star)", claim.Saturated, source).
			With(spanning.OptTree + "=star").Where(many("star")).Predicting(twiceMeanDistance).
			Refuted("on a star it is 4(N−1)/N with all requesting and 4(N−1)²/N² with one, " +
				"3.69 and 3.41 on 13 nodes: the requester may be the last one again"),
		claim.MessagesPerCS.AtMost("4", claim.Saturated, "textbook, section 9.12: approximately four").
			Named("four"),
	})
}

// tour is about a tour of the tree for an entry of each node. Of two nodes, the one
// inside may ask again before the other's REQUEST arrives.
func tour(s dme.Setting) bool { return s.Nodes >= 3 }

var twiceMeanDistance = spanning.On(func(t *spanning.Tree) float64 { return 2 * t.MeanDistance() })

// shapeClaims lists the claims about trees, whatever runs on them.
func shapeClaims(source string) claim.List {
	const line = spanning.OptTree + "=line"
	longest := spanning.On(func(t *spanning.Tree) float64 { return float64(t.LongestPath()) })
	return claim.List{
		LongestPath.Is("N−1 (line): the worst topology", claim.Static, source).With(line).MeasuredBy(longest),
		LongestPath.AtMost("N−1: no tree is worse than a line", claim.Static, source).MeasuredBy(longest),
		MeanDistance.Is("(N+1)/3 (line)", claim.Static, source).With(line).
			MeasuredBy(spanning.On(func(t *spanning.Tree) float64 {
				n := float64(t.Nodes())
				return t.MeanDistance() * n / (n - 1) // one in n pairs is a node with itself
			})),
		LongestPath.Grows(claim.Growth{Log: true, Order: true}, "O(log N) (binary)", claim.Static, source).
			As("log2 N").Where(spanning.Shaped("binary")).MeasuredBy(longest),
		LongestPath.Grows(claim.Growth{Log: true, Order: true}, "O(log_(K−1) N) (radiating star of degree K = 4)",
			claim.Static, source).As("log2 N / log2 3").With(spanning.OptTree + "=radiating:4").Where(spanning.Shaped("radiating:4")).
			MeasuredBy(longest),
		LongestPath.AtMost("that of degree 3 (radiating star of degree 6): higher fan-outs are preferred",
			claim.Static, source).With(spanning.OptTree + "=radiating:6").Where(spanning.Shaped("radiating:6")).
			Predicting(spanning.On(func(t *spanning.Tree) float64 { return float64(spanning.Radiating(t.Nodes(), 3).LongestPath()) })).
			MeasuredBy(longest),
	}
}

// many is about trees of one shape on which claims about many requesters can show: on
// fewer than seven nodes almost every request finds the privilege next to it.
func many(tree string) func(dme.Setting) bool {
	return func(s dme.Setting) bool { return s.Nodes >= 7 && s.Options.Get(spanning.OptTree) == tree }
}
