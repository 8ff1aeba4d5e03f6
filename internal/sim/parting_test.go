package sim

import (
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/result"
)

// must does the next thing of the schedule, which is to be done at its time.
func must(t *testing.T, s *simulation) {
	t.Helper()
	s.now = s.faults.director.Next()
	if did, err := s.faults.director.Step(s.now); !did || err != nil {
		t.Fatalf("nothing was done at %v: %v", time.Duration(s.now), err)
	}
}

// Who is told to leave and dies before it has left is waited for no longer, and who dies
// without having been told never was.
func TestDyingWhileLeaving(t *testing.T) {
	s := begun(t, result.Spec{Nodes: 4, Requests: 40, Faults: []string{"kill 3 @1s", "leave 2 @2s", "kill 2 @3s"}}, watchfulAlgorithm())
	f := s.faults
	must(t, s)
	if f.leaving() {
		t.Error("somebody is waited for after a death")
	}
	s.process(2).Arrive(0) // its request has to be served first
	must(t, s)
	if !f.leaving() || !f.moved(2) || f.moved(4) {
		t.Error("who was told to leave is not waited for alone")
	}
	must(t, s)
	if f.leaving() || f.moved(2) {
		t.Error("who was told to leave is waited for after it died")
	}
}

// What waits for a node that stands still goes with it when it dies.
func TestDyingWhilePaused(t *testing.T) {
	s := begun(t, result.Spec{
		Nodes: 4, Requests: 40, Faults: []string{"pause 2 @1s-9s", "pause 2-3 @2s-9s", "kill 2 @3s"},
	}, watchfulAlgorithm())
	must(t, s)
	must(t, s)
	if e := s.agenda.next(exit, s.now, 2); !s.faults.holds(e) || !s.faults.holding() {
		t.Error("nothing waits for the node that stands still")
	}
	must(t, s)
	if one, both := s.faults.strikes[0].Ended, s.faults.strikes[1].Ended; one != s.now || both != 0 {
		t.Errorf("the pause of one node ended at %d, that of two at %d", one, both)
	}
	if s.faults.holding() {
		t.Error("something waits for a node that is dead")
	}
	if e := s.agenda.next(exit, s.now, 3); !s.faults.holds(e) || !s.faults.holding() {
		t.Error("nothing waits for the node that stands still")
	}
}

// News of a death wait for what the dead had sent, and for nobody else's messages.
func TestNewsWaitForTheSender(t *testing.T) {
	s := begun(t, result.Spec{Nodes: 3, Requests: 30, Faults: []string{"kill 2 @1s"}}, watchfulAlgorithm())
	s.deliver(int64(time.Hour), 1, 3, &dme.Message{Kind: kindYes})
	s.deliver(int64(time.Minute), 2, 1, &dme.Message{Kind: kindYes})
	must(t, s)
	for _, e := range s.agenda.heap {
		if x := s.flight.at(e.what); x.msg.Kind != kindNews {
			continue
		} else if x.to == 1 && e.at < int64(time.Minute) || x.to == 3 && e.at > s.now+2*ms {
			t.Errorf("node %d hears of it after %v", x.to, time.Duration(e.at))
		}
	}
}

// In a slow system a hundred turns of all nodes may pass before it is said to stand still:
// of 10 nodes, with 2 s for a message and 1 s for a critical section, 3000 s.
func TestPatienceOfASlowSystem(t *testing.T) {
	s := begun(t, result.Spec{Nodes: 10, Requests: 30, CS: "1s", Set: map[string]string{"t": "2s"}}, watchfulAlgorithm())
	if got := time.Duration(s.patience()); got != 3000*time.Second {
		t.Errorf("%v", got)
	}
}
