package check

import (
	"slices"

	"dmebench/dme"
	"dmebench/internal/noderun"
)

// explorer is what the workers of one exhaustive search share.
type explorer struct {
	*model
	components *components
	at         []int32 // link (from−1)·N + to−1: its place in a vector
	width      int     // of a vector: N nodes, N(N−1) links or, where a node hears itself, N², the rest
	seen       *visited
	origins    ancestry
}

func newExplorer(m *model) *explorer {
	n := m.Nodes
	e := &explorer{model: m, components: newComponents(), at: make([]int32, n*n), seen: new(visited)}
	next := int32(n)
	for i := range e.at {
		if i/n != i%n || m.sequenced {
			e.at[i] = next
			next++
		}
	}
	e.width = int(next) + 1
	return e
}

// vectorOf returns the state in which a system is, and its hash.
func (e *explorer) vectorOf(s *system) (v []uint32, h hash) {
	v = make([]uint32, e.width)
	var b []byte
	for i := range e.ids() {
		x := local{id: i, activity: s.hosts[i].Activity(), shared: s.hosts[i].Shared(), stopped: s.stopped[i], budget: s.budget[i]}
		v[i-1], b = e.components.localOf(b, &x, s.hosts[i].Node())
		h = h.plus(e.components.locals.at(v[i-1]).hash)
	}
	for _, at := range s.busy {
		from, to := s.ends(at)
		var parcels []uint32
		for _, l := range s.links[at].queue {
			var p uint32
			p, b = e.components.parcelOf(b, from, to, dme.AppendMessage(nil, &l.msg), l.transit, l.marks)
			parcels = append(parcels, p)
		}
		if e.Unordered {
			slices.SortFunc(parcels, e.compare)
		}
		v[e.at[at]], b = e.components.queueOf(b, parcels)
		h = h.plus(e.components.queues.at(v[e.at[at]]).hash)
	}
	r := rest{lose: s.lose, alarms: s.alarms}
	if e.Bypass > 0 {
		r.overtaken = make([]int, e.Nodes+1)
		for i := range e.ids() {
			if s.hosts[i].Activity() == noderun.Requesting {
				r.overtaken[i] = s.overtaken[i]
			}
		}
	}
	v[e.width-1], _ = e.components.restOf(b, &r)
	return v, h.plus(e.components.rests.at(v[e.width-1]).hash)
}

// compare orders the messages of a link that does not keep order.
func (e *explorer) compare(p, q uint32) int {
	x, y := e.components.parcels.at(p).hash, e.components.parcels.at(q).hash
	switch {
	case x.a < y.a || x.a == y.a && x.b < y.b:
		return -1
	case x == y:
		return 0
	}
	return 1
}

// ends returns the two nodes of the link at a place of a vector.
func (e *explorer) ends(at int) (from, to dme.NodeID) {
	i := at - e.Nodes
	if e.sequenced {
		return dme.NodeID(i/e.Nodes + 1), dme.NodeID(i%e.Nodes + 1)
	}
	from = dme.NodeID(i/(e.Nodes-1) + 1)
	to = dme.NodeID(i%(e.Nodes-1) + 1)
	if to >= from {
		to++
	}
	return from, to
}
