package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A node that does not hear any more what is written to it is told, whether it has closed
// its standard input before or after that.
func TestANodeThatIsDeaf(t *testing.T) {
	const closes = "; os.close(0); say(\"n1\", type=\"CLOSED\"); time.sleep(60)"
	for name, script := range map[string]string{
		"before": ready + "time.sleep(0)" + closes,
		"after":  ready + "time.sleep(0.1)" + closes,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			x, _ := start(t, f, script, nil)
			x.Begin()
			if name == "before" {
				f.until(t, "the end of its standard input", func() bool { return strings.Contains(f.seen(), "CLOSED") })
			}
			f.Do(x.request)
			mustFail(t, f, "has closed its standard input, and goes on; its last line was")
		})
	}
}

func mustFail(t *testing.T, f *fake, want string) {
	t.Helper()
	select {
	case err := <-f.failure:
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant: %s", err, want)
		}
	case <-time.After(time.Minute):
		t.Errorf("nothing was told; seen: %s", f.seen())
	}
}

// daemon starts a process twice removed in a session of its own, which has the pipes of
// the node, and writes its number to a file. It has the environment named.
const daemon = `
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        text = "import os, sys, time; to = sys.argv[1]; open(to + chr(126), chr(119)).write(str(os.getpid()))"
        text += "; os.rename(to + chr(126), to); time.sleep(600)"
        os.execve(sys.executable, [sys.executable, "-c", text, %[1]q], %[2]s)
    os._exit(0)
while not os.path.exists(%[1]q): time.sleep(0.001)
`

// What a node has started ends with it, also in a session of its own. The end of the node
// is told soon, also where a process has its pipes that cannot be found.
func TestWhatANodeLeavesBehind(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("the system does not tell the environments of processes")
	}
	for name, c := range map[string]struct {
		environment, then string
		found             bool
	}{
		"found":     {"os.environ", "sys.exit(3)", true},
		"not found": {"{}", "sys.exit(3)", false},
		"closed":    {"os.environ", "say(\"n1\", type=\"READY\"); time.sleep(600)", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pid")
			f := newFake()
			x, _ := start(t, f, ready+fmt.Sprintf(daemon, file, c.environment)+c.then, nil)
			x.Begin()
			if name == "closed" {
				f.until(t, "the node", func() bool { return strings.Contains(f.seen(), "READY") })
				x.Close()
			} else {
				mustFail(t, f, "ended: exit status 3")
				<-x.Ended()
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(string(text))
			if err != nil {
				t.Fatal(err)
			}
			if there := running(pid); there == c.found {
				t.Errorf("the process is there: %v", there)
			}
			_ = syscall.Kill(pid, syscall.SIGKILL)
		})
	}
}

// running reports whether a process is there and has not ended: nobody here may reap it.
func running(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && len(b) > 0
}

func TestWordsAreThoseOfAShell(t *testing.T) {
	for _, c := range []struct {
		command string
		want    []string
	}{
		{"./node.py", []string{"./node.py"}},
		{"  python3 -u\t./node.py  ", []string{"python3", "-u", "./node.py"}},
		{`node 'my node.js' --name "a b"`, []string{"node", "my node.js", "--name", "a b"}},
		{`a\ b c\'d`, []string{"a b", "c'd"}},
		{`x "say \"hi\" \n" '\n'`, []string{"x", `say "hi" \n`, `\n`}},
		{`x '' ""y`, []string{"x", "", "y"}},
		{`x a'b'"c"d`, []string{"x", "abcd"}},
		{"x $HOME ~ *.py | y", []string{"x", "$HOME", "~", "*.py", "|", "y"}},
	} {
		if got, err := Split(c.command); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v; want %q", c.command, got, err, c.want)
		}
	}
	for _, command := range []string{"", "  ", "''", "a 'b", `a "b`, `a \`, "a\x00b"} {
		if got, err := Split(command); err == nil {
			t.Errorf("%q: %q", command, got)
		}
	}
}

func TestNodesAreCalledAfterTheirProgram(t *testing.T) {
	for command, want := range map[string]string{
		"./node.py": "exec:node.py", "/usr/bin/python3.11 -u nodes/ra.py --slow": "exec:ra.py", "node sk.js": "exec:sk.js",
		"python3 -m": "exec:python3", "./a 'b c'": "exec:a", "env python3 x.py": "exec:x.py", "'": "exec", "": "exec",
	} {
		if got := Named(command); got != want {
			t.Errorf("%q is called %q, want %q", command, got, want)
		}
	}
	for name, want := range map[string]bool{"exec": true, "exec:x": true, "execute": false, "": false, "ricart-agrawala": false} {
		if Is(name) != want {
			t.Errorf("Is(%q) = %v", name, !want)
		}
	}
}
