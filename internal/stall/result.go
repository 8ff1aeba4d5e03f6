package stall

import (
	"dmebench/dme"
	"dmebench/result"
)

// Picture draws the wait-for graph of a run that has stalled, nil where nobody
// could tell whom a node waited for.
func Picture(r *result.Result) []byte {
	if len(r.Liveness.Waits) == 0 {
		return nil
	}
	s := &Standstill{Nodes: r.Nodes, Tokens: -1}
	for _, id := range r.Liveness.Waiting {
		s.Waiting = append(s.Waiting, dme.NodeID(id))
	}
	for _, id := range r.Liveness.Down {
		s.Absent = append(s.Absent, Absent{Node: dme.NodeID(id), Since: -1})
	}
	for _, w := range r.Liveness.Waits {
		s.Edges = append(s.Edges, Edge{dme.NodeID(w.Node), dme.NodeID(w.For), w.What})
	}
	return s.draw(r.Algorithm+": who waits for whom", s.Explain(), r.Liveness.Why)
}
