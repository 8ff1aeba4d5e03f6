package cli

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"dmebench/algorithms"
	"dmebench/internal/runtime/run"
	"dmebench/internal/sim"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// reference is where the committed results lie.
const reference = "../../results/reference"

// again says how to bring the reference data up to date.
const again = "results/README.md tells how it is measured again, and 'go test ./internal/cli -rewrite' draws it"

func readReference(t *testing.T, name string) *runs.Set {
	t.Helper()
	set, err := runs.Read(filepath.Join(reference, name))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestReferenceIsWhole(t *testing.T) {
	for _, name := range []string{"growth", "load"} {
		r := readReference(t, name)
		shipped, err := os.ReadFile(filepath.Join("../../experiments", name+".yaml"))
		if err != nil || string(shipped) != r.Header.File {
			t.Errorf("%s is not of the experiment as it ships (%v); %s", name, err, again)
		}
		if len(r.Runs) != r.Header.Planned {
			t.Errorf("%s: %d runs of %d; %s", name, len(r.Runs), r.Header.Planned, again)
		}
		for _, x := range r.Runs {
			if x.Result.Status != runs.OK {
				t.Errorf("%s: %s, N = %d: %s", name, x.Label, x.Result.Nodes, x.Result.Status)
			}
		}
	}
}

// The summaries and the committed figures are what the program makes of the
// committed results. Columns may have been added since.
func TestReferenceReports(t *testing.T) {
	for name, figures := range map[string]map[string]string{
		"growth": {"messages": "messages-per-cs-vs-n-sim-serial", "maekawa": "growth-maekawa-serial"},
		"load":   {"throughput": "throughput-vs-load-sim-poisson-n7"},
	} {
		if name == "growth" && !testkit.Long() {
			continue
		}
		dir := t.TempDir()
		var out, errOut bytes.Buffer
		args := []string{"dmebench", "report", "--file", filepath.Join(reference, name), "--out", dir, "--formats", "svg",
			"--only", strings.Join(slices.Sorted(maps.Values(figures)), ",")}
		if code := Run(args, nil, &out, &errOut, algorithms.All(), nil, fstest.MapFS{}); code != 0 {
			t.Fatalf("%s: %d: %s", name, code, errOut.String())
		}
		for figure, plot := range figures {
			mustHold(t, filepath.Join(reference, name, figure+".svg"), filepath.Join(dir, "plots", plot+".svg"), bytes.Equal)
		}
		mustHold(t, filepath.Join("testdata", "reference-"+name+".csv"), filepath.Join(dir, "summary.csv"), func(want, got []byte) bool {
			return sameCells(t, want, got)
		})
	}
}

// mustHold compares a committed file with a new one; with -rewrite the new one
// becomes the committed one.
func mustHold(t *testing.T, committed, made string, same func(committed, made []byte) bool) {
	t.Helper()
	content, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	if testkit.FileMustMatch(t, committed, content, same); t.Failed() {
		t.Log(again)
	}
}

// sameCells compares two tables in the columns of the first.
func sameCells(t *testing.T, want, got []byte) bool {
	t.Helper()
	old, now := testkit.Table(t, want), testkit.Table(t, got)
	if len(old) == 0 || len(old) != len(now) {
		return false
	}
	same := true
	for i, row := range old {
		for column, x := range row {
			if now[i][column] != x {
				same = false
				t.Logf("%s, N = %s, %s: %q, now %q", row["label"], row["nodes"], column, x, now[i][column])
			}
		}
	}
	return same
}

// What was simulated then comes out now.
func TestReferenceSimulations(t *testing.T) {
	compared := 0
	for _, x := range readReference(t, "growth").Runs {
		if x.Result.Transport != runs.Sim || x.Repetition > 0 || x.Result.Nodes > 31 {
			continue
		}
		job, err := run.Resolve(x.Result.Spec, algorithms.All(), nil)
		if err != nil {
			t.Fatal(err)
		}
		now, err := sim.Run(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		compared++
		then := x.Result
		for _, messages := range []*runs.Messages{&now.Messages, &then.Messages} {
			// A kind that only failures need may have come in since.
			maps.DeleteFunc(messages.ByKind, func(_ string, count uint64) bool { return count == 0 })
		}
		if !reflect.DeepEqual(now.Messages, then.Messages) || !reflect.DeepEqual(now.ResponseTime, then.ResponseTime) ||
			!reflect.DeepEqual(now.Work, then.Work) {
			t.Errorf("%s, N = %d, %s: %+v, now %+v; %s", x.Label, then.Nodes, then.Workload, then.Messages, now.Messages, again)
		}
	}
	if compared != 50 {
		t.Errorf("%d simulations compared; want 50", compared)
	}
}
