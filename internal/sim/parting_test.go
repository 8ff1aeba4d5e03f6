package sim

import (
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/result"
	"dmebench/workload/fault"
)

// Who is told to leave and dies before it has left is waited for no longer, and who dies
// without having been told never was.
func TestDyingWhileLeaving(t *testing.T) {
	s := begun(t, result.Spec{Nodes: 4, Requests: 40, Faults: []string{"kill 2 @1s"}}, watchfulAlgorithm())
	f := s.faults
	f.kill(3)
	if s.watch.leaving != 0 {
		t.Errorf("%d are waited for after a death", s.watch.leaving)
	}
	s.process(2).Arrive(0) // its request has to be served first
	f.leave(2)
	if s.watch.leaving != 1 || !f.leaving.Has(2) || !f.moved(2) || f.moved(4) {
		t.Errorf("%d are waited for after one was told to leave", s.watch.leaving)
	}
	f.kill(2)
	if s.watch.leaving != 0 || f.leaving.Has(2) {
		t.Errorf("%d are waited for after it died", s.watch.leaving)
	}
	// Who is down and has not left does not join, nor does who is there.
	for id, what := range map[dme.NodeID]string{2: "is down", 4: "is there"} {
		if f.can(fault.Join, id) {
			t.Errorf("node %d, which %s, can join", id, what)
		}
	}
}

// A pause of one node is over when it dies; one of several goes on for the others.
func TestDyingWhilePaused(t *testing.T) {
	s := begun(t, result.Spec{
		Nodes: 4, Requests: 40, Faults: []string{"pause 2 @1s-9s", "pause 2-3 @1s-9s", "kill 2 @2s"},
	}, watchfulAlgorithm())
	s.now = 5 * ms
	s.faults.carryOut(0, []dme.NodeID{2})
	s.faults.carryOut(1, []dme.NodeID{2, 3})
	s.now = 7 * ms
	s.faults.carryOut(2, []dme.NodeID{2})
	if one, both := s.faults.strikes[0].Ended, s.faults.strikes[1].Ended; one != 7*ms || both != 0 {
		t.Errorf("the pause of one node ended at %d, that of two at %d", one, both)
	}
	if s.faults.holding() {
		t.Error("something waits for the node that stands still")
	}
	if e := s.agenda.next(exit, 8*ms, 3); !s.faults.holds(e) || !s.faults.holding() {
		t.Error("nothing waits for the node that stands still")
	}
}

// News of a death wait for what the dead had sent, and for nobody else's messages.
func TestNewsWaitForTheSender(t *testing.T) {
	s := begun(t, result.Spec{Nodes: 3, Requests: 30, Faults: []string{"kill 2 @1s"}}, watchfulAlgorithm())
	s.deliver(int64(time.Hour), 1, 3, &dme.Message{Kind: kindYes})
	s.deliver(int64(time.Minute), 2, 1, &dme.Message{Kind: kindYes})
	s.faults.carryOut(0, []dme.NodeID{2})
	for _, e := range s.agenda.heap {
		if x := s.flight.at(e.what); x.msg.Kind != kindNews {
			continue
		} else if x.to == 1 && e.at < int64(time.Minute) || x.to == 3 && e.at > 2*ms {
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
