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
