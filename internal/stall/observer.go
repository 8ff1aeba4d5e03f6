package stall

import (
	"cmp"
	"maps"
	"slices"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// Observer watches a network in memory, to explain it once it stands still. It
// has to see every event.
type Observer struct {
	network *vnet.Network
	had     map[dme.NodeID]bool   // who had the token after the last event
	carries map[uint64]dme.NodeID // messages on their way that may carry it, and their receivers
	gone    map[dme.NodeID]bool   // who is down; true: the token was lost with it
	losses  map[Loss]struct{}     // what was lost between nodes that are there
}

// NewObserver returns an observer of a network before its first step.
func NewObserver(n *vnet.Network) *Observer {
	o := &Observer{
		network: n, had: make(map[dme.NodeID]bool), carries: make(map[uint64]dme.NodeID),
		gone: make(map[dme.NodeID]bool), losses: make(map[Loss]struct{}),
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

// See notes an event.
func (o *Observer) See(e *vnet.Event) {
	had, carried := o.had[e.Node], false
	o.had[e.Node] = holds(o.network, e.Node)
	switch e.Kind {
	case vnet.Lose:
		_, carried = o.carries[e.Number]
		o.losses[Loss{e.From, e.Node, o.network.Algorithm.KindName(e.Msg.Kind), carried}] = struct{}{}
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
func (o *Observer) Standstill() *Standstill {
	n := o.network
	s := &Standstill{Nodes: n.Nodes, Waiting: n.Waiting(), Tokens: -1}
	if _, ok := n.Runner(1).Node().(dme.TokenHolder); ok {
		s.Tokens = 0
	}
	for id := range n.IDs() {
		if token, down := o.gone[id]; down {
			s.Absent = append(s.Absent, Absent{Node: id, Since: -1, Token: token})
			continue
		}
		s.Edges = append(s.Edges, Edges(id, n.Runner(id).Node())...)
		if o.had[id] {
			s.Tokens, s.Holder = s.Tokens+1, id
		}
	}
	s.Losses = slices.SortedFunc(maps.Keys(o.losses), func(a, b Loss) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind))
	})
	return s
}
