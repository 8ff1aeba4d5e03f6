package measure

import (
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/internal/noderun"
	"dmebench/result"
	"dmebench/workload/fault"
)

// A run of 3 nodes that were asked for requests, of which 6 were made.
func TestUnmadeRequests(t *testing.T) {
	kill, err := fault.Parse("kill 1-3 @5ms")
	if err != nil {
		t.Fatal(err)
	}
	const warned = "600 requests were asked for and 6 were made: a node that is down, or has left, makes none"
	for _, x := range []struct {
		name     string
		requests int
		duration result.Duration
		at       int64 // of the last fault; -1: there was none
		down     []int
		status   result.Status
		why      string // in the error; empty where there is none
		warning  string // in a warning; empty where none speaks of requests asked for
	}{
		{"all were made", 6, 0, 100, []int{1, 2, 3}, result.OK, "", ""},
		{"nobody is left", 600, 0, 100, []int{1, 2, 3}, result.Stalled,
			"600 requests were asked for and 6 were made: no node is left that could make more", ""},
		{"some are left", 600, 0, 100, []int{1, 3}, result.OK, "",
			warned},
		{"all came back", 600, 0, 100, nil, result.OK, "", warned},
		{"without a fault", 600, 0, -1, nil, result.Failed, "", ""},
		{"nobody is left before the duration ends", 0, 1000, 100, []int{1, 2, 3}, result.Stalled,
			"6 requests were made: no node is left", ""},
		{"nobody is left after the duration", 0, 1000, 1000, []int{1, 2, 3}, result.OK, "", ""},
		{"some are left when the duration ends", 600, 1000, 100, []int{1}, result.OK, "", ""},
		{"violated", 600, 0, 100, []int{1, 2, 3}, result.Violated, "", warned},
	} {
		entries := closed()
		o := Observation{
			Job:    jobOf(t, result.Spec{Nodes: 3, Requests: x.requests, Duration: x.duration, Warmup: "0"}),
			Status: result.OK, Entries: entries, Nodes: counted(3, entries, 4), MeanDelay: 10, Stop: 250,
		}
		for _, id := range x.down {
			o.Nodes[id-1].Activity = uint64(noderun.Down)
		}
		if x.at >= 0 {
			o.Strikes = []Strike{{Fault: kill, Nodes: []dme.NodeID{1, 2, 3}, At: x.at}}
		} else {
			o.Status = result.Failed
		}
		if x.status == result.Violated {
			o.WitnessViolations = 1
		}
		r := Result(o)
		if r.Status != x.status || !strings.HasPrefix(r.Error, x.why) || (r.Error == "") != (x.why == "") {
			t.Errorf("%s: status %s: %q", x.name, r.Status, r.Error)
		}
		if r.Liveness.Stalled != (x.status == result.Stalled) {
			t.Errorf("%s: %+v", x.name, r.Liveness)
		}
		told := slices.IndexFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "were asked for") })
		if (told >= 0) != (x.warning != "") || told >= 0 && !strings.HasSuffix(r.Warnings[told], x.warning) {
			t.Errorf("%s: %q", x.name, r.Warnings)
		}
	}
}
