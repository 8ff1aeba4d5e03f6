package sim

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/testkit/toys"
	"dmebench/runs"
)

// stream is a node 1 that sends many numbered messages to node 2, pause apart,
// and a node 2 that notes what arrives, when it was sent and how long it took.
type stream struct {
	numbers  []uint64
	sent, at []int64
}

// simulation returns the stream's, which has not begun.
func (x *stream) simulation(t *testing.T, messages uint64, pause time.Duration, set map[string]string) *simulation {
	t.Helper()
	var s *simulation
	a := scripted(toys.Script{
		Ask: func(_ *toys.Script, out *dme.Outbox) {
			out.Enter(dme.Stamp{})
			out.SetTimer(1, 0)
		},
		Expired: func(n *toys.Script, _ dme.TimerID, out *dme.Outbox) {
			n.X++
			out.Send(2, dme.Message{Kind: 1, Num: n.X, Clock: uint64(s.now)})
			if n.X < messages {
				out.SetTimer(1, pause)
			}
		},
		Hear: func(_ *toys.Script, _ dme.NodeID, m dme.Message, _ *dme.Outbox) {
			x.numbers = append(x.numbers, m.Num)
			x.sent = append(x.sent, int64(m.Clock))
			x.at = append(x.at, s.now-int64(m.Clock))
		},
	})
	job := resolve(t, runs.Spec{Nodes: 2, Requests: 1, Set: set, AllowMismatch: true, StallAfter: runs.Duration(1000 * time.Hour)}, a)
	s = newSimulation(context.Background(), job)
	return s
}

// run lets the stream come to its end, and returns its simulation.
func (x *stream) run(t *testing.T, messages uint64, pause time.Duration, set map[string]string) *simulation {
	t.Helper()
	s := x.simulation(t, messages, pause, set)
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
	if s.status != runs.OK || s.messages != messages {
		t.Fatalf("status %s (%s), %d of %d messages sent", s.status, s.err, s.messages, messages)
	}
	if s.job.Guarantees().Reliable && uint64(len(x.numbers)) != messages {
		t.Fatalf("%d of %d messages arrived", len(x.numbers), messages)
	}
	return s
}

func TestDelaysFollowTheirDistribution(t *testing.T) {
	const n = 20000
	set := func(delay string) map[string]string { return map[string]string{"delay": delay, "t": "3ms"} }
	for _, x := range []struct {
		delay    string
		deviate  float64 // standard deviation over T
		low, top int64
	}{
		{"constant", 0, 3 * ms, 3 * ms},
		{"uniform", 1 / math.Sqrt(12), 3 * ms / 2, 9 * ms / 2},
		{"exponential", 1, 0, math.MaxInt64},
		{"pareto:5", 1 / math.Sqrt(15), 12 * ms / 5, 3 * ms * cutTail}, // 1/√(α(α−2))
	} {
		var got stream
		// Slowly, so that no message waits for the one before it.
		got.run(t, n, 200*time.Millisecond, set(x.delay))
		var sum, squares float64
		for _, at := range got.at {
			sum += float64(at)
			squares += float64(at) * float64(at)
			if at < x.low || at > x.top {
				t.Fatalf("%s: a delay of %v", x.delay, time.Duration(at))
			}
		}
		mean := sum / n / float64(3*ms)
		deviation := math.Sqrt(max(0, squares/n-sum/n*sum/n)) / float64(3*ms)
		// Five standard errors; the seed is fixed, so that chance has no say.
		if math.Abs(mean-1) > 5*x.deviate/math.Sqrt(n)+1e-9 || math.Abs(deviation-x.deviate) > 0.03 {
			t.Errorf("%s: mean %.4f T with deviation %.4f T, want 1 and %.4f", x.delay, mean, deviation, x.deviate)
		}
	}
}

// TestOneInstant has everything happen at the same time at node 2, twice over.
func TestOneInstant(t *testing.T) {
	var happened []string
	a := scripted(toys.Script{
		Begin: func(s *toys.Script, out *dme.Outbox) {
			// Arranged in the reverse order of what must come out.
			if s.ID == 2 {
				out.SetTimer(2, time.Millisecond)
				out.SetTimer(1, time.Millisecond)
			}
		},
		Ask: func(s *toys.Script, out *dme.Outbox) {
			happened = append(happened, fmt.Sprintf("request %d", s.ID))
			if s.ID == 1 {
				out.Send(2, dme.Message{Kind: 2, Num: 1})
				out.Send(2, dme.Message{Kind: 1, Num: 2})
			}
			out.Enter(dme.Stamp{})
		},
		Done: func(s *toys.Script, _ *dme.Outbox) { happened = append(happened, fmt.Sprintf("exit %d", s.ID)) },
		Hear: func(_ *toys.Script, _ dme.NodeID, m dme.Message, _ *dme.Outbox) {
			happened = append(happened, fmt.Sprintf("message %d", m.Num))
		},
		Expired: func(_ *toys.Script, id dme.TimerID, _ *dme.Outbox) {
			happened = append(happened, fmt.Sprintf("timer %d", id))
		},
	})
	// Node 1 asks at 0 and leaves at 1 ms, when node 2 asks, its timers fire
	// and the messages arrive.
	simulateTrace(t, 2, "0,1,0.001\n0.001,2\n", a)
	want := []string{"request 1", "message 1", "message 2", "timer 2", "timer 1", "exit 1", "request 2", "exit 2"}
	if !slices.Equal(happened, want) {
		t.Errorf("happened %q\nwant     %q", happened, want)
	}
}

