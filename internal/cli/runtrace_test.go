package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"dmebench/algorithms"
	"dmebench/dme"
	"dmebench/internal/record/recording"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// dmebench runs a command in the current folder.
func dmebench(args ...string) (code int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	code = Run(append([]string{"dmebench"}, args...), nil, &out, &errOut, algorithms.All(), nil, fstest.MapFS{})
	return code, out.String(), errOut.String()
}

// A recording holds every message, request and entry that the run has counted, in
// an order in which nothing arrives before it was sent.
func TestRunTrace(t *testing.T) {
	t.Chdir(t.TempDir())
	code, stdout, stderr := dmebench("run", "-a", "lamport", "-n", "3", "--transport", "sim", "--requests", "30",
		"--trace", "run.jsonl", "--json")
	if code != 0 || !strings.Contains(stderr, "events recorded in run.jsonl") {
		t.Fatalf("%d: %s", code, stderr)
	}
	var r runs.Result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	h, count := counted(t, "run.jsonl")
	if h.Algorithm != "lamport" || h.Nodes != 3 || h.Transport != "sim" || !h.Whole || h.Dropped != 0 || len(h.Kinds) != 3 {
		t.Errorf("%+v", h)
	}
	for what, want := range map[dme.EventKind]uint64{
		dme.Request: r.Requests, dme.Enter: r.Entries, dme.Exit: r.Entries,
		dme.Send: r.Messages.Total, dme.Receive: r.Messages.Total,
	} {
		if count[what] != want {
			t.Errorf("%d times %s, want %d", count[what], what, want)
		}
	}
	code, stdout, stderr = dmebench("trace", "-f", "run.jsonl", "--svg", "run.svg")
	if svg, err := os.ReadFile("run.svg"); code != 0 || err != nil || !bytes.Contains(svg, []byte("RELEASE")) ||
		!strings.Contains(stdout, "enters") || !strings.Contains(stderr, "these are 200 events") {
		t.Errorf("%d, %v: %s\n%s", code, err, stdout, stderr)
	}
	// What is on its way where a part ends is not lost.
	code, stdout, _ = dmebench("trace", "-f", "run.jsonl", "--to", "entry:1", "--format", "mermaid")
	if code != 0 || !strings.Contains(stdout, "(on the way)") || strings.Contains(stdout, "(lost)") {
		t.Errorf("%d:\n%s", code, stdout)
	}
}

// counted counts the events of a recording, whose messages must arrive as they were
// sent, and none of which is missing.
func counted(t *testing.T, file string) (recording.Header, map[dme.EventKind]uint64) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, events, err := recording.Read(file, f)
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[dme.EventKind]uint64)
	flight := make(map[uint64]recording.Event)
	inside := dme.None
	for e, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		switch count[e.What]++; e.What {
		case dme.Send:
			flight[e.ID] = e
		case dme.Receive:
			if s := flight[e.ID]; s.Node != e.Peer || s.Peer != e.Node || s.Kind != e.Kind || s.Message != e.Message {
				t.Fatalf("%+v arrives as %+v", s, e)
			}
			delete(flight, e.ID)
		case dme.Enter:
			if inside != dme.None {
				t.Fatalf("%+v while %d is inside", e, inside)
			}
			inside = e.Node
		case dme.Exit:
			inside = dme.None
		}
	}
	if len(flight) > 0 {
		t.Errorf("%d messages never arrive", len(flight))
	}
	return h, count
}

// The same seed gives the same recording, and recording changes nothing.
func TestSimulatedTraceIsAFunctionOfTheSeed(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"run", "-a", "maekawa", "-n", "7", "--transport", "sim", "--requests", "40", "--set", "delay=exponential", "--json",
		"--fault", "pause 3 @5ms-9ms"}
	_, plain, _ := dmebench(args...)
	var texts [2]string
	for i := range texts {
		code, stdout, stderr := dmebench(append(args, "--trace", "t.jsonl")...)
		if code != 0 || stdout != plain {
			t.Fatalf("%d: %s\nrecorded:\n%s\nnot recorded:\n%s", code, stderr, stdout, plain)
		}
		b, err := os.ReadFile("t.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(b)
	}
	if texts[0] != texts[1] {
		t.Error("two recordings differ")
	}
}

func TestRunTraceRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("folder", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code       int
		args, want string
	}{
		{64, "--trace=", "into which file?"},
		{64, "--trace t.jsonl --fault=kill@2@1ms", "takes its part of the recording with it"},
		{73, "--trace folder", "it is not a regular file"},
		{73, "--trace no/where.jsonl", "cannot write there"},
	} {
		args := append(words("run -a ricart-agrawala-robust -n 3 --requests 3 --set bound=1s"), words(c.args)...)
		for i, a := range args {
			args[i] = strings.Replace(a, "kill@2@", "kill 2 @", 1)
		}
		code, _, stderr := dmebench(args...)
		if code != c.code || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: %d, %q; want %d, %q", c.args, code, stderr, c.code, c.want)
		}
	}
	if files, _ := filepath.Glob("*.jsonl"); files != nil {
		t.Errorf("left behind: %v", files)
	}
}

// counterexamples are searches that find one of each kind.
var counterexamples = map[string]string{
	"exclusion":  "-a singhal-as-published -n 3 --requests 3 --schedules 50000",
	"standstill": "-a maekawa-textbook-as-published -n 3 --requests 3 --schedules 50000",
	"crash":      "-a ricart-agrawala-robust-as-published -n 3 --requests 4 --faults 1 --schedules 50000",
	"option":     "-a chaudhuri-karaata-as-published -n 3 --requests 4 --set mesh=1x1x3 --schedules 50000",
	"overtaking": "-a lamport -n 3 --requests 6 --fifo=false --seed 40 --schedules 500",
	"loss":       "-a suzuki-kasami -n 3 --requests 3 --lose 1 --exhaustive",
	"copies":     "-a raymond -n 3 --duplicate --requests 5",
	"bypass":     "-a lamport -n 2 --requests 8 --exhaustive --bypass 1",
}

