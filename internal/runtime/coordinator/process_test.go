package coordinator

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/live"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

// coordinatorCommand makes the test binary a coordinator, for tests that stop or
// kill one.
const coordinatorCommand = "coordinator"

// said is what such a process says: a worker that it has started, the run's
// progress, or its result.
type said struct {
	Worker  int          `json:",omitempty"` // its pid
	Entries uint64       `json:",omitempty"`
	Result  *runs.Result `json:",omitempty"`
	Error   string       `json:",omitempty"`
}

// coordinate leads the run whose specification it reads.
func coordinate(stdin io.Reader, stdout io.Writer) int {
	parent := launch.NewParent(stdin, stdout)
	var spec runs.Spec
	if err := parent.Receive(&spec); err != nil {
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	job, err := run.Resolve(spec, testCatalog(), os.ReadFile)
	if err != nil {
		_ = parent.Send(said{Error: err.Error()})
		return 1
	}
	r, err := Run(ctx, job, Options{
		Started:  func(p launch.Process) { _ = parent.Send(said{Worker: p.PID()}) },
		Progress: func(s *live.State) { _ = parent.Send(said{Entries: s.Entries}) },
	})
	if err != nil {
		_ = parent.Send(said{Error: err.Error()})
		return 1
	}
	_ = parent.Send(said{Result: r})
	return 0
}

// led is a run that another process leads.
type led struct {
	t       *testing.T
	child   *launch.Child
	workers []int
	said    said
}

// lead starts a coordinator.
func lead(t *testing.T, spec runs.Spec) *led {
	t.Helper()
	child, err := launch.Local{Answers: true}.Start(launch.Command{Word: coordinatorCommand, Name: "the coordinator", Config: spec})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		child.Kill()
		<-child.Ended()
	})
	return &led{t: t, child: child}
}

// hear waits until the coordinator has said what is wanted.
func (l *led) hear(wanted func(said) bool) said {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	defer cancel()
	for {
		l.said = said{}
		if err := l.child.Receive(ctx, &l.said); err != nil {
			l.t.Fatal(err)
		}
		if l.said.Worker != 0 {
			l.workers = append(l.workers, l.said.Worker)
		}
		if l.said.Error != "" {
			l.t.Fatal(l.said.Error)
		}
		if wanted(l.said) {
			return l.said
		}
	}
}

// running waits until the run is under way.
func (l *led) running() { l.hear(func(s said) bool { return s.Entries > 0 }) }

// result waits for the result.
func (l *led) result() *runs.Result {
	return l.hear(func(s said) bool { return s.Result != nil }).Result
}

// hasEnded reports whether no process has the number any more, or only one that is
// waited for.
func hasEnded(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	var state string
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil {
		var n int
		var name string
		fmt.Sscanf(string(b), "%d %s %s", &n, &name, &state)
	}
	return state == "Z"
}

