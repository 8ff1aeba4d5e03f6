package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"dmebench/algorithms/centralized"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit/toys"
)

// favouritism is claimed to be free of starvation, or not.
func favouritism(claims ...claim.Claim) *dme.Algorithm {
	a := toys.Favouritism()
	a.Claims = claim.List(claims)
	return a
}

// What starves a node, or lets it be overtaken more often than its paper says, is found
// without a word of advice, saved, and played again.
func TestCheckFindsStarvation(t *testing.T) {
	tooSharp := centralized.Algorithm()
	tooSharp.Claims = append(claim.Of(tooSharp), claim.Claim{
		Quantity: claim.Bypass, Formula: "N−1", Load: claim.AnyLoad, Kind: claim.UpperBound, Source: "nowhere",
	})
	t.Chdir(t.TempDir())
	run := func(a *dme.Algorithm, args string) (code int, printed string) {
		var out bytes.Buffer
		code = Run(words("dmebench "+args), nil, &out, &out, []*dme.Algorithm{a}, nil, fstest.MapFS{})
		return code, out.String()
	}
	for property, a := range map[string]*dme.Algorithm{
		"starvation": favouritism(claim.SafeAndLive("nowhere")...), "bounded bypass": tooSharp,
	} {
		code, printed := run(a, "check "+a.Name+" -n 3 --json --quiet --save found.txt")
		var r check.Result
		if err := json.Unmarshal([]byte(printed), &r); err != nil {
			t.Fatal(err, printed)
		}
		if code != 1 || r.Status != "violated" || string(r.Property) != property || r.Watched == "" || r.Bypass != nil || r.Scenario == "" {
			t.Errorf("%s: %d, %+v", property, code, r)
		}
		code, printed = run(a, "trace -f found.txt")
		if code != 0 || !strings.Contains(printed, "violation: node ") {
			t.Errorf("%s: %d\n%s", property, code, printed)
		}
		if code, again := run(a, strings.TrimPrefix(r.Replay, "dmebench ")+" --quiet"); code != 1 || !strings.Contains(again, r.Verdict) {
			t.Errorf("%s: %d\n%s", r.Replay, code, again)
		}
	}
	// Where nobody claims that it is free of it, it is a note.
	code, printed := run(favouritism(), "check favouritism -n 3 --schedules 500 --quiet")
	if code != 0 || !strings.Contains(printed, "favouritism does not claim to be free of starvation; in ") ||
		!strings.Contains(printed, " starves: ") || !strings.Contains(printed, "no violation found") {
		t.Errorf("%d\n%s", code, printed)
	}
}
