package raymond

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

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
	const line = optTree + "=line"
	always := claim.SafeAndLive("textbook, section 9.12.4, and 9.12.3: messages may overtake each other")
	return slices.Concat(always, shapeClaims(source), claim.List{
		claim.MessagesPerCS.Grows(claim.Growth{Log: true, Order: true}, "O(log N) (trees of bounded degree)",
			claim.Light, source).As("log2 N").Where(func(s dme.Setting) bool {
			name, _, _ := strings.Cut(s.Options.Get(optTree), ":")
			return s.Nodes >= 2 && (name == "binary" || name == "kary" || name == "radiating")
		}),
		// The longest path has at most two edges for each level below the
		// root, and level d ends with node 1 + K((K−1)^d − 1)/(K−2).
		claim.MessagesPerCS.Grows(claim.Growth{Log: true, Order: true}, "O(log_(K−1) N) (radiating star of degree K)",
			claim.Worst, source).With(optTree + "=radiating:3").Predicting(func(s dme.Setting) (float64, bool) {
			name, k, _ := strings.Cut(s.Options.Get(optTree), ":")
			children, err := degree(k, 3)
			if name != "radiating" || err != nil {
				return 0, false
			}
			return math.Log(float64(s.Nodes)) / math.Log(float64(children-1)), s.Nodes >= 2
		}),
		// A REQUEST and a PRIVILEGE on each edge between the requester and
		// the holder, who is the last requester. The text takes 2N/3 from
		// the mean distance (N+1)/3 of two different nodes; with
		// probability 1/N they are the same.
		claim.MessagesPerCS.Averages("2 · (N+1)/3 · (N−1)/N ≈ 2N/3 (line, uniformly drawn requesters)",
			claim.Light, source).With(line).Where(shaped("line")),
		claim.MessagesPerCS.Averages("2 · mean distance (uniformly drawn requesters)", claim.Light, source).
			Predicting(twiceMeanDistance),
		claim.MessagesPerCS.AtMost("2 · longest path", claim.Worst, source).
			Predicting(onTree(func(t *tree) float64 { return 2 * float64(t.longestPath()) })),
		claim.MessagesPerCS.AtMost("2(N−1) (line)", claim.Worst, source).With(line).Where(shaped("line")),
		// One tour of the tree, twice along each edge, each time a
		// PRIVILEGE in response to a REQUEST, serves all N nodes.
		claim.MessagesPerCS.Averages("4(N−1)/N", claim.Saturated, source).Where(tour),
		claim.KindPerCS("PRIVILEGE").Averages("2(N−1)/N: twice along each edge, for N entries",
			claim.Saturated, source).Where(tour),
		claim.KindPerCS("REQUEST").Averages("2(N−1)/N: one for each PRIVILEGE", claim.Saturated, source).
			Where(tour),
		claim.QueueLength.AtMost("degree + 1", claim.AnyLoad, "textbook, section 9.12.2").
			Predicting(onTree(func(t *tree) float64 { return float64(t.maxDegree() + 1) })),
		claim.SyncDelay.Averages("2T(N−1)/N: the PRIVILEGE passes 2(N−1) edges for N entries",
			claim.Saturated, source),
		claim.Throughput.Averages("1/(2T(N−1)/N + E)", claim.Saturated, source+"; textbook, section 9.2.3"),
		claim.MessagesPerCS.AtMost("fewer than under light load, 2 · mean distance: the more request, the fewer messages",
			claim.Saturated, source).Where(many("binary")).Predicting(twiceMeanDistance),
		claim.MessagesPerCS.AtMost("fewer than under light load, 2 · mean distance (line)", claim.Saturated, source).
			With(line).Where(many("line")).Predicting(twiceMeanDistance),
		claim.MessagesPerCS.AtMost("fewer than under light load, 2 · mean distance (star)", claim.Saturated, source).
			With(optTree + "=star").Where(many("star")).Predicting(twiceMeanDistance).
			Refuted("on a star it is 4(N−1)/N with all requesting and 4(N−1)²/N² with one, " +
				"3.69 and 3.41 on 13 nodes: the requester may be the last one again"),
		claim.MessagesPerCS.AtMost("4", claim.Saturated, "textbook, section 9.12: approximately four").
			Named("four"),
	})
}

// tour is about a tour of the tree for an entry of each node. Of two nodes, the one
// inside may ask again before the other's REQUEST arrives.
func tour(s dme.Setting) bool { return s.Nodes >= 3 }

var twiceMeanDistance = onTree(func(t *tree) float64 { return 2 * t.meanDistance() })

