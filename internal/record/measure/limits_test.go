package measure

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/record/entrylog"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

// told collects what is warned of.
type told []string

func (w *told) warn(when bool, format string, args ...any) {
	if when {
		*w = append(*w, fmt.Sprintf(format, args...))
	}
}

// says reports whether these warnings and no others were given, by their beginnings.
func (w told) says(want ...string) bool {
	return slices.EqualFunc(w, want, strings.HasPrefix)
}

// What clocks may do without a word ends at a millisecond and a thousandth, each with the
// error of the readings added, and not one nanosecond later.
func TestLimitsOfClocks(t *testing.T) {
	const ms, µs, ns = time.Millisecond, time.Microsecond, time.Nanosecond
	for _, x := range []struct {
		c    clock.Change
		want []string
	}{
		{clock.Change{Elapsed: time.Second, Suspended: ms, Stepped: ms, Slewed: ms}, nil},
		{clock.Change{Elapsed: time.Second, Suspended: ms + ns}, []string{"the machine was suspended for 1.000001ms"}},
		{clock.Change{Elapsed: time.Second, Stepped: ms + ns}, []string{"the wall clock was set by 1.000001ms"}},
		{clock.Change{Elapsed: time.Second, Slewed: ms + ns}, []string{"the clock that measures ran +0.10% off"}},
		{clock.Change{Elapsed: time.Second, Suspended: ms + 9*µs, Stepped: -ms - 9*µs, Slewed: -ms - 9*µs, Error: 9 * µs}, nil},
		{
			clock.Change{Elapsed: time.Second, Suspended: ms + 9*µs + 1, Stepped: -ms - 9*µs - 1, Slewed: -500 * ms, Error: 9 * µs},
			[]string{"the machine was suspended for 1.009001ms", "the wall clock was set by -1.009001ms", "the clock that measures ran -50.00% off"},
		},
	} {
		var w told
		if jumps(w.warn, []clock.Change{x.c}); !w.says(x.want...) {
			t.Errorf("%+v: %q, want %q", x.c, w, x.want)
		}
	}
}

// Of several changes the largest is told, the first of those that are as large.
func TestTheLargestChangeOfAClock(t *testing.T) {
	var w told
	jumps(w.warn, []clock.Change{
		{Elapsed: time.Second, Suspended: 2e6, Stepped: -2e6, Slewed: -2e6}, {Elapsed: time.Second, Suspended: 3e6, Stepped: 2e6, Slewed: 2e6},
	})
	if !w.says("the machine was suspended for 3ms", "the wall clock was set by -2ms", "the clock that measures ran -0.20% off") {
		t.Errorf("%q", w)
	}
}

// A median within two parts in a hundred of a timer is at it.
func TestLimitsOfTimers(t *testing.T) {
	for _, timer := range []int64{40e6, 100e6, 200e6} {
		for off, want := range map[int64]bool{0: true, timer / 50: true, -timer / 50: true, timer/50 + 1: false, -timer/50 - 1: false} {
			var w told
			pinned(w.warn, "time", &runs.Quantiles{P50: timer + off})
			if (len(w) == 1) != want || len(w) > 1 {
				t.Errorf("a median of %d: %q, want a warning: %v", timer+off, w, want)
			}
		}
	}
	// No timers of a kernel are in a simulation.
	o := poisson(t, 100, 50*time.Millisecond, 20, 0)
	for i := range o.Entries {
		o.Entries[i].Exited = o.Entries[i].Requested + 40e6
	}
	if r := Result(o); r.ResponseTime.P50 != 40e6 || warned(r, "kernel timer") {
		t.Errorf("%+v, %q", r.ResponseTime, r.Warnings)
	}
}

// Of n arrivals by chance the rate scatters by 1/√n: two of these and a twentieth are
// no reason to warn.
func TestLimitsOfTheRate(t *testing.T) {
	for _, x := range []struct {
		entries uint64
		offered float64 // where 950 are reached
		want    bool
	}{
		{100, 950 / (0.95 * 0.8) * 0.999, false}, {100, 950 / (0.95 * 0.8) * 1.001, true},
		{16, 2000, false}, {10000, 950 / (0.95 * 0.98) * 0.999, false}, {10000, 950 / (0.95 * 0.98) * 1.001, true},
	} {
		var w told
		reached := 950.0
		missedRate(w.warn, &runs.Result{Offered: &x.offered, Throughput: &reached}, nil, &steady{entries: x.entries})
		if (len(w) == 1) != x.want {
			t.Errorf("%d entries, %v offered: %q", x.entries, x.offered, w)
		}
	}
	// Three nodes that ask once in 3000 s each may be as late as that.
	slow := 0.001
	for late, want := range map[int64]bool{3e12: false, 3e12 + 1: true} {
		var w told
		missedRate(w.warn, &runs.Result{Nodes: 3, Offered: &slow, Lateness: &runs.Quantiles{P99: late}}, nil, &steady{})
		if (len(w) == 1) != want {
			t.Errorf("late by %d: %q", late, w)
		}
	}
}

