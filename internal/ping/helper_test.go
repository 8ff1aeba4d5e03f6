package ping

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"dmebench/internal/launch"
)

// TestMain lets the test binary become a process of a measurement, as the
// program itself does.
func TestMain(m *testing.M) {
	if launch.Is(os.Args, Command) {
		os.Exit(Main(os.Stdin, os.Stdout, os.Stderr))
	}
	// Processes that are built with the race detector would sleep a second each
	// before they exit.
	os.Setenv("GORACE", strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0"))
	os.Exit(m.Run())
}

// tiny is a specification that is measured in no time.
func tiny() Spec {
	s := DefaultSpec()
	s.Processes, s.Tokens, s.Pairs, s.Stretch = 3, []int{1, 5}, 3, 2*time.Millisecond
	return s
}

func start(t *testing.T, s Setup) *Cluster {
	t.Helper()
	if s.Processes == 0 {
		s.Processes = 3
	}
	if s.Size == 0 {
		s.Size = 32
	}
	if s.Side == "" {
		s.Side = Ours
	}
	c, err := Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// pids returns the processes of a cluster.
func (c *Cluster) pids() []int {
	var pids []int
	for _, p := range c.processes {
		pids = append(pids, p.PID())
	}
	return pids
}

// mustBeGone fails where one of the processes is still there, be it as a zombie.
func mustBeGone(t *testing.T, pids []int) {
	t.Helper()
	if len(pids) == 0 {
		t.Error("no processes to look for")
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
			t.Errorf("process %d is still there: %v", pid, err)
		}
	}
}
