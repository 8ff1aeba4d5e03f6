package doctor

import (
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"dmebench/internal/platform/clock"
	"dmebench/internal/platform/environment"
)

// fit returns readings of a host with which nothing is wrong, for a run that it has
// room for.
func fit() (*readings, Options) {
	plenty := environment.Limit{Left: 1 << 40, By: "RLIMIT"}
	r := &readings{
		program: environment.Program{Version: "v1.2.3", Commit: "0123456789abcdef", SHA256: "feedbeef01234567"},
		limits:  environment.Limits{Memory: plenty, Threads: plenty, Descriptors: plenty},
		kept:    clock.Discipline{Synchronized: true, Estimated: time.Millisecond, Most: 20 * time.Millisecond},
		change:  clock.Change{Elapsed: time.Second, Error: 2 * time.Microsecond},
		source:  "tsc", cost: 40 * time.Nanosecond,
		allowed: 16, online: 16, governor: "performance", boost: "off",
		loaded: true, busy: 0.1, late: time.Millisecond,
		receive: 4 << 20, send: 4 << 20, asked: 4 << 20,
		took: time.Millisecond, free: 1 << 40,
	}
	return r, Options{
		Need:   Need{Nodes: 8, Processes: 8, Threads: 100, Descriptors: 100, Memory: 1 << 30},
		Listen: "10.0.0.1:0", Results: "results",
	}
}

// TestFindings plants one thing at a time, and expects that it alone is found, as
// grave as it is, with what to do.
func TestFindings(t *testing.T) {
	timeout := &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
	left := func(n uint64, by string) environment.Limit { return environment.Limit{Left: n, By: by} }
	for _, c := range []struct {
		name  string
		plant func(*readings, *Options)
		check string
		level Level
		found string // is part of what was found
		do    string // is part of what to do
	}{
		{"no commit", func(r *readings, _ *Options) { r.program.Commit = "" },
			"program", Note, "v1.2.3, sha256 feedbeef0123", "go build"},

		{"clock kept by nobody, one host", func(r *readings, _ *Options) { r.kept.Synchronized = false },
			"clock", Note, "not synchronized", "chrony"},
		{"clock kept by nobody, several hosts", func(r *readings, o *Options) { r.kept.Synchronized, o.Several = false, true },
			"clock", Warning, "not synchronized", "measure the offsets"},
		{"clock set", func(r *readings, o *Options) { r.change.Stepped, o.Several = -3*time.Second, true },
			"clock", Warning, "set by -3s", "settled"},
		{"clock untold", func(r *readings, _ *Options) { r.untold = syscall.EPERM },
			"clock", Note, "not permitted", ""},

		{"clock slewed, one host", func(r *readings, _ *Options) { r.change.Slewed = 600 * time.Microsecond },
			"clock-rate", Warning, "600 ± 2 ppm", "maxslewrate"},
		{"clock slewed, several hosts", func(r *readings, o *Options) { r.change.Slewed, o.Several = -80*time.Millisecond, true },
			"clock-rate", Problem, "−80,000 ± 2 ppm", "do not hold"},

		{"clock source", func(r *readings, _ *Options) { r.source = "hpet" },
			"clock-source", Warning, "hpet, 40 ns", "clocksource=tsc"},
		{"dear clock", func(r *readings, _ *Options) { r.source, r.cost = "xen", 2*time.Microsecond },
			"clock-source", Warning, "2 µs a reading", "without a system call"},

		{"more processes than processors", func(r *readings, o *Options) { o.Need.Processes = 17 },
			"processors", Note, "16 processors, for 17 processes", "take turns"},
		{"a crowd", func(r *readings, o *Options) { o.Need.Processes = 1601 }, "processors", Warning, "1,601", "fewer nodes or more hosts"},
		{"bound to few processors", func(r *readings, _ *Options) { r.allowed = 2 },
			"processors", Note, "2 of 16 processors", "take turns"},
		{"quota", func(r *readings, _ *Options) { r.quota = 8.5 }, "processors", Warning, "allows 8.5", "lift the quota"},
		{"quota below the processes", func(r *readings, _ *Options) { r.quota = 0.5 },
			"processors", Warning, "allows 0.5", "take turns"},

		{"governor", func(r *readings, _ *Options) { r.governor = "powersave" },
			"frequency", Note, "powersave", "cpupower"},
		{"boost", func(r *readings, _ *Options) { r.boost = "on" }, "frequency", Note, "boost on", "switch boost off"},

		{"others, a little", func(r *readings, _ *Options) { r.busy = 1.6 }, "load", Note, "1.6 of 16", "top"},
		{"others, much", func(r *readings, _ *Options) { r.busy = 8 }, "load", Warning, "8 of 16", "top"},
		{"late", func(r *readings, _ *Options) { r.late = 80 * time.Millisecond }, "load", Warning, "80 ms late", "top"},
		{"stolen", func(r *readings, _ *Options) { r.stolen = 0.05 }, "steal", Warning, "5% of the time", "of their own"},
		{"stolen once", func(r *readings, _ *Options) { r.ever = 0.02 }, "steal", Note, "2% since", "of their own"},

		{"memory", func(r *readings, _ *Options) { r.limits.Memory = left(1<<29, "available memory") },
			"memory", Problem, "537 MB left (available memory); the run takes about 1.07 GB", "or more hosts"},
		{"memory of the group", func(r *readings, _ *Options) { r.limits.Memory = left(1<<29, "memory limit of the control group") },
			"memory", Problem, "537 MB left (memory limit of the control group)", "--memory"},
		{"threads of the user", func(r *readings, _ *Options) { r.limits.Threads = left(99, "RLIMIT_NPROC") },
			"threads", Problem, "99 left (RLIMIT_NPROC); the run takes about 100", "ulimit -u"},
		{"threads of the group", func(r *readings, _ *Options) { r.limits.Threads = left(1, "pids.max of the control group") },
			"threads", Problem, "1 left", "--pids-limit"},
		{"threads of the kernel", func(r *readings, _ *Options) { r.limits.Threads = left(1, "kernel.pid_max") },
			"threads", Problem, "1 left", "sysctl -w kernel.pid_max="},
		{"descriptors", func(r *readings, _ *Options) { r.limits.Descriptors = left(64, "RLIMIT_NOFILE") },
			"descriptors", Problem, "64 left (RLIMIT_NOFILE); the run takes about 100", "ulimit -n 100"},

		{"loopback", func(r *readings, _ *Options) { r.loopback = syscall.ENETUNREACH },
			"loopback", Problem, "unreachable", "ip link set lo up"},
		{"firewall, TCP", func(r *readings, _ *Options) { r.tcp = timeout },
			"tcp", Problem, "at 10.0.0.1", "drops tcp"},
		{"firewall, UDP", func(r *readings, _ *Options) { r.udp = os.ErrDeadlineExceeded },
			"udp", Problem, "10.0.0.1", "drops udp"},
		{"firewall forbids", func(r *readings, _ *Options) { r.udp = syscall.EPERM },
			"udp", Problem, "not permitted", "blocks what it sends"},
		{"nobody has the address", func(r *readings, _ *Options) { r.tcp = &net.OpError{Op: "listen", Err: syscall.EADDRNOTAVAIL} },
			"tcp", Problem, "cannot assign", "no interface of this host has the address"},
		{"no multicast", func(r *readings, _ *Options) { r.multicast = errors.New("no such device") },
			"multicast", Note, "no such device", "multicast=true"},
		{"buffers", func(r *readings, _ *Options) { r.receive = 212992 },
			"udp-buffers", Warning, "213 kB to receive", "net.core.rmem_max=4194304"},

		{"results cannot be kept", func(r *readings, _ *Options) { r.unwritable = syscall.EROFS }, "results", Problem, "read-only", "--out"},
		{"disk nearly full", func(r *readings, _ *Options) { r.free = 100 << 20 }, "results", Warning, "105 MB free", "make room"},
		{"disk full", func(r *readings, _ *Options) { r.free = 1 << 20 }, "results", Problem, "1.05 MB free", "make room"},
		{"slow disk", func(r *readings, _ *Options) { r.took = time.Second }, "results", Note, "within 1 s", "faster"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, o := fit()
			c.plant(r, &o)
			seen := false
			for _, f := range r.judge(o) {
				if f.Check != c.check {
					if f.Level != OK {
						t.Errorf("beside it, %+v", f)
					}
					continue
				}
				seen = true
				if f.Level != c.level || !strings.Contains(f.Found, c.found) || !strings.Contains(f.Do, c.do) {
					t.Errorf("%+v; want a %v with %q, and to do %q", f, c.level, c.found, c.do)
				}
			}
			if !seen {
				t.Errorf("no finding of %s", c.check)
			}
		})
	}
}

