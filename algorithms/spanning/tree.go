// Package spanning makes the trees on which tokens and requests travel: by a rule, edge by
// edge from a file, or the minimal spanning tree of links whose costs a file gives. The
// algorithms of trees share it.
package spanning

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dmebench/dme"
)

// Root is where the token is at the beginning, and the node towards which parents point.
const Root dme.NodeID = 1

// Tree is a spanning tree. It is rooted at [Root] for the sake of its description: what
// runs on it may treat all neighbours alike. Index 0 of near and parent is unused.
type Tree struct {
	near   [][]dme.NodeID // the neighbours of each node, in ascending order
	parent []dme.NodeID   // None for the root
	order  []dme.NodeID   // every node after its parent
}

// newTree returns the tree on n nodes in which parent says each node's parent. It panics if that is
// no tree.
func newTree(n int, parent func(dme.NodeID) dme.NodeID) *Tree {
	edges := make([]edge, 0, n)
	for i := Root + 1; int(i) <= n; i++ {
		edges = append(edges, edge{a: parent(i), b: i})
	}
	t, err := span(n, edges)
	if err != nil {
		panic("spanning: " + err.Error())
	}
	return t
}

// span returns the tree of edges on n nodes that close no circle.
func span(n int, edges []edge) (*Tree, error) {
	t := &Tree{near: make([][]dme.NodeID, n+1), parent: make([]dme.NodeID, n+1)}
	degree := make([]int32, n+1)
	for _, e := range edges {
		degree[e.a]++
		degree[e.b]++
	}
	ends := make([]dme.NodeID, 2*len(edges)) // one piece of memory for all neighbours
	for id, k := range degree {
		t.near[id], ends = ends[:0:k], ends[k:]
	}
	for _, e := range edges {
		t.near[e.a] = append(t.near[e.a], e.b)
		t.near[e.b] = append(t.near[e.b], e.a)
	}
	t.order = append(make([]dme.NodeID, 0, n), Root)
	for at := 0; at < len(t.order); at++ {
		id := t.order[at]
		slices.Sort(t.near[id])
		for _, next := range t.near[id] {
			if next != t.parent[id] {
				t.parent[next] = id
				t.order = append(t.order, next)
			}
		}
	}
	for id := Root + 1; int(id) <= n; id++ {
		if t.parent[id] == dme.None {
			return nil, fmt.Errorf("nothing connects node %d with node %d; a tree connects all %d nodes", id, Root, n)
		}
	}
	return t, nil
}

func (t *Tree) Nodes() int { return len(t.order) }

// Parent returns the neighbour of a node in the direction of [Root], whose own is None.
func (t *Tree) Parent(id dme.NodeID) dme.NodeID { return t.parent[id] }

// Neighbours returns those of a node in ascending order. The slice is the tree's own.
func (t *Tree) Neighbours(id dme.NodeID) []dme.NodeID { return t.near[id] }

// Adjacent reports whether two different nodes are neighbours.
func (t *Tree) Adjacent(a, b dme.NodeID) bool {
	return t.parent[a] == b || t.parent[b] == a
}

// MaxDegree returns the largest number of neighbours of a node.
func (t *Tree) MaxDegree() int {
	most := 0
	for _, near := range t.near {
		most = max(most, len(near))
	}
	return most
}

// LongestPath returns the number of edges between the two nodes that are
// furthest apart.
func (t *Tree) LongestPath() int {
	longest := 0
	height := make([]int, len(t.parent)) // of the subtree below each node
	for _, id := range slices.Backward(t.order[1:]) {
		p := t.parent[id]
		longest = max(longest, height[p]+height[id]+1)
		height[p] = max(height[p], height[id]+1)
	}
	return longest
}

