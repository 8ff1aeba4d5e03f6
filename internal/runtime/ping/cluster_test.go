package ping

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dmebench/internal/platform/launch"
)

func mustSay(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}

// children returns the processes that this one has started and not yet reaped.
func children(t *testing.T) []int {
	t.Helper()
	threads, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(threads) == 0 {
		t.Skip("this system does not list the children of a process")
	}
	var pids []int
	for _, file := range threads {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestCloseLeavesNoProcess(t *testing.T) {
	for _, side := range []Side{Bare, Ours} {
		c := start(t, Setup{Network: "tcp", Side: side})
		pids := c.pids()
		c.Close()
		mustBeGone(t, pids)
		for _, p := range c.processes {
			if p.Outcome() != "exit status 0" || p.Stderr() != nil {
				t.Errorf("%s left with %s: %q", p.Name(), p.Outcome(), p.Stderr())
			}
		}
	}
}

// The standard input of processes ends when whoever has started them does,
// however that was: also in the midst of a measurement they must leave.
func TestProcessesLeaveInTheMidstOfAMeasurement(t *testing.T) {
	for _, test := range Tests() {
		for _, side := range []Side{Bare, Ours} {
			t.Run(fmt.Sprintf("%s,%s", test, side), func(t *testing.T) {
				c := start(t, Setup{Network: "tcp", Side: side})
				c.processes[0].Send(question{Task: &Task{Test: test, Tokens: 1, Stretch: MaxStretch}})
				for _, p := range c.processes {
					p.Dismiss()
				}
				for _, p := range c.processes {
					<-p.Ended()
				}
				mustBeGone(t, c.pids())
			})
		}
	}
}

func TestProcessThatDiesIsNamed(t *testing.T) {
	for network, victim := range map[string]int{"tcp": 1, "udp": 2} {
		for _, side := range []Side{Bare, Ours} {
			c := start(t, Setup{Network: network, Side: side})
			if err := syscall.Kill(c.pids()[victim], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_, err := c.Measure(Task{Test: Ring, Tokens: 1, Stretch: MaxStretch})
			mustSay(t, err, fmt.Sprintf("process %d (%s, %s) has ended: signal: killed", victim, network, side))
			c.Close()
			mustBeGone(t, c.pids())
		}
	}
}

func TestMeasureEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c, err := Start(ctx, Setup{Network: "udp", Side: Bare, Processes: 3, Size: 32})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cancel()
	if _, err := c.Measure(Task{Test: RoundTrip, Stretch: MaxStretch}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	if _, err := Start(ctx, c.setup); !errors.Is(err, context.Canceled) {
		t.Errorf("started: %v", err)
	}
}

// A process that cannot do what it is told says why.
func TestProcessThatFailsSaysWhy(t *testing.T) {
	_, err := Start(t.Context(), Setup{Network: "tcp", Side: Ours, Processes: 2, Size: MinSize - 1})
	mustSay(t, err, "(tcp, ours) has ended: exit status 64: ping: this command is started by")
	s := Setup{Network: "nats", Side: Bare, Processes: 2, Size: 32}
	s.Broker.URL = "nats://127.0.0.1:1"
	_, err = Start(t.Context(), s)
	mustSay(t, err, "exit status 2: ping: process")
	c := start(t, Setup{Network: "tcp"})
	_, err = c.Measure(Task{Test: "speed", Stretch: time.Millisecond})
	mustSay(t, err, `unknown test "speed"`)
}

func TestMainRefusesWhatIsNoOrder(t *testing.T) {
	for _, in := range []string{"", "hello\n", `{"Network":"pigeon","Processes":2,"Size":32}`,
		`{"Network":"tcp","Processes":2,"Index":2,"Size":32}`} {
		var out, complaint bytes.Buffer
		if code := Main(strings.NewReader(in), &out, &complaint); code != launch.Misused || out.Len() > 0 {
			t.Errorf("%q: ended with %d and said %q", in, code, out.String())
		}
		if !strings.Contains(complaint.String(), "is started by 'dmebench ping'") {
			t.Errorf("%q: %s", in, complaint.String())
		}
	}
}

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
