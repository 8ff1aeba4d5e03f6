package quorum

import (
	"math"

	"dmebench/dme"
)

// rectangle is the family S_i = row of i ∪ column of i, where the nodes fill a
// grid row by row and the last row may be short.
//
// Any two sets meet all the same. The row of i and the column of j cross in the
// grid unless the row is the short one and the column one that it does not
// reach. Then j is in a full row, which crosses the column of i.
type rectangle struct {
	nodes, columns int
}

func grid(cfg Config) (family, error) {
	columns := int(math.Sqrt(float64(cfg.Nodes)))
	for columns*columns < cfg.Nodes {
		columns++
	}
	return rectangle{nodes: cfg.Nodes, columns: columns}, nil
}

func (g rectangle) appendSet(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	at := int(id) - 1
	first := at - at%g.columns // of the row
	for above := at % g.columns; above < first; above += g.columns {
		to = append(to, dme.NodeID(above+1))
	}
	for beside := first; beside < min(first+g.columns, g.nodes); beside++ {
		to = append(to, dme.NodeID(beside+1))
	}
	for below := at + g.columns; below < g.nodes; below += g.columns {
		to = append(to, dme.NodeID(below+1))
	}
	return to
}

// appendServed: to be in a node's row or column is mutual.
func (g rectangle) appendServed(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	return g.appendSet(to, id)
}
