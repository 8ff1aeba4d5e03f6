package playground

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"dmebench/dme"
)

// Layout is how the nodes of a system are drawn: in their tree or mesh, and else round a circle.
type Layout struct {
	Points [][2]float64 `json:"points"` // by node, within the unit square
	Edges  []Edge       `json:"edges,omitempty"`

	colours []string // of the nodes' tokens at the start, if they have some
}

// colourOf returns the colour of a node's token, green, yellow or red, "" if it has none.
func colourOf(n dme.Node) string {
	for _, v := range dme.Variables(n) {
		for _, colour := range []string{"GREEN", "YELLOW", "RED"} {
			if strings.HasSuffix(v.Name, ":"+colour) {
				return strings.ToLower(colour)
			}
		}
	}
	return ""
}

// Edge joins two nodes that send messages to each other. One of a mesh that the
// algorithm does not use is thin, as in the paper's figures.
type Edge struct {
	A    dme.NodeID `json:"a"`
	B    dme.NodeID `json:"b"`
	Thin bool       `json:"thin,omitempty"`
}

// NewLayout lays out the nodes of a system of algorithm a.
func NewLayout(a *dme.Algorithm, system dme.System, nodes int) Layout {
	var l Layout
	if a.Peers != nil && a.RequestSet == nil {
		for id := dme.NodeID(1); int(id) <= nodes; id++ {
			for _, peer := range a.Peers(system, id) {
				if edge := (Edge{A: min(id, peer), B: max(id, peer)}); !slices.Contains(l.Edges, edge) {
					l.Edges = append(l.Edges, edge)
				}
			}
		}
	}
	if a.Place != nil {
		for id := dme.NodeID(1); int(id) <= nodes; id++ {
			l.colours = append(l.colours, colourOf(system.Node(id)))
		}
		l.mesh(a, system, nodes)
		l.fill()
	} else if l.Points = treeOf(l.Edges, nodes, cmp.Or(a.Root, 1)); l.Points == nil {
		for i := range nodes {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(nodes))
			l.Points = append(l.Points, [2]float64{0.5 + 0.44*sin, 0.5 - 0.44*cos})
		}
	}
	return l
}

// fill stretches the points over the unit square.
func (l *Layout) fill() {
	for axis := range 2 {
		compare := func(a, b [2]float64) int { return cmp.Compare(a[axis], b[axis]) }
		low, high := slices.MinFunc(l.Points, compare)[axis], slices.MaxFunc(l.Points, compare)[axis]
		for i := range l.Points {
			if high > low {
				l.Points[i][axis] = (l.Points[i][axis] - low) / (high - low)
			} else {
				l.Points[i][axis] = 0.5
			}
		}
	}
}

// treeOf places the root above, a parent over the middle of its children, and leaves evenly; nil if
// the edges are no tree.
func treeOf(edges []Edge, nodes int, root dme.NodeID) [][2]float64 {
	if len(edges) != nodes-1 || nodes < 2 {
		return nil
	}
	neighbours, points := make([][]dme.NodeID, nodes+1), make([][2]float64, nodes)
	for _, e := range edges {
		neighbours[e.A], neighbours[e.B] = append(neighbours[e.A], e.B), append(neighbours[e.B], e.A)
	}
	seen, leaves, deepest := 0, 0.0, 1.0
	var visit func(id, from dme.NodeID, depth float64) (across float64)
	visit = func(id, from dme.NodeID, depth float64) (across float64) {
		if seen++; seen > nodes {
			return 0 // there is a cycle
		}
		var children []float64
		for _, child := range neighbours[id] {
			if child != from {
				children = append(children, visit(child, id, depth+1))
			}
		}
		if children == nil {
			children = []float64{leaves + 0.5}
			leaves++
		}
		deepest, across = max(deepest, depth), (children[0]+children[len(children)-1])/2
		points[id-1] = [2]float64{across, depth}
		return across
	}
	if visit(root, dme.None, 0); seen != nodes {
		return nil
	}
	for i, p := range points {
		points[i] = [2]float64{p[0] / leaves, 0.06 + 0.88*p[1]/deepest}
	}
	return points
}

// mesh draws planes one behind the other, each a little to the right and above.
func (l *Layout) mesh(a *dme.Algorithm, system dme.System, nodes int) {
	used := l.Edges
	place := func(id dme.NodeID) []int { return a.Place(system, id) }
	size := make([]int, 4)
	for id := 1; id <= nodes; id++ {
		for axis, x := range place(dme.NodeID(id)) {
			size[axis] = max(size[axis], x+1)
		}
	}
	axes := len(place(1))
	planes := float64(size[axes-1])
	scale := func(x, count int) float64 { return (float64(x) + 0.5) / float64(max(count, 1)) }
	l.Edges = nil
	for id := dme.NodeID(1); int(id) <= nodes; id++ {
		at := place(id)
		k := float64(at[axes-1])
		row, column := scale(at[0], size[0]), 0.5
		if axes > 2 {
			column = scale(at[1], size[1])
		}
		l.Points = append(l.Points, [2]float64{0.8*column/planes + k/planes + 0.12*row, row + 0.3*(1-(k+1)/planes)})
		for other := dme.NodeID(1); other < id; other++ {
			if distance(at, place(other)) == 1 {
				edge := Edge{A: other, B: id}
				edge.Thin = !slices.Contains(used, edge)
				l.Edges = append(l.Edges, edge)
			}
		}
	}
}

// distance is that of two places in steps between neighbours.
func distance(a, b []int) int {
	d := 0
	for i := range a {
		d += max(a[i]-b[i], b[i]-a[i])
	}
	return d
}
