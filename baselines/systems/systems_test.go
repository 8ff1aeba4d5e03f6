package systems

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dmebench"
	"dmebench/report/rank"
	"dmebench/runs"
)

// TestMain lets the test binary be the program, and its workers and servers.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		Main()
	}
	os.Exit(m.Run())
}

type variant struct {
	system, set   string
	refused, lost bool
}

// variants are the services as they are measured, with what a client finds that was paused
// beyond its lease: tokens, or the update of another lost; neither where there is no lease.
var variants = []variant{
	{"etcd", "servers=1", true, false},
	{"etcd", "servers=3", true, false},
	{"nats-kv", "servers=1", true, false},
	{"nats-kv", "servers=3", true, false},
	{"redis", "servers=1", false, true},
	{"redis", "servers=3", false, true},
	{"postgres", "", false, false},
}

// full says that every variant is tried, with every seed, and not only those of several servers.
var full = os.Getenv("DMEBENCH_TESTS") == "full"

func init() {
	if !full {
		variants = slices.DeleteFunc(variants, func(v variant) bool { return v.set == "servers=1" })
	}
}

// run returns the result of a run of a service.
func run(t *testing.T, system, set string, args ...string) *runs.Result {
	t.Helper()
	args = append([]string{"dmebench", "run", "-a", system, "-n", "3", "--resource", "memory", "--json", "--stall-after", "30s"}, args...)
	if set != "" {
		args = append(args, "--set", set)
	}
	var out, errors bytes.Buffer
	dmebench.Run(args, strings.NewReader(""), &out, &errors, Config())
	r := new(runs.Result)
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		if strings.Contains(errors.String(), "apt-get install") {
			t.Skip(errors.String())
		}
		t.Fatalf("%v: %v: %s", args, err, &errors)
	}
	return r
}

func TestSafeWithoutFaults(t *testing.T) {
	for _, v := range variants {
		for _, extra := range [][]string{nil, {"--set", "delay=1ms"}, {"--fault", "kill holder @entry:10"}} {
			t.Run(fmt.Sprint(v.system, v.set, extra), func(t *testing.T) {
				r := run(t, v.system, v.set, append([]string{"--requests", "60", "--cs", "500us"}, extra...)...)
				if r.Status != runs.OK || r.Safety.Violations > 0 || r.Safety.Resource.LostUpdates+r.Safety.Resource.Refused > 0 {
					t.Errorf("status %s: %s; safety %+v", r.Status, r.Error, r.Safety)
				}
				if r.Entries < 30 || *r.Messages.PerCS < 4 || r.Service.ClientBytes == 0 {
					t.Errorf("%d entries, %v messages each, %d bytes", r.Entries, *r.Messages.PerCS, r.Service.ClientBytes)
				}
				if many := v.set == "servers=3" && v.system != "redis"; many != (r.Service.Between != nil) || many == (r.Service.Untold != "") {
					t.Errorf("between servers: %+v, %s", r.Service.Between, r.Service.Untold)
				}
			})
		}
	}
}

// A client that stands still inside for longer than its lease finds somebody else there. A
// token lets the resource refuse what it writes then; without one an update is lost.
func TestPausedBeyondTheLease(t *testing.T) {
	seeds := 1
	if full {
		seeds = 20
	}
	for _, v := range variants {
		for seed := 1; seed <= seeds; seed++ {
			t.Run(fmt.Sprint(v.system, v.set, seed), func(t *testing.T) {
				args := []string{"--requests", "60", "--cs", "500us", "--fault", "pause holder @entry:10+4s", "--seed", fmt.Sprint(seed)}
				if v.system != "postgres" {
					args = append(args, "--set", "lease=2s")
				}
				r := run(t, v.system, v.set, args...)
				s := r.Safety
				overlap := v.refused || v.lost
				if overlap != (s.Violations > 0) || v.refused != (s.Resource.Refused > 0) || v.lost != (s.Resource.LostUpdates > 0) ||
					overlap != (r.Service.Expired > 0) {
					t.Errorf("status %s: %s; %d violations, resource %+v, service %+v", r.Status, r.Error, s.Violations, s.Resource, r.Service)
				}
			})
		}
	}
}

