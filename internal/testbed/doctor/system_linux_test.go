package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// elsewhere names the variable that makes this test's program examine the host on
// which it finds itself, and print what it finds.
const elsewhere = "DOCTOR_TEST_EXAMINE"

// TestElsewhere is no test of its own: it is what the others start elsewhere.
func TestElsewhere(t *testing.T) {
	options := os.Getenv(elsewhere)
	if options == "" {
		t.Skip("is started by other tests")
	}
	var o Options
	if err := json.Unmarshal([]byte(options), &o); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(Examine(context.Background(), o)); err != nil {
		t.Fatal(err)
	}
}

// examineElsewhere examines a host that a command of this very test makes.
func examineElsewhere(t *testing.T, o Options, prepare func(*exec.Cmd)) map[string]Finding {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	options, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run=^TestElsewhere$")
	cmd.Env = append(os.Environ(), elsewhere+"="+string(options))
	cmd.Stderr = os.Stderr
	prepare(cmd)
	out, err := cmd.Output()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSYS) {
		t.Skipf("namespaces cannot be made here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var findings []Finding
	if err := json.NewDecoder(strings.NewReader(string(out))).Decode(&findings); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	by := make(map[string]Finding)
	for _, f := range findings {
		by[f.Check] = f
	}
	return by
}

// byShell has a shell make a command's surroundings, before it becomes the command: by
// exec "$@".
func byShell(cmd *exec.Cmd, script string) {
	cmd.Args = append([]string{"sh", "-c", script, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
}

// TestFewDescriptors examines this host as a process whose descriptors are limited.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	found := examineElsewhere(t, Options{Need: Need{Processes: 1, Descriptors: 200}, Listen: "127.0.0.1:0"}, func(cmd *exec.Cmd) {
		byShell(cmd, `ulimit -n 150 && exec "$@"`)
	})
	f := found["descriptors"]
	if f.Level != Problem || !strings.Contains(f.Found, "150 left (RLIMIT_NOFILE)") || !strings.Contains(f.Do, "ulimit -n 200") {
		t.Errorf("%+v", f)
	}
}

// TestControlGroup examines this host as a process in a control group with limits, as
// containers have them.
func TestControlGroup(t *testing.T) {
	t.Parallel()
	var join strings.Builder
	group := fmt.Sprintf("doctor-test-%d", os.Getpid())
	for _, c := range []struct{ controller, old, value, file, v2 string }{
		{"cpu", "cpu.cfs_quota_us", "50000", "cpu.max", "50000 100000"},
		{"pids", "pids.max", "60", "pids.max", "60"},
		{"memory", "memory.limit_in_bytes", "500000000", "memory.max", "500000000"},
	} {
		top, file, value := "/sys/fs/cgroup", c.file, c.v2
		if controllers, _ := os.ReadFile(top + "/cgroup.subtree_control"); !slices.Contains(strings.Fields(string(controllers)), c.controller) {
			top, file, value = filepath.Join(top, c.controller), c.old, c.value // version 1
		}
		dir := filepath.Join(top, group)
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			t.Skipf("control groups cannot be made here: %v", err)
		}
		t.Cleanup(func() {
			if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Error(err)
			}
		})
		if err := os.WriteFile(filepath.Join(dir, file), []byte(value), 0o644); err != nil {
			t.Skipf("control groups cannot be limited here: %v", err)
		}
		fmt.Fprintf(&join, "echo $$ > %s/cgroup.procs && ", dir)
	}
	o := Options{Need: Need{Processes: 1, Threads: 61, Memory: 1 << 30}, Listen: "127.0.0.1:0"}
	found := examineElsewhere(t, o, func(cmd *exec.Cmd) { byShell(cmd, join.String()+`exec "$@"`) })
	for check, want := range map[string]Finding{
		"processors": {Level: Warning, Found: "allows 0.5", Do: "lift the quota"},
		"threads":    {Level: Problem, Found: "(pids.max of the control group)", Do: "--pids-limit"},
		"memory":     {Level: Problem, Found: "(memory limit of the control group)", Do: "--memory"},
	} {
		if f := found[check]; f.Level != want.Level || !strings.Contains(f.Found, want.Found) || !strings.Contains(f.Do, want.Do) {
			t.Errorf("%+v, want %+v", f, want)
		}
	}
}

// TestLoopbackDown examines a network namespace as it is when it is new: with a
// loopback that is down, and no address.
func TestLoopbackDown(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("network namespaces take root")
	}
	found := examineElsewhere(t, Options{Listen: "127.0.0.1:0"}, func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	})
	for check, level := range map[string]Level{"loopback": Problem, "tcp": Problem, "udp": Problem, "multicast": Note} {
		if f := found[check]; f.Level != level || f.Do == "" {
			t.Errorf("%s: %+v, want a %v", check, f, level)
		}
	}
	if !strings.Contains(found["loopback"].Do, "ip link set lo up") {
		t.Errorf("%+v", found["loopback"])
	}
}

// TestBlackHole examines a network namespace with a route that swallows what is sent
// to the host's own other address: processes there do not reach one another at it,
// although the loopback is fine.
func TestBlackHole(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("network namespaces take root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("there is no ip here")
	}
	const address = "10.213.7.1"
	script := fmt.Sprintf(`ip link set lo up && ip addr add %[1]s/32 dev lo &&
		ip route del local %[1]s dev lo table local && ip route add blackhole %[1]s table local && exec "$@"`, address)
	found := examineElsewhere(t, Options{Listen: address + ":0"}, func(cmd *exec.Cmd) {
		byShell(cmd, script)
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	})
	if f := found["loopback"]; f.Level != OK {
		t.Errorf("%+v", f)
	}
	for _, check := range []string{"tcp", "udp"} {
		if f := found[check]; f.Level != Problem || f.Do == "" {
			t.Errorf("%+v", f)
		}
	}
}
