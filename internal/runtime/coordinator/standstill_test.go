package coordinator

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/record"
	"dmebench/internal/record/recording"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// doze is much longer than a standstill is looked at before it is taken for one.
const doze = 12 * settling

// slow is more than that, and what many pings take is still bearable.
const slow = settling + 10*time.Millisecond

// A standstill that the counters prove is told at once, and one in which a message may
// be on the way is waited for.
func TestAProvenStandstillIsNotWaitedFor(t *testing.T) {
	beside(t)
	for _, x := range []struct {
		name   string
		spec   runs.Spec
		proven bool
	}{
		{"nobody is let in", runs.Spec{Algorithm: "stingy"}, true},
		{"step by step", runs.Spec{Algorithm: "stingy", Workload: "burst", Requests: 3}, true},
		{"one of them dies", runs.Spec{Algorithm: "stingy", Faults: []string{"kill 1 @300ms"}}, true},
		{"messages die with their receiver", runs.Spec{Algorithm: "centralized", Faults: []string{"kill 1 @entry:20"}}, true},
		{"messages die with their sender", runs.Spec{Algorithm: "ricart-agrawala", Faults: []string{"kill waiting @entry:20"}}, true},
		{"what was lost may be on the way",
			runs.Spec{Algorithm: "stingy", AllowMismatch: true, Set: map[string]string{"loss": "0.5"}}, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			beside(t)
			const patience = time.Second
			x.spec.Nodes, x.spec.CS, x.spec.StallAfter = 3, "2ms", runs.Duration(patience)
			if x.proven {
				x.spec.StallAfter = runs.Duration(30 * patience)
			}
			if x.spec.Requests == 0 {
				x.spec.Requests = 300
			}
			begin := time.Now()
			r := mustEnd(t, x.spec, Options{})
			took := time.Since(begin)
			if r.Status != runs.Stalled || len(r.Liveness.States) == 0 || len(r.Faults) != len(x.spec.Faults) {
				t.Errorf("status %s: %s", r.Status, r.Error)
			}
			proven := strings.Contains(r.Error, "nothing can move any more")
			if proven != x.proven || (took < x.spec.StallAfter.Std()) != x.proven {
				t.Errorf("after %v: %s", took, r.Error)
			}
		})
	}
}

