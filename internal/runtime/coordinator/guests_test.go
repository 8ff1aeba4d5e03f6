package coordinator

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dmebench/internal/platform/launch"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// needs skips a test where a program is not there.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed", program)
	}
}

// A script that enters whenever it is asked, which is right where one node at a time
// asks, and in which something is done otherwise at %s.
const script = `
import json, os, subprocess, sys, threading, time
def say(dest, src=None, **body):
    print(json.dumps({"src": src or me, "dest": dest, "body": body}), flush=True)
def client(**body):
    say("c" + me[1:], **body)
def init(b):
    client(type="init_ok", in_reply_to=b["msg_id"])
def request(b):
    client(type="entered", in_reply_to=b["msg_id"])
def release(b):
    client(type="released", in_reply_to=b["msg_id"])
def other(src, b):
    pass
plain = request
%s
for line in sys.stdin:
    m = json.loads(line)
    b = m["body"]
    if b["type"] == "init":
        me = b["node_id"]
        init(b)
    elif b["type"] == "request":
        request(b)
    elif b["type"] == "release":
        release(b)
    else:
        other(m["src"], b)
`

// python writes a script and returns the specification of a run of it on two nodes, in
// steps.
func python(t *testing.T, otherwise string) runs.Spec {
	t.Helper()
	needs(t, "python3")
	file := filepath.Join(t.TempDir(), "node.py")
	if err := os.WriteFile(file, fmt.Appendf(nil, script, otherwise), 0o666); err != nil {
		t.Fatal(err)
	}
	return runs.Spec{
		Algorithm: "exec", Nodes: 2, Workload: "serial", Requests: 6,
		Set: map[string]string{"command": "python3 '" + file + "'", "requesters": "each"},
	}
}

// executeGuests executes a run, and makes sure that no process of a node is left. The
// script's path tells them.
func executeGuests(t *testing.T, spec runs.Spec, opt Options) *runs.Result {
	t.Helper()
	r := mustEnd(t, spec, opt)
	noneLeft(t, scriptOf(spec))
	return r
}

// scriptOf returns the path of the script that each node of a run executes; it may be quoted.
func scriptOf(spec runs.Spec) string {
	command := spec.Set["command"]
	if _, quoted, ok := strings.Cut(command, "'"); ok {
		return strings.TrimSuffix(quoted, "'")
	}
	return command[strings.LastIndex(command, " ")+1:]
}

// noneLeft makes sure that no process is left that has a word on its command line. One
// that was killed by the kernel may take a moment.
func noneLeft(t *testing.T, word string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		left := running(word)
		if left == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("processes %v are left", left)
			return
		}
	}
}

