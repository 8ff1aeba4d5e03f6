package cli

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"dmebench/algorithms"
	"dmebench/internal/search/check"
	"dmebench/runs"
)

// checked runs 'dmebench check' with the given arguments in a folder of its own.
func checked(t *testing.T, args ...string) (code int, stdout, stderr, dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Chdir(dir)
	var out, errOut bytes.Buffer
	code = Run(append([]string{"dmebench", "check"}, args...), nil, &out, &errOut, algorithms.All(), nil, fstest.MapFS{})
	return code, out.String(), errOut.String(), dir
}

func words(s string) []string { return strings.Fields(s) }

func TestCheckHolds(t *testing.T) {
	code, stdout, stderr, dir := checked(t, words("-a ricart-agrawala -n 3 --requests 3 --exhaustive")...)
	if code != 0 || stderr != "" {
		t.Fatalf("%d: %s%s", code, stdout, stderr)
	}
	for _, want := range []string{
		"ricart-agrawala, 3 nodes, 3 requests, links that do not keep order, the worst that ricart-agrawala supports",
		"states/s", "every property holds in every state",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in:\n%s", want, stdout)
		}
	}
	code, stdout, _, _ = checked(t, words("-a ricart-agrawala -n 4 --schedules 50 --fifo=false")...)
	if code != 0 || !strings.Contains(stdout, "up to 20 requests, links that do not keep order, as given") ||
		!strings.Contains(stdout, "at most 9 entries of others between a request and its entry: N(N+1)/2 − 1") ||
		!strings.Contains(stdout, "schedules  ") || !strings.Contains(stdout, "no violation found\n") {
		t.Errorf("%d:\n%s", code, stdout)
	}
	code, stdout, _, _ = checked(t, words("-a raymond -n 4 --requests 8 --schedules 50 --fifo")...)
	for _, want := range []string{
		"raymond, 4 nodes, 8 requests, links that keep order, as given", "raymond does not need links that keep order",
		"at most 8 entries of others for each step of the longest delay",
	} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%d: %q is not in:\n%s", code, want, stdout)
		}
	}
	code, stdout, _, _ = checked(t, words("-a lamport -n 3 --schedules 50")...)
	if code != 0 || !strings.Contains(stdout, "up to 15 requests, links that keep order, the worst that lamport supports") {
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
	_, again, _ := strings.Cut(stdout, "to reproduce it: dmebench check ")
	again, _, _ = strings.Cut(again, "\n")
	_, trace, _ := strings.Cut(stdout, "\n\n")
	code, stdout, _, _ = checked(t, words(again)...)
	if _, got, _ := strings.Cut(stdout, "\n\n"); code != 1 || got != trace {
		t.Errorf("%s: %d\n%s\nwant\n%s", again, code, got, trace)
	}
}

