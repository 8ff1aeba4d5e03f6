package chaudhurikaraata

import (
	"math"
	"testing"

	"dmebench/dme"
)

// followed is a meter of a mesh of 2×2×2 nodes, with the nodes.
type followed struct {
	t     *testing.T
	sys   *system
	nodes []*node // from 1
	meter dme.Meter
}

func follow(t *testing.T, q dme.Quantity) *followed {
	t.Helper()
	sys := newSystem([]int{2, 2, 2}, 8, numbered)
	f := &followed{t: t, sys: sys, nodes: []*node{nil}}
	for id := dme.NodeID(1); id <= 8; id++ {
		f.nodes = append(f.nodes, sys.Node(id).(*node))
	}
	for _, g := range gauges() {
		if g.Quantity == q {
			f.meter = g.Begin(dme.Setting{Nodes: 8, System: sys})
		}
	}
	return f
}

func (f *followed) note(what dme.Occasion, id dme.NodeID) {
	f.meter.Note(dme.Moment{What: what, ID: id, Node: f.nodes[id]})
}

func (f *followed) hear(id, from dme.NodeID, m dme.Message) {
	f.meter.Note(dme.Moment{What: dme.HasReceived, ID: id, Node: f.nodes[id], Peer: from, Msg: m})
}

func (f *followed) turn(id dme.NodeID, to colour) {
	tokenOf(f.nodes[id]).colour = to
	f.note(dme.OtherEvent, id)
}

func (f *followed) wants(value float64, ok bool) {
	f.t.Helper()
	if got, told := f.meter.Value(); told != ok || ok && math.Abs(got-value) > 1e-12 {
		f.t.Errorf("%v %v, want %v %v", got, told, value, ok)
	}
}

func TestColoursAreFollowed(t *testing.T) {
	f := follow(t, PrivilegedPlanes)
	f.note(dme.OtherEvent, 2)
	f.wants(1, true)
	f.turn(1, yellow)
	f.wants(1, true)
	f.turn(5, green)
	f.wants(2, true)
	f.turn(1, red)
	f.wants(2, true) // the most that there were

	f = follow(t, GreenAndYellow)
	f.turn(1, yellow)
	f.turn(5, yellow)
	f.wants(0, true)
	f.turn(5, green)
	f.turn(5, red)
	f.wants(1, true)

	f = follow(t, Unprivileged)
	f.wants(0, false)
	f.note(dme.HasEntered, 4) // in plane 0
	f.wants(0, true)
	f.note(dme.HasEntered, 6) // in plane 1
	f.wants(1, true)
	f.turn(5, green)
	f.note(dme.HasEntered, 6)
	f.wants(1, true)
}

func TestVisitsAreCounted(t *testing.T) {
	f := follow(t, EntriesPerVisit)
	visit := func(corner dme.NodeID, entering ...dme.NodeID) {
		f.hear(corner, 6-corner, dme.Message{Kind: kindPermit, Node: corner})
		for _, id := range entering {
			f.note(dme.HasEntered, id)
		}
	}
	f.note(dme.HasEntered, 1) // before the token moved
	visit(5, 5, 6, 7, 8)
	visit(1, 1, 2, 3, 4)
	f.wants(0, false)
	visit(5, 5, 6, 7, 8)
	visit(1, 1, 2, 3)
	visit(5, 5, 6, 7, 8)
	visit(1, 1, 2, 3, 4)
	f.hear(1, 5, dme.Message{Kind: kindPermit, Node: 2}) // no visit: for a node of the plane
	visit(5, 5, 6, 7)                                    // node 8 asks no more
	f.wants((4+3)/2., true)                              // of the visits from the third until the last of node 8
}

func TestChangesOfPlaneAreCounted(t *testing.T) {
	f := follow(t, PlaneChange)
	f.wants(0, false)
	f.note(dme.HasAsked, 1)
	f.note(dme.HasLeft, 1)
	f.wants(0, false) // the token stayed where it was
	f.note(dme.HasAsked, 5)
	f.hear(1, 5, dme.Message{Kind: kindRequest, Node: 5})
	f.hear(5, 1, dme.Message{Kind: kindPermit, Node: 5})
	f.hear(5, 6, dme.Message{Kind: kindRequest, Node: 6}) // inside a plane
	f.note(dme.HasLeft, 5)
	f.wants(2, true)
	f.note(dme.HasAsked, 1)
	f.hear(1, 5, dme.Message{Kind: kindPermit, Node: 1})
	f.note(dme.HasLeft, 1)
	f.wants(2, true)
	f.note(dme.HasAsked, 1)
	f.note(dme.HasAsked, 2)
	f.wants(0, false) // nobody can say whose a message is
}

func TestMessagesAreToldApart(t *testing.T) {
	f := follow(t, MessageBits)
	f.wants(0, false)
	for range 2 {
		for id := dme.NodeID(1); id <= 4; id++ {
			f.hear(1, 2, dme.Message{Kind: kindRequest, Node: id})
		}
	}
	f.wants(2, true)
}
