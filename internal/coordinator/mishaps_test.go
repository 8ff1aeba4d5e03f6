package coordinator

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"dmebench/internal/run"
	"dmebench/result"
)

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
	r, err := execute(t, t.Context(), result.Spec{
		Algorithm: "eager", Nodes: 3, Requests: 60, CS: "2ms", StallAfter: result.Duration(300 * time.Millisecond),
		Transport: "udp", AllowMismatch: true, Set: map[string]string{run.LayerOption: "raw", "dup": "1"},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != result.Violated || r.Safety.Violations == 0 {
		t.Errorf("status %s, %d violations: %s", r.Status, r.Safety.Violations, r.Error)
	}

	r, err = execute(t, t.Context(), result.Spec{
		Algorithm: "chatty", Nodes: 3, Requests: 60, CS: "2ms", StallAfter: result.Duration(300 * time.Millisecond),
		Transport: "udp", AllowMismatch: true, Set: map[string]string{run.LayerOption: "raw", "dup": "1"},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != result.Violated || r.Safety.Violations == 0 || !strings.Contains(r.Error, "messages were duplicated") {
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
		r, err := execute(t, t.Context(), result.Spec{
			Algorithm: "eager", Nodes: 2, Requests: 1, CS: "0", Transport: "udp", AllowMismatch: true,
			Set: map[string]string{run.LayerOption: "raw", "loss": loss},
		}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != result.OK || (r.T != nil) != known {
			t.Errorf("loss %s: status %s, T %v: %s", loss, r.Status, r.T, r.Error)
		}
		if !slices.ContainsFunc(r.Warnings, func(s string) bool { return strings.Contains(s, "pings were not answered in time") }) {
			t.Errorf("loss %s: nobody says so: %q", loss, r.Warnings)
		}
	}
}

func warned(r *result.Result, parts ...string) bool {
	return slices.ContainsFunc(r.Warnings, func(s string) bool {
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(s, part) })
	})
}

// A worker that is stopped for longer than a stall takes is none of the
// algorithm's.
func TestAWorkerThatWasStoppedIsNoStall(t *testing.T) {
	workers := &recorder{}
	spec := result.Spec{Algorithm: "suzuki-kasami", Nodes: 5, Duration: result.Duration(3 * time.Second),
		StallAfter: result.Duration(400 * time.Millisecond)}
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
	if r.Status != result.OK {
		t.Errorf("status %s: %s", r.Status, r.Error)
	}
	if !warned(r, "did not run", fmt.Sprintf("pid %d", workers.pids()[1])) || warned(r, fmt.Sprintf("pid %d", workers.pids()[2])) {
		t.Errorf("warnings %q of pid %d", r.Warnings, workers.pids()[1])
	}
}

// Neither is a coordinator that is: the workers go on.
func TestACoordinatorThatWasStoppedIsTold(t *testing.T) {
	l := lead(t, result.Spec{Algorithm: "suzuki-kasami", Nodes: 3, Duration: result.Duration(3 * time.Second),
		StallAfter: result.Duration(400 * time.Millisecond)})
	l.running()
	stopFor(t, l.child.PID(), 2*time.Second)
	r := l.result()
	if r.Status != result.OK || !warned(r, "did not run", "the coordinator") {
		t.Errorf("status %s: %s; warnings %q", r.Status, r.Error, r.Warnings)
	}
	<-l.child.Ended()
	allGone(t, time.Second, l.workers...)
}

// The whole run is stopped: nothing moves, and that means nothing.
func TestARunThatWasStoppedIsNoStall(t *testing.T) {
	l := lead(t, result.Spec{Algorithm: "suzuki-kasami", Nodes: 3, Duration: result.Duration(3 * time.Second),
		StallAfter: result.Duration(400 * time.Millisecond)})
	l.running()
	all := append([]int{l.child.PID()}, l.workers...)
	for _, pid := range all {
		syscall.Kill(pid, syscall.SIGSTOP)
	}
	time.Sleep(1500 * time.Millisecond)
	for _, pid := range all {
		syscall.Kill(pid, syscall.SIGCONT)
	}
	if r := l.result(); r.Status != result.OK || !warned(r, "did not run", "the coordinator", "node 1 ", "node 2 ", "node 3 ") {
		t.Errorf("status %s: %s; warnings %q", r.Status, r.Error, r.Warnings)
	}
}

// A handler that never returns is a fault of its node.
func TestAHandlerThatDoesNotReturnIsNamed(t *testing.T) {
	begin := time.Now()
	r, err := execute(t, t.Context(), result.Spec{Algorithm: "stuck", Nodes: 3, Requests: 3, CS: "0"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != result.Failed && r.Status != result.Violated || !slices.Equal(r.FailedNodes, []int{2}) {
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
	if r.Status != result.Failed || !slices.Equal(r.FailedNodes, []int{2}) || !strings.Contains(r.Error, "stopped by a signal") {
		t.Errorf("status %s, failed nodes %v: %s", r.Status, r.FailedNodes, r.Error)
	}
	if took := time.Since(stopped); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}
