package check

import (
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// opener sends messages at the start: node 1 kinds 1 and 3 to node 2, and node 3 kind 2.
// Node 2 breaks down if it asks after it has received them in the order 1, 2, 3.
type opener struct{ script }

func (o *opener) Start(out *dme.Outbox) {
	switch o.id {
	case 1:
		out.Send(2, dme.Message{Kind: 1})
		out.Send(2, dme.Message{Kind: 3})
	case 3:
		out.Send(2, dme.Message{Kind: 2})
	}
}

// A reduced search takes account of what is on its way at the start.
func TestReductionBeginsWithWhatIsOnItsWay(t *testing.T) {
	a := toy("opener", func(id dme.NodeID, n int) dme.Node {
		return &opener{script{
			id: id, n: n,
			request: func(s *script, out *dme.Outbox) {
				if s.x == 3 {
					panic("in order")
				}
				enter(s, out)
			},
			receive: func(s *script, _ dme.NodeID, m dme.Message, _ *dme.Outbox) {
				if s.x+1 == uint64(m.Kind) {
					s.x++
				} else if m.Kind == 3 {
					s.x = 9
				}
			},
		}}
	}, "ONE", "TWO", "THREE")
	for _, bits := range []Bytes{0, 1 << 16} {
		s := searchOf(t, a, Options{Nodes: 3, Requests: 1, Requesters: []dme.NodeID{2}, Reduce: true, Bitstate: bits})
		r, err := s.Exhaustive(t.Context())
		if err != nil || r.Violation == nil || r.Violation.Property != vnet.Sanity {
			t.Errorf("%d bytes of bits: %+v, %v", bits, r, err)
		}
	}
}

// In a shortened schedule only those ask who may: node 1 would break down at once.
func TestOnlyRequestersAskInShortenedSchedules(t *testing.T) {
	a := scripted("second time", script{request: func(s *script, out *dme.Outbox) {
		if s.x++; s.id == 1 || s.x == 2 {
			panic("no")
		}
		enter(s, out)
	}})
	s := searchOf(t, a, Options{Nodes: 2, Requests: 2, Requesters: []dme.NodeID{2}})
	steps := []vnet.Step{{Kind: vnet.Ask, Node: 2}, {Kind: vnet.Leave, Node: 2}, {Kind: vnet.Ask, Node: 2}}
	trace := s.shrink(plan{model: s.model}, steps, vnet.Sanity)
	if len(trace.Events) != 3 || trace.Violation.Property != vnet.Sanity {
		t.Errorf("%v: %v", &trace.Violation, trace.Lines())
	}
}

// Schedules that were run after one that was not count where the search was ended, and not
// where one of those before has broken something.
func TestSchedulesAheadOfOthers(t *testing.T) {
	for _, broken := range []bool{false, true} {
		s := searchOf(t, anarchy(), Options{Nodes: 2, Requests: 2, Schedules: 9})
		r := &randomSearch{Search: s, ahead: make(map[int64]Part)}
		r.failed.Store(9)
		r.add(Part{First: 0, Done: 1, Steps: 5, Entries: 1})
		r.add(Part{First: 2, Done: 1, Steps: 70, Entries: 3})
		want := uint64(75)
		if broken {
			r.report.Violation = stalled([]dme.NodeID{1})
			want = 5
		}
		if got := r.finish(t.Context(), time.Now()); got.Steps != want {
			t.Errorf("broken %v: %d steps, want %d", broken, got.Steps, want)
		}
	}
}

// What the common tables keep is the states' components and what a reduction knows.
func TestReductionsAreOnTheAccount(t *testing.T) {
	x := searchOf(t, noisy(), Options{Nodes: 3, Requests: 3, Reduce: true}).reduced(t.Context())
	if x == nil || x.byClass {
		t.Fatal("no reduction")
	}
	if got := x.sharedFootprint() - x.space.Footprint(); got != x.reduction.Footprint() || got <= 0 {
		t.Errorf("the reduction takes %d bytes, and %d are on the account", x.reduction.Footprint(), got)
	}
}