func TestTimers(t *testing.T) {
	var fired []string
	var s *simulation
	a := scripted(toys.Script{
		Ask: func(n *toys.Script, out *dme.Outbox) {
			out.SetTimer(1, 5*time.Millisecond)
			out.SetTimer(2, 5*time.Millisecond)
			out.SetTimer(3, 9*time.Millisecond)
			out.SetTimer(1, 7*time.Millisecond) // moves it
			out.CancelTimer(2)
			out.CancelTimer(4) // never set
		},
		Expired: func(n *toys.Script, id dme.TimerID, out *dme.Outbox) {
			fired = append(fired, fmt.Sprintf("%d at %v", id, time.Duration(s.now)))
			switch {
			case id == 3:
				out.Enter(dme.Stamp{})
			case n.X == 0:
				n.X++
				out.SetTimer(1, time.Millisecond) // sets itself again
			}
		},
	})
	s = newSimulation(context.Background(), resolve(t, runs.Spec{Nodes: 1, Requests: 1}, a))
	if err := s.run(); err != nil || s.status != runs.OK {
		t.Fatal(err, s.status, s.err)
	}
	if want := []string{"1 at 7ms", "1 at 8ms", "3 at 9ms"}; !slices.Equal(fired, want) {
		t.Errorf("fired %q, want %q", fired, want)
	}
	if len(s.timers.armed) != 0 || !s.agenda.empty() {
		t.Errorf("%d timers left", len(s.timers.armed))
	}
}

// TestSequencedBroadcasts wants all nodes to receive all broadcasts in one
// order where the algorithm needs it, and only there.
func TestSequencedBroadcasts(t *testing.T) {
	for _, sequenced := range []bool{true, false} {
		for _, fifo := range []string{"true", "false"} {
			heard := make(map[dme.NodeID][]string)
			var private, broadcasts []uint64 // from node 1 to node 2: of both kinds, and broadcasts only
			a := scripted(toys.Script{
				Ask: func(s *toys.Script, out *dme.Outbox) {
					s.X++
					out.Send(s.ID%dme.NodeID(s.N)+1, dme.Message{Kind: 2, Num: 2 * s.X})
					out.Broadcast(dme.Message{Kind: 1, Num: 2*s.X + 1})
					out.Enter(dme.Stamp{})
				},
				Hear: func(s *toys.Script, from dme.NodeID, m dme.Message, _ *dme.Outbox) {
					if m.Kind == 1 && s.ID > 2 { // what nodes 1 and 2 say, as others hear it
						if from <= 2 {
							heard[s.ID] = append(heard[s.ID], fmt.Sprintf("%d:%d", from, m.Num))
						}
					}
					if from == 1 && s.ID == 2 {
						private = append(private, m.Num)
						if m.Kind == 1 {
							broadcasts = append(broadcasts, m.Num)
						}
					}
				},
			})
			a.Needs = dme.Always(dme.Needs{SequencedBroadcast: sequenced})
			simulate(t, runs.Spec{Nodes: 5, Requests: 500, CS: "10us", Set: map[string]string{"delay": "exponential", "fifo": fifo}}, a)
			same := slices.Equal(heard[3], heard[4]) && slices.Equal(heard[4], heard[5])
			if len(heard[3]) != 200 || same != sequenced {
				t.Errorf("sequenced=%v fifo=%s: %d broadcasts heard, in one order: %v", sequenced, fifo, len(heard[3]), same)
			}
			if slices.IsSorted(broadcasts) != (sequenced || fifo == "true") {
				t.Errorf("sequenced=%v fifo=%s: broadcasts in the order in which they were sent: %v", sequenced, fifo, !sequenced)
			}
			if slices.IsSorted(private) != (fifo == "true") {
				t.Errorf("sequenced=%v fifo=%s: node 2 hears from node 1 in order: %v", sequenced, fifo, fifo != "true")
			}
		}
	}
}

// The end of a heavy tail is cut, and a run has the patience to wait for it.
func TestHeavyTail(t *testing.T) {
	var x stream
	s := x.simulation(t, 1, 0, map[string]string{"delay": "pareto:1.1"})
	var longest int64
	for range 2_000_000 { // of which six are expected to be cut
		longest = max(longest, s.delays.draw())
	}
	if longest != cutTail*ms {
		t.Errorf("the longest delay is %v, want the cut at %v", time.Duration(longest), time.Duration(cutTail*ms))
	}
	s.job.Spec.StallAfter = 0
	if s.patience() <= longest {
		t.Errorf("patience of %v", time.Duration(s.patience()))
	}
}

// Beyond a number of nodes a map takes the place of a table.
func TestSparseLinksAreAsDenseOnes(t *testing.T) {
	const n = 20
	dense, sparse := newLastDelivery(n), newLastDelivery(denseNodes+1)
	if dense.dense == nil || sparse.sparse == nil {
		t.Fatal("not one of each kind")
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 5000 {
		from, to := dme.NodeID(rng.IntN(n)+1), dme.NodeID(rng.IntN(n)+1)
		if a, b := dense.get(from, to), sparse.get(from, to); a != b {
			t.Fatalf("from %d to %d: %d and %d", from, to, a, b)
		}
		at := rng.Int64()
		dense.set(from, to, at)
		sparse.set(from, to, at)
	}
}
