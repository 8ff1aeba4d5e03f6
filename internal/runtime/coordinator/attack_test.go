package coordinator

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/runtime/sharedpage"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// bound is within what every run ends that something was done to.
const bound = 10 * time.Second

// counted opens the page of a run by way of one of its workers.
func counted(t *testing.T, pid, nodes int) *sharedpage.Page {
	t.Helper()
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/3", pid), os.O_RDWR, 0)
	if err != nil {
		t.Skip("the memory of another process cannot be opened here:", err)
	}
	p, err := sharedpage.Open(f, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A worker that counts wrongly does not pass for one that does well.
func TestAWorkerThatLiesIsFoundOut(t *testing.T) {
	for i, c := range []struct {
		name string
		lie  func(*noderun.Counters)
		want string
	}{
		{"handled more than was sent", func(c *noderun.Counters) { c.Handled[1].Add(5); c.HandledTotal.Add(5) }, "were duplicated"},
		{"sent what nobody got", func(c *noderun.Counters) { c.Sent[1].Add(5); c.SentTotal.Add(5) }, "were lost"},
		{"entered more often", func(c *noderun.Counters) { c.Entries.Add(5); c.Requests.Add(5) }, "entries and recorded"},
		{"takes one kind for another", func(c *noderun.Counters) { c.Handled[1].Add(^uint64(0)); c.Handled[2].Add(1) }, "handled"},
	} {
		if !sampled(i, 4) {
			continue
		}
		workers := &recorder{}
		r, err := execute(t, t.Context(), runs.Spec{
			Algorithm: "ricart-agrawala", Nodes: 3, Duration: runs.Duration(time.Second), StallAfter: runs.Duration(300 * time.Millisecond),
		}, Options{
			Started: workers.started,
			Progress: onFirstEntries(func() {
				p := counted(t, workers.pids()[0], 3)
				defer p.Close()
				c.lie(p.Counters(2))
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != runs.Failed || !strings.Contains(r.Error, c.want) {
			t.Errorf("%s: status %s: %s", c.name, r.Status, r.Error)
		}
	}
}

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
	kills := 8
	if testkit.Full() {
		kills = 200
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
	kills := 4
	if testkit.Full() {
		kills = 50
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for k := range kills {
		spec := runs.Spec{
			Algorithm: "desk", Nodes: 4, Transport: []string{"tcp", "udp", "nats"}[k%3], Duration: runs.Duration(time.Minute),
		}
		if k%2 == 1 {
			spec.Faults = []string{"pause 3 @50ms"}
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
	l := lead(t, runs.Spec{
		Algorithm: "desk", Nodes: 4, Duration: runs.Duration(time.Minute), Faults: []string{"pause 3 @50ms", "kill 2 @60ms"},
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
	full := errors.New("no space left on device")
	r, err := execute(t, t.Context(), runs.Spec{Algorithm: "ricart-agrawala", Nodes: 2, Requests: 10},
		Options{Save: func(*runs.Result) error { return full }})
	if !errors.Is(err, full) || r == nil || r.Entries != 10 {
		t.Errorf("result %v, error %v", r, err)
	}
}
