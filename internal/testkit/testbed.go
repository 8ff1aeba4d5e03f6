package testkit

import (
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

type Testbed struct {
	Hosts []*Host // Hosts[i] is host i+1
}

type Host struct {
	Name    string // as hostname(1) says it there: h1, h2, …
	Address string // of IPv4, on the network that the hosts share

	t      testing.TB
	script script
	number int
	bed    string   // the testbed's name, unlike that of any other
	clock  *os.File // of its time namespace; nil for this host's clocks
}

type Option func(*options)

type options struct {
	ahead map[int]time.Duration // by host, from 1
}

// ClockAhead sets the monotonic clock of a host, 1 or above, and its time since the
// boot, off by d from those of this machine: ahead, or behind if d is negative. The
// time of day is not affected; Linux has one for all. Nothing but the difference
// can tell a program on that host.
func ClockAhead(host int, d time.Duration) Option {
	return func(o *options) { o.ahead[host] = d }
}

var beds atomic.Uint64

// NewTestbed makes a testbed of that many hosts, or skips the test and says why.
func NewTestbed(t testing.TB, hosts int, opts ...Option) *Testbed {
	t.Helper()
	o := options{ahead: map[int]time.Duration{}}
	for _, opt := range opts {
		opt(&o)
	}
	for _, host := range slices.Sorted(maps.Keys(o.ahead)) {
		if host < 1 || host > hosts {
			t.Fatalf("testbed: a clock of host %d is to be off, and the hosts are 1 to %d", host, hosts)
		}
	}
	if why := impossible(); why != "" {
		t.Skip("no hosts of one's own here: " + why)
	}
	s := find(t)
	s.removeLeftovers(t)

	bed := &Testbed{}
	name := fmt.Sprintf("%s-%d", own(), beds.Add(1))
	t.Cleanup(func() { s.run(t, name, "down", "--kill") })
	s.run(t, name, "up", fmt.Sprint(hosts))
	for i := 1; i <= hosts; i++ {
		h := &Host{Name: fmt.Sprintf("h%d", i), Address: fmt.Sprintf("10.77.0.%d", i), t: t, script: s, number: i, bed: name}
		if d, off := o.ahead[i]; off {
			var err error
			if h.clock, err = clockAhead(d); err != nil {
				t.Fatalf("testbed: cannot make a clock that is off by %v: %v", d, err)
			}
			t.Cleanup(func() { h.clock.Close() })
		}
		bed.Hosts = append(bed.Hosts, h)
	}
	return bed
}

// Host returns host i, 1 or above.
func (b *Testbed) Host(i int) *Host { return b.Hosts[i-1] }

// Command returns the command that runs a program on the host. Its process is the
// program's own, and its files are those of this host. The program is looked up
// here, as [exec.Command] does.
func (h *Host) Command(name string, args ...string) *exec.Cmd {
	enter := []string{"--net=" + filepath.Join(netns, h.bed+"-"+h.Name), "--uts=" + filepath.Join(uts, h.bed+"-"+h.Name)}
	if h.clock != nil {
		enter = append(enter, fmt.Sprintf("--time=/proc/%d/fd/%d", os.Getpid(), h.clock.Fd()))
	}
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	cmd := exec.Command("nsenter", slices.Concat(enter, []string{"--no-fork", "--", path}, args)...)
	if err != nil {
		cmd.Err = err
	}
	return cmd
}

// Self runs this test's program on the host; it ends with its standard input or the test.
func (h *Host) Self(args ...string) (io.Writer, io.Reader) {
	h.t.Helper()
	program, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := h.Command(program, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return in, out
}

// Cut takes the host's link down. The test's own goroutine calls it.
func (h *Host) Cut() {
	h.t.Helper()
	h.script.run(h.t, h.bed, "cut", fmt.Sprint(h.number))
}

// Mend takes the host's link up again, and returns once it passes frames.
func (h *Host) Mend() {
	h.t.Helper()
	h.script.run(h.t, h.bed, "mend", fmt.Sprint(h.number))
}

// Where namespaces are kept by scripts/testbed/netns.sh.
const (
	netns = "/run/netns"
	uts   = "/run/dmebench-testbed"
)

type script string

func find(t testing.TB) script {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		path := filepath.Join(dir, "scripts", "testbed", "netns.sh")
		if _, err := os.Stat(path); err == nil {
			return script(path)
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("testbed: scripts/testbed/netns.sh is in no folder above this one; is the test run elsewhere?")
		}
		dir = filepath.Dir(dir)
	}
}

func (s script) run(t testing.TB, bed string, args ...string) {
	t.Helper()
	if err := s.try(bed, args...); err != nil {
		t.Fatal(err)
	}
}

func (s script) try(bed string, args ...string) error {
	out, err := exec.Command(string(s), append([]string{"--name", bed}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("testbed: netns.sh %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// A testbed is named after the process that made it: its number, which comes again, and its start.
const prefix = "dmebench-test"

var named = regexp.MustCompile(`^(` + prefix + `-([0-9]+)-([0-9]+)-[0-9]+)-switch$`)

func own() string {
	pid := fmt.Sprint(os.Getpid())
	return fmt.Sprintf("%s-%s-%s", prefix, pid, started(pid))
}

// started returns when a process was started, in ticks; "" if there is none.
func started(pid string) string {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return ""
	}
	// The second field is the program's name, which may hold anything.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return fields[19]
}

// removeLeftovers removes testbeds whose process is gone: it was killed before it could.
func (s script) removeLeftovers(t testing.TB) {
	t.Helper()
	there, err := os.ReadDir(netns)
	if err != nil {
		return // there is no namespace yet
	}
	for _, e := range there {
		if m := named.FindStringSubmatch(e.Name()); m != nil && started(m[2]) != m[3] {
			// Another test may be removing it just now: then either fails.
			t.Logf("removing %s, which a killed test left behind: %v", m[1], s.try(m[1], "down", "--kill"))
		}
	}
}
