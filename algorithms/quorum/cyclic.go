package quorum

import (
	"slices"

	"dmebench/dme"
)

// cyclic is the family S_i = i + D, counted round a ring of as many nodes as
// there are sets. It has the properties (c) and (d) whatever D is, (b) if 0 is
// in D, and (a) if every number is a difference of two elements of D: for d =
// x − y the sets of i and i + d meet in i + x = (i + d) + y.
type cyclic struct {
	modulus int
	offsets []int // D: ascending, less than modulus, beginning with 0
}

func (c cyclic) appendSet(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	// D is ascending, so that i + D is two ascending runs: the one that has
	// come round the ring, and the one before it.
	to = slices.Grow(to, len(c.offsets))
	at := int(id) - 1
	turn, _ := slices.BinarySearch(c.offsets, c.modulus-at)
	for _, d := range c.offsets[turn:] {
		to = append(to, dme.NodeID(at+d-c.modulus+1))
	}
	for _, d := range c.offsets[:turn] {
		to = append(to, dme.NodeID(at+d+1))
	}
	return to
}

func (c cyclic) appendServed(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	to = slices.Grow(to, len(c.offsets))
	at := int(id) - 1
	turn, exact := slices.BinarySearch(c.offsets, at)
	if exact {
		turn++
	}
	for _, d := range slices.Backward(c.offsets[:turn]) {
		to = append(to, dme.NodeID(at-d+1))
	}
	for _, d := range slices.Backward(c.offsets[turn:]) {
		to = append(to, dme.NodeID(at-d+c.modulus+1))
	}
	return to
}

// majority takes the next ⌊N/2⌋ nodes: more than half, so that any two sets
// meet, and round the ring, so that every node serves equally many.
func majority(cfg Config) (family, error) {
	d := make([]int, cfg.Nodes/2+1)
	for k := range d {
		d[k] = k
	}
	return cyclic{modulus: cfg.Nodes, offsets: d}, nil
}
