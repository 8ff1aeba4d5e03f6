package raymond

import (
	"fmt"
	"slices"

	"dmebench/dme"
)

// root is where the privilege is at the beginning, and the node towards which
// parents point.
const root dme.NodeID = 1

// tree is a spanning tree, rooted for the sake of its description only: the
// algorithm treats all neighbours alike. Index 0 of near and parent is unused.
type tree struct {
	near   [][]dme.NodeID // the neighbours of each node, in ascending order
	parent []dme.NodeID   // None for the root
	order  []dme.NodeID   // every node after its parent
}

// newTree returns the tree on n nodes in which parent says each node's parent.
// It panics where that is no tree.
func newTree(n int, parent func(dme.NodeID) dme.NodeID) *tree {
	var edges []edge
	for i := root + 1; int(i) <= n; i++ {
		edges = append(edges, edge{a: parent(i), b: i})
	}
	t, err := span(n, edges)
	if err != nil {
		panic("raymond: " + err.Error())
	}
	return t
}

// span returns the tree of edges on n nodes that close no circle.
func span(n int, edges []edge) (*tree, error) {
	t := &tree{near: make([][]dme.NodeID, n+1), parent: make([]dme.NodeID, n+1)}
	for _, e := range edges {
		t.near[e.a] = append(t.near[e.a], e.b)
		t.near[e.b] = append(t.near[e.b], e.a)
	}
	t.order = append(make([]dme.NodeID, 0, n), root)
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
	for id := root + 1; int(id) <= n; id++ {
		if t.parent[id] == dme.None {
			return nil, fmt.Errorf("nothing connects node %d with node %d; a tree connects all %d nodes", id, root, n)
		}
	}
	return t, nil
}

func (t *tree) nodes() int { return len(t.order) }

// neighbours returns the nodes next to id, in ascending order.
func (t *tree) neighbours(id dme.NodeID) []dme.NodeID { return slices.Clone(t.near[id]) }

// adjacent reports whether two different nodes are neighbours.
func (t *tree) adjacent(a, b dme.NodeID) bool {
	return t.parent[a] == b || t.parent[b] == a
}

// maxDegree returns the largest number of neighbours of a node.
func (t *tree) maxDegree() int {
	most := 0
	for _, near := range t.near {
		most = max(most, len(near))
	}
	return most
}

// longestPath returns the number of edges between the two nodes that are
// furthest apart.
func (t *tree) longestPath() int {
	longest := 0
	height := make([]int, len(t.parent)) // of the subtree below each node
	for _, id := range slices.Backward(t.order[1:]) {
		p := t.parent[id]
		longest = max(longest, height[p]+height[id]+1)
		height[p] = max(height[p], height[id]+1)
	}
	return longest
}

// meanDistance returns the mean number of edges between two nodes drawn
// independently and uniformly; they may be the same.
func (t *tree) meanDistance() float64 {
	n := t.nodes()
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