// MeanDistance returns the mean number of edges between two nodes drawn
// independently and uniformly; they may be the same.
func (t *Tree) MeanDistance() float64 {
	n := t.Nodes()
	size := make([]int, len(t.parent)) // of the subtree of each node
	var sum float64
	for _, id := range slices.Backward(t.order) {
		size[id]++
		size[t.parent[id]] += size[id] // the root adds to the unused entry 0
		// The edge above id lies between its subtree and the rest.
		sum += 2 * float64(size[id]) * float64(n-size[id])
	}
	return sum / float64(n) / float64(n)
}

// OptTree is the name of the option that [Option] describes.
const OptTree = "tree"

// Option is the option of an algorithm that names the tree: a value for [Make].
func Option(initially string) dme.Option {
	return dme.Option{
		Name: OptTree, Default: initially, Words: []string{"binary", "star", "line"},
		Forms: []string{"kary:K", "radiating:K", "file:F", "mst:COSTS"}, Samples: []string{"kary:3", "radiating:3"},
		Valid: dme.Valid(parseShape),
		Help: "the spanning tree, whose node 1 is the root, the centre of the star, the end of the line, and has the first token; " +
			"file F has a line 'i j' for each edge, file COSTS a line 'i j cost' for each link",
	}
}

// shape makes a tree on the nodes of a system.
type shape func(dme.Config) (*Tree, error)

// Make makes the tree that the option of a configuration names.
func Make(c dme.Config) (*Tree, error) {
	value := c.Options.Get(OptTree)
	shape, err := parseShape(value)
	var t *Tree
	if err == nil {
		t, err = shape(c)
	}
	if err != nil {
		return nil, fmt.Errorf("tree=%s: %w", value, err)
	}
	return t, nil
}

// parseShape returns the shape that a value of the option names.
func parseShape(value string) (shape, error) {
	name, parameter, has := strings.Cut(value, ":")
	switch {
	case value == "binary":
		return byRule(heap(2)), nil
	case value == "star":
		return byRule(func(dme.NodeID) dme.NodeID { return Root }), nil
	case value == "line":
		return byRule(heap(1)), nil
	case name == "kary" && has:
		k, err := degree(parameter, 2)
		if err != nil {
			return nil, errors.New("the number K of children must be from 2 to 65535")
		}
		return byRule(heap(k)), nil
	case name == "radiating" && has:
		k, err := degree(parameter, 3)
		if err != nil {
			return nil, errors.New("the degree K must be from 3 to 65535")
		}
		return byRule(radiating(k)), nil
	case name == "file" && parameter != "":
		return fromFile(parameter, false), nil
	case name == "mst" && parameter != "":
		return fromFile(parameter, true), nil
	}
	return nil, errors.New("no such tree")
}

func degree(s string, least uint64) (dme.NodeID, error) {
	k, err := strconv.ParseUint(s, 10, 16)
	if err == nil && k < least {
		err = errors.New("too small")
	}
	return dme.NodeID(k), err
}

// byRule is the shape in which a rule says each node's parent.
func byRule(parent func(dme.NodeID) dme.NodeID) shape {
	return func(c dme.Config) (*Tree, error) { return newTree(c.Nodes, parent), nil }
}

// heap orders the nodes by levels, with k children each.
func heap(k dme.NodeID) func(dme.NodeID) dme.NodeID {
	return func(i dme.NodeID) dme.NodeID { return (i-2)/k + 1 }
}

// Radiating returns the radiating star of degree k ≥ 3 on n nodes.
func Radiating(n int, k dme.NodeID) *Tree { return newTree(n, radiating(k)) }

// radiating orders the nodes by levels, such that every node that is not on the
// last two has degree k: k children at the root, k−1 elsewhere. This is the
// "radiating star" of the textbook's section 9.12.5, whose longest path grows
// with log N to the base k−1.
func radiating(k dme.NodeID) func(dme.NodeID) dme.NodeID {
	return func(i dme.NodeID) dme.NodeID {
		if i <= k+1 {
			return Root
		}
		return (i-k-2)/(k-1) + 2
	}
}
