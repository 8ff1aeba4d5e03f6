package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"dmebench/internal/runtime/ping"
	"dmebench/internal/runtime/worker"
)

// exits CODE COMMAND…: the command ends with that exit code. Where the code is
// one of refusal, it says why on standard error, in lines that all begin with
// the program's name, and nothing on standard output.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	code, err := strconv.Atoi(args[0])
	if err != nil || neg {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != code {
		ts.Fatalf("%v ended with %d, want %d", args[1:], got, code)
	}
	if code >= 64 && code < 126 {
		stderr := ts.ReadFile("stderr")
		if stderr == "" || ts.ReadFile("stdout") != "" {
			ts.Fatalf("a refusal is told on standard error, and nothing else is printed; stdout: %q", ts.ReadFile("stdout"))
		}
		for line := range strings.Lines(stderr) {
			if !strings.HasPrefix(line, "dmebench: ") {
				ts.Fatalf("line %q does not begin with the program's name", line)
			}
		}
	}
}

// advice is found in every line that says what to do, or what would have done.
var advice = regexp.MustCompile(`did you mean|there (are|is|must)|want |write |choose |give |leave |name (a|an|one) |needs |` +
	`known here|'dmebench|missing|one of them|too many|takes `)

// wrong CODE PATTERN COMMAND…: the command is refused with that code, in one line that
// matches the pattern and says what to do.
func wrong(ts *testscript.TestScript, _ bool, args []string) {
	exits(ts, false, append([]string{args[0]}, args[2:]...))
	said := ts.ReadFile("stderr")
	if strings.Count(said, "\n") != 1 || !advice.MatchString(said) || !regexp.MustCompile(args[1]).MatchString(said) {
		ts.Fatalf("want one line, with what to do and a match for %s; this is\n%s", args[1], said)
	}
}

// json FILE PATH VALUE: the JSON object in the file has that value, as JSON, at
// the path of keys, and of numbers of items, from 0.
func jsonValue(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json FILE KEY.KEY… VALUE")
	}
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	var value any
	ts.Check(d.Decode(&value))
	if d.More() {
		ts.Fatalf("%s holds more than one JSON value", args[0])
	}
	for key := range strings.SplitSeq(args[1], ".") {
		if list, ok := value.([]any); ok {
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(list) {
				ts.Fatalf("%s: there is no item %q in a list of %d", args[1], key, len(list))
			}
			value = list[i]
			continue
		}
		m, ok := value.(map[string]any)
		if !ok {
			ts.Fatalf("%s: nothing has the key %q", args[1], key)
		}
		if value, ok = m[key]; !ok {
			ts.Fatalf("%s: there is no key %q", args[1], key)
		}
	}
	got, err := json.Marshal(value)
	ts.Check(err)
	if (string(got) == args[2]) == neg {
		ts.Fatalf("%s is %s, want %s (negated: %v)", args[1], got, args[2], neg)
	}
}

// occupied VAR: a port of the loopback is in use until the script ends; VAR
// holds its address.
func occupied(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv(args[0], l.Addr().String())
}

// workersBelow returns the worker processes, and those of ping, that a process
// of this script has started, by looking for the script's own folder in their
// environment.
func workersBelow(ts *testscript.TestScript) []int {
	var pids []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		args, err1 := os.ReadFile(dir + "/cmdline")
		env, err2 := os.ReadFile(dir + "/environ")
		if err1 == nil && err2 == nil && isWorker(strings.Split(string(args), "\x00")) &&
			strings.Contains(string(env), "WORK="+ts.Getenv("WORK")+"\x00") {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			pids = append(pids, pid)
		}
	}
	return pids
}

func isWorker(args []string) bool {
	return len(args) > 1 && (args[1] == worker.Command || args[1] == ping.Command)
}

// awaitworkers N: waits until that many worker processes of this script are
// there.
func awaitWorkers(ts *testscript.TestScript, _ bool, args []string) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if fmt.Sprint(len(workersBelow(ts))) == args[0] {
			return
		}
	}
	ts.Fatalf("no %s workers came up within a minute", args[0])
}

// killworker: waits until workers run, and kills one of them.
func killWorker(ts *testscript.TestScript, _ bool, _ []string) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if pids := workersBelow(ts); len(pids) > 0 {
			ts.Check(syscall.Kill(pids[len(pids)/2], syscall.SIGKILL))
			return
		}
	}
	ts.Fatalf("no worker came up within a minute")
}

// workers N: that many worker processes of this script are there.
func countWorkers(ts *testscript.TestScript, _ bool, args []string) {
	if got := fmt.Sprint(len(workersBelow(ts))); got != args[0] {
		ts.Fatalf("%s worker processes are there, want %s", got, args[0])
	}
}
