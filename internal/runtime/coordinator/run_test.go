package coordinator

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dmebench/internal/platform"
	"dmebench/internal/platform/launch"
	"dmebench/internal/record"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/host"
	"dmebench/internal/runtime/run"
	"dmebench/internal/runtime/witness"
	"dmebench/internal/sim"
	"dmebench/runs"
)

func resolve(t testing.TB, spec runs.Spec) *run.Job {
	t.Helper()
	job, err := run.Resolve(spec, testCatalog(), os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// execute runs a job and makes sure that nothing of it is left behind.
func execute(t *testing.T, ctx context.Context, spec runs.Spec, opt Options) (*runs.Result, error) {
	t.Helper()
	workers, started := &recorder{}, opt.Started
	opt.Started = func(p launch.Process) {
		workers.started(p)
		if started != nil {
			started(p)
		}
	}
	result, err := Run(ctx, resolve(t, spec), opt)
	for _, pid := range workers.pids() {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("worker process %d is still there (%v)", pid, err)
		}
	}
	if others.Load() == 0 {
		goleak.VerifyNone(t)
	}
	return result, err
}

// mustEnd executes a job that has a result, whatever it is.
func mustEnd(t *testing.T, spec runs.Spec, opt Options) *runs.Result {
	t.Helper()
	r, err := execute(t, t.Context(), spec, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// mustRun executes a job that ends well.
func mustRun(t *testing.T, spec runs.Spec) *runs.Result {
	t.Helper()
	r := mustEnd(t, spec, Options{})
	if r.Status != runs.OK {
		t.Fatalf("status %s: %s %v", r.Status, r.Error, r.FailedStderr)
	}
	return r
}

func TestRicartAgrawalaOverEightProcesses(t *testing.T) {
	beside(t)
	workers := &recorder{}
	r := mustEnd(t, runs.Spec{Algorithm: "ricart-agrawala", Nodes: 8, Requests: 800}, Options{
		Started: workers.started,
		Save: func(*runs.Result) error {
			for _, pid := range workers.pids() {
				if err := syscall.Kill(pid, 0); err != nil {
					t.Errorf("worker %d was gone before the result was saved", pid)
				}
			}
			return nil
		},
	})
	if r.Status != runs.OK || r.Entries != 800 || r.Requests != 800 {
		t.Errorf("status %s, %d entries of %d requests", r.Status, r.Entries, r.Requests)
	}
	if r.Messages.PerCS == nil || *r.Messages.PerCS != 14 {
		t.Errorf("messages per CS: %v", r.Messages.PerCS)
	}
	if r.Messages.Total != 11200 || r.Messages.ByKind["REQUEST"] != 5600 || r.Messages.ByKind["REPLY"] != 5600 || r.Wire.Frames != 11200 {
		t.Errorf("messages: %+v, wire %+v", r.Messages, r.Wire)
	}
	if r.Safety.Violations != 0 || r.Safety.Checked != 800 || r.Safety.Method != "shared-page" {
		t.Errorf("safety: %+v", r.Safety)
	}
	if r.Workers != 8 || len(workers.pids()) != 8 {
		t.Errorf("%d workers, %d processes", r.Workers, len(workers.pids()))
	}
	if r.Fairness.OutOfOrder != 0 {
		t.Errorf("%d entries out of timestamp order", r.Fairness.OutOfOrder)
	}
	if r.T == nil || *r.T <= 0 || r.SyncDelay == nil || r.ResponseTime.Count != 800 {
		t.Errorf("T %v, synchronization delay %v, response %v", r.T, r.SyncDelay, r.ResponseTime)
	}
	if r.THandover == nil || *r.THandover <= 0 || *r.SyncDelayOverT != r.SyncDelay.Mean / *r.THandover {
		t.Errorf("T between handovers %v, SD/T %v", r.THandover, r.SyncDelayOverT)
	}
}

// mustCostAsSimulated makes isolated requests over a real network and over the
// simulated one with the given options, which must agree on what every single
// entry cost.
func mustCostAsSimulated(t *testing.T, spec runs.Spec, options map[string]string) (real, simulated *runs.Result) {
	t.Helper()
	real = mustRun(t, spec)
	spec.Transport, spec.Set = runs.Sim, options
	simulated, err := sim.Run(t.Context(), resolve(t, spec))
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(real.Messages.PerEntry, simulated.Messages.PerEntry) || !maps.Equal(real.Messages.ByKind, simulated.Messages.ByKind) {
		t.Errorf("over %s %v %v, simulated %v %v", real.Transport, real.Messages.PerEntry, real.Messages.ByKind,
			simulated.Messages.PerEntry, simulated.Messages.ByKind)
	}
	// Whose grants make the majority is a matter of who is first.
	if spec.Algorithm != "majority-lease" && !slices.Equal(real.Work.SentByNode, simulated.Work.SentByNode) {
		t.Errorf("nodes sent over %s %v, simulated %v", real.Transport, real.Work.SentByNode, simulated.Work.SentByNode)
	}
	return real, simulated
}

func TestEveryWorkload(t *testing.T) {
	beside(t)
	trace := t.TempDir() + "/trace.csv"
	if err := os.WriteFile(trace, []byte("0,1\n0.001,2,0.0005\n0.001,3\n0.004,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, spec := range []runs.Spec{
		{Workload: "saturate", Requests: 32, Set: map[string]string{"think": "exp:1ms"}},
		{Workload: "saturate", Duration: runs.Duration(100 * time.Millisecond)},
		{Workload: "poisson", TotalRate: 400, Requests: 40},
		{Workload: "poisson", Rate: 50, Duration: runs.Duration(200 * time.Millisecond)},
		{Workload: "burst", Requests: 32},
		{Workload: "serial", Requests: 16},
		{Workload: "trace", Set: map[string]string{"file": trace}},
	} {
		for j, algorithm := range []string{"suzuki-kasami", "token-ring"} {
			if !sampled(i+j, 2) {
				continue
			}
			spec := spec
			spec.Algorithm, spec.Nodes = algorithm, 4
			t.Run(algorithm+"-"+spec.Workload, func(t *testing.T) {
				beside(t)
				job := resolve(t, spec)
				files := map[string][]byte{}
				if b, err := os.ReadFile(trace); err == nil {
					files[trace] = b
				}
				r := mustEnd(t, spec, Options{Files: files, Entries: true})
				if r.Status != runs.OK || r.Safety.Violations != 0 {
					t.Fatalf("status %s: %s %v", r.Status, r.Error, r.FailedStderr)
				}
				_, entries, err := record.Unpack(bytes.NewReader(r.Sections))
				if err != nil {
					t.Fatal(err)
				}
				for e := range entries {
					if e.Intended < 0 {
						t.Fatalf("a request is intended %v before the run begins", time.Duration(-e.Intended))
					}
				}
				want := uint64(job.Plan.Requests())
				if spec.Workload == "serial" {
					want = 16
				}
				if want > 0 && r.Entries != want || r.Entries == 0 || r.Entries != r.Requests {
					t.Errorf("%d entries of %d requests, want %d", r.Entries, r.Requests, want)
				}
			})
		}
	}
}

// Workers that keep all processors busy among themselves have one each, unless asked otherwise.
func TestProcessorsOfWorkers(t *testing.T) {
	beside(t)
	processors := runtime.GOMAXPROCS(0)
	for _, x := range []struct {
		nodes, perWorker int
		set              map[string]string
		want             string
	}{
		{nodes: processors, want: "1"},
		{nodes: processors, set: map[string]string{"gomaxprocs": "3"}, want: "3"},
		{nodes: 4, perWorker: 4, want: map[bool]string{true: "1", false: os.Getenv("GOMAXPROCS")}[processors == 1]},
	} {
		spec := runs.Spec{Algorithm: "token-ring", Nodes: x.nodes, NodesPerWorker: x.perWorker, Requests: 4, Set: x.set}
		r := mustEnd(t, spec, Options{Environment: map[string]string{}, Started: func(p launch.Process) {
			var environ []byte
			var err error
			for len(environ) == 0 && err == nil { // the system shows none at first, and every worker has some
				environ, err = os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID()))
			}
			if errors.Is(err, os.ErrNotExist) {
				t.Skip("this system does not show the environment of processes")
			}
			got := ""
			for variable := range strings.SplitSeq(string(environ), "\x00") {
				if value, ok := strings.CutPrefix(variable, "GOMAXPROCS="); ok {
					got = value
				}
			}
			if got != x.want {
				t.Errorf("%d nodes, %d in a process, %v: GOMAXPROCS is %q, want %q", x.nodes, x.perWorker, x.set, got, x.want)
			}
		}})
		if got, want := r.Environment["worker_gomaxprocs"], cmp.Or(x.want, fmt.Sprint(processors)); got != want {
			t.Errorf("%d nodes, %d in a process, %v: the result says %q, want %q", x.nodes, x.perWorker, x.set, got, want)
		}
	}
}

func TestOneNode(t *testing.T) {
	beside(t)
	r := mustRun(t, runs.Spec{Algorithm: "ricart-agrawala", Nodes: 1, Requests: 10})
	if *r.Messages.PerCS != 0 || r.T != nil {
		t.Errorf("%v messages per CS, T %v", *r.Messages.PerCS, r.T)
	}
}

func TestBrokenAlgorithmsAreFoundOut(t *testing.T) {
	beside(t)
	spec := runs.Spec{Nodes: 3, Requests: 60, CS: "2ms", StallAfter: runs.Duration(300 * time.Millisecond)}

	spec.Algorithm = "eager"
	r := mustEnd(t, spec, Options{})
	if r.Status != runs.Violated || r.Safety.Violations == 0 {
		t.Errorf("nodes that enter at will: status %s, %d violations", r.Status, r.Safety.Violations)
	}

	spec.Algorithm = "stingy"
	r = mustEnd(t, spec, Options{})
	if r.Status != runs.Stalled || !r.Liveness.Stalled || r.Liveness.Pending != 3 {
		t.Errorf("nobody ever enters: status %s, %+v", r.Status, r.Liveness)
	}
	if len(r.Liveness.States) != 3 || !strings.Contains(strings.Join(r.Liveness.States, "\n"), "node 2 is requesting: x=2") {
		t.Errorf("decoded states: %q", r.Liveness.States)
	}

	spec.Algorithm = "panicking"
	r = mustEnd(t, spec, Options{})
	if r.Status != runs.Failed || !slices.Equal(r.FailedNodes, []int{2}) {
		t.Errorf("node 2 panics: status %s, failed nodes %v, %s", r.Status, r.FailedNodes, r.Error)
	}
	if !strings.Contains(strings.Join(r.FailedStderr, "\n"), "the invariant of this test does not hold") {
		t.Errorf("standard error of the failed worker: %q", r.FailedStderr)
	}
}

// onFirstEntries returns a Progress function that calls act once, when the run
// is under way.
func onFirstEntries(act func()) func(*run.State) {
	var once sync.Once
	return func(s *run.State) {
		if s.Entries > 0 {
			once.Do(act)
		}
	}
}

var long = runs.Spec{Algorithm: "suzuki-kasami", Nodes: 5, CS: "1ms", Duration: runs.Duration(time.Minute)}

func TestInterruptLeavesNothingBehind(t *testing.T) {
	beside(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := execute(t, ctx, long, Options{Progress: onFirstEntries(cancel)})
	if !errors.Is(err, context.Canceled) || r != nil {
		t.Errorf("result %v, error %v", r, err)
	}
}

// An interrupted run tells what was measured until then, of all nodes up to the same
// instant, and leaves nothing behind.
func TestAnInterruptedRunTellsWhatItHas(t *testing.T) {
	beside(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var shown run.State
	var saved *runs.Result
	r, err := execute(t, ctx, long, Options{
		Partial: true,
		Save:    func(r *runs.Result) error { saved = r; return nil },
		Progress: func(s *run.State) {
			if s.Entries >= 100 && ctx.Err() == nil {
				shown = *s
				cancel()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != runs.Failed || !r.Partial || r.Error != "interrupted" || len(r.FailedNodes) > 0 || saved != r {
		t.Errorf("status %s, partial %v, error %q, failed nodes %v", r.Status, r.Partial, r.Error, r.FailedNodes)
	}
	if r.Entries < 100 || r.Throughput == nil || r.WaitingTime == nil || r.WaitingTime.Count < 90 || r.Safety.Violations > 0 {
		t.Errorf("%d entries, throughput %v, waiting time %+v", r.Entries, r.Throughput, r.WaitingTime)
	}
	// Records are told after counters are read; without the cut some nodes would have
	// thousands that others have not.
	if over := int64(r.WaitingTime.Count) - int64(r.Entries); over > int64(r.Nodes) {
		t.Errorf("%d entries were counted, and %d are recorded", r.Entries, r.WaitingTime.Count)
	}
	p99, ok := shown.Waits.Quantile(0.99)
	if !ok || shown.Of != 0 || shown.Duration != time.Minute || shown.Elapsed <= 0 || p99 <= 0 || p99 > r.WaitingTime.Max*17/16 {
		t.Errorf("shown: %d of %d entries in %v of %v, p99 %d ns", shown.Entries, shown.Of, shown.Elapsed, shown.Duration, p99)
	}
	if !warned(r, "interrupted after", "until then") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

// Who insists gets no result, and waits for nothing.
func TestWhoInsistsWaitsForNothing(t *testing.T) {
	beside(t)
	insisted := make(chan struct{})
	ctx, cancel := context.WithCancel(platform.WithInsistence(t.Context(), insisted))
	defer cancel()
	r, err := execute(t, ctx, long, Options{Partial: true, Progress: onFirstEntries(func() {
		close(insisted)
		cancel()
	})})
	if !errors.Is(err, context.Canceled) || r != nil {
		t.Errorf("result %v, error %v", r, err)
	}
}

func TestAPortInUseIsRefusedBeforeAnythingStarts(t *testing.T) {
	beside(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	workers := &recorder{}
	spec := long
	spec.Listen = l.Addr().String()
	_, err = execute(t, t.Context(), spec, Options{Started: workers.started})
	if !errors.Is(err, control.ErrListen) || len(workers.pids()) > 0 {
		t.Errorf("error %v, %d processes", err, len(workers.pids()))
	}
}

func TestAWorkerThatCannotStart(t *testing.T) {
	beside(t)
	on := func(program string) []host.Host { return []host.Host{&host.Local{Program: program}} }
	r, err := Run(t.Context(), resolve(t, long), Options{Hosts: on("/nonexistent/dmebench")})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != runs.Failed || !strings.Contains(r.Error, "cannot start worker 0") {
		t.Errorf("status %s: %s", r.Status, r.Error)
	}
	r, err = Run(t.Context(), resolve(t, long), Options{Hosts: on("/bin/false")})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != runs.Failed || len(r.FailedNodes) == 0 {
		t.Errorf("status %s, failed nodes %v: %s", r.Status, r.FailedNodes, r.Error)
	}
}

// counted opens the page of a run by way of one of its workers.
func counted(t *testing.T, pid, nodes int) *witness.Page {
	t.Helper()
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/3", pid), os.O_RDWR, 0)
	if err != nil {
		t.Skip("the memory of another process cannot be opened here:", err)
	}
	p, err := witness.OpenPage(f, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A worker that counts wrongly does not pass for one that does well.
func TestAWorkerThatLiesIsFoundOut(t *testing.T) {
	beside(t)
	for i, c := range []struct {
		name                          string
		sent, handled, other, entries int // how many too many; other: handled, of another kind
		want                          string
	}{
		{name: "handled more than was sent", handled: 5, want: "were duplicated"},
		{name: "sent what nobody got", sent: 5, want: "were lost"},
		{name: "entered more often", entries: 5, want: "entries and recorded"},
		{name: "takes one kind for another", handled: -1, other: 1, want: "handled"},
	} {
		if !sampled(i, 2) {
			continue
		}
		workers := &recorder{}
		r := mustEnd(t, runs.Spec{
			Algorithm: "ricart-agrawala", Nodes: 3, CS: "1ms", Duration: runs.Duration(500 * time.Millisecond),
			StallAfter: runs.Duration(300 * time.Millisecond),
		}, Options{
			Started: workers.started,
			Progress: onFirstEntries(func() {
				p := counted(t, workers.pids()[0], 3)
				defer p.Close()
				n, m := p.Counters(2), p.Traffic(2)
				n.Sent.Add(uint64(c.sent))
				n.Handled.Add(uint64(c.handled + c.other))
				n.Entries.Add(uint64(c.entries))
				n.Requests.Add(uint64(c.entries))
				m.Sent[1].Add(uint64(c.sent))
				m.Handled[1].Add(uint64(c.handled))
				m.Handled[2].Add(uint64(c.other))
			}),
		})
		if r.Status != runs.Failed || !strings.Contains(r.Error, c.want) {
			t.Errorf("%s: status %s: %s", c.name, r.Status, r.Error)
		}
	}
}
