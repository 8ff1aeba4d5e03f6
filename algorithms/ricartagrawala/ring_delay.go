package ricartagrawala

import "dmebench/dme"

// LastLap is the delay of a handover on the ring at its worst: node 2 is inside, and the
// REQUEST of node 1, its predecessor, has reached it; in T, from the exit to the entry.
var LastLap = dme.Quantity{ID: "last-lap", Name: "delay of a handover to the predecessor on the ring / T"}

// lastLap lets it happen on a network on which every message takes T.
func lastLap(s dme.Setting) (rounds float64, ok bool) {
	if s.Nodes < 2 {
		return 0, false
	}
	net := &ringNet{nodes: make([]dme.Node, s.Nodes+1)}
	for id := dme.NodeID(1); int(id) <= s.Nodes; id++ {
		net.nodes[id] = s.System.Node(id)
	}
	settle := func() (rounds float64) {
		for ; len(net.onWay) > 0; rounds++ {
			if net.round(); rounds > float64(4*s.Nodes) {
				return rounds // it never ends
			}
		}
		return rounds
	}
	net.do(2, dme.Node.Request)
	settle()
	net.do(1, dme.Node.Request)
	settle()
	if net.entered != 2 {
		return 0, false
	}
	net.do(2, dme.Node.Release)
	for ; net.entered != 1; rounds++ {
		if len(net.onWay) == 0 {
			return 0, false
		}
		net.round()
	}
	return rounds, true
}

// ringNet delivers all messages that are on their way at once.
type ringNet struct {
	nodes   []dme.Node // from 1
	onWay   []dme.Effect
	from    []dme.NodeID // of those
	entered dme.NodeID   // who has entered last
	out     dme.Outbox
}

func (n *ringNet) round() {
	arriving, from := n.onWay, n.from
	n.onWay, n.from = nil, nil
	for i, e := range arriving {
		n.do(e.To, func(node dme.Node, out *dme.Outbox) { node.Receive(from[i], e.Msg, out) })
	}
}

func (n *ringNet) do(id dme.NodeID, handler func(dme.Node, *dme.Outbox)) {
	n.out.Reset()
	handler(n.nodes[id], &n.out)
	for _, e := range n.out.Effects() {
		switch e.Kind {
		case dme.EffectSend:
			n.onWay, n.from = append(n.onWay, e), append(n.from, id)
		case dme.EffectEnter:
			n.entered = id
		}
	}
}
