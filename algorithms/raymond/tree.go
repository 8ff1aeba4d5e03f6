package raymond

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dmebench/algorithms"
)

// root is where the privilege is at the beginning, and the node towards which
// parents point.
const root algorithms.NodeID = 1

const optTree = "tree"

func treeOption() algorithms.Option {
	return algorithms.Option{
		Name: optTree, Default: "binary", Values: "binary|star|line|kary:K",
		Valid: func(value string) error {
			_, err := shape(value)
			return err
		},
		Help: "the spanning tree; node 1 is its root, the centre of the star, the end of the line, and has the first token",
	}
}

// shape returns the function that tells each node but the root its parent.
func shape(value string) (parent func(algorithms.NodeID) algorithms.NodeID, err error) {
	name, parameter, has := strings.Cut(value, ":")
	switch {
	case value == "binary":
		return heap(2), nil
	case value == "star":
		return func(algorithms.NodeID) algorithms.NodeID { return root }, nil
	case value == "line":
		return heap(1), nil
	case name == "kary" && has:
		k, err := strconv.ParseUint(parameter, 10, 16)
		if err != nil || k < 2 {
			return nil, errors.New("the number K of children must be from 2 to 65535")
		}
		return heap(algorithms.NodeID(k)), nil
	}
	return nil, errors.New("no such tree")
}

// heap orders the nodes by levels, with k children each.
func heap(k algorithms.NodeID) func(algorithms.NodeID) algorithms.NodeID {
	return func(i algorithms.NodeID) algorithms.NodeID { return (i-2)/k + 1 }
}

// tree is a spanning tree, rooted for the sake of its description only: the
// algorithm treats all neighbours alike. Index 0 of its slices is unused.
type tree struct {
	parent   []algorithms.NodeID   // None for the root
	children [][]algorithms.NodeID // in ascending order
	order    []algorithms.NodeID   // every node after its parent
}

// newTree returns the tree on n nodes in which parent says each node's parent.
// It panics where that is no tree.
func newTree(n int, parent func(algorithms.NodeID) algorithms.NodeID) *tree {
	t := &tree{
		parent:   make([]algorithms.NodeID, n+1),
		children: make([][]algorithms.NodeID, n+1),
		order:    make([]algorithms.NodeID, 0, n),
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
func (t *tree) neighbours(id algorithms.NodeID) []algorithms.NodeID {
	near := slices.Clone(t.children[id])
	if p := t.parent[id]; p != algorithms.None {
		near = append(near, p)
		slices.Sort(near)
	}
	return near
}

// adjacent reports whether two different nodes are neighbours.
func (t *tree) adjacent(a, b algorithms.NodeID) bool {
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
		if p == algorithms.None {
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
