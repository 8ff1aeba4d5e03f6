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
	"dmebench/transport"
)

// poisson is an open run of n entries, one each period, that lasts n periods.
func poisson(t *testing.T, n int, period time.Duration, rate float64, late time.Duration) Observation {
	var entries []entrylog.Entry
	for k := range int64(n) {
		at := k * int64(period)
		e := entry(dme.NodeID(k%2+1), at+int64(late), at+int64(late)+10, at+int64(late)+20)
		e.Intended = at
		entries = append(entries, e)
	}
	return Observation{
		Job: jobOf(t, runs.Spec{Nodes: 2, Workload: "poisson", TotalRate: rate,
			Duration: runs.Duration(int64(n) * int64(period)), Warmup: "0"}),
		Status: runs.OK, Entries: entries, Nodes: counted(2, entries, 2), MeanDelay: 5, Stop: int64(n) * int64(period),
	}
}

func TestWarnings(t *testing.T) {
	closedRun := func(t *testing.T, spec runs.Spec) Observation {
		e := closed()
		spec.Nodes, spec.Requests = 3, 6
		if spec.Warmup == "" {
			spec.Warmup = "0"
		}
		return Observation{Job: jobOf(t, spec), Status: runs.OK, Entries: e, Nodes: counted(3, e, 4), MeanDelay: 10, Stop: 250}
	}
	// slow makes all responses of a run over TCP last d, give or take.
	slow := func(d time.Duration) func(t *testing.T) Observation {
		return func(t *testing.T) Observation {
			o := closedRun(t, runs.Spec{Transport: "tcp"})
			for i := range o.Entries {
				at := int64(i) * int64(time.Second)
				o.Entries[i] = entry(o.Entries[i].Node, at, at+10, at+int64(d))
			}
			return o
		}
	}
	change := func(f func(o *Observation)) func(t *testing.T) Observation {
		return func(t *testing.T) Observation {
			o := closedRun(t, runs.Spec{})
			f(&o)
			return o
		}
	}
	clocks := func(c ...clock.Change) func(t *testing.T) Observation {
		return change(func(o *Observation) { o.Clocks = c })
	}
	// overtaken has node 2 ask just after node 1 has entered, and wait while it enters so
	// often again, for as long as a message takes each time.
	overtaken := func(times int) func(t *testing.T) Observation {
		return change(func(o *Observation) {
			o.Entries = nil
			for k := range int64(times + 1) {
				o.Entries = append(o.Entries, entry(1, 10*k, 10*k, 10*k+10))
			}
			end := int64(10 * (times + 1))
			o.Entries = append(o.Entries, entry(2, 1, end, end+10), entry(3, end, end+10, end+20))
			o.Nodes, o.Stop = counted(3, o.Entries, 4), end+20
		})
	}
	for _, x := range []struct {
		name string
		o    func(t *testing.T) Observation
		want string // in a warning; empty where there must be none
	}{
		{"a clean run", change(func(*Observation) {}), ""},
		{"the runtime's own", change(func(o *Observation) { o.Warnings = []string{"it rains"} }), "it rains"},
		{"as published", change(func(o *Observation) {
			a := *o.Job.Algorithm
			a.AsPublished, o.Job.Algorithm = true, &a
		}), "literal text"},
		{"links that lack something", change(func(o *Observation) { o.Job.Missing = []string{"FIFO links"} }),
			"test needs FIFO links, which sim with delay=constant fifo=true does not have"},
		{"too few entries", func(t *testing.T) Observation { return closedRun(t, runs.Spec{Warmup: "5"}) }, "has 0 entries"},
		{"starving", overtaken(36 + 1),
			"starving: a node that had asked saw 37 entries of others before its own, where at most 12 for each of 3 nodes"},
		{"overtaken, and not starving", overtaken(36), ""},
		{"remarks of the system", change(func(o *Observation) {
			o.Job.Algorithm.Remarks = func(dme.System) []string { return []string{"sets are odd"} }
		}), "sets are odd"},
		{"critical sections of no length", func(t *testing.T) Observation { return closedRun(t, runs.Spec{CS: "0s"}) },
			"critical sections last no time"},
		{"the same over a network", func(t *testing.T) Observation {
			return closedRun(t, runs.Spec{Transport: "tcp", CS: "0"})
		}, "let them last"},
		{"critical sections that last", func(t *testing.T) Observation { return closedRun(t, runs.Spec{CS: "exp:1ns"}) }, ""},
		{"dropped", change(func(o *Observation) { o.Dropped = 1 }), "1 entries were not recorded"},
		{"unserved", change(func(o *Observation) { o.Unserved = 1 }), "1 requests were still waiting"},
		{"refused messages", change(func(o *Observation) { o.Nodes[0].Refused = 1 }), "refused 1 messages"},
		{"refused frames", change(func(o *Observation) { o.Wire.Refused = 1 }), "refused 1 frames"},
		{"kernel drops", change(func(o *Observation) { o.Wire.KernelDrops = 1 }), "the kernel dropped 1 datagrams"},
		{"many retransmissions", change(func(o *Observation) { o.Wire.Frames, o.Wire.Retransmissions = 1000, 11 }),
			"sent 11 times again for 1000 frames, 1.1%"},
		{"a few retransmissions", change(func(o *Observation) { o.Wire.Frames, o.Wire.Retransmissions = 1000, 10 }), ""},
		{"clocks that run evenly", clocks(clock.Change{Elapsed: time.Minute, Error: time.Microsecond}), ""},
		{"suspended", clocks(clock.Change{Elapsed: time.Second},
			clock.Change{Elapsed: time.Second, Suspended: 1100 * time.Microsecond, Error: 99 * time.Microsecond}),
			"suspended for 1.1ms"},
		{"within the error", clocks(
			clock.Change{Elapsed: time.Second, Suspended: 1100 * time.Microsecond, Error: 100 * time.Microsecond}), ""},
		{"set back", clocks(clock.Change{Elapsed: time.Second, Stepped: -2 * time.Millisecond},
			clock.Change{Elapsed: time.Second, Stepped: time.Millisecond}),
			"set by -2ms"},
		{"set by little", clocks(clock.Change{Elapsed: time.Second, Stepped: time.Millisecond}), ""},
		{"slewed", clocks(clock.Change{Elapsed: time.Second, Slewed: -2 * time.Millisecond, Error: 10 * time.Microsecond}),
			"ran -0.20% off"},
		{"slewed as time services do", clocks(clock.Change{Elapsed: time.Second, Slewed: 500 * time.Microsecond}), ""},
		{"too short to tell", clocks(
			clock.Change{Elapsed: time.Millisecond, Slewed: 10 * time.Microsecond, Error: 10 * time.Microsecond}), ""},
		{"T unknown", change(func(o *Observation) { o.MeanDelay = 0 }), "T of a message is unknown"},
		{"T measured", change(func(o *Observation) { o.MeanDelay, o.Delays = 0, []int64{5, 7} }), ""},
		{"clocks that disagree", change(func(o *Observation) { o.Entries[5].Requested = 270; o.Entries[5].Intended = 270 }),
			"2 time differences are negative, down to -50ns"},
		{"oversubscribed", change(func(o *Observation) {
			o.Workers, o.Environment = 64, map[string]string{EnvironmentCores: "2"}
		}), "oversubscribed: 64 processes on 2 cores"},
		{"a few workers on a core", change(func(o *Observation) {
			o.Workers, o.Environment = 8, map[string]string{EnvironmentCores: "2"}
		}), ""},
		{"one core for all", change(func(o *Observation) {
			o.Workers, o.Environment = 2, map[string]string{EnvironmentCores: "1"}
		}), "2 processes share one core, and wait for it between an exit and the next entry: " +
			"synchronization delay / T is not the algorithm's"},
		{"one process on one core", change(func(o *Observation) {
			o.Workers, o.Environment = 1, map[string]string{EnvironmentCores: "1"}
		}), ""},
		{"one core, and nobody hands over", func(t *testing.T) Observation {
			o := poisson(t, 3000, time.Millisecond, 1000, 0)
			o.Workers, o.Environment = 2, map[string]string{EnvironmentCores: "1"}
			return o
		}, ""},
		{"pinned at 40 ms", slow(40*time.Millisecond + 700*time.Microsecond), "kernel timer of 40ms"},
		{"pinned at 200 ms", slow(199 * time.Millisecond), "kernel timer of 200ms"},
		{"hand-overs that are pinned", func(t *testing.T) Observation {
			o := closedRun(t, runs.Spec{Transport: "tcp"})
			for i := range o.Entries { // each asks long before the last one leaves
				at := int64(i) * int64(time.Second)
				o.Entries[i] = entry(o.Entries[i].Node, at-int64(700*time.Millisecond), at+int64(100*time.Millisecond), at+int64(time.Second))
			}
			return o
		}, "synchronization delay of 100ms lies at a kernel timer"},
		{"not pinned", slow(42 * time.Millisecond), ""},
		{"offered and reached", func(t *testing.T) Observation { return poisson(t, 3000, time.Millisecond, 1000, 0) }, ""},
		{"missed", func(t *testing.T) Observation { return poisson(t, 3000, time.Millisecond, 1100, 0) }, "missed: 1000 of 1100"},
		{"chance", func(t *testing.T) Observation { return poisson(t, 100, time.Millisecond, 1100, 0) }, ""},
		{"late", func(t *testing.T) Observation { return poisson(t, 3000, time.Millisecond, 1000, 3*time.Millisecond) },
			"generator was late"},
		{"a little late", func(t *testing.T) Observation { return poisson(t, 3000, time.Millisecond, 1000, time.Millisecond) }, ""},
		{"as late as may be", func(t *testing.T) Observation { return poisson(t, 3000, time.Millisecond, 1000, 2*time.Millisecond) }, ""},
		{"it never settles", func(t *testing.T) Observation {
			o := closedRun(t, runs.Spec{})
			o.Job.Warmup, o.Entries = -1, nil
			for k := range int64(600) {
				o.Entries = append(o.Entries, entry(1, k*1e6, k*1e6, k*1e6+k))
			}
			o.Nodes = counted(3, o.Entries, 4)
			return o
		}, "only 300 of 600 entries were cut"},
	} {
		t.Run(x.name, func(t *testing.T) {
			got := Result(x.o(t)).Warnings
			if x.want == "" && len(got) > 0 {
				t.Errorf("warnings %q, want none", got)
			}
			if x.want != "" && !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, x.want) }) {
				t.Errorf("warnings %q, want one with %q", got, x.want)
			}
		})
	}
}

