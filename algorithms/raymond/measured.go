package raymond

import (
	"cmp"
	"errors"
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

// fromEdges is the shape that a file gives edge by edge, a line «i j» for each.
// What follows a # is ignored. The edges must make a spanning tree.
func fromEdges(name string) shape {
	return func(c dme.Config) (*tree, error) {
		edges, err := readEdges(c, name, false)
		if err != nil {
			return nil, err
		}
		joined := newForest(c.Nodes)
		for _, e := range edges {
			if !joined.union(e.a, e.b) {
				return nil, fmt.Errorf("%s: line %d: the edge %d %d closes a circle; a tree has none", name, e.line, e.a, e.b)
			}
		}
		return rooted(c.Nodes, edges, joined, name)
	}
}

// fromCosts is the minimal spanning tree of the links of a file, which has a line
// «i j cost» for each: the measured cost of a message between two nodes, at
// least 0, in any unit, the same everywhere. Links count in both directions; of
// several lines for one link the cheapest counts. Among equal costs the link
// with the lower node numbers is taken, so that the tree depends on nothing
// else than the costs (Kruskal 1956).
func fromCosts(name string) shape {
	return func(c dme.Config) (*tree, error) {
		links, err := readEdges(c, name, true)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(links, func(x, y edge) int {
			return cmp.Or(cmp.Compare(x.cost, y.cost), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
		})
		joined := newForest(c.Nodes)
		edges := slices.DeleteFunc(links, func(e edge) bool { return !joined.union(e.a, e.b) })
		return rooted(c.Nodes, edges, joined, name)
	}
}

// rooted returns the tree of edges that close no circle, with its parents towards
// the root.
func rooted(nodes int, edges []edge, joined *forest, name string) (*tree, error) {
	for id := root + 1; int(id) <= nodes; id++ {
		if joined.find(id) != joined.find(root) {
			return nil, fmt.Errorf("%s: nothing connects node %d with node %d; a tree connects all %d nodes", name, id, root, nodes)
		}
	}
	near := make([][]dme.NodeID, nodes+1)
	for _, e := range edges {
		near[e.a] = append(near[e.a], e.b)
		near[e.b] = append(near[e.b], e.a)
	}
	parent := make([]dme.NodeID, nodes+1)
	reached := []dme.NodeID{root}
	for at := 0; at < len(reached); at++ {
		id := reached[at]
		for _, next := range near[id] {
			if next != parent[id] {
				parent[next] = id
				reached = append(reached, next)
			}
		}
	}
	return newTree(nodes, func(id dme.NodeID) dme.NodeID { return parent[id] }), nil
}

func readEdges(c dme.Config, name string, costs bool) ([]edge, error) {
	if c.ReadFile == nil {
		return nil, errors.New("no file can be read here; choose another tree")
	}
	text, err := c.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var edges []edge
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		e, err := parseEdge(words, c.Nodes, costs)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, number, err)
		}
		e.line = number
		edges = append(edges, e)
	}
	return edges, nil
}

func parseEdge(words []string, nodes int, costs bool) (e edge, err error) {
	want, form := 2, "«i j»"
	if costs {
		want, form = 3, "«i j cost»"
	}
	if len(words) != want {
		return e, fmt.Errorf("%q: want %s", strings.Join(words, " "), form)
	}
	var ends [2]dme.NodeID
	for i := range ends {
		id, err := strconv.ParseUint(words[i], 10, 32)
		if err != nil || id < 1 || id > uint64(nodes) {
			return e, fmt.Errorf("%q is not a node; there are the nodes 1 to %d", words[i], nodes)
		}
		ends[i] = dme.NodeID(id)
	}
	e.a, e.b = min(ends[0], ends[1]), max(ends[0], ends[1])
	if e.a == e.b {
		return e, fmt.Errorf("an edge from node %d to itself", e.a)
	}
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
