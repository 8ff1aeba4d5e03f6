package coordinator

import (
	"strings"
	"testing"
	"time"

	"dmebench/internal/eventlog"
	"dmebench/internal/recording"
	"dmebench/result"
)

// What processes record of a run is all that they have counted, and goes into one
// order in which nothing arrives before it was sent and nobody enters while another
// is inside, also over links that lose, repeat and reorder frames.
func TestEventsAreRecorded(t *testing.T) {
	for _, spec := range []result.Spec{
		{Algorithm: "lamport", Nodes: 4, Transport: "tcp", Requests: 60},
		{Algorithm: "ricart-agrawala", Nodes: 4, NodesPerWorker: 2, Transport: "nats", Requests: 60},
		{Algorithm: "ricart-agrawala", Nodes: 3, Transport: "udp", Requests: 40, Set: map[string]string{
			"loss": "0.05", "reorder": "0.2", "dup": "0.1"}},
	} {
		t.Run(spec.Transport, func(t *testing.T) {
			var kept *eventlog.Kept
			r, err := execute(t, t.Context(), spec, Options{Record: 10_000, Recorded: func(k eventlog.Kept) { kept = &k }})
			if err != nil || r.Status != result.OK || kept == nil {
				t.Fatalf("%v %+v", err, r)
			}
			if !strings.Contains(strings.Join(r.Warnings, "\n"), "the run was recorded") {
				t.Errorf("it is not said that the run was recorded: %v", r.Warnings)
			}
			job := resolve(t, spec)
			count := make(map[recording.What]uint64)
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
				case recording.Send:
					sent[e.ID] = e
				case recording.Receive:
					if s := sent[e.ID]; s.Node != e.Peer || s.Peer != e.Node || s.Kind != e.Kind || s.Message != e.Message {
						t.Fatalf("%+v arrives as %+v", s, e)
					}
				case recording.Enter:
					if inside++; inside > 1 {
						t.Fatalf("%+v while another is inside", e)
					}
				case recording.Exit:
					inside--
				}
			}
			for what, want := range map[recording.What]uint64{
				recording.Request: r.Requests, recording.Enter: r.Entries, recording.Exit: r.Entries,
				recording.Send: r.Messages.Total, recording.Receive: r.Messages.Total,
			} {
				if count[what] != want {
					t.Errorf("%d times %s, want %d", count[what], what, want)
				}
			}
		})
	}
}

// A full log drops what comes later, and says so.
func TestEventsAreBounded(t *testing.T) {
	var kept eventlog.Kept
	spec := result.Spec{Algorithm: "lamport", Nodes: 3, Transport: "tcp", Requests: 60}
	if _, err := execute(t, t.Context(), spec, Options{Record: 50, Recorded: func(k eventlog.Kept) { kept = k }}); err != nil {
		t.Fatal(err)
	}
	events := 0
	for _, err := range recording.Merge(recording.Logs{Algorithm: resolve(t, spec).Algorithm, Kept: kept}) {
		if events++; err != nil {
			t.Fatal(err)
		}
	}
	if kept.Dropped == 0 || events == 0 || events > 150 {
		t.Errorf("%d events kept, %d dropped", events, kept.Dropped)
	}
}
