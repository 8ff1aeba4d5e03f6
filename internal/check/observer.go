package check

import (
	"cmp"
	"maps"
	"slices"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/stall"
)

// observer watches a network in memory, to explain it once it stands still. It
// has to see every event.
type observer struct {
	network *vnet.Network
	had     map[dme.NodeID]bool     // who had the token after the last event
	carries map[uint64]dme.NodeID   // messages on their way that may carry it, and their receivers
	gone    map[dme.NodeID]bool     // who is down; true: the token was lost with it
	losses  map[stall.Loss]struct{} // what was lost between nodes that are there
}

// newObserver returns an observer of a network before its first step.
func newObserver(n *vnet.Network) *observer {
	o := &observer{
		network: n, had: make(map[dme.NodeID]bool), carries: make(map[uint64]dme.NodeID),
		gone: make(map[dme.NodeID]bool), losses: make(map[stall.Loss]struct{}),
	}
	for id := range n.IDs() {
		o.had[id] = holds(n, id)
	}
	for _, id := range n.Absent {
		o.gone[id] = false
	}
	return o
}

func holds(n *vnet.Network, id dme.NodeID) bool {
	h, ok := n.Runner(id).Node().(dme.TokenHolder)
	return ok && h.HasToken()
}

// see notes an event.
func (o *observer) see(e *vnet.Event) {
	had, carried := o.had[e.Node], false
	o.had[e.Node] = holds(o.network, e.Node)
	switch e.Kind {
	case vnet.Lose:
		_, carried = o.carries[e.Number]
		kind := o.network.Algorithm.KindName(e.Msg.Kind)
		o.losses[stall.Loss{From: e.From, To: e.Node, Kind: kind, Token: carried}] = struct{}{}
		delete(o.carries, e.Number)
	case vnet.Deliver:
		_, carried = o.carries[e.Number]
		delete(o.carries, e.Number)
	case vnet.Crash:
		o.had[e.Node], o.gone[e.Node] = false, had
		for number, to := range o.carries {
			if to == e.Node {
				o.gone[e.Node] = true
				delete(o.carries, number)
			}
		}
		return
	case vnet.Restart, vnet.Join:
		delete(o.gone, e.Node)
	}
	for _, x := range e.Effects {
		switch gave := (had || carried) && !o.had[e.Node]; {
		case x.Kind == dme.EffectLeft:
			o.gone[e.Node] = false
		case x.Kind != dme.EffectSend || !gave && !x.Lost:
		case x.Lost:
			o.gone[x.To] = o.gone[x.To] || gave
		default:
			o.carries[x.Number] = x.To
		}
	}
}

// Standstill describes the network as it stands.
func (o *observer) Standstill() *stall.Standstill {
	n := o.network
	s := &stall.Standstill{Nodes: n.Nodes, Waiting: n.Waiting(), Tokens: -1}
	if _, ok := n.Runner(1).Node().(dme.TokenHolder); ok {
		s.Tokens = 0
	}
	for id := range n.IDs() {
		if token, down := o.gone[id]; down {
			s.Absent = append(s.Absent, stall.Absent{Node: id, Since: -1, Token: token})
			continue
		}
		s.Edges = append(s.Edges, stall.Edges(id, n.Runner(id).Node())...)
		if o.had[id] {
			s.Tokens, s.Holder = s.Tokens+1, id
		}
	}
	s.Losses = slices.SortedFunc(maps.Keys(o.losses), func(a, b stall.Loss) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind))
	})
	return s
}
