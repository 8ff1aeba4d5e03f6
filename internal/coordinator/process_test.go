package coordinator

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"dmebench/internal/launch"
	"dmebench/internal/live"
	"dmebench/internal/run"
	"dmebench/result"
)

// coordinatorCommand makes the test binary a coordinator, for tests that stop or
// kill one.
const coordinatorCommand = "coordinator"

// said is what such a process says: a worker that it has started, the run's
// progress, or its result.
type said struct {
	Worker  int            `json:",omitempty"` // its pid
	Entries uint64         `json:",omitempty"`
	Result  *result.Result `json:",omitempty"`
	Error   string         `json:",omitempty"`
}

// coordinate leads the run whose specification it reads.
func coordinate(stdin io.Reader, stdout io.Writer) int {
	parent := launch.NewParent(stdin, stdout)
	var spec result.Spec
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
func lead(t *testing.T, spec result.Spec) *led {
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
func (l *led) result() *result.Result {
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
