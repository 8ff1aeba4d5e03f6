package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Under a limit on addresses (ulimit -v) that the Go runtime would meet in the midst of a
// run, in this process or in a worker, nothing is started; what needs none begins.
func TestOutOfAddresses(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("bash") // not every shell knows ulimit -v
	if err != nil {
		t.Skip(err)
	}
	program := filepath.Join(t.TempDir(), "dmebench") // by which name this test binary is the program
	copyProgram(t, program)
	const scarce = "dmebench: the host has no room for it: a process may have 2.05 GB of addresses (ulimit -v 2000000), " +
		"and one of these may reserve "
	for _, x := range []struct {
		args string
		code int
		want string
	}{
		{"list", 0, ""},
		{"run -a raymond -n 3 --transport sim --quiet", 69, scarce},
		{"run -a raymond -n 16 --requests 160 --quiet", 69, scarce},
		{"check -a raymond -n 3", 69, scarce},
		{"validate --quick --quiet", 69, scarce},
		{"ping", 69, scarce},
	} {
		c := exec.Command(shell, "-c", fmt.Sprintf("ulimit -v 2000000; exec '%s' %s", program, x.args))
		c.Dir = t.TempDir()
		var stderr bytes.Buffer
		c.Stderr = &stderr
		err := c.Run()
		if got := c.ProcessState.ExitCode(); got != x.code || !strings.Contains(stderr.String(), x.want) || stderr.Len() > 1000 {
			t.Errorf("%s: ended with %v, %d bytes on standard error:\n%.1000s", x.args, err, stderr.Len(), stderr.String())
		}
	}
}
