package dme

import "slices"

// Asked returns the nodes whose permission node id asks for in a new system,
// itself included, in ascending order: those to whom its first request sends
// something. It is how a construction is examined that does not tell its
// request sets.
func Asked(s Setting, id NodeID) []NodeID {
	var out Outbox
	s.System.Node(id).Request(&out)
	asked := MakeNodeSet(s.Nodes)
	asked.Add(id)
	for _, e := range out.Effects() {
		switch e.Kind {
		case EffectSend:
			asked.Add(e.To)
		case EffectBroadcast:
			asked.AddOthers(s.Nodes, id)
		}
	}
	return slices.Collect(asked.All())
}

// AskedByAll returns how many nodes are asked by a node, in the mean over all
// of them, the node itself included: K. It is a measure of a [QuorumSize].
func AskedByAll(s Setting) (mean float64, ok bool) {
	for id := NodeID(1); int(id) <= s.Nodes; id++ {
		mean += float64(len(Asked(s, id))) / float64(s.Nodes)
	}
	return mean, true
}
