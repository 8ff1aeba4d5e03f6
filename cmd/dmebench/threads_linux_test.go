package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user that owns nothing.
const nobody = 65534

// TestOutOfThreads runs the program as a user who may have few threads. It says
// so before it starts anything, also with --force: the Go runtime would end it in
// its midst, with all its stacks.
func TestOutOfThreads(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user, whose threads are counted apart")
	}
	shell, err := exec.LookPath("bash") // not every shell knows ulimit -u
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "dmebench") // by which name this test binary is the program
	copyProgram(t, program)
	for _, x := range []struct {
		threads int
		flags   string
		code    int
		want    string
	}{
		{60, "", 69, "lamport on 40 nodes over tcp needs about 332 threads"},
		{60, "--force", 69, ", RLIMIT_NPROC); choose fewer nodes or more --nodes-per-worker, " +
			"raise the limit on threads (ulimit -u, RLIMIT_NPROC), which --force cannot exceed"},
		{60, "--nodes-per-worker 40", 0, ""},
	} {
		line := fmt.Sprintf("ulimit -u %d; exec '%s' run -a lamport -n 40 --requests 80 --quiet %s", x.threads, program, x.flags)
		c := exec.Command(shell, "-c", line)
		c.Dir = dir
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		var stderr bytes.Buffer
		c.Stderr = &stderr
		err := c.Run()
		if c.ProcessState == nil {
			t.Skipf("another user cannot execute what lies in %s: %v", dir, err)
		}
		if got := c.ProcessState.ExitCode(); got != x.code || !strings.Contains(stderr.String(), x.want) || stderr.Len() > 1000 {
			t.Errorf("%s: ended with %v, %d bytes on standard error:\n%.1000s", line, err, stderr.Len(), stderr.String())
		}
	}
}

// copyProgram copies this test binary to where another user may execute it.
func copyProgram(t *testing.T, to string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	w, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err == nil {
		_, err = io.Copy(w, from)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
