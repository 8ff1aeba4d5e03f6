package chaudhurikaraata

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dmebench/dme"
	"dmebench/dme/claim"
)

// mesh says where the nodes lie: a mesh of d dimensions, the last of which counts the planes. The
// paper's has three, and node (i,j,k) is in row i and column j of plane k.
type mesh struct {
	sizes   []int // nodes in each dimension
	strides []int // distance of the numbers of neighbours in each dimension
	nodes   int
	plane   int // nodes of a complete plane
}

// newMesh returns the mesh of these sizes. Nodes are numbered plane by plane,
// within a plane row by row; the last plane may be incomplete.
func newMesh(sizes []int, nodes int) mesh {
	m := mesh{sizes: sizes, strides: make([]int, len(sizes)), nodes: nodes, plane: 1}
	last := len(sizes) - 1
	for l := last - 1; l >= 0; l-- {
		m.strides[l] = m.plane
		m.plane *= sizes[l]
	}
	m.strides[last] = m.plane
	return m
}

// cubic returns sizes that are as equal as can be: ⌈n^(1/d)⌉ in all dimensions
// but the last, and as many planes as are needed.
func cubic(n, dimensions int) []int {
	side := root(n, dimensions)
	if power(side, dimensions) < n {
		side++
	}
	return filled(n, side, dimensions)
}

// root returns ⌊n^(1/degree)⌋.
func root(n, degree int) int {
	side := 1
	for power(side+1, degree) <= n {
		side++
	}
	return side
}

// filled returns sizes that are side in all dimensions but the last.
func filled(n, side, dimensions int) []int {
	sizes := slices.Repeat([]int{side}, dimensions)
	plane := power(side, dimensions-1)
	sizes[dimensions-1] = (n + plane - 1) / plane
	return sizes
}

func power(x, exponent int) int {
	p := 1
	for range exponent {
		p *= x
	}
	return p
}

// maxSide bounds the sizes that can be set, so that their product is a number.
const maxSide = 1 << 15

// parseSizes reads "PxQxR", with any number of dimensions from 2 to 4. The last may
// be auto, which is 0: as many as are needed.
func parseSizes(text string) ([]int, error) {
	words := strings.Split(text, "x")
	if len(words) < 2 || len(words) > 4 {
		return nil, errors.New("a mesh has 2 to 4 sizes")
	}
	sizes := make([]int, len(words))
	for l, word := range words {
		if word == meshAuto && l == len(words)-1 {
			break
		}
		size, err := strconv.Atoi(word)
		if err != nil || size < 1 || size > maxSide {
			return nil, fmt.Errorf("%q is not a size from 1 to %d", word, maxSide)
		}
		sizes[l] = size
	}
	return sizes, nil
}

// checkSizes reports why n nodes do not fill a mesh: each plane must have its
// corner, and each node its place.
func checkSizes(sizes []int, n int) error {
	m := newMesh(sizes, n)
	if full := (m.planes() - 1) * m.plane; n <= full || n > full+m.plane {
		return fmt.Errorf("a mesh of %d planes of %d nodes is for %d to %d nodes, not %d",
			m.planes(), m.plane, full+1, full+m.plane, n)
	}
	return nil
}

func (m *mesh) coordinate(id dme.NodeID, l int) int {
	return int(id-1) / m.strides[l] % m.sizes[l]
}

// triple writes a node as the paper does: "(i,j,k)".
func (m *mesh) triple(id dme.NodeID) string {
	b := []byte{'('}
	for l := range m.sizes {
		if l > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(m.coordinate(id, l)), 10)
	}
	return string(append(b, ')'))
}

func (m *mesh) planes() int { return m.sizes[len(m.sizes)-1] }

// planeOf returns k, the number of the node's plane.
func (m *mesh) planeOf(id dme.NodeID) int { return int(id-1) / m.plane }

// cornerOf returns node (0,0,k).
func (m *mesh) cornerOf(k int) dme.NodeID { return dme.NodeID(k*m.plane + 1) }

func (m *mesh) isCorner(id dme.NodeID) bool { return int(id-1)%m.plane == 0 }

// inward returns the neighbour that is closer to the corner of the node's plane:
// (i−1,j,k), or (0,j−1,k) from row 0; None at the corner.
func (m *mesh) inward(id dme.NodeID) dme.NodeID {
	for l := range len(m.sizes) - 1 {
		if m.coordinate(id, l) > 0 {
			return id - dme.NodeID(m.strides[l])
		}
	}
	return dme.None
}

// outward returns the neighbour to which node id passes on what the corner has sent to target:
// (0,j+1,k) until the column is right, then (i+1,j,k). It returns None if id is the target or does
// not lie on its route.
func (m *mesh) outward(id, target dme.NodeID) dme.NodeID {
	if m.planeOf(id) != m.planeOf(target) {
		return dme.None
	}
	for l := len(m.sizes) - 2; l >= 0; l-- {
		at, to := m.coordinate(id, l), m.coordinate(target, l)
		if at == to {
			continue
		}
		for below := range l {
			if m.coordinate(id, below) > 0 {
				return dme.None
			}
		}
		if at > to {
			return dme.None
		}
		return id + dme.NodeID(m.strides[l])
	}
	return dme.None
}

// across returns the neighbour of a corner in the direction of another corner.
func (m *mesh) across(corner, target dme.NodeID) dme.NodeID { return m.beside(corner, target > corner) }

// beyond returns the neighbour of a corner in the direction away from another
// corner, None at the end of the mesh.
func (m *mesh) beyond(corner, source dme.NodeID) dme.NodeID { return m.beside(corner, source < corner) }

// beside returns the corner of the next plane, or of the one before; None at the
// end of the mesh.
func (m *mesh) beside(corner dme.NodeID, next bool) dme.NodeID {
	switch k := m.planeOf(corner); {
	case next && k < m.planes()-1:
		return m.cornerOf(k + 1)
	case !next && k > 0:
		return m.cornerOf(k - 1)
	}
	return dme.None
}

// distance returns the number of hops from a node to the corner of its plane.
func (m *mesh) distance(id dme.NodeID) int {
	hops := 0
	for l := range len(m.sizes) - 1 {
		hops += m.coordinate(id, l)
	}
	return hops
}

// neighbours returns the nodes that id exchanges messages with, in ascending
// order.
func (m *mesh) neighbours(id dme.NodeID) []dme.NodeID {
	var near []dme.NodeID
	if in := m.inward(id); in != dme.None {
		near = append(near, in)
	}
	for l := range len(m.sizes) - 1 {
		out := id + dme.NodeID(m.strides[l])
		if m.coordinate(id, l)+1 < m.sizes[l] && int(out) <= m.nodes && m.inward(out) == id {
			near = append(near, out)
		}
	}
	if m.isCorner(id) {
		for _, next := range []bool{false, true} {
			if corner := m.beside(id, next); corner != dme.None {
				near = append(near, corner)
			}
		}
	}
	slices.Sort(near)
	return slices.Compact(near)
}

// SpaceBits is the space of a corner as the paper counts it: 3 log m bits for each
// REQUEST that waits, and mutex.
var SpaceBits = claim.Quantity{ID: "space-bits", Name: "bits that a node needs"}

func newSpace(s dme.Setting) dme.Meter {
	side := meshOf(s).sizes[0]
	return dme.Largest(func(x *dme.Event) (float64, bool) {
		n, ok := x.Node.(*node)
		if !ok {
			return 0, false
		}
		return 3*math.Log2(float64(side))*float64(n.QueueLength()) + 1, true
	})
}
