package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testkit"
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
		Progress: func(s *run.State) { _ = parent.Send(said{Entries: s.Entries}) },
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

// A violation that was seen is told as such, though nodes disagree on the messages
// as well and the system never falls silent.
func TestAViolationIsToldWhateverElseGoesWrong(t *testing.T) {
	beside(t)
	r := mustEnd(t, runs.Spec{
		Algorithm: "chatty", Nodes: 3, Requests: 60, CS: "2ms", StallAfter: runs.Duration(300 * time.Millisecond),
		Transport: "udp", AllowMismatch: true, Set: map[string]string{run.LayerOption: "raw", "dup": "1"},
	}, Options{})
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
	testkit.TakesLong(t)
	beside(t)
	for loss, known := range map[string]bool{"0.3": true, "1": false} {
		r := mustEnd(t, runs.Spec{
			Algorithm: "eager", Nodes: 2, Requests: 1, CS: "0", Transport: "udp", AllowMismatch: true,
			Set: map[string]string{run.LayerOption: "raw", "loss": loss},
		}, Options{})
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

// A handler that never returns is a fault of its node.
func TestAHandlerThatDoesNotReturnIsNamed(t *testing.T) {
	testkit.TakesLong(t)
	beside(t)
	var begin time.Time
	r := mustEnd(t, runs.Spec{Algorithm: "stuck", Nodes: 3, Requests: 3, CS: "0"},
		Options{Progress: func(*run.State) { begin = cmp.Or(begin, time.Now()) }})
	if r.Status != runs.Failed && r.Status != runs.Violated || !slices.Equal(r.FailedNodes, []int{2}) {
		t.Errorf("status %s, failed nodes %v: %s", r.Status, r.FailedNodes, r.Error)
	}
	if took := time.Since(begin); took > bound {
		t.Errorf("it took %v", took)
	}
}

// Processes that a signal stops for longer than a stall takes are none of the algorithm's:
// a worker, the coordinator, or all of them. The result names those that did not run.
func TestWhatWasStoppedForAWhileIsNoStall(t *testing.T) {
	testkit.TakesLong(t)
	for _, who := range [][]string{
		{"the coordinator", "node 1 ", "node 2 ", "node 3 "}, {"node 2 "}, {"the coordinator"},
	} {
		t.Run(fmt.Sprint(who), func(t *testing.T) {
			t.Parallel() // beside each other alone
			l := lead(t, runs.Spec{Algorithm: "suzuki-kasami", Nodes: 3, CS: "2ms", Duration: runs.Duration(2 * time.Second),
				StallAfter: runs.Duration(400 * time.Millisecond)})
			l.running()
			var pids []int
			for _, name := range who {
				pid := l.child.PID()
				if node := 0; name != "the coordinator" {
					fmt.Sscanf(name, "node %d", &node)
					pid = l.workers[node-1]
				}
				pids = append(pids, pid)
				syscall.Kill(pid, syscall.SIGSTOP)
			}
			time.Sleep(1500 * time.Millisecond)
			for _, pid := range pids {
				syscall.Kill(pid, syscall.SIGCONT)
			}
			if r := l.result(); r.Status != runs.OK || !warned(r, append(who, "did not run")...) {
				t.Errorf("status %s: %s; warnings %q", r.Status, r.Error, r.Warnings)
			}
			<-l.child.Ended()
			allGone(t, time.Second, l.workers...)
		})
	}
}

// A worker that is killed, or hangs, is named soon, however long a stall takes and whatever
// the network thinks of it; what was counted until then is not lost.
func TestAWorkerThatFailsIsNamed(t *testing.T) {
	beside(t)
	for i, c := range []struct {
		network    string
		signal     syscall.Signal
		stallAfter time.Duration
		says       string
	}{
		{"tcp", syscall.SIGKILL, 10 * time.Second, "node 3"},
		{"tcp", syscall.SIGSTOP, 10 * time.Second, "stopped by a signal"},
		{"nats", syscall.SIGKILL, 10 * time.Second, "node 3"},
		{"udp", syscall.SIGSTOP, 500 * time.Millisecond, ""},
	} {
		if i > 1 && !testkit.Long() {
			continue
		}
		t.Run(fmt.Sprint(c.network, c.signal), func(t *testing.T) {
			beside(t)
			workers := &recorder{}
			spec := long
			spec.Transport, spec.StallAfter = c.network, runs.Duration(c.stallAfter)
			var begin time.Time
			r := mustEnd(t, spec, Options{
				Started: workers.started,
				Progress: onFirstEntries(func() {
					begin = time.Now()
					syscall.Kill(workers.pids()[2], c.signal)
				}),
			})
			if r.Status != runs.Failed || !slices.Equal(r.FailedNodes, []int{3}) || !strings.Contains(r.Error, c.says) ||
				r.Status.Outcome(true) != runs.Unknown {
				t.Errorf("status %s, failed nodes %v: %s", r.Status, r.FailedNodes, r.Error)
			}
			if took := time.Since(begin); took > bound || r.Entries == 0 || r.Messages.Total == 0 {
				t.Errorf("it took %v; %d entries, %d messages", took, r.Entries, r.Messages.Total)
			}
		})
	}
}

// bound is within what every run ends that something was done to.
const bound = 10 * time.Second

// descriptors lists what this process has open.
func descriptors(t *testing.T) []string {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system does not tell what a process has open:", err)
	}
	var all []string
	for _, f := range files {
		if name, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && !strings.HasPrefix(name, "/proc/") {
			kind, _, _ := strings.Cut(name, ":[") // sockets and pipes have numbers of their own
			all = append(all, kind)
		}
	}
	slices.Sort(all)
	return all
}

// Workers are killed at random moments, from the start to the end: each run ends
// soon, says that it failed, and leaves nothing behind.
func TestWorkersAreKilledAtRandomMoments(t *testing.T) {
	kills := 3
	if testkit.Full() {
		kills = 200
	} else {
		beside(t)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var before []string
	outcomes := make(map[runs.Status]int)
	for k := range kills {
		network := []string{"tcp", "udp", "nats"}[k%3]
		workers := &recorder{}
		after := time.Duration(rng.Int64N(int64(600 * time.Millisecond)))
		victim := rng.IntN(4)
		var killed sync.WaitGroup
		var pid int
		var at time.Time
		var once sync.Once
		r, err := execute(t, t.Context(), runs.Spec{
			Algorithm: "suzuki-kasami", Nodes: 4, Transport: network, Duration: runs.Duration(300 * time.Millisecond),
		}, Options{Started: func(p launch.Process) {
			workers.started(p)
			if len(workers.pids()) > victim {
				once.Do(func() {
					pid = p.PID()
					killed.Go(func() {
						time.Sleep(after)
						select {
						case <-p.Ended():
						default:
							at = time.Now()
							syscall.Kill(pid, syscall.SIGKILL)
						}
					})
				})
			}
		}})
		ended := time.Now()
		killed.Wait()
		if err != nil {
			t.Fatalf("kill %d: %v", k, err)
		}
		outcomes[r.Status]++
		switch code := r.Status.Outcome(true); {
		case code == runs.Held && r.Entries > 0 && r.Safety.Violations == 0: // it was over
		case code == runs.Unknown && slices.Equal(r.FailedNodes, []int{victim + 1}):
		default:
			t.Errorf("kill %d, node %d over %s after %v: status %s, failed nodes %v: %s",
				k, victim+1, network, after, r.Status, r.FailedNodes, r.Error)
		}
		if took := ended.Sub(at); !at.IsZero() && took > bound {
			t.Errorf("kill %d, over %s: the run ended %v after it", k, network, took)
		}
		now := descriptors(t)
		if k > 2 && !slices.Equal(now, before) { // the first of each network open what stays
			t.Errorf("kill %d: open are now %v, before %v", k, now, before)
		}
		before = now
	}
	t.Logf("%v", outcomes)
}

// Coordinators are killed at random moments: no worker outlives them for long, not
// even one that stands still.
func TestCoordinatorsAreKilledAtRandomMoments(t *testing.T) {
	beside(t)
	kills := 2
	if testkit.Full() {
		kills = 50
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for k := range kills {
		spec := runs.Spec{
			Algorithm: "doorkeeper", Nodes: 4, Transport: []string{"tcp", "udp", "nats"}[k%3], Duration: runs.Duration(time.Minute),
		}
		if k%2 == 1 {
			spec.Faults = []string{"pause 3 @50ms-50s"}
		}
		l := lead(t, spec)
		started := 1 + rng.IntN(4)
		l.hear(func(s said) bool { return s.Worker != 0 && len(l.workers) >= started })
		if k%2 == 1 {
			l.running()
		}
		time.Sleep(time.Duration(rng.Int64N(int64(300 * time.Millisecond))))
		children := childrenOf(t, l.child.PID())
		l.child.Kill()
		<-l.child.Ended()
		allGone(t, bound, append(children, l.workers...)...)
	}
}

// childrenOf lists the processes that a process has started.
func childrenOf(t *testing.T, pid int) []int {
	t.Helper()
	var all []int
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		for _, f := range strings.Fields(string(b)) {
			var child int
			fmt.Sscan(f, &child)
			all = append(all, child)
		}
	}
	return all
}

// What stands still is ended too, when the user interrupts.
func TestAnInterruptEndsWhatIsPaused(t *testing.T) {
	beside(t)
	l := lead(t, runs.Spec{
		Algorithm: "doorkeeper", Nodes: 4, Duration: runs.Duration(time.Minute), Faults: []string{"pause 3 @50ms-50s", "kill 2 @60ms"},
	})
	l.running()
	time.Sleep(100 * time.Millisecond)
	begin := time.Now()
	syscall.Kill(l.child.PID(), syscall.SIGINT)
	l.child.Dismiss() // what it still says is not heard
	<-l.child.Ended()
	if took := time.Since(begin); took > bound {
		t.Errorf("it took %v", took)
	}
	allGone(t, 0, l.workers...)
}

// A result that cannot be kept is handed over all the same.
func TestAResultThatCannotBeKeptIsNotLost(t *testing.T) {
	beside(t)
	full := errors.New("no space left on device")
	r, err := execute(t, t.Context(), runs.Spec{Algorithm: "ricart-agrawala", Nodes: 2, Requests: 10},
		Options{Save: func(*runs.Result) error { return full }})
	if !errors.Is(err, full) || r == nil || r.Entries != 10 {
		t.Errorf("result %v, error %v", r, err)
	}
}
