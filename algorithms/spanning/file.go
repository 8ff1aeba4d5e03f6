package spanning

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dmebench/dme"
)

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
	return func(c dme.Config) (*Tree, error) {
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