func TestCheckJSON(t *testing.T) {
	decode := func(args string) (code int, r check.Result) {
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
		"-a raymond -n 3 --lose -1":                              {"-1 messages lost"},
		"-a raymond -n 3 --bypass 0":                             {"--bypass 0"},
		"-a raymond -n 3 --time -1s":                             {"--for -1s: must be above 0"},
		"-a raymond -n 3 --set tree":                             {"--set tree: want KEY=VALUE"},
		"-a raymond -n 3 --set tree=oak":                         {"tree=oak"},
		"-a raymond -n 3 --set x=y":                              {`unknown option "x"`},
		"-a raymond -n 3 --states 7":                             {"--states is for --exhaustive"},
		"-a raymond -n 3 --memory 1GiB":                          {"--memory is for --exhaustive"},
		"-a raymond -n 3 --svg a --out b":                        {"choose one"},
		"-a raymond -n 3 further":                                {"check takes one algorithm, but there are raymond, further"},
		"-a raymond -n 3 --colour":                               {"unknown flag --colour"},
		"-a raymond -n x":                                        {"--nodes x: want a whole number"},
		"-a raymond -n 3 --exhaustive --memory much":             {`--memory: "much" is not a size of memory; write it like 512MiB`},
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

func TestCheckLivenessProves(t *testing.T) {
	code, stdout, stderr, _ := checked(t, words("-a raymond -n 3 --liveness")...)
	if code != 0 || stderr != "" || !strings.Contains(stdout, "any number of requests") ||
		!strings.Contains(stdout, "proven for 3 nodes that ask any number of times") {
		t.Errorf("%d: %s%s", code, stdout, stderr)
	}
	code, stdout, _, _ = checked(t, words("-a suzuki-kasami -n 2 --liveness --in-flight 1 --json")...)
	var x check.Result
	if err := json.Unmarshal([]byte(stdout), &x); err != nil || code != 0 {
		t.Fatal(code, err, stdout)
	}
	if x.Search != "liveness" || x.Proven == nil || !*x.Proven || x.Finding != "holds" || !x.Complete || x.InFlight != 1 ||
		x.Requests != 0 || x.Lasso != nil || *x.States == 0 || *x.Components == 0 {
		t.Errorf("%s", stdout)
	}
	code, stdout, _, _ = checked(t, words("-a lodha-kshemkalyani -n 3 --liveness --states 1000")...)
	if code != 0 || !strings.Contains(stdout, "not complete: limit of 1000 states") || strings.Contains(stdout, "proven") {
		t.Errorf("%d: %s", code, stdout)
	}
}

// A deadlock is printed, drawn and saved, and found again by the command it names.
func TestCheckLivenessFinds(t *testing.T) {
	code, stdout, stderr, _ := checked(t, words("-a maekawa-textbook-as-published -n 2 --liveness --save x.txt --json")...)
	var x check.Result
	if err := json.Unmarshal([]byte(stdout), &x); err != nil || code != 1 || stderr != "" {
		t.Fatal(code, err, stdout, stderr)
	}
	if *x.Proven || x.Finding != "deadlock" || x.Status != "stalled" || x.Waiting == 0 || x.Lasso == nil || len(x.Lasso.Loop) != 0 ||
		!slices.Equal(x.Lasso.Prefix, x.Schedule) || x.SVG == "" || x.Scenario != "x.txt" {
		t.Errorf("%s", stdout)
	}
	if text, err := os.ReadFile("x.txt"); err != nil || !strings.Contains(string(text), "violation:") {
		t.Errorf("%v: %s", err, text)
	}
	code, again, _, _ := checked(t, words(strings.TrimPrefix(x.Replay, "dmebench check "))...)
	if code != 1 || !strings.Contains(again, x.Verdict) {
		t.Errorf("%s: %d\n%s", x.Replay, code, again)
	}
}

func TestCheckLivenessRefuses(t *testing.T) {
	for flag := range whyNotWithLiveness {
		args := words("-a raymond -n 3 --liveness --" + flag)
		switch flag {
		case "exhaustive", "adversary", "duplicate", "safety-only":
		default:
			args = append(args, "3")
		}
		if code, _, stderr, _ := checked(t, args...); code != 64 || !strings.Contains(stderr, "--"+flag+" does not go with --liveness") {
			t.Errorf("--%s: %d, %s", flag, code, stderr)
		}
	}
	for args, want := range map[string]string{
		"-a raymond -n 3 --liveness --in-flight 0": "--in-flight 0: there must be at least 1",
		"-a raymond -n 3 --in-flight 1":            "--in-flight is for --liveness",
		"-a raymond -n 40 --liveness":              "40 nodes: a search for liveness takes at most 32",
	} {
		if code, _, stderr, _ := checked(t, words(args)...); code != 64 || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d, %s", args, code, stderr)
		}
	}
}

// Where few nodes show little under the defaults, random schedules are searched under
// further settings, unless one of their options is set, and the result names each.
func TestCheckTriesFurtherSettings(t *testing.T) {
	const few = "-a chaudhuri-karaata -n 3 --schedules 20 "
	searches := func(args string) (sets []string) {
		t.Helper()
		code, stdout, stderr, _ := checked(t, words(few+args)...)
		var x check.Result
		if err := json.Unmarshal([]byte(stdout), &x); err != nil || code != 0 {
			t.Fatal(code, err, stdout, stderr)
		}
		sets = []string{runs.Settings(x.Set)}
		for _, also := range x.Also {
			if also.Schedules != 20 || !also.Complete {
				t.Errorf("%s: %+v", args, also)
			}
			sets = append(sets, runs.Settings(also.Set))
		}
		return sets
	}
	for args, want := range map[string][]string{
		"--json":                       {"mesh=auto repair=numbered", "mesh=1x1xauto", "mesh=1x2xauto repair=directed"},
		"--json --set repair=numbered": {"mesh=auto repair=numbered", "mesh=1x1xauto repair=numbered"},
		"--json --set mesh=1x1x3":      {"mesh=1x1x3"},
	} {
		if got := searches(args); !slices.Equal(got, want) {
			t.Errorf("%s: searched %q, want %q", args, got, want)
		}
	}
	if _, stdout, _, _ := checked(t, words(few)...); !strings.Contains(stdout, "mesh=1x1xauto: 20 schedules, no violation found") {
		t.Errorf("%s", stdout)
	}
}
