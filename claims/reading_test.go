package claims

import (
	"math"
	"testing"

	"dmebench/dme"
	"dmebench/result"
)

func TestReadings(t *testing.T) {
	ten := 10.0
	r := &result.Result{Entries: 4, Messages: result.Messages{
		PerCS: &ten, PerEntry: map[string]uint64{"8": 2, "12": 2}, ByKind: map[string]uint64{"REQUEST": 20, "REPLY": 8},
	}, Work: result.Work{LongestQueue: 3}, ResponseTime: &result.Quantiles{Count: 4, Mean: 2e9}}
	for _, x := range []struct {
		q    dme.Quantity
		want Reading
	}{
		{dme.MessagesPerCS, Reading{10, 8, 12}}, {dme.KindPerCS("REQUEST"), Reading{5, 5, 5}},
		{dme.KindPerKind("REQUEST", "REPLY"), Reading{2.5, 2.5, 2.5}}, {dme.QueueLength, Reading{3, 3, 3}},
		{dme.ResponseTime, Reading{2, 2, 2}}, // claims count seconds
	} {
		if got, ok := Read(x.q, r); !ok || got != x.want {
			t.Errorf("%s: %v %v, want %v", x.q, got, ok, x.want)
		}
	}
	for _, q := range []dme.Quantity{dme.KindPerKind("REQUEST", "INQUIRE"), dme.SyncDelay} {
		if got, ok := Read(q, r); !ok || !math.IsNaN(got.Mean) {
			t.Errorf("%s: %v %v without a sample", q, got, ok)
		}
	}
	a := &dme.Algorithm{Gauges: []dme.Gauge{{Quantity: dme.WorkSpread}, {Quantity: dme.Quantity{ID: "own"}}}}
	if Told(a, dme.QuorumSize) || !Told(a, dme.Throughput) || !Told(a, dme.NumberRange) || !Told(a, dme.Quantity{ID: "own"}) {
		t.Error("what a run's result tells")
	}
}

// Waiting time is told in seconds, as claims count it, and not at all where nobody waited.
func TestWaitingTimeIsRead(t *testing.T) {
	if x, ok := Read(dme.WaitingTime, delayed(1, 1, 1, 1)); !ok || x != (Reading{3, 3, 3}) {
		t.Errorf("%+v, %v", x, ok)
	}
	if x, ok := Read(dme.WaitingTime, &result.Result{}); !ok || !math.IsNaN(x.Mean) {
		t.Errorf("%+v, %v", x, ok)
	}
}

// What a result tells in whole numbers, and what a gauge of the algorithm measured.
func TestCountsAreRead(t *testing.T) {
	r := &result.Result{Unserved: 4, Figures: map[string]float64{"own": -2.5}}
	r.Work.LongestBytes, r.Safety.Violations, r.Liveness.Pending = 5, 6, 3
	for q, want := range map[dme.Quantity]float64{
		dme.MessageLength: 5, dme.Violations: 6, dme.Unserved: 7, {ID: "own"}: -2.5,
	} {
		if got, ok := Read(q, r); !ok || got != (Reading{want, want, want}) {
			t.Errorf("%s %s: %v %v, want %v", q.ID, q, got, ok, want)
		}
	}
	if got, ok := Read(dme.Quantity{ID: "unknown"}, r); ok || !math.IsNaN(got.Mean) || !math.IsNaN(got.Least) || !math.IsNaN(got.Most) {
		t.Errorf("what nothing tells: %v %v", got, ok)
	}
}

// The extremes of messages per critical section are those of single entries, where these
// are told apart, whatever the mean of all is; else they are the mean.
func TestExtremesOfEntries(t *testing.T) {
	ten := 10.
	for _, x := range []struct {
		entries     map[string]uint64
		least, most float64
	}{
		{nil, 10, 10}, {map[string]uint64{"12": 4}, 12, 12}, {map[string]uint64{"8": 4}, 8, 8}, {map[string]uint64{"0": 1, "12": 9}, 0, 12},
		{map[string]uint64{"8": 2, "12": 1, "others": 1}, 8, 12},
	} {
		r := &result.Result{Entries: 4, Messages: result.Messages{PerCS: &ten, PerEntry: x.entries}}
		if got, ok := Read(dme.MessagesPerCS, r); !ok || got != (Reading{10, x.least, x.most}) {
			t.Errorf("%v: %v %v, want %v to %v", x.entries, got, ok, x.least, x.most)
		}
	}
}