// TestNothingKnown: where nothing is known of a host, nothing is called a problem, and
// nothing fine that nobody looked at is praised.
func TestNothingKnown(t *testing.T) {
	unknown := environment.Limit{Left: environment.Unlimited}
	r := &readings{limits: environment.Limits{Memory: unknown, Threads: unknown, Descriptors: unknown}}
	for _, f := range r.judge(Options{Listen: "127.0.0.1:0"}) {
		if f.Level == Problem {
			t.Errorf("%+v", f)
		}
		if slices.Contains([]string{"clock", "clock-rate", "load", "steal"}, f.Check) && f.Level == OK {
			t.Errorf("%+v of a host of which nothing is known", f)
		}
	}
}

// TestThisHost examines the machine that the test runs on: what runs of this very
// test need is there.
func TestThisHost(t *testing.T) {
	t.Parallel()
	need := Need{Nodes: 2, Processes: 2, Threads: 20, Descriptors: 20}
	for _, f := range Examine(t.Context(), Options{Need: need, Listen: "127.0.0.1:0", Results: t.TempDir()}) {
		if f.Level == Problem {
			t.Errorf("%+v", f)
		}
	}
}

// TestAddresses tries an address that no interface has (TEST-NET-3 of RFC 5737), and a
// port that somebody has.
func TestAddresses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for address, do := range map[string]string{
		"203.0.113.77:0": "no interface of this host has", l.Addr().String(): "another port",
	} {
		var r readings
		r.tryNetwork(t.Context(), address)
		if f := judgeSelf("tcp", "x", r.tcp); f.Level != Problem || !strings.Contains(f.Do, do) {
			t.Errorf("%s: %+v", address, f)
		}
	}
}

// TestFolders tries folders in which no result can be kept, and one that is yet to be
// made.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	file := dir + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{file, file + "/below"} {
		var r readings
		if r.tryResults(folder); r.judgeResults(folder).Level != Problem {
			t.Errorf("%s: %+v", folder, r)
		}
	}
	var r readings
	if r.tryResults(dir + "/a/b"); r.unwritable != nil {
		t.Error("a folder to be made:", r.unwritable)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
