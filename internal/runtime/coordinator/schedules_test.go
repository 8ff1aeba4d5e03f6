package coordinator

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/internal/sim"
	"dmebench/runs"
)

// The same schedule does the same to real processes as in a simulation: whom it hits,
// with what, in which order, and what is told of the rest.
func TestSchedulesAreCarriedOutAsInSimulations(t *testing.T) {
	after := regexp.MustCompile(`was over after [^ ;,]+`)
	for _, x := range []struct {
		name, faults string
		want         []string // done, and told; roles' nodes by letters, in the order in which they were hit
	}{
		{"pauses, deaths and departures",
			"pause 5 @50ms-250ms; leave 5 @100ms; kill 3 @400ms; join 3 @450ms; pause 4 @450ms-2s; restart 3 @500ms; kill 4 @550ms; " +
				"pause 4 @600ms-650ms; restart 4 @600ms; kill 3,4 @700ms; kill 2,3 @750ms; kill 2-3 @1h; kill 1,6 @1100ms",
			[]string{
				"pause [5], ended", "leave [5]", "kill [3]", "pause [4], ended", "restart [3]", "kill [4]", "restart [4]", "kill [3 4]", "kill [2]",
				"kill [1 6]",
				`fault "join 3 @450ms" never came to pass: the node was part of the system`,
				`fault "kill 2-3 @1h0m0s" never came to pass: the run was over`,
				`fault "kill 2-3 @750ms" did not hit node 3: the node was down`,
				`fault "pause 4 @600ms-650ms" never came to pass: the node was down`,
			}},
		{"a pause that outlasts another, with no entry until it ends",
			"pause 1-6 @100ms-300ms; pause 1-6 @200ms-1500ms; partition 1-6 @350ms-360ms; kill 1-6 @1700ms",
			[]string{"pause [1 2 3 4 5 6], ended", "pause [1 2 3 4 5 6], ended", "partition [1 2 3 4 5 6], ended", "kill all"}},
		{"partitions of which one begins before the other ends", "partition 1-2|3-6 @100ms-300ms; partition 1|2-6 @200ms-400ms; kill 1-6 @500ms",
			[]string{"partition [1 2], ended", "partition [1], ended", "kill all"}},
		{"roles, and restarts of whom they hit",
			"kill token @100ms; kill token @300ms; restart token @500ms; restart token @700ms; restart 6 @50ms; " +
				"kill 1-6 @800ms",
			[]string{"kill [a]", "kill [b]", "restart [a]", "restart [b]", "kill all",
				`fault "restart 6 @50ms" never came to pass: the node was not down`}},
		{"the death of the holder, which stands still", "pause holder @100ms-1500ms; kill holder @200ms; kill 1-6 @400ms",
			[]string{"pause [a], ended", "kill [a]", "kill all"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			spec := runs.Spec{
				Algorithm: "desk", Nodes: 6, CS: "2ms", Requests: 1e6, AllowMismatch: true, // over with the last of them that lives
				StallAfter: runs.Duration(20 * time.Second), Faults: strings.Split(x.faults, "; "),
			}
			real, err := execute(t, t.Context(), spec, Options{})
			if err != nil {
				t.Fatal(err)
			}
			spec.Transport = runs.Sim
			simulated, err := sim.Run(t.Context(), resolve(t, spec))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range []*runs.Result{real, simulated} {
				var got []string
				letters := make(map[int]string)
				for _, f := range r.Faults {
					whom := fmt.Sprint(f.Nodes)
					if strings.HasPrefix(f.Fault, "kill 1-6") {
						whom = "all"
					}
					if strings.Contains(f.Fault, "token") || strings.Contains(f.Fault, "holder") {
						if letters[f.Nodes[0]] == "" {
							letters[f.Nodes[0]] = fmt.Sprintf("[%c]", 'a'+len(letters))
						}
						whom = letters[f.Nodes[0]]
					}
					line := f.What + " " + whom
					if f.EndedNS != nil {
						line += ", ended"
					}
					got = append(got, line)
					if f.What == "partition" && strings.Contains(x.name, "no entry") && (f.RecoveredNS == nil || *f.RecoveredNS < 2e8) {
						t.Errorf("%s: somebody entered while all stood still: %+v", r.Transport, f)
					}
				}
				var told []string
				for _, w := range r.Warnings {
					if strings.HasPrefix(w, "fault ") && !strings.Contains(w, "kill 1-6") {
						told = append(told, after.ReplaceAllString(w, "was over"))
					}
				}
				slices.Sort(told)
				if got = append(got, told...); !slices.Equal(got, x.want) {
					t.Errorf("%s: %s %s\n got %q\nwant %q", r.Transport, r.Status, r.Error, got, x.want)
				}
			}
		})
	}
}
