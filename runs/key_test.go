package runs_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/runs"
)

// Every field of a specification makes a cell what it is, or is known not to:
// a new field must not let two things become one sample.
func TestEveryFieldIsADimensionOrIsNot(t *testing.T) {
	apart := []string{"seed", "stall_after", "listen", "allow_mismatch"}
	base := runs.Spec{Algorithm: "maekawa", Nodes: 7, Transport: "tcp", Workload: "saturate", CS: "100us"}
	unseen := slices.DeleteFunc(runs.Dimensions(), func(name string) bool { return name == "hosts" }) // of a result
	for i := range reflect.TypeFor[runs.Spec]().NumField() {
		f := reflect.TypeFor[runs.Spec]().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		changed := base
		switch v := reflect.ValueOf(&changed).Elem().Field(i); v.Kind() {
		case reflect.String:
			v.SetString("other")
		case reflect.Int, reflect.Int64:
			v.SetInt(int64(3 * time.Second))
		case reflect.Uint64:
			v.SetUint(3)
		case reflect.Float64:
			v.SetFloat(3)
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Slice:
			v.Set(reflect.ValueOf([]string{"kill 3 @2s"}))
		case reflect.Map:
			v.Set(reflect.ValueOf(map[string]string{"quorum": "grid"}))
		default:
			t.Fatalf("%s has a kind that this test does not know: %s", name, v.Kind())
		}
		before, after := runs.KeyOf(base), runs.KeyOf(changed)
		counts := before != after
		if counts == slices.Contains(apart, name) || counts != slices.Contains(unseen, name) {
			t.Errorf("%s: makes another cell: %v; a dimension: %v", name, counts, slices.Contains(unseen, name))
		}
		if !counts {
			continue
		}
		if before.Without(name) != after.Without(name) {
			t.Errorf("%s counts although it is left out", name)
		}
		if before.Get(name) == after.Get(name) {
			t.Errorf("%s does not count although it is projected on", name)
		}
		if varies := runs.Varying([]runs.Key{before, before, after}); !slices.Equal(varies, []string{name}) {
			t.Errorf("%s: %v vary", name, varies)
		}
		unseen = slices.DeleteFunc(unseen, func(dimension string) bool { return dimension == name })
	}
	if len(unseen) > 0 {
		t.Errorf("dimensions that no specification has: %v", unseen)
	}
}

func TestKeyOfABareResult(t *testing.T) {
	r := runs.Result{Algorithm: "raymond", Nodes: 3, Transport: "sim", Workload: "serial"}
	if got, want := runs.KeyOf(r.Asked()).String(), "raymond nodes=3 transport=sim workload=serial"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Large numbers are written so that they can be read as numbers again.
func TestNumbersOfDimensions(t *testing.T) {
	k := runs.KeyOf(runs.Spec{Requests: 12_000_000, TotalRate: 1e6, Rate: 0.25})
	for name, want := range map[string]string{"requests": "12000000", "total_rate": "1000000", "rate": "0.25", "duration": ""} {
		if got := k.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// Names are unique, and a metric is read where there is a sample, and there alone.
func TestMetrics(t *testing.T) {
	names, units := make(map[string]bool), make(map[string]bool)
	times := &runs.Quantiles{Count: 1, Mean: 5, P50: 5, P90: 5, P99: 5, P999: 5, Max: 5}
	five := 5.0
	full := &runs.Result{
		Entries: 1, Throughput: &five, Offered: &five, T: &five, THandover: &five, SyncDelayOverT: &five, CS: &five,
		Messages:     runs.Messages{Transmissions: 5, PerCS: &five, SteadyPerCS: &five, BetweenSites: count(5)},
		ResponseTime: times, WaitingTime: times, SyncDelay: times, Lateness: times,
		Fairness: runs.Fairness{Jain: &five, LongestRun: 5, MaxBypass: 5, ByOne: 5, OutOfOrder: 5},
		Work:     runs.Work{MaxOverMean: &five, SentByNode: []uint64{1, 3}, HandledByNode: []uint64{1, 2}},
		// Of several faults the costliest counts, but all requests that were lost.
		Faults: []runs.Fault{
			{RecoveredNS: ns(5), ServedNS: ns(4), Messages: count(3), Waiting: 1, Lost: 3},
			{RecoveredNS: ns(2), ServedNS: ns(5), Messages: count(5), Waiting: 1, Lost: 2},
			{Waiting: 0}, // nobody wanted to enter any more
		},
		SyncDelayBound: ns(5), SyncDelayLoad: &five,
	}
	for _, m := range runs.Metrics() {
		if names[m.Name] || units[m.Unit] || m.Title == "" || m.Unit == "" || m.Time() != strings.HasSuffix(m.Unit, "-ns") {
			t.Errorf("%+v", m)
		}
		names[m.Name], units[m.Unit] = true, true
		if x := m.Read(&runs.Result{}); x != nil {
			t.Errorf("%s of no sample is %v", m.Name, *x)
		}
		if x := m.Read(full); x == nil || *x != 5 {
			t.Errorf("%s is %v, want 5", m.Name, x)
		}
		if same, ok := runs.LookupMetric(m.Name); !ok || same.Title != m.Title {
			t.Errorf("%s is found as %q", m.Name, same.Title)
		}
	}
	// Where one waits for ever after a fault, the time is not that of another fault.
	full.Faults = append(full.Faults, runs.Fault{Waiting: 1})
	for _, name := range []string{runs.Recovered, runs.Served, runs.RecoveryMessages} {
		if m, _ := runs.LookupMetric(name); m.Read(full) != nil {
			t.Errorf("%s is %v of a run that did not recover", name, *m.Read(full))
		}
	}
	if _, ok := runs.LookupMetric("beauty"); ok {
		t.Error("there is a metric beauty")
	}
}

func ns(x int64) *int64 { return &x }

func count(x uint64) *uint64 { return &x }
