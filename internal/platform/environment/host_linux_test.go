package environment

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// host makes the files of a host that say what it has.
func host(t *testing.T, files map[string]string) string {
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestLimits(t *testing.T) {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	base := map[string]string{
		"proc/loadavg":                "0.1 0.2 0.3 2/150 4711\n",
		"proc/sys/kernel/threads-max": "90000\n",
		"proc/sys/kernel/pid_max":     "1150\n",
		"proc/self/cgroup":            "0::/a/b\n",
	}
	plain := limitsAt(host(t, base))
	if plain.Memory.Left != Unlimited || plain.Descriptors.Left != files.Max {
		t.Errorf("%+v", plain)
	}
	if os.Getuid() == 0 && plain.Threads != (Limit{1000, "kernel.pid_max"}) {
		t.Errorf("%+v", plain)
	}

	base["sys/fs/cgroup/a/b/pids.max"], base["sys/fs/cgroup/a/b/pids.current"] = "50\n", "60\n"
	grouped := limitsAt(host(t, base))
	if grouped.Threads != (Limit{0, "pids.max of the control group"}) {
		t.Errorf("%+v", grouped)
	}

	// Version 1: a hierarchy for each controller.
	old := limitsAt(host(t, map[string]string{
		"proc/self/cgroup": "7:memory:/x\n4:pids:/\n",

		"sys/fs/cgroup/pids/pids.max":     "90\n",
		"sys/fs/cgroup/pids/pids.current": "70\n",
	}))
	if old.Threads.Left != 20 {
		t.Errorf("%+v", old)
	}

	if os.Getuid() == 0 {
		none := limitsAt(t.TempDir())
		if none.Threads.Left != Unlimited {
			t.Errorf("%+v of a host that says nothing", none)
		}
	}
}

// TestHostLimits asks this very host.
func TestHostLimits(t *testing.T) {
	l := HostLimits()
	if l.Memory.Left == 0 || l.Memory.Left == Unlimited || l.Descriptors.Left < 16 {
		t.Errorf("%+v", l)
	}
	if os.Getuid() > 0 && threadsOf("/", os.Getuid()) == 0 {
		t.Error("this user has no threads")
	}
}

// TestCPUQuota reads quotas of both versions, of which the least holds.
func TestCPUQuota(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  float64 // 0: none
	}{
		{"no group", nil, 0},
		{"version 2, none", map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "max 100000\n"}, 0},
		{"version 2", map[string]string{"proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/cpu.max": "300000 100000\n", "sys/fs/cgroup/a/cpu.max": "150000 100000\n"}, 1.5},
		{"version 1, none", map[string]string{"proc/self/cgroup": "3:cpu:/x\n",
			"sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000\n"}, 0},
		{"version 1", map[string]string{"proc/self/cgroup": "9:memory:/x\n3:cpu:/x\n",
			"sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "50000\n", "sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000\n"}, 0.5},
	} {
		got, limited := cpuQuotaAt(host(t, c.files))
		if limited != (c.want > 0) || got != c.want {
			t.Errorf("%s: %v processors, limited %v; want %v", c.name, got, limited, c.want)
		}
	}
}

// Groups of both versions, of which the one around the innermost leaves least.
func TestMemoryOfControlGroups(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  uint64 // Unlimited: no limit
	}{
		{"no group", nil, Unlimited},
		{"none", map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max"}, Unlimited},
		{"version 2", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "9000", "sys/fs/cgroup/a/memory.max": "5000",
			"sys/fs/cgroup/a/memory.current": "3000", "sys/fs/cgroup/a/memory.stat": "anon 7\ninactive_file 1000\n",
		}, 3000},
		{"version 1", map[string]string{
			"proc/self/cgroup": "9:cpu:/a\n4:memory:/a\n0::/\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "800",
			"sys/fs/cgroup/memory/a/memory.usage_in_bytes": "300", "sys/fs/cgroup/memory/a/memory.stat": "total_inactive_file 100",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
		}, 600},
		{"spent", map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "10", "sys/fs/cgroup/memory.current": "20",
		}, 0},
	} {
		got, limited := leftOfGroups(host(t, c.files))
		if limited != (c.want != Unlimited) || got != c.want {
			t.Errorf("%s: %d bytes are left, limited %v; want %d", c.name, got, limited, c.want)
		}
	}
}

func TestTimesOfProcessors(t *testing.T) {
	for text, want := range map[string]ProcessorTimes{
		"cpu  1000 0 500 8000 100 0 0 400 77 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n": {Busy: 1500, Stolen: 400, All: 10000, Processors: 1},
		"cpu  1060 10 525 8060 105 1 4 435 99 0\n":                          {Busy: 1600, Stolen: 435, All: 10200},
		"cpu 1 2 3\n":                  {},
		"cpu 1 2 3 many 5 6 7 8 9 0\n": {},
		"":                             {},
	} {
		if got := timesAt(host(t, map[string]string{"proc/stat": text})); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func TestBoost(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"other", "1\n", ""}, {"intel_pstate/no_turbo", "0\n", "on"}, {"intel_pstate/no_turbo", "1\n", "off"},
		{"cpufreq/boost", "1\n", "on"}, {"cpufreq/boost", "0\n", "off"},
	} {
		if got := boostAt(host(t, map[string]string{"sys/devices/system/cpu/" + c.file: c.text})); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.file, c.text, got, c.want)
		}
	}
}

// A second of two processors, one of which was busy, and 35 of 200 parts stolen.
func TestLoad(t *testing.T) {
	before := ProcessorTimes{Busy: 1500, Stolen: 400, All: 10000, Processors: 2}
	after := ProcessorTimes{Busy: 1600, Stolen: 435, All: 10200, Processors: 2}
	if l, known := after.Since(before); !known || l != (Load{1, 0.175}) {
		t.Errorf("%+v, %v", l, known)
	}
	if l, known := before.Since(before); known {
		t.Errorf("%+v of no time", l)
	}
}
