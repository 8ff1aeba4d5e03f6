package foreign

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/testkit"
)

// fake is a host without a network.
type fake struct {
	event   sync.Mutex
	mu      sync.Mutex
	log     []string
	busy    bool
	handled int
	failure chan error
}

func newFake() *fake { return &fake{failure: make(chan error, 1)} }

func (f *fake) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

func (f *fake) Do(event func()) {
	f.event.Lock()
	defer f.event.Unlock()
	event()
}
func (f *fake) Enter(s dme.Stamp)                            { f.note("enter %v", s) }
func (f *fake) Unasked()                                     { f.note("unasked") }
func (f *fake) Send(to dme.NodeID, kind string, body []byte) { f.note("%s to %d: %s", kind, to, body) }
func (f *fake) Handled([]byte)                               { f.mu.Lock(); f.handled++; f.mu.Unlock() }
func (f *fake) Busy(busy bool)                               { f.mu.Lock(); f.busy = busy; f.mu.Unlock() }
func (f *fake) Fail(err error)                               { f.failure <- err }
func (f *fake) seen() string                                 { f.mu.Lock(); defer f.mu.Unlock(); return strings.Join(f.log, "\n") }
func (f *fake) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		select {
		case err := <-f.failure:
			t.Fatalf("waiting for %s: %v", what, err)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("waiting for %s; seen:\n%s", what, f.seen())
		}
	}
}

const preamble = `
import json, os, sys, time
def say(dest, src="n2", **body):
    print(json.dumps({"src": src, "dest": dest, "body": body}), flush=True)
def get():
    return json.loads(sys.stdin.readline())
assert get()["body"] == {"type": "init", "msg_id": 1, "node_id": "n2", "node_ids": ["n1", "n2", "n3"]}
`

const ready = preamble + `
say("c2", type="init_ok", in_reply_to=1)
`

// start starts a script as node 2 of 3.
func start(t *testing.T, host Host, text string) (*Child, *lockedBuffer) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	stderr := new(lockedBuffer)
	c := Config{
		Run: rand.Text(), Command: "python3 -c '" + text + "'", ID: 2, Nodes: 3, Settle: 5 * time.Millisecond, Answer: time.Minute,
		Stderr: stderr,
	}
	l := NewLauncher()
	x, err := Start(l, c, host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		x.Close()
		l.Close()
	})
	return x, stderr
}

// lockedBuffer is written by one goroutine and read by another.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestEveryFaultOfANodeIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   string
	}{
		"garbage":         {ready + `print("all is \x07well", flush=True)`, "is not a message in JSON (invalid character 'a'"},
		"no dest":         {ready + `print(json.dumps({"body": {}}), flush=True)`, `has no "dest": {"body": {}}`},
		"a line too long": {ready + `say("n1", filling="x" * 1048576)`, "writes a line of more than 1048576 bytes: {"},
		"no body":         {ready + `print(json.dumps({"dest": "n1", "body": 7}), flush=True)`, `whose "body" is missing or not an object`},
		"another name":    {ready + `say("n01", type="A")`, `writes to "n01"; there are n1 to n3`},
		"nobody":          {ready + `say("n4", type="A")`, `writes to "n4"; there are n1 to n3, and its client c2: {`},
		"itself":          {ready + `say("n2", type="A")`, "sends a message to itself"},
		"another source":  {ready + `say("n1", src="n1", type="A")`, `calls itself "n1" in src; it is n2`},
		"a type":          {ready + `say("c2", type="inside")`, `says "inside" to its client; want entered or released`},
		"an error":        {ready + `say("c2", type="error", code=11, text="not now")`, "error 11 (not now)"},
		"another answer":  {preamble + `say("c2", type="hello")`, "must first answer init with init_ok"},
		"unasked":         {ready + `say("c2", type="entered")`, "enters the critical section, for which no request of its own is pending"},
		"exits":           {ready + `sys.exit(3)`, "ended: exit status 3; its last line was {"},
		"exits in a line": {ready + `sys.stdout.write("half a"); sys.stdout.flush(); sys.exit(3)`, "its last line was half a"},
		"is killed":       {ready + `os.kill(os.getpid(), 9)`, "ended: signal: killed"},
		"says no more":    {ready + `os.close(1); time.sleep(60)`, "has closed its standard output, and goes on"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			x, _ := start(t, f, strings.ReplaceAll(c.script, "'", `"`)+"\ntime.sleep(60)")
			x.Begin()
			select {
			case err := <-f.failure:
				if want := "node 2 ("; !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v\nwant: %s", err, c.want)
				}
			case <-time.After(time.Minute):
				t.Errorf("nothing was told; seen: %s", f.seen())
			}
			if seen := f.seen(); strings.Contains(seen, "unasked") != (name == "unasked") || strings.Contains(seen, "enter") {
				t.Errorf("seen: %s", seen)
			}
		})
	}
}

