package worker

import (
	"errors"
	"slices"

	"dmebench/dme"
	"dmebench/internal/control"
)

// recorded says what was recorded of a node, whose lock is held.
func (n *node) recorded() []control.Recorded {
	if n.events == nil {
		return nil
	}
	dropped, until := n.events.Dropped()
	return []control.Recorded{{Node: n.id, Chunks: len(n.events.Chunks()), Dropped: dropped, Until: until}}
}

// events returns a chunk of what was recorded of a local node.
func (w *worker) events(nodes []dme.NodeID, chunk int) ([]byte, error) {
	if len(nodes) == 1 && int(nodes[0]) < len(w.nodes) {
		if n := w.nodes[nodes[0]]; n != nil && n.events != nil {
			n.mu.Lock()
			defer n.mu.Unlock()
			if chunks := n.events.Chunks(); chunk >= 0 && chunk < len(chunks) {
				return slices.Clone(chunks[chunk]), nil // the node may go on
			}
		}
	}
	return nil, errors.New("worker: no such chunk of events")
}
