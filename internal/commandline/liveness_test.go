package commandline

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"dmebench/internal/check"
)

func TestCheckLivenessProves(t *testing.T) {
	code, stdout, stderr, _ := checked(t, words("-a raymond -n 3 --liveness")...)
	if code != 0 || stderr != "" || !strings.Contains(stdout, "any number of requests") ||
		!strings.Contains(stdout, "proven for 3 nodes that ask any number of times") {
		t.Errorf("%d: %s%s", code, stdout, stderr)
	}
	code, stdout, _, _ = checked(t, words("-a suzuki-kasami -n 2 --liveness --in-flight 1 --json")...)
	var x checkResult
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
	var x checkResult
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

// Whatever changes what is found stands in the command that repeats it.
func TestLivenessCommand(t *testing.T) {
	o := check.Options{
		Nodes: 3, Set: map[string]string{"tree": "line"}, Unordered: true, InFlight: 2, WithoutInvariants: true, Seed: 5,
	}
	const want = "dmebench check --algorithm raymond --nodes 3 --liveness --set tree=line --fifo=false " +
		"--invariants=false --in-flight 2 --seed 5"
	if got := livenessCommand(&checkResult{Algorithm: "raymond"}, o, check.Options{}); got != want {
		t.Errorf("%s; want %s", got, want)
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
		var x checkResult
		if err := json.Unmarshal([]byte(stdout), &x); err != nil || code != 0 {
			t.Fatal(code, err, stdout, stderr)
		}
		sets = []string{strings.Join(settingWords(x.Set), " ")}
		for _, also := range x.Also {
			if also.Schedules != 20 || !also.Complete {
				t.Errorf("%s: %+v", args, also)
			}
			sets = append(sets, strings.Join(settingWords(also.Set), " "))
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