// Each node is a process of its own where nobody says otherwise.
func TestProcessesOfSingleNodes(t *testing.T) {
	for nodes, want := range map[int]int{8: 0, 9: 1} {
		host := Host{Host: runs.Host{Name: "a", Nodes: make([]int, nodes), Environment: map[string]string{EnvironmentCores: "2"}}}
		var w told
		if oversubscribed(w.warn, &Observation{Job: &run.Job{}, Hosts: []Host{host}}); len(w) != want {
			t.Errorf("%d nodes on 2 cores: %q", nodes, w)
		}
	}
}

// What warnings say in figures.
func TestFiguresInWarnings(t *testing.T) {
	base := func() Observation {
		e := closed()
		return Observation{
			Job: jobOf(t, runs.Spec{Nodes: 3, Requests: 6, Warmup: "0"}), Status: runs.OK, Entries: e,
			Nodes: counted(3, e, 4), MeanDelay: 10, Start: 0, Stop: 250,
		}
	}
	one := func(o *Observation) {
		o.Job, o.Entries = jobOf(t, runs.Spec{Nodes: 1, Requests: 1, Warmup: "0"}), []entrylog.Entry{entry(1, 0, 20, 50)}
		o.Nodes = counted(1, o.Entries, 0)
	}
	for _, x := range []struct {
		name   string
		change func(o *Observation)
		want   string // empty: no warning
	}{
		{"interrupted", func(o *Observation) { o.Partial, o.Start, o.Stop = true, 2e9, 5e9 }, "the run was interrupted after 3s:"},
		{"interrupted before", func(o *Observation) { o.Partial, o.Start, o.Stop = true, 5e9, 2e9 }, "the run was interrupted after 0s:"},
		{"one entry", one, "the steady part has 1 entries in 50ns:"},
		{"one entry, later", func(o *Observation) { one(o); o.Start = 20 }, "the steady part has 1 entries in 30ns:"},
		{"an end before the beginning", func(o *Observation) { one(o); o.Start = 80 }, "the steady part has 1 entries in 0s:"},
		{"half of all sent again", func(o *Observation) { o.Wire.Frames, o.Wire.Retransmissions = 1000, 500 },
			"the transport sent 500 times again for 1000 frames, 50.0%:"},
		{"nothing sent at all", func(o *Observation) { o.Wire.Retransmissions = 1 }, "the transport sent 1 times again for 0 frames, 100.0%:"},
		{"one difference of one", func(o *Observation) { o.Entries[0].Intended = 21 }, "1 time differences are negative, down to -1ns:"},
		{"T of two nodes", func(o *Observation) {
			o.Job = jobOf(t, runs.Spec{Nodes: 2, Requests: 6, Warmup: "0"})
			o.Entries = []entrylog.Entry{entry(1, 0, 20, 40), entry(2, 0, 50, 70)}
			o.Nodes, o.MeanDelay = counted(2, o.Entries, 0), 0
		}, "the mean delay T of a message is unknown"},
		{"T of one node", func(o *Observation) {
			o.Job = jobOf(t, runs.Spec{Nodes: 1, Requests: 2, Warmup: "0"})
			o.Entries = []entrylog.Entry{entry(1, 0, 20, 40), entry(1, 40, 50, 70)}
			o.Nodes, o.MeanDelay = counted(1, o.Entries, 0), 0
		}, ""},
		{"nothing", func(*Observation) {}, ""},
	} {
		o := base()
		x.change(&o)
		w := Result(o).Warnings
		if x.want == "" && len(w) > 0 || x.want != "" && !slices.ContainsFunc(w, func(s string) bool { return strings.HasPrefix(s, x.want) }) {
			t.Errorf("%s: %q, want %q", x.name, w, x.want)
		}
	}
}

// A bound on overtaking may depend on the options of the run.
func TestOvertakingKnowsTheOptions(t *testing.T) {
	job := *jobOf(t, runs.Spec{Nodes: 2, Requests: 2})
	own := *job.Algorithm
	own.Claims = []dme.Claim{{
		Quantity: dme.Bypass, Kind: dme.UpperBound, Load: dme.AnyLoad,
		Predict: func(s dme.Setting) (float64, bool) { return 3, s.Options != nil },
	}}
	job.Algorithm, job.Options = &own, dme.Options{}
	if bound := overtaking(&job); bound.Claim == nil || bound.Claimed != 3 {
		t.Errorf("%+v", bound)
	}
}
