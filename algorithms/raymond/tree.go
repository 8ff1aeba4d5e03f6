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
// algorithm treats all neighbours alike. Index 0 of its slices is unused.
type tree struct {
	parent   []dme.NodeID   // None for the root
	children [][]dme.NodeID // in ascending order
	order    []dme.NodeID   // every node after its parent
}

// newTree returns the tree on n nodes in which parent says each node's parent.
// It panics where that is no tree.
func newTree(n int, parent func(dme.NodeID) dme.NodeID) *tree {
	t := &tree{
		parent:   make([]dme.NodeID, n+1),
		children: make([][]dme.NodeID, n+1),
		order:    make([]dme.NodeID, 0, n),
	}
	for i := root + 1; int(i) <= n; i++ {
		p := parent(i)
		t.parent[i] = p
		t.children[p] = append(t.children[p], i)
	}
	t.order = append(t.order, root)
	for at := 0; at < len(t.order); at++ {
		t.order = append(t.order, t.children[t.order[at]]...)
	}
	if len(t.order) != n {
		panic(fmt.Sprintf("raymond: %d of %d nodes are reached from the root", len(t.order), n))
	}
	return t
}

func (t *tree) nodes() int { return len(t.order) }

// neighbours returns the nodes next to id, in ascending order.
func (t *tree) neighbours(id dme.NodeID) []dme.NodeID {
	near := slices.Clone(t.children[id])
	if p := t.parent[id]; p != dme.None {
		near = append(near, p)
		slices.Sort(near)
	}
	return near
}

// adjacent reports whether two different nodes are neighbours.
func (t *tree) adjacent(a, b dme.NodeID) bool {
	return t.parent[a] == b || t.parent[b] == a
}

// maxDegree returns the largest number of neighbours of a node.
func (t *tree) maxDegree() int {
	most := 0
	for _, id := range t.order {
		d := len(t.children[id])
		if id != root {
			d++
		}
		most = max(most, d)
	}
	return most
}

// longestPath returns the number of edges between the two nodes that are
// furthest apart.
func (t *tree) longestPath() int {
	longest := 0
	height := make([]int, len(t.parent)) // of the subtree below each node
	for _, id := range slices.Backward(t.order) {
		p := t.parent[id]
		if p == dme.None {
			break
		}
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
