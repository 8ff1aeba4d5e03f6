package check

import (
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// A timer set to twice the bound waits for an answer to what was on the way
// when it was set, and not for an answer to that.
func TestTimersWaitForChains(t *testing.T) {
	for _, c := range []struct {
		delay time.Duration
		after int // messages of the chain that must have arrived
	}{{9 * time.Millisecond, 0}, {10 * time.Millisecond, 1}, {25 * time.Millisecond, 2}, {35 * time.Millisecond, 3}} {
		a := metronome() // answers Num times
		a.Prepare = func(cfg dme.Config) (dme.System, error) {
			return toySystem{cfg.Nodes, func(id dme.NodeID, n int) dme.Node {
				return &script{
					id: id, n: n,
					request: func(s *script, out *dme.Outbox) {
						out.Broadcast(dme.Message{Kind: 1})
						out.SetTimer(1, c.delay)
					},
					receive: func(s *script, from dme.NodeID, m dme.Message, out *dme.Outbox) {
						out.Send(from, dme.Message{Kind: 1})
					},
					timeout: func(*script, dme.TimerID, *dme.Outbox) {},
				}
			}}, nil
		}
		search, err := New(a, Options{Nodes: 2, Requests: 1})
		if err != nil {
			t.Fatal(err)
		}
		s := vnet.New(search.model)
		s.Do(vnet.Step{Kind: vnet.Ask, Node: 1})
		fire := vnet.Step{Kind: vnet.Fire, Node: 1, Timer: 1}
		for arrived := range 4 {
			if got, want := s.Possible(fire), arrived >= c.after; got != want {
				t.Errorf("%v, after %d arrivals: may fire %v, want %v", c.delay, arrived, got, want)
			}
			to := dme.NodeID(2 - arrived%2)
			s.Do(vnet.Step{Kind: vnet.Deliver, Node: to, From: 3 - to})
		}
	}
}
