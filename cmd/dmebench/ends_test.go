package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// program returns a command of this program, as the script would start it.
func program(ts *testscript.TestScript, args []string) *exec.Cmd {
	if args[0] != "dmebench" {
		ts.Fatalf("%s is not the program under test", args[0])
	}
	var path string
	for dir := range strings.SplitSeq(ts.Getenv("PATH"), string(os.PathListSeparator)) {
		if path = filepath.Join(dir, args[0]); isFile(path) {
			break
		}
	}
	c := exec.Command(path, args[1:]...)
	c.Dir = ts.MkAbs(".")
	c.Env = append(os.Environ(), "PATH="+ts.Getenv("PATH"), "WORK="+ts.Getenv("WORK"), "GORACE="+ts.Getenv("GORACE"))
	return c
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// endsWith checks how a command has ended.
func endsWith(ts *testscript.TestScript, c *exec.Cmd, err error, code string, stderr []byte) {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v: %v", c.Args, err)
	}
	if got := c.ProcessState.ExitCode(); strconv.Itoa(got) != code {
		ts.Fatalf("%v ended with %v, want exit code %s\n%s", c.Args, c.ProcessState, code, stderr)
	}
}

// unread CODE COMMAND…: the command ends with that exit code, although its
// output goes to pipes that nobody reads.
func unread(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: unread CODE COMMAND…")
	}
	c := program(ts, args[1:])
	for _, to := range []*io.Writer{&c.Stdout, &c.Stderr} {
		r, w, err := os.Pipe()
		ts.Check(err)
		r.Close()
		defer w.Close()
		*to = w
	}
	endsWith(ts, c, c.Run(), args[0], nil)
}

// soon is how long a command may take to end; it is far more than it does take,
// because the machine may be busy.
const soon = time.Minute

// signalled SIGNAL WHEN COMMAND…: the command is sent the signal, and ends with
// the exit code of an interruption. WHEN is the name of a pipe that it reads, to
// which nobody writes; or a number of worker processes that are there.
func signalled(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}
	if neg || len(args) < 3 || signals[args[0]] == 0 {
		ts.Fatalf("usage: signalled INT|TERM|HUP PIPE|WORKERS COMMAND…")
	}
	_, err := strconv.Atoi(args[1])
	counts := err == nil
	pipe := ts.MkAbs(args[1])
	if !counts {
		os.Remove(pipe)
		ts.Check(syscall.Mkfifo(pipe, 0o600))
	}
	c := program(ts, args[2:])
	var stderr bytes.Buffer
	c.Stderr = &stderr
	ts.Check(c.Start())
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	there := make(chan *os.File, 1)
	go func() {
		if counts {
			awaitWorkers(ts, false, args[1:2])
			there <- nil
			return
		}
		f, _ := os.OpenFile(pipe, os.O_WRONLY, 0) // once somebody has opened it to read
		there <- f
	}()
	select {
	case f := <-there:
		if f != nil {
			defer f.Close()
		}
		ts.Check(c.Process.Signal(signals[args[0]]))
	case <-ended:
		ts.Fatalf("%v has ended before the signal: %s", c.Args, stderr.Bytes())
	}
	select {
	case err := <-ended:
		endsWith(ts, c, err, "130", stderr.Bytes())
	case <-time.After(soon):
		c.Process.Kill()
		ts.Fatalf("%v did not hear SIG%s", c.Args, args[0])
	}
}
