package worker

import (
	"dmebench/dme"
	"dmebench/internal/control"
)

// traffic counts the messages of a node with another one. It is guarded by the node's
// lock. In a run that stands still it tells which link holds messages.
type traffic struct {
	sent uint32 // given to the transport
	came uint32 // received from it
}

// came counts a message from another node.
func (n *node) came(from dme.NodeID) {
	if int(from) < len(n.traffic) {
		n.traffic[from].came++
	}
}

// traffic tells of all local nodes.
func (w *worker) traffic() (all []control.Traffic) {
	w.each(func(n *node) {
		n.mu.Lock()
		defer n.mu.Unlock()
		for id, x := range n.traffic {
			if peer := dme.NodeID(id); x != (traffic{}) && peer != n.id && peer != dme.None {
				all = append(all, control.Traffic{Node: n.id, Peer: peer, Sent: x.sent, Came: x.came})
			}
		}
	})
	return all
}