// A whole life: calls and answers, messages both ways, the next request only after the
// answer to release, and silence once there is nothing to do.
func TestNodeAndClientTalk(t *testing.T) {
	f := newFake()
	x, stderr := start(t, f, ready+`
print("here I am", file=sys.stderr)
say("n3", type="HELLO", list=[1, {"x": None}])
say("n1", number=1)
for k in range(2):
    b = get()["body"]
    assert b == {"type": "request", "msg_id": 2 + 2 * k}, b
    say("c2", type="entered", in_reply_to=b["msg_id"], clock=7)
    b = get()["body"]
    assert b == {"type": "release", "msg_id": 3 + 2 * k}, b
    m = get()
    assert m == {"src": "n3", "dest": "n2", "body": {"type": "LATE", "a": [1]}}, m
    say("c2", type="released", in_reply_to=b["msg_id"])
time.sleep(60)
`)
	f.until(t, "init_ok", func() bool {
		select {
		case <-x.Ready():
			return true
		default:
			return false
		}
	})
	if seen := f.seen(); seen != "" {
		t.Errorf("heard before the run began: %s", seen)
	}
	x.Begin()
	entered := func(n int) func() bool {
		return func() bool { return strings.Count(f.seen(), "enter (7,2)") == n }
	}
	f.Do(x.request)
	f.until(t, "the first entry", entered(1))
	f.Do(func() {
		x.release()
		x.request() // which has to wait for the answer
	})
	x.Deliver(3, []byte("LATE"), []byte(`{"type":"LATE","a":[1]}`))
	f.until(t, "the second entry", entered(2))
	f.Do(x.release)
	time.Sleep(20 * x.Settle) // in which it says nothing
	f.mu.Lock()
	if !f.busy {
		t.Error("idle, while a release is not answered")
	}
	f.mu.Unlock()
	x.Deliver(3, []byte("LATE"), []byte(`{"type":"LATE","a":[1]}`))
	f.until(t, "silence", func() bool { f.mu.Lock(); defer f.mu.Unlock(); return !f.busy && f.handled == 2 })
	want := "HELLO to 3: {\"type\": \"HELLO\", \"list\": [1, {\"x\": null}]}\n(no type) to 1: {\"number\": 1}\nenter (7,2)\nenter (7,2)"
	if seen := f.seen(); seen != want {
		t.Errorf("seen:\n%s\nwant:\n%s", seen, want)
	}
	f.until(t, "its standard error", func() bool { return stderr.String() == "n2: here I am\n" })
}

// An answer to an earlier request is none to this one.
func TestEntryForAnotherRequest(t *testing.T) {
	f := newFake()
	x, _ := start(t, f, ready+"b = get()[\"body\"]\nsay(\"c2\", type=\"entered\", in_reply_to=b[\"msg_id\"] - 1)\ntime.sleep(60)")
	x.Begin()
	f.Do(x.request)
	if err := <-f.failure; !strings.Contains(err.Error(), "no request of its own is pending") || f.seen() != "unasked" {
		t.Errorf("%v; seen: %s", err, f.seen())
	}
}

