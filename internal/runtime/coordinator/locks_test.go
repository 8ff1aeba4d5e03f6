package coordinator

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

// A lock service is measured as an algorithm is: what its clients do wrong, and what becomes
// of the lock of a client or server that dies or stands still, is seen from outside.
func TestALockService(t *testing.T) {
	beside(t)
	for i, x := range []struct {
		name    string
		set     map[string]string
		faults  []string
		overlap bool // somebody enters while another is inside
		lost    bool // an update of the resource
		refused bool // by its fencing token
		expired bool // a client is told that it had lost the lock
		failed  bool // calls of Lock
	}{
		// With a lease of an hour nothing is renewed, however slow the machine is: its messages are counted.
		{name: "alone", set: map[string]string{"lease": "1h"}},
		{name: "delayed", set: map[string]string{"lease": "1h", "delay": "1ms"}},
		{name: "given back too early", set: map[string]string{"lease": "1h", "early": "true"}, overlap: true, lost: true},
		{name: "holder killed", faults: []string{"kill holder @entry:30", "restart holder @+50ms"}},
		{name: "server killed", faults: []string{"kill server:1 @entry:30", "restart server:1 @+100ms"}, failed: true},
		{name: "leader stands still", faults: []string{"pause leader @entry:30+100ms"}},
		{name: "leader cut off", faults: []string{"partition leader @entry:30+100ms"}},
		{name: "holder stands still shortly", faults: []string{"pause holder @entry:30+100ms"}},
		{name: "holder stands still", set: map[string]string{"lease": "200ms"},
			faults: []string{"pause holder @entry:30+600ms"}, overlap: true, refused: true, expired: true},
		{name: "holder stands still, no fencing", set: map[string]string{"lease": "200ms", "fencing": "false"},
			faults: []string{"pause holder @entry:30+600ms"}, overlap: true, lost: true, expired: true},
	} {
		if !sampled(i, 2) {
			continue
		}
		t.Run(x.name, func(t *testing.T) {
			beside(t)
			spec := runs.Spec{
				Algorithm: "toy-lock", Nodes: 3, Requests: 150, CS: "200us", Resource: []string{run.MemoryResource, run.NATSResource}[i%2],
				Set: map[string]string{"lease": "2s"}, Faults: x.faults,
			}
			if x.lost { // a holder may stand still before it has read a resource that takes a message
				spec.Resource = run.MemoryResource
			}
			for name, value := range x.set {
				spec.Set[name] = value
			}
			r := mustEnd(t, spec, Options{})
			if want := map[bool]runs.Status{false: runs.OK, true: runs.Violated}[x.overlap]; r.Status != want || r.Service == nil {
				t.Fatalf("status %s, want %s: %s", r.Status, want, r.Error)
			}
			s := r.Safety.Resource
			got := []bool{r.Safety.Violations > 0, s.LostUpdates > 0, s.Refused > 0, r.Service.Expired > 0, r.Service.FailedCalls > 0}
			for k, want := range []bool{x.overlap, x.lost, x.refused, x.expired, x.failed} {
				if got[k] != want {
					t.Errorf("overlap, lost, refused, expired, failed: %v; safety %+v, resource %+v, service %+v", got, r.Safety, s, r.Service)
					break
				}
			}
			if r.Status == runs.OK && r.Entries+1 < 150 || len(x.faults) == 0 && r.Messages.ByKind["answer"] != 300 {
				t.Errorf("%d entries, messages %v", r.Entries, r.Messages.ByKind)
			}
		})
	}
}

// A server that ends by itself ends the run, which says which one it was.
func TestAServerThatEndsIsNamed(t *testing.T) {
	killed := false
	r := mustEnd(t, runs.Spec{Algorithm: "toy-lock", Nodes: 2, Duration: runs.Duration(time.Minute)}, Options{Progress: func(s *run.State) {
		for _, server := range serversLeft(t) {
			pid, err := strconv.Atoi(filepath.Base(server))
			if err == nil && s.Entries > 0 && !killed {
				killed = syscall.Kill(pid, syscall.SIGKILL) == nil
			}
		}
	}})
	if r.Status != runs.Failed || !strings.Contains(r.Error, "toy-lock, server 1 has ended: signal: killed") {
		t.Errorf("status %s: %s", r.Status, r.Error)
	}
}

// However a coordinator ends, its servers end, and what they kept is removed.
func TestServersEndWithTheirCoordinator(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		l := lead(t, runs.Spec{Algorithm: "toy-lock", Nodes: 2, Duration: runs.Duration(time.Minute), Requests: 0})
		l.running()
		if left := serversLeft(t); len(left) < 2 {
			t.Fatalf("while it runs there are %v", left)
		}
		if err := syscall.Kill(l.child.PID(), signal); err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(bound)
		for len(serversLeft(t)) > 0 {
			if time.Now().After(deadline) {
				t.Fatalf("%v: left behind after %v: %v", signal, bound, serversLeft(t))
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// serversLeft lists the folders of servers, and their processes.
func serversLeft(t *testing.T) (all []string) {
	t.Helper()
	all, _ = filepath.Glob(filepath.Join(os.TempDir(), "dmebench-toy-lock-*"))
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range lines {
		b, _ := os.ReadFile(file)
		of, _ := os.Readlink(filepath.Join(filepath.Dir(file), "exe"))
		if own, _ := os.Executable(); of == own && strings.Contains(string(b), "\x00lock-server\x00") {
			all = append(all, filepath.Dir(file))
		}
	}
	return all
}