// A counterexample is kept as a scenario that breaks the same property again, and
// that fails once it does not.
func TestCheckSave(t *testing.T) {
	for name, search := range counterexamples {
		if name == "crash" && !testkit.Long() {
			continue // it is found late
		}
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			code, stdout, stderr := dmebench(append([]string{"check", "--quiet", "--save", "c.txt"}, words(search)...)...)
			if code != 1 || !strings.Contains(stdout, "saved in c.txt") {
				t.Fatalf("%d: %s%s", code, stdout, stderr)
			}
			text, err := os.ReadFile("c.txt")
			if err != nil || strings.Contains(string(text), "#0") {
				t.Fatal(err)
			}
			if code, stdout, stderr := dmebench("trace", "-f", "c.txt", "--svg", "c.svg"); code != 0 || stdout != string(text) || stderr != "" {
				t.Errorf("played: %d: %s", code, stderr)
			}
			svg, err := os.ReadFile("c.svg") // which says what steps change, and where the property breaks
			if err != nil || !bytes.Contains(svg, []byte(`class="label note"`)) || !bytes.Contains(svg, []byte(`class="badrow"`)) {
				t.Errorf("%v: the picture does not explain:\n%s", err, svg)
			}
			// Without its last step it breaks nothing yet.
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			last := len(lines) - 1
			for ; strings.HasPrefix(lines[last], " "); last-- {
			}
			shorter := strings.Join(append(lines[:last:last], "  violation: as before"), "\n") + "\n"
			if err := os.WriteFile("shorter.txt", []byte(shorter), 0o666); err != nil {
				t.Fatal(err)
			}
			code, _, stderr = dmebench("trace", "-f", "shorter.txt")
			if code != 1 || !strings.Contains(stderr, "\n-  violation: as before\n+  no violation of ") {
				t.Errorf("shorter: %d: %s", code, stderr)
			}
		})
	}
}

// A scenario fails where something else comes out than it expects, says what, and
// is rewritten on request.
func TestTraceExpects(t *testing.T) {
	t.Chdir(t.TempDir())
	const head = "# Two nodes\nalgorithm ricart-agrawala\nnodes 2\n\nrequest 1\n"
	const good = head + "  send 1->2 REQUEST clock=1\ndeliver 1->2\n  send 2->1 REPLY clock=1\n"
	for _, c := range []struct {
		text, difference string
	}{
		{good, ""},
		{head, ""}, // it expects nothing
		{strings.Replace(good, "REPLY clock=1", "REPLY clock=2", 1),
			" deliver 1->2\n-  send 2->1 REPLY clock=2\n+  send 2->1 REPLY clock=1\n"},
		{strings.Replace(good, "  send 1->2 REQUEST clock=1\n", "", 1), "+  send 1->2 REQUEST clock=1\n"},
		{good + "  enter 2\n", "-  enter 2\n"},
	} {
		if err := os.WriteFile("s.txt", []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := dmebench("trace", "-f", "s.txt")
		if want := map[bool]int{true: 0, false: 1}[c.difference == ""]; code != want || !strings.Contains(stderr, c.difference) {
			t.Errorf("%q: %d: %s", c.text, code, stderr)
		}
		if code, _, stderr = dmebench("trace", "-f", "s.txt", "--rewrite"); code != 0 || stderr != "" {
			t.Errorf("rewrite: %d: %s", code, stderr)
		}
		if b, err := os.ReadFile("s.txt"); err != nil || c.text != head && string(b) != good {
			t.Errorf("rewritten as %q, %v", b, err)
		}
	}
}

func TestTraceRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	recorded := `{"schema_version":1,"algorithm":"x","nodes":2}` + "\n" + `{"at_ns":0,"node":1,"event":"request"}` + "\n"
	for file, text := range map[string]string{
		"r.jsonl": recorded, "bad.jsonl": recorded + "no event\n", "s.txt": "# S\nalgorithm lamport\nnodes 2\nrequest 1\n",
		"p.txt": "# S\nalgorithm lamport\nnodes 2\nviolates nothing\n", "q.txt": "# S\nalgorithm lamport\nnodes 2\nseed x\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		code       int
		args, want string
	}{
		{64, "-f r.jsonl --format pdf", `unknown format "pdf"; there are text, svg`},
		{64, "-f r.jsonl --from soon", `--from "soon"`},
		{64, "-f r.jsonl --to entry:0", `--to "entry:0"`},
		{64, "-f r.jsonl --rewrite", "--rewrite is for a scenario"},
		{64, "-f r.jsonl --html x.html --from 1ms", "--from does not go with --html"},
		{64, "-f s.txt --from 1ms", "--from is for a recording"},
		{65, "-f r.jsonl --from 1s", "there is no event between"},
		{65, "-f bad.jsonl", "bad.jsonl:3: not an event"},
		{65, "-f p.txt", `p.txt:4: "nothing" is not a property; there are mutual exclusion`},
		{65, "-f q.txt", `q.txt:4: "x" is not a seed`},
		{66, "-f none.jsonl", "there is no file none.jsonl"},
		{66, "-f .", "is a directory"},
		{73, "-f r.jsonl --out no/where", "--out no/where: cannot write"},
	} {
		if code, _, stderr := dmebench(append([]string{"trace"}, words(c.args)...)...); code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: %d, %q; want %d, %q", c.args, code, stderr, c.code, c.want)
		}
	}
}
