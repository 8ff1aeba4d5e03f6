package stall

import (
	"cmp"
	"maps"
	"slices"

	"dmebench/dme"
)

// System is what runs the nodes of an algorithm.
type System interface {
	Activity(id dme.NodeID) dme.Activity
	Node(id dme.NodeID) dme.Node
}

// Losses follows what gets lost on links, and what may have become of the token, so that a
// standstill can be explained. It sees what happens at a node once the handler is through; Moved
// then says that this was all.
type Losses struct {
	algorithm *dme.Algorithm
	system    System
	seen      map[Loss]struct{}     // between nodes that are both there
	had       []bool                // by node, from 1: had the token after its last event
	gone      []bool                // the token went with it
	carries   map[uint64]dme.NodeID // messages on their way that may carry it, and their receivers
	carried   bool                  // as the one did that has just arrived
}

// NewLosses follows that many nodes from before their first step.
func NewLosses(a *dme.Algorithm, nodes int, s System) *Losses {
	return &Losses{
		algorithm: a, system: s, seen: make(map[Loss]struct{}), had: make([]bool, nodes+1), gone: make([]bool, nodes+1),
		carries: make(map[uint64]dme.NodeID),
	}
}

func (l *Losses) has(id dme.NodeID) bool {
	has := l.algorithm.HasToken
	return has != nil && l.system.Activity(id) != dme.Down && has(l.system.Node(id))
}

// Gave reports whether a node gave the token away in the event that goes on.
func (l *Losses) Gave(id dme.NodeID) bool { return (l.had[id] || l.carried) && !l.has(id) }

// Carries notes a message on its way that may carry the token.
func (l *Losses) Carries(message uint64, to dme.NodeID) { l.carries[message] = to }

// Arrives notes that a message has come to the end of its way, and reports whether the
// token may have been with it.
func (l *Losses) Arrives(message uint64) (token bool) {
	_, l.carried = l.carries[message]
	delete(l.carries, message)
	return l.carried
}

// Lost notes a message that got lost, perhaps with the token.
func (l *Losses) Lost(from, to dme.NodeID, kind dme.Kind, token bool) {
	if l.system.Activity(to) != dme.Down {
		l.seen[Loss{From: from, To: to, Kind: l.algorithm.KindName(kind), Token: token}] = struct{}{}
	} else if token {
		l.gone[to] = true
	}
}

// Moved ends an event of a node.
func (l *Losses) Moved(id dme.NodeID) { l.carried, l.had[id] = false, l.has(id) }

// Died notes that a node goes, and all that is on its way to it; Returned, that it is there
// again.
func (l *Losses) Died(id dme.NodeID) {
	l.gone[id] = l.gone[id] || l.had[id]
	maps.DeleteFunc(l.carries, func(_ uint64, to dme.NodeID) bool {
		l.gone[id] = l.gone[id] || to == id
		return to == id
	})
}

func (l *Losses) Returned(id dme.NodeID) { l.gone[id] = false }

// Standstill describes the system as it stands.
func (l *Losses) Standstill() *Standstill {
	s := &Standstill{Nodes: len(l.had) - 1, Tokens: -1}
	for id := dme.NodeID(1); int(id) <= s.Nodes; id++ {
		if a := l.system.Activity(id); a == dme.Down {
			s.Absent = append(s.Absent, Absent{Node: id, Since: -1, Token: l.gone[id]})
		} else {
			s.Add(l.algorithm, id, l.system.Node(id), a == dme.Requesting)
		}
	}
	s.Losses = slices.SortedFunc(maps.Keys(l.seen), func(a, b Loss) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind))
	})
	return s
}