func TestLossyLinksAreNoFailure(t *testing.T) {
	e := closed()
	o := Observation{Job: jobOf(t, runs.Spec{Nodes: 3, Requests: 6}), Status: runs.OK, Entries: e, Nodes: counted(3, e, 4),
		MeanDelay: 10, Stop: 250}
	o.Nodes[0].Handled[1]--
	o.Nodes[0].HandledTotal--
	guarantees := o.Job.Network.Guarantees
	lossy := o.Job.Network
	lossy.Guarantees = func(opt dme.Options) (g transport.Guarantees) {
		g = guarantees(opt)
		g.Reliable = false
		return g
	}
	o.Job.Network = lossy
	r := Result(o)
	want := "24 messages were sent and 23 handled: the links lose or duplicate"
	if r.Status != runs.OK || !slices.Contains(r.Warnings, want) {
		t.Errorf("status %s, warnings %q", r.Status, r.Warnings)
	}
}

func BenchmarkResult(b *testing.B) {
	for _, n := range []int{1000, 1000000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var entries []entrylog.Entry
			for node := range 64 { // as they are collected: node by node
				for k := range n / 64 {
					at := int64(k*64+node) * 1000
					entries = append(entries, entry(dme.NodeID(node+1), at-60000, at, at+500))
				}
			}
			o := Observation{
				Job: jobOf(b, runs.Spec{Nodes: 64, Requests: len(entries)}), Status: runs.OK, Entries: entries,
				Nodes: counted(64, entries, 126), MeanDelay: 500, Stop: int64(n) * 1000,
			}
			for b.Loop() {
				Result(o)
			}
		})
	}
}

// Processes share the cores of their own host, whatever the coordinator has.
func TestProcessesOnCoresOfTheirHosts(t *testing.T) {
	host := func(name, cores string, nodes int) Host {
		return Host{Host: runs.Host{Name: name, Nodes: make([]int, nodes), Environment: map[string]string{EnvironmentCores: cores}}}
	}
	o := &Observation{
		Job: &run.Job{Spec: runs.Spec{NodesPerWorker: 2}}, Workers: 104, Environment: map[string]string{EnvironmentCores: "1"},
		Hosts: []Host{host("a", "64", 100), host("b", "2", 68), host("c", "4", 20), host("d", "", 20)},
	}
	var told []string
	oversubscribed(func(when bool, format string, args ...any) {
		if when {
			told = append(told, fmt.Sprintf(format, args...))
		}
	}, o)
	if want := []string{"oversubscribed: 34 processes on 2 cores of host b; times include waiting for a core"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
