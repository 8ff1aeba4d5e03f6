package sim

import (
	"cmp"
	"maps"
	"slices"

	"dmebench/dme"
	"dmebench/internal/noderun"
	"dmebench/internal/stall"
)

// losses remembers what got lost where, and what may have become of the token, so
// that a standstill can be explained.
type losses struct {
	*simulation
	seen    map[stall.Loss]struct{} // between nodes that are both there
	had     dme.NodeSet             // who had the token after its last event
	asked   []uint64                // requests of node i+1 until then
	carries map[uint32]bool         // messages on their way that may carry it
	carried bool                    // as the one did that has just arrived
	gone    dme.NodeSet             // nodes with which it went
}

// newLosses returns nil where nothing gets lost, which costs a run nothing.
func newLosses(s *simulation) *losses {
	if s.faults == nil && s.links == nil {
		return nil
	}
	n := len(s.procs)
	return &losses{
		simulation: s, seen: make(map[stall.Loss]struct{}), carries: make(map[uint32]bool),
		had: dme.MakeNodeSet(n), asked: make([]uint64, n), gone: dme.MakeNodeSet(n),
	}
}

func (l *losses) has(id dme.NodeID) bool {
	holder, ok := l.process(id).Node().(dme.TokenHolder)
	return ok && l.process(id).Activity() != noderun.Down && holder.HasToken()
}

// gave reports whether a node gave the token away in the event that goes on. What
// it sends once it asks again does not carry it.
func (l *losses) gave(id dme.NodeID) bool {
	return (l.had.Has(id) || l.carried) && !l.has(id) && l.counters[id-1].Requests.Load() == l.asked[id-1]
}

// sent notes a message that is on its way.
func (l *losses) sent(slot uint32, from dme.NodeID) {
	if l.gave(from) {
		l.carries[slot] = true
	}
}

// lost notes a message that got lost.
func (l *losses) lost(from, to dme.NodeID, m *dme.Message) {
	gave := l.gave(from)
	if l.process(to).Activity() != noderun.Down {
		l.seen[stall.Loss{From: from, To: to, Kind: l.job.Algorithm.KindName(m.Kind), Token: gave}] = struct{}{}
	} else if gave {
		l.gone.Add(to)
	}
}

// arrives notes that a message arrives, and drowned that it got lost because its
// receiver went.
func (l *losses) arrives(slot uint32) {
	l.carried = l.carries[slot]
	delete(l.carries, slot)
}

func (l *losses) drowned(slot uint32, to dme.NodeID) {
	if l.carries[slot] {
		l.gone.Add(to)
		delete(l.carries, slot)
	}
}

// moved follows a node after an event.
func (l *losses) moved(id dme.NodeID) {
	l.carried, l.asked[id-1] = false, l.counters[id-1].Requests.Load()
	if l.has(id) {
		l.had.Add(id)
	} else {
		l.had.Remove(id)
	}
}

// died notes that a node goes, and returned that it is there again.
func (l *losses) died(id dme.NodeID) {
	if l.had.Has(id) {
		l.gone.Add(id)
	}
}

func (l *losses) returned(id dme.NodeID) { l.gone.Remove(id) }

// standstill says what the nodes of a stalled run wait for, and what may have become
// of it.
func (s *simulation) standstill() *stall.Standstill {
	x := &stall.Standstill{Nodes: len(s.procs), Tokens: -1}
	for _, p := range s.procs {
		if p.Activity() == noderun.Down {
			x.Absent = append(x.Absent, stall.Absent{Node: p.ID(), Since: -1, Token: s.losses != nil && s.losses.gone.Has(p.ID())})
			continue
		}
		x.Add(p.ID(), p.Node(), p.Activity() == noderun.Requesting)
	}
	if s.losses != nil {
		x.Losses = slices.SortedFunc(maps.Keys(s.losses.seen), func(a, b stall.Loss) int {
			return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind))
		})
	}
	return x
}