// shapeClaims lists what is said of trees, whatever runs on them.
func shapeClaims(source string) claim.List {
	const line = optTree + "=line"
	longest := onTree(func(t *tree) float64 { return float64(t.longestPath()) })
	return claim.List{
		LongestPath.Is("N−1 (line): the worst topology", claim.Static, source).With(line).MeasuredBy(longest),
		LongestPath.AtMost("at most N−1: no tree is worse than a line", claim.Static, source).MeasuredBy(longest),
		MeanDistance.Is("(N+1)/3 (line)", claim.Static, source).With(line).
			MeasuredBy(onTree(func(t *tree) float64 {
				n := float64(t.nodes())
				return t.meanDistance() * n / (n - 1) // of which one in n pairs is of a node with itself
			})),
		LongestPath.Grows(claim.Growth{Log: true, Order: true}, "O(log N) (binary)", claim.Static, source).
			As("log2 N").Where(shaped("binary")).MeasuredBy(longest),
		LongestPath.Grows(claim.Growth{Log: true, Order: true}, "O(log_(K−1) N) (radiating star of degree K = 4)",
			claim.Static, source).As("log2 N / log2 3").With(optTree + "=radiating:4").Where(shaped("radiating:4")).
			MeasuredBy(longest),
		LongestPath.AtMost("at most that of degree 3 (radiating star of degree 6): higher fan-outs are preferred",
			claim.Static, source).With(optTree + "=radiating:6").Where(shaped("radiating:6")).
			Predicting(onTree(func(t *tree) float64 { return float64(newTree(t.nodes(), radiating(3)).longestPath()) })).
			MeasuredBy(longest),
	}
}

// shaped is about trees of one shape.
func shaped(tree string) func(dme.Setting) bool {
	return func(s dme.Setting) bool { return s.Options.Get(optTree) == tree }
}

// many is about trees of one shape on which what is said of many requesters can show: on
// fewer than seven nodes almost every request finds the privilege next to it.
func many(tree string) func(dme.Setting) bool {
	return func(s dme.Setting) bool { return s.Nodes >= 7 && s.Options.Get(optTree) == tree }
}

// onTree is a prediction from the tree, or a measurement of it.
func onTree(f func(*tree) float64) func(dme.Setting) (float64, bool) {
	return func(s dme.Setting) (float64, bool) {
		sys, ok := s.System.(interface{ spanningTree() *tree })
		if !ok {
			return 0, false
		}
		return f(sys.spanningTree()), true
	}
}

// edge is a line of a file: an undirected link, and what a message over it
// costs.
type edge struct {
	a, b dme.NodeID // a < b
	cost float64
	line int
}

// fromFile is the shape that a file gives edge by edge, a line 'i j' for each,
// which must make a spanning tree.
//
// With costs it is the minimal spanning tree of the links of a file, which has a
// line 'i j cost' for each: the measured cost of a message between two nodes, at
// least 0, in any unit, the same everywhere. Links count in both directions; of
// several lines for one link the cheapest counts. Among equal costs the link
// with the lower node numbers is taken, so that the tree depends on nothing
// else than the costs (Kruskal 1956).
func fromFile(name string, costs bool) shape {
	return func(c dme.Config) (*tree, error) {
		links, err := readEdges(c, name, costs)
		if err != nil {
			return nil, err
		}
		if costs {
			slices.SortFunc(links, func(x, y edge) int {
				return cmp.Or(cmp.Compare(x.cost, y.cost), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
			})
		}
		joined := newForest(c.Nodes)
		var edges []edge
		for _, e := range links {
			if joined.union(e.a, e.b) {
				edges = append(edges, e)
			} else if !costs {
				return nil, fmt.Errorf("%s: line %d: the edge %d %d closes a circle; a tree has none", name, e.line, e.a, e.b)
			}
		}
		t, err := span(c.Nodes, edges)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return t, nil
	}
}

func readEdges(c dme.Config, name string, costs bool) ([]edge, error) {
	lines, err := dme.ReadLines(c.ReadFile, name)
	if err != nil {
		return nil, err
	}
	edges := make([]edge, len(lines))
	for i, l := range lines {
		if edges[i], err = parseEdge(strings.Fields(l.Text), c.Nodes, costs); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, l.Number, err)
		}
		edges[i].line = l.Number
	}
	return edges, nil
}

func parseEdge(words []string, nodes int, costs bool) (e edge, err error) {
	want, form := 2, "'i j'"
	if costs {
		want, form = 3, "'i j cost'"
	}
	if len(words) != want {
		return e, fmt.Errorf("%q: want %s", strings.Join(words, " "), form)
	}
	if e.a, err = dme.ParseNode(words[0], nodes); err != nil {
		return e, err
	}
	if e.b, err = dme.ParseNode(words[1], nodes); err != nil {
		return e, err
	}
	if e.a == e.b {
		return e, fmt.Errorf("an edge from node %d to itself", e.a)
	}
	e.a, e.b = min(e.a, e.b), max(e.a, e.b)
	if costs {
		e.cost, err = strconv.ParseFloat(words[2], 64)
		if err != nil || !(e.cost >= 0) || math.IsInf(e.cost, 0) {
			return e, fmt.Errorf("%q is not a cost; want a number of at least 0", words[2])
		}
	}
	return e, nil
}

// forest knows which nodes are connected so far.
type forest struct{ towards []dme.NodeID }

func newForest(nodes int) *forest {
	f := &forest{towards: make([]dme.NodeID, nodes+1)}
	for i := range f.towards {
		f.towards[i] = dme.NodeID(i)
	}
	return f
}

// find returns the node that stands for those connected with id.
func (f *forest) find(id dme.NodeID) dme.NodeID {
	for f.towards[id] != id {
		f.towards[id] = f.towards[f.towards[id]] // halves the way for the next
		id = f.towards[id]
	}
	return id
}

// union connects a and b, and reports whether they were not connected before.
func (f *forest) union(a, b dme.NodeID) bool {
	a, b = f.find(a), f.find(b)
	f.towards[max(a, b)] = min(a, b)
	return a != b
}