// allGone waits until the processes are no more, as long as the bound allows.
func allGone(t *testing.T, bound time.Duration, pids ...int) {
	t.Helper()
	deadline := time.Now().Add(bound)
	for _, pid := range pids {
		for !hasEnded(pid) {
			if time.Now().After(deadline) {
				t.Errorf("process %d is still there after %v", pid, bound)
				syscall.Kill(pid, syscall.SIGKILL)
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// stopFor stops a process by a signal for a while.
func stopFor(t *testing.T, pid int, d time.Duration) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Error(err)
	}
	time.Sleep(d)
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Error(err)
	}
}

// A violation that was seen is told as such, though nodes disagree on the messages
// as well and the system never falls silent.
func TestAViolationIsToldWhateverElseGoesWrong(t *testing.T) {
	r, err := execute(t, t.Context(), runs.Spec{
		Algorithm: "eager", Nodes: 3, Requests: 60, CS: "2ms", StallAfter: runs.Duration(300 * time.Millisecond),
		Transport: "udp", AllowMismatch: true, Set: map[string]string{run.LayerOption: "raw", "dup": "1"},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != runs.Violated || r.Safety.Violations == 0 {
		t.Errorf("status %s, %d violations: %s", r.Status, r.Safety.Violations, r.Error)
	}

	r, err = execute(t, t.Context(), runs.Spec{
		Algorithm: "chatty", Nodes: 3, Requests: 60, CS: "2ms", StallAfter: runs.Duration(300 * time.Millisecond),
		Transport: "udp", AllowMismatch: true, Set: map[string]string{run.LayerOption: "raw", "dup": "1"},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != runs.Violated || r.Safety.Violations == 0 || !strings.Contains(r.Error, "messages were duplicated") {
		t.Errorf("status %s, %d violations: %s", r.Status, r.Safety.Violations, r.Error)
	}
	if r.ResponseTime == nil {
		t.Error("no records were collected, although all workers were there")
	}
}

// Links that lose are no reason to fail, also where they are so bad that no delay
// can be measured.
func TestDelaysThatCannotBeMeasuredFailNoRun(t *testing.T) {
	for loss, known := range map[string]bool{"0.3": true, "1": false} {
		r, err := execute(t, t.Context(), runs.Spec{
			Algorithm: "eager", Nodes: 2, Requests: 1, CS: "0", Transport: "udp", AllowMismatch: true,
			Set: map[string]string{run.LayerOption: "raw", "loss": loss},
		}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != runs.OK || (r.T != nil) != known {
			t.Errorf("loss %s: status %s, T %v: %s", loss, r.Status, r.T, r.Error)
		}
		if !slices.ContainsFunc(r.Warnings, func(s string) bool { return strings.Contains(s, "pings were not answered in time") }) {
			t.Errorf("loss %s: nobody says so: %q", loss, r.Warnings)
		}
	}
}

func warned(r *runs.Result, parts ...string) bool {
	return slices.ContainsFunc(r.Warnings, func(s string) bool {
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(s, part) })
	})
}

// A worker that is stopped for longer than a stall takes is none of the
// algorithm's.
func TestAWorkerThatWasStoppedIsNoStall(t *testing.T) {
	workers := &recorder{}
	spec := runs.Spec{Algorithm: "suzuki-kasami", Nodes: 5, Duration: runs.Duration(3 * time.Second),
		StallAfter: runs.Duration(400 * time.Millisecond)}
	done := make(chan struct{})
	r, err := execute(t, t.Context(), spec, Options{
		Started: workers.started,
		Progress: onFirstEntries(func() {
			go func() {
				defer close(done)
				stopFor(t, workers.pids()[1], 2*time.Second)
			}()
		}),
	})
	<-done
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != runs.OK {
		t.Errorf("status %s: %s", r.Status, r.Error)
	}
	if !warned(r, "did not run", fmt.Sprintf("pid %d", workers.pids()[1])) || warned(r, fmt.Sprintf("pid %d", workers.pids()[2])) {
		t.Errorf("warnings %q of pid %d", r.Warnings, workers.pids()[1])
	}
}

// Neither is a coordinator that is: the workers go on.
func TestACoordinatorThatWasStoppedIsTold(t *testing.T) {
	l := lead(t, runs.Spec{Algorithm: "suzuki-kasami", Nodes: 3, Duration: runs.Duration(3 * time.Second),
		StallAfter: runs.Duration(400 * time.Millisecond)})
	l.running()
	stopFor(t, l.child.PID(), 2*time.Second)
	r := l.result()
	if r.Status != runs.OK || !warned(r, "did not run", "the coordinator") {
		t.Errorf("status %s: %s; warnings %q", r.Status, r.Error, r.Warnings)
	}
	<-l.child.Ended()
	allGone(t, time.Second, l.workers...)
}

// The whole run is stopped: nothing moves, and that means nothing.
func TestARunThatWasStoppedIsNoStall(t *testing.T) {
	l := lead(t, runs.Spec{Algorithm: "suzuki-kasami", Nodes: 3, Duration: runs.Duration(3 * time.Second),
		StallAfter: runs.Duration(400 * time.Millisecond)})
	l.running()
	all := append([]int{l.child.PID()}, l.workers...)
	for _, pid := range all {
		syscall.Kill(pid, syscall.SIGSTOP)
	}
	time.Sleep(1500 * time.Millisecond)
	for _, pid := range all {
		syscall.Kill(pid, syscall.SIGCONT)
	}
	if r := l.result(); r.Status != runs.OK || !warned(r, "did not run", "the coordinator", "node 1 ", "node 2 ", "node 3 ") {
		t.Errorf("status %s: %s; warnings %q", r.Status, r.Error, r.Warnings)
	}
}

// A handler that never returns is a fault of its node.
func TestAHandlerThatDoesNotReturnIsNamed(t *testing.T) {
	begin := time.Now()
	r, err := execute(t, t.Context(), runs.Spec{Algorithm: "stuck", Nodes: 3, Requests: 3, CS: "0"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != runs.Failed && r.Status != runs.Violated || !slices.Equal(r.FailedNodes, []int{2}) {
		t.Errorf("status %s, failed nodes %v: %s", r.Status, r.FailedNodes, r.Error)
	}
	if took := time.Since(begin); took > bound {
		t.Errorf("it took %v", took)
	}
}

// A worker that hangs is found soon, however long a stall takes and whatever the
// network thinks of it.
func TestAHangIsNoticed(t *testing.T) {
	workers := &recorder{}
	var stopped time.Time
	r, err := execute(t, t.Context(), long, Options{
		Started: workers.started,
		Progress: onFirstEntries(func() {
			stopped = time.Now()
			syscall.Kill(workers.pids()[1], syscall.SIGSTOP)
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != runs.Failed || !slices.Equal(r.FailedNodes, []int{2}) || !strings.Contains(r.Error, "stopped by a signal") {
		t.Errorf("status %s, failed nodes %v: %s", r.Status, r.FailedNodes, r.Error)
	}
	if took := time.Since(stopped); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}