func TestServersMayFail(t *testing.T) {
	for _, v := range variants {
		for _, faults := range [][]string{
			{"kill servers @entry:10", "restart servers @+300ms"},
			{"pause leader @entry:10+100ms"},
			{"partition leader @entry:10+100ms"},
		} {
			t.Run(fmt.Sprint(v.system, v.set, faults), func(t *testing.T) {
				if v.system == "redis" && v.set == "servers=3" && strings.Contains(faults[0], "leader") {
					t.Skip("none leads")
				}
				args := []string{"--requests", "60", "--cs", "500us"}
				for _, f := range faults {
					args = append(args, "--fault", f)
				}
				r := run(t, v.system, v.set, args...)
				if r.Entries != 60 || len(r.Faults) != len(faults) || r.Faults[0].Servers == nil {
					t.Errorf("status %s: %s; %d entries, faults %+v", r.Status, r.Error, r.Entries, r.Faults)
				}
			})
		}
	}
}

// A server that ends by itself ends the run, which says which one it was.
func TestAServerThatEndsIsNamed(t *testing.T) {
	cmd := exec.Command(os.Args[0], "run", "-a", "etcd", "-n", "2", "--duration", "1m", "--json", "--quiet")
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return len(left("\x00worker\x00")) == 2 })
	for _, server := range left("\x00lock-server\x00") {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(server)))
		if err == nil {
			err = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err != nil {
			t.Error(err)
		}
	}
	_ = cmd.Wait()
	r := new(runs.Result)
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		t.Fatal(err)
	}
	if r.Status != runs.Failed || !strings.Contains(r.Error, "etcd, server 1 has ended: signal: killed") {
		t.Errorf("status %s: %s", r.Status, r.Error)
	}
}

// However the program ends, nothing of its servers is left.
func TestNothingIsLeft(t *testing.T) {
	for _, v := range variants {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
			t.Run(fmt.Sprint(v.system, v.set, signal), func(t *testing.T) {
				run(t, v.system, v.set, "--requests", "3") // skips where it is not installed
				args := []string{"run", "-a", v.system, "-n", "2", "--duration", "1m", "--cs", "10ms", "--quiet"}
				if v.set != "" {
					args = append(args, "--set", v.set)
				}
				cmd := exec.Command(os.Args[0], args...)
				kept := folder(t)
				cmd.Env = append(os.Environ(), "TMPDIR="+kept)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				until(t, func() bool { return len(left("\x00worker\x00")) == 2 })
				if len(left("\x00lock-server\x00")) == 0 {
					t.Error("there are no servers")
				}
				_ = cmd.Process.Signal(signal)
				_ = cmd.Wait()
				until(t, func() bool {
					files, _ := os.ReadDir(kept)
					return len(left("\x00worker\x00"))+len(left("\x00lock-server\x00"))+len(left(kept))+len(files) == 0
				})
			})
		}
	}
}

// folder makes one into which servers that run as another user can get.
func folder(t *testing.T) string {
	dir, err := os.MkdirTemp("", "servers")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// left returns the processes in whose command line a text stands.
func left(text string) (pids []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	own, _ := os.Executable()
	for _, file := range files {
		b, _ := os.ReadFile(file)
		of, _ := os.Readlink(filepath.Join(filepath.Dir(file), "exe"))
		if strings.Contains(string(b), text) && (of == own || !strings.HasPrefix(text, "\x00")) {
			pids = append(pids, file)
		}
	}
	return pids
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			files, _ := filepath.Glob(filepath.Join(os.TempDir(), "servers*/*/*"))
			t.Fatalf("still there: workers %v, servers %v, files %v", left("\x00worker\x00"), left("\x00lock-server\x00"), files)
		}
	}
}

// An engineer's question is answered with every service measured here, beside what was
// chosen and by the same columns.
func TestAdvice(t *testing.T) {
	if !full {
		t.Skip("takes minutes: needs DMEBENCH_TESTS=full")
	}
	var out, errors bytes.Buffer
	args := strings.Fields("dmebench advise -n 5 --total-rate 100 --delay 1ms --survive pause --json --quiet")
	if code := dmebench.Run(args, strings.NewReader(""), &out, &errors, Config()); code != 0 {
		t.Fatalf("exit code %d: %s", code, &errors)
	}
	var a struct {
		Choose   string
		Measured rank.Ranking
	}
	if err := json.Unmarshal(out.Bytes(), &a); err != nil || len(a.Measured.Contests) != 1 {
		t.Fatalf("%v: %s", err, &out)
	}
	var labels []string
	for _, e := range a.Measured.Contests[0].Entrants {
		labels = append(labels, e.Label)
	}
	if want := 1 + len(variants); len(labels) != want || !slices.Contains(labels, a.Choose) || len(a.Measured.Contests[0].LeftOut) > 0 {
		t.Errorf("measured %q, left out %+v; want %d, %s among them", labels, a.Measured.Contests[0].LeftOut, want, a.Choose)
	}
}
