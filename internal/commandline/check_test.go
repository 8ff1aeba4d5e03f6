package commandline

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"dmebench/algorithms/catalog"
)

// checked runs 'dmebench check' with the given arguments in a folder of its own.
func checked(t *testing.T, args ...string) (code int, stdout, stderr, dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Chdir(dir)
	var out, errOut bytes.Buffer
	code = Run(append([]string{"dmebench", "check"}, args...), nil, &out, &errOut, catalog.All(), fstest.MapFS{})
	return code, out.String(), errOut.String(), dir
}

func words(s string) []string { return strings.Fields(s) }

func TestCheckHolds(t *testing.T) {
	code, stdout, stderr, dir := checked(t, words("-a ricart-agrawala -n 3 --requests 3 --exhaustive")...)
	if code != 0 || stderr != "" {
		t.Fatalf("%d: %s%s", code, stdout, stderr)
	}
	for _, want := range []string{
		"ricart-agrawala, 3 nodes, 3 requests, links that do not keep order, the worst that ricart-agrawala bears",
		"states/s", "every property holds in every state",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in:\n%s", want, stdout)
		}
	}
	code, stdout, _, _ = checked(t, words("-a ricart-agrawala -n 4 --schedules 50 --fifo=false")...)
	if code != 0 || !strings.Contains(stdout, "up to 20 requests, links that do not keep order, as told") ||
		!strings.Contains(stdout, "at most 9 entries of others between a request and its entry: N(N+1)/2 − 1") ||
		!strings.Contains(stdout, "schedules  ") || !strings.Contains(stdout, "no violation found\n") {
		t.Errorf("%d:\n%s", code, stdout)
	}
	code, stdout, _, _ = checked(t, words("-a raymond -n 4 --requests 8 --schedules 50 --fifo")...)
	for _, want := range []string{
		"raymond, 4 nodes, 8 requests, links that keep order, as told", "raymond does not need links that keep order",
		"at most 8 entries of others for each step of the longest delay",
	} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%d: %q is not in:\n%s", code, want, stdout)
		}
	}
	code, stdout, _, _ = checked(t, words("-a lamport -n 3 --schedules 50")...)
	if code != 0 || !strings.Contains(stdout, "up to 15 requests, links that keep order, the worst that lamport bears") {
		t.Errorf("%d:\n%s", code, stdout)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); files != nil {
		t.Errorf("left behind: %v", files)
	}
}

// A counterexample is printed, drawn, and found again by the command it names.
func TestCheckFindsAViolation(t *testing.T) {
	code, stdout, stderr, dir := checked(t, words("-a lamport -n 3 --requests 6 --fifo=false --seed 40 --schedules 500")...)
	if code != 1 || stderr != "" {
		t.Fatalf("%d: %s%s", code, stdout, stderr)
	}
	for _, want := range []string{"lamport needs links that keep order; these do not", "\n  1. node ", " asks: REQUEST ", "     → ",
		"  node 1 is ", "request_queue=", "drawn in counterexample-lamport.svg"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in:\n%s", want, stdout)
		}
	}
	svg, err := os.ReadFile(filepath.Join(dir, "counterexample-lamport.svg"))
	if err != nil || xml.Unmarshal(svg, new(struct{})) != nil {
		t.Errorf("%v: %s", err, svg)
	}
	_, again, _ := strings.Cut(stdout, "to see it again: dmebench check ")
	again, _, _ = strings.Cut(again, "\n")
	_, trace, _ := strings.Cut(stdout, "\n\n")
	code, stdout, _, _ = checked(t, words(again)...)
	if _, got, _ := strings.Cut(stdout, "\n\n"); code != 1 || got != trace {
		t.Errorf("%s: %d\n%s\nwant\n%s", again, code, got, trace)
	}
}

