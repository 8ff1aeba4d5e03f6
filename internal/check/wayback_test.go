package check

import (
	"context"
	"strings"
	"testing"

	"dmebench/algorithms/lamport"
	"dmebench/dme"
)

// trap: where node 2 asks, it sends node 3 a message, which enters when that arrives.
func trap() *dme.Algorithm {
	return scripted("trap", script{
		request: func(s *script, out *dme.Outbox) {
			if s.id == 1 {
				enter(s, out)
			} else {
				out.Send(3, dme.Message{Kind: 1})
			}
		},
		receive: func(s *script, _ dme.NodeID, _ dme.Message, out *dme.Outbox) { enter(s, out) },
	})
}

// The way to what is found leads through the steps that were taken, and not through
// those that lead to a neighbour.
func TestTheWayToWhatIsFound(t *testing.T) {
	o := Options{Nodes: 3, Requests: 2, Requesters: []dme.NodeID{1, 2}, Workers: 1}
	r, err := Exhaustive(t.Context(), trap(), o)
	if err != nil || r.Violation == nil || len(r.Trace.Events) != 2 {
		t.Errorf("%v, %v, %+v; want that node 2 asks and node 3 enters", r.Violation, err, r.Trace)
	}
}

// starting is a script that also does something at its start.
type starting struct {
	script
	start func(*script, *dme.Outbox)
}

func (s *starting) Start(out *dme.Outbox) { s.start(&s.script, out) }

// surprised: node 2 enters uninvited where node 1's first message, sent at the start,
// arrives after it has asked, and before node 3 answers what it was told by that.
func surprised() *dme.Algorithm {
	const first, question, answer = 1, 2, 3
	return toy("surprised", func(id dme.NodeID, n int) dme.Node {
		return &starting{
			script: script{
				id: id, n: n,
				request: func(s *script, out *dme.Outbox) {
					s.x = 1
					out.Send(3, dme.Message{Kind: question})
					enter(s, out)
				},
				receive: func(s *script, from dme.NodeID, m dme.Message, out *dme.Outbox) {
					switch {
					case m.Kind == question:
						out.Send(from, dme.Message{Kind: answer})
					case m.Kind == first:
						s.y = s.x
					case s.y == 1:
						enter(s, out)
					}
				},
			},
			start: func(s *script, out *dme.Outbox) {
				if s.id == 1 {
					out.Send(2, dme.Message{Kind: first})
				}
			},
		}
	}, "FIRST", "QUESTION", "ANSWER")
}

// A reduced search knows what is on its way at the beginning.
func TestReductionKnowsTheFirstMessages(t *testing.T) {
	o := Options{Nodes: 3, Requests: 1, Requesters: []dme.NodeID{2}, Reduce: true}
	if x := searchOf(t, surprised(), o).reduced(t.Context()); x == nil || x.found == nil {
		t.Error("not found with reduction")
	}
	o.Bitstate = 1 << 20
	if r, err := Exhaustive(t.Context(), surprised(), o); err != nil || r.Violation == nil {
		t.Errorf("with bits of states: %v, %v", r.Violation, err)
	}
}

// A search that was ended says so, and not that bits may have hidden a state.
func TestBitstateThatIsEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := Exhaustive(ctx, lamport.Algorithm(), Options{Nodes: 3, Requests: 6, Bitstate: 1 << 20})
	if err != nil || r.Complete || r.Stopped == "" || strings.Contains(r.Stopped, "probability") {
		t.Errorf("complete %v, stopped by %q, %v", r.Complete, r.Stopped, err)
	}
}