func running(word string) (pids []int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range lines {
		b, _ := os.ReadFile(file)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if strings.Contains(string(b), word) && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Whatever a node does wrong is told by its number, with the line that shows it.
func TestGuestsThatMisbehave(t *testing.T) {
	beside(t)
	const second = "\n    if me != 'n2': return plain(b)\n"
	for name, c := range map[string]struct {
		otherwise string
		status    runs.Status
		want      []string // in the error
		stderr    string

		stallAfter time.Duration // Python may take some seconds to begin
	}{
		"exits": {"def request(b):" + second + "    print('I give up', file=sys.stderr)\n    sys.exit(3)",
			runs.Failed, []string{"node 2 (python3 ", "exit status 3", "its last line was", "init_ok"}, "n2: I give up", 0},
		"no init": {"def init(b):\n    pass", runs.Failed, []string{"has not answered init", "flush"}, "", time.Second},
		"unasked": {"def release(b):\n    client(type='released', in_reply_to=b['msg_id'])\n" +
			"    if me == 'n2': client(type='entered')",
			runs.Violated, []string{"node 2 ", "no request of its own is pending", `{"src": "n2", "dest": "c2", "body": {`}, "", 0},
		"stays": {"def release(b):\n    if me != 'n2': client(type='released', in_reply_to=b['msg_id'])", runs.Failed,
			[]string{"node 2 ", "does not answer release"}, "", 12 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			if c.stallAfter > time.Second {
				testkit.TakesLong(t)
			}
			beside(t)
			spec := python(t, c.otherwise)
			spec.StallAfter = runs.Duration(c.stallAfter)
			r := executeGuests(t, spec, Options{})
			if r.Status != c.status {
				t.Errorf("status %s, want %s", r.Status, c.status)
			}
			for _, want := range c.want {
				if !strings.Contains(r.Error, want) {
					t.Errorf("the error says nothing of %q: %s", want, r.Error)
				}
			}
			if slices.Contains(c.want, "node 2 ") && !slices.Equal(r.FailedNodes, []int{2}) {
				t.Errorf("failed: %v", r.FailedNodes)
			}
			if c.stderr != "" && !slices.Contains(r.FailedStderr, c.stderr) {
				t.Errorf("of its standard error: %q", r.FailedStderr)
			}
		})
	}
}

func TestGuestsThatStall(t *testing.T) {
	testkit.TakesLong(t)
	beside(t)
	spec := python(t, "def request(b):\n    say('n1' if me == 'n2' else 'n2', type='PLEASE')")
	spec.StallAfter = runs.Duration(12 * time.Second) // Python may take half as long to begin, beside other tests
	r := executeGuests(t, spec, Options{})
	states := strings.Join(r.Liveness.States, "\n")
	for _, want := range []string{"node 1 is requesting", "has not answered request 2", "PLEASE", "last line to it"} {
		if r.Status != runs.Stalled || !strings.Contains(states, want) {
			t.Errorf("%s (%s): nothing of %q: %s", r.Status, r.Error, want, states)
		}
	}
	if r.Messages.ByKind["PLEASE"] != 1 {
		t.Errorf("messages %v", r.Messages.ByKind)
	}
}

// A node that computes is not idle, however silent it is: what it sends then belongs
// to the step that caused it.
func TestGuestsThatComputeAreNotIdle(t *testing.T) {
	testkit.TakesLong(t)
	beside(t)
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("the system does not tell who runs")
	}
	spec := python(t, `
def request(b):
    plain(b)
    say("n1" if me == "n2" else "n2", type="THINK")
def other(src, b):
    if b["type"] != "THINK": return
    until = time.process_time() + 0.1
    while time.process_time() < until: pass
    say(src, type="THOUGHT")
`)
	spec.Set["settle"] = "5ms"
	r := executeGuests(t, spec, Options{})
	if r.Status != runs.OK || r.Messages.PerEntry["2"] != 6 || r.Messages.ByKind["THOUGHT"] != 6 {
		t.Errorf("%s %s: messages of an entry: %v, %v", r.Status, r.Error, r.Messages.PerEntry, r.Messages.ByKind)
	}
}

// A token that goes round for ever comes to rest when its nodes are told that no more
// requests will come, as they have asked to be.
func TestGuestsWithAPerpetualToken(t *testing.T) {
	beside(t)
	spec := python(t, `
waiting, token, stopped = None, False, False
def init(b):
    global token
    client(type="init_ok", in_reply_to=b["msg_id"], stop=True)
    if me == "n1": say("n2", type="TOKEN")
def request(b):
    global waiting
    waiting = b["msg_id"]
def other(src, b):
    global waiting, stopped, token
    if b["type"] == "stop":
        stopped = True
    elif waiting is not None:
        client(type="entered", in_reply_to=waiting)
        waiting = None
        token = True
    elif not stopped:
        say(src, type="TOKEN")
def release(b):
    global token
    client(type="released", in_reply_to=b["msg_id"])
    token = False
    if not stopped: say("n1" if me == "n2" else "n2", type="TOKEN")
`)
	spec.Workload = "saturate"
	delete(spec.Set, "requesters")
	r := executeGuests(t, spec, Options{})
	if r.Status != runs.OK || r.Entries != 6 || r.Messages.ByKind["TOKEN"] < 5 || len(r.Messages.ByKind) != 1 {
		t.Errorf("%s %s: %d entries, messages %v", r.Status, r.Error, r.Entries, r.Messages.ByKind)
	}
}

