package check

import (
	"testing"
	"time"

	"dmebench/dme"
)

// postponed: node 2 serves node 1 at once and itself when a timer fires, which it
// sets anew whenever node 1 is through, if it is postponing. A timer that fires while
// node 1 is served has node 2 enter next.
func postponed(postponing bool) *dme.Algorithm {
	const wait = 1 // the timer
	const request, reply, release = 1, 2, 3
	const idle, waiting, due = 0, 1, 2 // x, of node 2
	const free, served, held = 0, 1, 2 // y, of node 2: node 1 is served; its request is held
	return scripted("postponed", script{
		request: func(s *script, out *dme.Outbox) {
			if s.id == 1 {
				out.Send(2, dme.Message{Kind: request})
				return
			}
			s.x = waiting
			out.SetTimer(wait, time.Second)
		},
		release: func(s *script, out *dme.Outbox) {
			if s.id == 1 {
				out.Send(2, dme.Message{Kind: release})
			} else if s.x = idle; s.y == held {
				s.y = served
				out.Send(1, dme.Message{Kind: reply})
			}
		},
		receive: func(s *script, from dme.NodeID, m dme.Message, out *dme.Outbox) {
			switch {
			case m.Kind == reply:
				out.Enter(dme.Stamp{})
			case m.Kind == request && s.x == due:
				s.y = held
			case m.Kind == request:
				s.y = served
				out.Send(from, dme.Message{Kind: reply})
			case s.x == due:
				s.y = free
				out.Enter(dme.Stamp{})
			default:
				if s.y = free; s.x == waiting && postponing {
					out.SetTimer(wait, time.Second)
				}
			}
		},
		timeout: func(s *script, _ dme.TimerID, out *dme.Outbox) {
			if s.x = due; s.y == free {
				out.Enter(dme.Stamp{})
			}
		},
	}, "REQUEST", "REPLY", "RELEASE")
}

// A timer need not fire where it is set anew again and again. Else it does.
func TestWhoSetsATimerAnewMayStarve(t *testing.T) {
	if r := livenessOf(t, postponed(true), Options{Nodes: 2}); r.Verdict != Starved || r.Node != 2 {
		t.Errorf("set anew: %s of node %d, %s", r.Verdict, r.Node, r.Stopped)
	}
	if r := livenessOf(t, postponed(false), Options{Nodes: 2}); !r.Proven {
		t.Errorf("set once: %s of node %d, %v", r.Verdict, r.Node, r.Lasso)
	}
}