func TestNodeThatDoesNotRead(t *testing.T) {
	f := newFake()
	x, _ := start(t, f, ready+"time.sleep(60)")
	<-x.Ready()
	x.Begin()
	body := []byte(`{"type":"SPAM","filling":"` + strings.Repeat("x", maxWaiting/1000) + `"}`)
	x.Deliver(1, []byte("A"), []byte(`{"type":"A"}`))
	for range 2000 {
		x.Deliver(3, []byte("SPAM"), body)
	}
	err := <-f.failure
	for _, want := range []string{"does not read what is sent to it", `{"type":"SPAM"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant: %s", err, want)
		}
	}
	if f.handled >= 2001 {
		t.Errorf("%d messages were counted as handled", f.handled)
	}
}

// Everything arrives, and in order, however much is sent at once and whoever is slow.
func TestPipesAreFilledAndDrained(t *testing.T) {
	f := newFake()
	x, _ := start(t, f, ready+`
time.sleep(0.1)
for k in range(3000):
    m = get()
    assert m["body"]["number"] == k, m
    say("n1", type="ECHO", number=k)
`+"time.sleep(60)")
	x.Begin()
	filling := strings.Repeat("y", 300)
	for k := range 3000 {
		x.Deliver(1, []byte("A"), fmt.Appendf(nil, `{"number":%d,"filling":"%s"}`, k, filling))
	}
	f.until(t, "silence", func() bool { f.mu.Lock(); defer f.mu.Unlock(); return !f.busy && len(f.log) == 3000 })
	for k, line := range strings.Split(f.seen(), "\n") {
		if want := fmt.Sprintf(`ECHO to 1: {"type": "ECHO", "number": %d}`, k); line != want {
			t.Fatalf("%s; want %s", line, want)
		}
	}
	if f.handled != 3000 {
		t.Errorf("%d handled", f.handled)
	}
}

func TestProgramsThatAreNotThere(t *testing.T) {
	dir := t.TempDir()
	for command, want := range map[string]string{
		"./none.py": "there is no program ./none.py", "no-such-program -x": "on the PATH", "'": "a quote is not closed",
		dir: "", "line.go": "write ./line.go", "./line.go": "chmod +x ./line.go",
	} {
		if err := Available(command); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", command, err, want)
		}
	}
	if err := Available("sh -c true"); err != nil {
		t.Error(err)
	}
}

func TestFramesAreReadAsWritten(t *testing.T) {
	kind, body, err := ReadFrame(AppendFrame(nil, "REQUEST", []byte(`{"a":1}`)))
	if string(kind) != "REQUEST" || string(body) != `{"a":1}` || err != nil {
		t.Errorf("%s %s %v", kind, body, err)
	}
	for _, b := range []string{"", "\x01", "\x00\x00", "\x02\x00", "\x01\x05abc"} {
		if _, _, err := ReadFrame([]byte(b)); err == nil {
			t.Errorf("%q is no frame", b)
		}
	}
	if got := tidy(strings.Repeat("é", 100)); len(got) > maxType+len("…") || !strings.HasSuffix(got, "é…") {
		t.Errorf("a long type is cut to %q", got)
	}
}

func TestBodiesAreRecorded(t *testing.T) {
	for body, want := range map[string][2]string{
		`{"type":"TOKEN","queue": [1, "n2"], "a b":{"x": null}}`: {"TOKEN", `queue=[1,"n2"] a b={"x":null}`},
		`{}`:             {"(no type)", ""},
		`{"n": 1234567}`: {"(no type)", "n=1234567"},
	} {
		if kind, rest := Describe(Pack([]byte(body))); kind != want[0] || rest != want[1] {
			t.Errorf("%s: %q %q, want %q", body, kind, rest, want)
		}
	}
	long := []byte(`{"filling":"` + strings.Repeat("x", 1000) + `"}`)
	if _, rest := Describe(Pack(long)); len(rest) > excerptBytes+len("…") || !strings.HasSuffix(rest, "x…") {
		t.Errorf("a long body is cut to %q", rest)
	}
}

func TestTypesAreNumberedAndJoined(t *testing.T) {
	var types Types
	for k := range 20 {
		name := fmt.Sprintf("t%02d", k)
		want := dme.Kind(min(k+1, dme.MaxKinds))
		if a, b := types.Kind([]byte(name)), types.Kind([]byte(name)); a != want || b != want {
			t.Errorf("%s has numbers %d and %d, want %d", name, a, b, want)
		}
	}
	if names := types.Names(); len(names) != dme.MaxKinds || names[14] != otherTypes || names[0] != "t00" {
		t.Errorf("names %q", names)
	}
	if got := strings.Join(Union([]string{"B", "A", "B"}), " "); got != "A B" {
		t.Errorf("joined: %s", got)
	}
	if got := strings.Join(Union([]string{"B", otherTypes, "z"}), " "); got != "B z "+otherTypes {
		t.Errorf("joined: %s", got)
	}
	if got := Union(append(types.Names(), "a", "b", "c")); len(got) != dme.MaxKinds || got[14] != otherTypes {
		t.Errorf("joined: %q", got)
	}
}

// A node that does not hear any more what is written to it is told.
func TestANodeThatIsDeaf(t *testing.T) {
	testkit.TakesLong(t)
	f := newFake()
	x, _ := start(t, f, ready+"time.sleep(0.1); os.close(0); time.sleep(60)")
	x.Begin()
	f.Do(x.request)
	mustFail(t, f, "has closed its standard input, and goes on; its last line was")
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
			x, _ := start(t, f, ready+fmt.Sprintf(daemon, file, c.environment)+c.then)
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
