package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dmebench/internal/testkit"
	"dmebench/runs"
)

// run is the program, started by a test. Its folder is its mark: no other run has it
// in its environment.
type run struct {
	t              *testing.T
	dir            string
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	ended          chan struct{}
}

// start starts the program in a folder. It and all that it starts have ended when
// the test has.
func start(t *testing.T, dir string, args ...string) *run {
	t.Helper()
	return startBy(t, exec.Command, dir, args...)
}

// startBy starts the program by a command that runs it, here or elsewhere.
func startBy(t *testing.T, command func(name string, args ...string) *exec.Cmd, dir string, args ...string) *run {
	t.Helper()
	return startProgram(t, "dmebench", command, dir, args...)
}

// startProgram starts one of the programs of TestMain.
func startProgram(t *testing.T, name string, command func(name string, args ...string) *exec.Cmd, dir string, args ...string) *run {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{t: t, dir: dir, cmd: command(path, args...), ended: make(chan struct{})}
	temporary := filepath.Join(dir, "tmp")
	if err := os.MkdirAll(temporary, 0o755); err != nil {
		t.Fatal(err)
	}
	r.cmd.Dir = dir
	r.cmd.Env = append(os.Environ(), "WORK="+dir, "TMPDIR="+temporary, "GORACE=atexit_sleep_ms=0")
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.cmd.Process.Kill()
		<-r.ended
	})
	go func() {
		defer close(r.ended)
		_ = r.cmd.Wait() // how it ended is in ProcessState
	}()
	return r
}

// wait waits for the end, as long as the bound allows, and returns the exit code.
func (r *run) wait(bound time.Duration) int {
	r.t.Helper()
	select {
	case <-r.ended:
	case <-time.After(bound):
		r.t.Fatalf("%v has not ended after %v", r.cmd.Args, bound)
	}
	return r.cmd.ProcessState.ExitCode()
}

// result decodes what 'run --json' has printed: one object and no more.
func (r *run) result() *runs.Result {
	r.t.Helper()
	x, err := decode(r.stdout.Bytes())
	if err != nil {
		r.t.Fatalf("%v: %v\n%s%s", r.cmd.Args, err, r.stdout.Bytes(), r.stderr.Bytes())
	}
	return x
}

func decode(b []byte) (*runs.Result, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	x := new(runs.Result)
	if err := d.Decode(x); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("more than one JSON value")
	}
	return x, nil
}

// effort is how often something is tried by default, and with DMEBENCH_TESTS=long and full.
func effort(few, long, full int) int {
	switch {
	case testkit.Full():
		return full
	case testkit.Long():
		return long
	}
	return few
}

// longest is within what a run of these tests has ended on any machine.
const longest = 2 * time.Minute

// measure runs the program to its end.
func measure(t *testing.T, args ...string) (*runs.Result, int) {
	t.Helper()
	r := start(t, t.TempDir(), append([]string{"run", "--json", "--quiet"}, args...)...)
	code := r.wait(longest)
	return r.result(), code
}

// overtaken reports whether the machine has kept processes from running for so long
// that no bound on the delay of a message holds.
func overtaken(r *runs.Result) bool {
	for _, w := range r.Warnings {
		if strings.Contains(w, "did not run for a second or more") || strings.Contains(w, "was suspended") {
			return true
		}
	}
	return false
}