// There are fewer counters than a node may have types, and nobody knows the order in
// which they are met.
func TestGuestsOfManyTypes(t *testing.T) {
	beside(t)
	r := executeGuests(t, python(t, `
def request(b):
    plain(b)
    for k in reversed(range(20)):
        for _ in range(1 + k % 2): say("n1" if me == "n2" else "n2", type=str(k))
`), Options{})
	if r.Status != runs.OK || len(r.Messages.ByKind) != 15 {
		t.Fatalf("%s %s: messages %v", r.Status, r.Error, r.Messages.ByKind)
	}
	sum := uint64(0)
	for name, n := range r.Messages.ByKind {
		sum += n
		k, err := strconv.Atoi(name)
		if want := uint64(6 * (1 + k%2)); err == nil && n != want || err != nil && name != "other types" {
			t.Errorf("%d of %s", n, name)
		}
	}
	if sum != 6*30 || r.Messages.Total != sum {
		t.Errorf("%d messages of %d: %v", sum, r.Messages.Total, r.Messages.ByKind)
	}
}

// Processes that a node has started end with it, also in sessions of their own, and a node
// with its worker, however that ends.
func TestGuestsEndWithTheirWorkers(t *testing.T) {
	testkit.TakesLong(t)
	beside(t)
	starts := "here = sys.argv[0]\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', here], start_new_session=True)\n"
	r := executeGuests(t, python(t, starts), Options{})
	if r.Status != runs.OK {
		t.Errorf("%s: %s", r.Status, r.Error)
	}

	// One that does not mind the end of its standard input.
	spec := python(t, starts+"threading.Thread(target=time.sleep, args=(600,)).start()")
	spec.Duration, spec.Requests, spec.Workload = runs.Duration(time.Minute), 0, "saturate"
	delete(spec.Set, "requesters")
	spec.Nodes, spec.NodesPerWorker = 1, 1
	r = executeGuests(t, spec, Options{Started: func(p launch.Process) {
		go func() {
			for len(running(scriptOf(spec))) < 2 {
				time.Sleep(time.Millisecond)
			}
			_ = syscall.Kill(p.PID(), syscall.SIGKILL)
		}()
	}})
	if r.Status != runs.Failed || !strings.Contains(r.Error, "signal: killed") {
		t.Errorf("%s: %s", r.Status, r.Error)
	}
}

const examples = "../../../docs/examples/"

func TestExamplesInOtherLanguages(t *testing.T) {
	testkit.TakesLong(t)
	beside(t)
	for i, c := range []struct{ transport, program, script string }{
		{"tcp", "python3", "python/ricart_agrawala.py"},
		{"udp", "python3", "python/ricart_agrawala.py"},
		{"tcp", "node", "javascript/suzuki_kasami.js"},
		{"nats", "python3", "python/ricart_agrawala.py"},
	} {
		if !sampled(i, 2) {
			continue
		}
		t.Run(c.transport+"/"+filepath.Base(c.script), func(t *testing.T) {
			needs(t, c.program)
			const n, requests = 5, 250
			r := executeGuests(t, runs.Spec{
				Algorithm: "exec", Nodes: n, Transport: c.transport, Requests: requests, Set: map[string]string{"command": examples + c.script},
			}, Options{})
			if r.Status != runs.OK || r.Safety.Violations != 0 || r.Entries != requests {
				t.Fatalf("%s: %s %v", r.Status, r.Error, r.FailedStderr)
			}
			if of := r.Messages.ByKind; c.program == "python3" {
				if of["REQUEST"] != (n-1)*requests || of["REPLY"] != (n-1)*requests || r.Messages.Total != 2*(n-1)*requests {
					t.Errorf("messages %v, want 2(N−1) for each entry", of)
				}
			} else if of["REQUEST"] != (n-1)*of["TOKEN"] || of["TOKEN"] > requests || of["TOKEN"] < requests/2 {
				t.Errorf("messages %v, want N−1 requests for each token", of)
			}
		})
	}
}

func TestWrongExampleIsCaught(t *testing.T) {
	testkit.TakesLong(t)
	beside(t)
	needs(t, "python3")
	r := executeGuests(t, runs.Spec{
		Algorithm: "exec", Nodes: 5, Requests: 50, CS: "10ms", Set: map[string]string{"command": examples + "python/wrong_ricart_agrawala.py"},
	}, Options{})
	if r.Status != runs.Violated || r.Safety.Violations == 0 || r.Safety.Method != "shared-page" {
		t.Errorf("%s: %d violations by %s: %s", r.Status, r.Safety.Violations, r.Safety.Method, r.Error)
	}
}