// Nothing is taken for a standstill in which something may yet happen.
func TestWhatMayYetMoveIsNoStandstill(t *testing.T) {
	beside(t)
	const script = "0,1\n0.6,2\n"
	trace := t.TempDir() + "/trace.csv"
	if err := os.WriteFile(trace, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, spec := range map[string]runs.Spec{
		"a request is to come": {Algorithm: "ushered", Workload: "trace", Set: map[string]string{"file": trace}},
		"a timer is armed":     {Algorithm: "dozing", Requests: 1}, // of two at once, both would enter
		"messages are slow":    {Algorithm: "suzuki-kasami", Requests: 2, Set: map[string]string{"delay": slow.String()}},
		"an entry is long":     {Algorithm: "suzuki-kasami", Requests: 2, CS: (4 * settling).String()},
		"a node stands still":  {Algorithm: "centralized", Requests: 40, CS: "1ms", Faults: []string{"pause 1 @20ms-620ms"}},
	} {
		t.Run(name, func(t *testing.T) {
			beside(t)
			spec.Nodes, spec.StallAfter = 2, runs.Duration(20*time.Second)
			if spec.CS == "" {
				spec.CS = "0"
			}
			r := mustEnd(t, spec, Options{Files: map[string][]byte{trace: []byte(script)}})
			if r.Status != runs.OK {
				t.Errorf("status %s: %s", r.Status, r.Error)
			}
		})
	}
}

// A link that holds what was sent is no fault of the algorithm, on any network that loses
// nothing; the link is named, and no other. A run in which everything was handled has stalled.
func TestHeldMessagesAreNoStall(t *testing.T) {
	testkit.TakesLong(t)
	beside(t)
	const narrow = "2-3@600ms-1h:bandwidth=1" // the link takes a minute or so for a message
	held := []string{"the network holds messages: ", " from node 2 (worker 1, pid ", " to node 3 (worker 2, pid ", "); repair the path"}
	for i, c := range []struct {
		algorithm, transport, links string
		status                      runs.Status
		want                        []string
		faults                      []string
	}{
		{"ricart-agrawala", "tcp", narrow, runs.Failed, held, nil},
		{"ricart-agrawala", "tcp", narrow, runs.Failed, held, []string{"kill 1 @900ms"}},
		{"ricart-agrawala", "udp", narrow, runs.Failed, held, nil},
		{"ricart-agrawala", "tcp", narrow + ";1-3@600ms-1h:loss=1", runs.Stalled, []string{"nothing has moved for"}, nil},
		{"ricart-agrawala", "nats", narrow, runs.Failed, held, nil},
		{"stingy", "tcp", "none", runs.Stalled, []string{"all 6 messages that were sent have been handled"}, nil},
	} {
		if !sampled(i, 2) {
			continue
		}
		t.Run(fmt.Sprint(c.algorithm, c.transport, c.links, c.faults), func(t *testing.T) {
			beside(t)
			r := mustEnd(t, runs.Spec{
				Algorithm: c.algorithm, Nodes: 3, Transport: c.transport, CS: "1ms", Duration: runs.Duration(time.Minute),
				StallAfter: runs.Duration(500 * time.Millisecond), AllowMismatch: true, Set: map[string]string{"links": c.links}, Faults: c.faults,
			}, Options{})
			for _, want := range c.want {
				if r.Status != c.status || r.Liveness.Stalled != (c.status == runs.Stalled) || !strings.Contains(r.Error, want) {
					t.Errorf("status %s, want %s; of %q: %s", r.Status, c.status, want, r.Error)
				}
			}
			if strings.Contains(r.Error, "more links") || len(r.Liveness.States) != 3 {
				t.Errorf("%s: states %v", r.Error, r.Liveness.States)
			}
		})
	}
}

// since returns a progress that has seen nothing move for that long.
func since(r sums, ago time.Duration) *progress {
	p := newProgress(time.Second, 5*time.Second)
	p.last = r
	p.moved, p.entered = p.moved.Add(-ago), p.entered.Add(-ago)
	return p
}

func TestProgress(t *testing.T) {
	waiting := sums{sent: 7, handled: 7, requests: 3, entries: 1, requesting: 2}
	inside := waiting
	inside.inside, inside.requesting = 1, 1
	over := sums{sent: 7, handled: 6, requests: 3, entries: 3}
	thinking := sums{sent: 7, handled: 7, requests: 3, entries: 3, toCome: 1}
	for _, c := range []struct {
		name string
		at   sums
		ago  time.Duration
		want string // "" for no complaint
	}{
		{"waiting for less than the limit", waiting, 900 * time.Millisecond, ""},
		{"waiting for longer", waiting, 1100 * time.Millisecond, "the critical section is free"},
		{"a long critical section", inside, 5 * time.Second, ""},
		{"a critical section that does not end", inside, 7 * time.Second, "longer than the workload says"},
		{"a message is on its way after all was served", over, 900 * time.Millisecond, ""},
		{"it never arrives", over, 2 * time.Second, "messages were lost"},
		{"one arrived twice", sums{sent: 6, handled: 7, requests: 3, entries: 3}, 2 * time.Second, "messages were duplicated"},
		{"everybody thinks", thinking, time.Hour, ""},
	} {
		err := since(c.at, c.ago).observe(c.at)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	// Something moves, but nobody ever enters.
	p := since(waiting, 11*time.Second)
	p.moved = time.Now()
	moving := waiting
	moving.sent++
	var s *stall
	if err := p.observe(moving); !errors.As(err, &s) || !strings.Contains(err.Error(), "though messages flow") {
		t.Errorf("messages flow without an entry: %v", err)
	}
}

// What processes record of a run is all that they have counted, and goes into one
// order in which nothing arrives before it was sent and nobody enters while another
// is inside, also over links that lose, repeat and reorder frames.
func TestEventsAreRecorded(t *testing.T) {
	beside(t)
	for _, spec := range []runs.Spec{
		{Algorithm: "lamport", Nodes: 4, Transport: "tcp", Requests: 60},
		{Algorithm: "ricart-agrawala", Nodes: 4, NodesPerWorker: 2, Transport: "nats", Requests: 60},
		{Algorithm: "ricart-agrawala", Nodes: 3, Transport: "udp", Requests: 40, Set: map[string]string{
			"loss": "0.05", "reorder": "0.2", "dup": "0.1"}},
	} {
		t.Run(spec.Transport, func(t *testing.T) {
			beside(t)
			var kept *recording.Kept
			r, err := execute(t, t.Context(), spec, Options{Record: 10_000, Recorded: func(k recording.Kept) { kept = &k }})
			if err != nil || r.Status != runs.OK || kept == nil {
				t.Fatalf("%v %+v", err, r)
			}
			if !strings.Contains(strings.Join(r.Warnings, "\n"), "the run was recorded") {
				t.Errorf("it is not said that the run was recorded: %v", r.Warnings)
			}
			job := resolve(t, spec)
			count := make(map[dme.EventKind]uint64)
			sent := make(map[uint64]recording.Event)
			inside := 0
			logs := recording.Logs{Algorithm: job.Algorithm, Kept: *kept, Slack: 100 * time.Microsecond, FromFirst: true,
				Repeats: !job.Guarantees().Reliable}
			for e, err := range recording.Merge(logs) {
				if err != nil {
					t.Fatal(err)
				}
				if count[e.What]++; e.Copy {
					count[e.What]--
				}
				switch e.What {
				case dme.Send:
					sent[e.ID] = e
				case dme.Receive:
					if s := sent[e.ID]; s.Node != e.Peer || s.Peer != e.Node || s.Kind != e.Kind || s.Message != e.Message {
						t.Fatalf("%+v arrives as %+v", s, e)
					}
				case dme.Enter:
					if inside++; inside > 1 {
						t.Fatalf("%+v while another is inside", e)
					}
				case dme.Exit:
					inside--
				}
			}
			for what, want := range map[dme.EventKind]uint64{
				dme.Request: r.Requests, dme.Enter: r.Entries, dme.Exit: r.Entries,
				dme.Send: r.Messages.Total, dme.Receive: r.Messages.Total,
			} {
				if count[what] != want {
					t.Errorf("%d times %s, want %d", count[what], what, want)
				}
			}
		})
	}
}

// What a token that never rests sends before the workload begins is no part of the run.
func TestPerpetualTokenStartsWithTheWorkload(t *testing.T) {
	beside(t)
	var kept recording.Kept
	r := mustEnd(t, runs.Spec{Algorithm: "token-ring", Nodes: 3, Transport: "tcp", Requests: 60},
		Options{Record: 10_000, Recorded: func(k recording.Kept) { kept = k }, Entries: true})
	_, entries, err := record.Unpack(bytes.NewReader(r.Sections))
	if err != nil {
		t.Fatal(err)
	}
	requested := make(map[dme.NodeID][]int64) // since the beginning of the workload
	for e, err := range entries {
		if err != nil {
			t.Fatal(err)
		}
		requested[e.Node] = append(requested[e.Node], e.Requested)
	}
	begun, first := int64(math.MaxInt64), int64(math.MaxInt64)
	job := resolve(t, runs.Spec{Algorithm: "token-ring", Nodes: 3})
	for e, err := range recording.Merge(recording.Logs{Algorithm: job.Algorithm, Kept: kept, FromFirst: true}) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.What == dme.Send:
			first = min(first, e.At)
		case e.What == dme.Request:
			begun = min(begun, e.At-requested[e.Node][0])
			requested[e.Node] = requested[e.Node][1:]
		}
	}
	if early := time.Duration(begun - first); early > time.Millisecond || max(begun, first) == math.MaxInt64 {
		t.Errorf("a message was sent %v before the workload began", early)
	}
}