func TestCheckJSON(t *testing.T) {
	decode := func(args string) (code int, r checkResult) {
		t.Helper()
		code, stdout, _, _ := checked(t, append(words(args), "--json")...)
		d := json.NewDecoder(strings.NewReader(stdout))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil || d.More() {
			t.Fatalf("%v:\n%s", err, stdout)
		}
		return code, r
	}
	code, r := decode("-a suzuki-kasami -n 3 --requests 3 --lose 1 --exhaustive --out pictures")
	if code != 1 || r.Status != "stalled" || r.Property != "progress" || r.Search != "exhaustive" || r.Complete ||
		r.Lose != 1 || r.FIFO || r.LinksBy != "flags" ||
		*r.States == 0 || r.Schedules != nil || len(r.Trace) == 0 || len(r.Schedule) == 0 || len(r.NodeStates) != 3 ||
		r.SVG != filepath.Join("pictures", "counterexample-suzuki-kasami.svg") {
		t.Errorf("%d: %+v", code, r)
	}
	code, r = decode("-a raymond -n 4 --requests 10 --schedules 30 --set tree=line --duplicate=false")
	if code != 0 || r.Status != "ok" || !r.Complete || *r.Schedules != 30 || r.States != nil || r.Set["tree"] != "line" ||
		r.Requests != 10 || r.Vary || r.FIFO || r.Bypass != nil || *r.PerSecond <= 0 {
		t.Errorf("%d: %+v", code, r)
	}
	code, r = decode("-a lamport -n 2 --requests 8 --exhaustive --bypass 1")
	if code != 1 || r.Status != "violated" || r.Property != "bounded bypass" || *r.Bypass != 1 {
		t.Errorf("%d: %+v", code, r)
	}
	code, r = decode("-a ricart-agrawala -n 4 --requests 40 --exhaustive --states 1000")
	if code != 0 || r.Status != "incomplete" || r.Complete || !strings.Contains(r.Stopped, "1000 states") {
		t.Errorf("%d: %+v", code, r)
	}
	code, r = decode("-a ricart-agrawala -n 4 --requests 40 --exhaustive --memory 16MiB")
	if code != 0 || r.Status != "incomplete" || r.Complete || r.Stopped != "limit of 16 MiB of memory" {
		t.Errorf("%d: %+v", code, r)
	}
}

// What is wrong is said before anything starts, one line for each fault.
func TestCheckRefuses(t *testing.T) {
	for args, want := range map[string][]string{
		"":                                                       {"--algorithm is missing", "--nodes is missing"},
		"-a no-such -n 3":                                        {`unknown algorithm "no-such"`},
		"-a raymond -n 0":                                        {"0 nodes: there must be at least 1"},
		"-a raymond -n 3 --requests 0":                           {"--requests 0: there must be at least 1"},
		"-a raymond -n 3 --lose -1":                              {"-1 messages to lose"},
		"-a raymond -n 3 --bypass 0":                             {"--bypass 0"},
		"-a raymond -n 3 --time -1s":                             {"--for -1s: must be above 0"},
		"-a raymond -n 3 --set tree":                             {"--set tree: want KEY=VALUE"},
		"-a raymond -n 3 --set tree=oak":                         {"tree=oak"},
		"-a raymond -n 3 --set x=y":                              {`unknown option "x"`},
		"-a raymond -n 3 --states 7":                             {"--states is for --exhaustive"},
		"-a raymond -n 3 --memory 1GiB":                          {"--memory is for --exhaustive"},
		"-a raymond -n 3 --svg a --out b":                        {"choose one"},
		"-a raymond -n 3 further":                                {`the argument "further" and -a raymond say the same`},
		"-a raymond -n 3 --colour":                               {"unknown flag --colour"},
		"-a raymond -n x":                                        {"-n x: want a whole number"},
		"-a raymond -n 3 --exhaustive --memory much":             {`--memory: "much" is no size of memory; write it like 512MiB`},
		"-a raymond -n 3 --exhaustive --schedules 3 --adversary": {"--schedules is for random schedules", "--adversary is for random schedules"},
	} {
		code, stdout, stderr, _ := checked(t, words(args)...)
		if code != 64 || stdout != "" || strings.Count(stderr, "\n") != len(want) {
			t.Errorf("check %s: %d, %q, %q; want 64 and a line for each of %q", args, code, stdout, stderr, want)
		}
		for _, w := range want {
			if !strings.Contains(stderr, w) {
				t.Errorf("check %s: %q is not in %q", args, w, stderr)
			}
		}
	}
	code, _, stderr, _ := checked(t, words("-a raymond -n 3 --svg /dev/null/x.svg")...)
	if code != 73 || !strings.Contains(stderr, "cannot write /dev/null/x.svg") {
		t.Errorf("%d: %s", code, stderr)
	}
}
