package commandline

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"testing/fstest"

	"dmebench/algorithms/catalog"
	"dmebench/internal/experiment"
	"dmebench/internal/run"
	"dmebench/internal/sim"
	"dmebench/result"
)

// reference is where the committed results lie.
const reference = "../../results/reference"

// again says how to bring the reference data up to date.
const again = "«scripts/reproduce.sh results/reference» measures what is not there and makes the reports anew"

func TestReferenceIsWhole(t *testing.T) {
	for _, name := range []string{"growth", "load"} {
		r, err := experiment.Open(filepath.Join(reference, name))
		if err != nil {
			t.Fatal(err)
		}
		shipped, err := os.ReadFile(filepath.Join("../../experiments", name+".yaml"))
		if err != nil || !bytes.Equal(shipped, r.File.Text) {
			t.Errorf("%s is not of the experiment as it ships (%v); %s", name, err, again)
		}
		if r.Missing > 0 {
			t.Errorf("%s: %d cells are missing; %s", name, r.Missing, again)
		}
		for _, x := range r.Runs {
			if x.Result.Status != result.OK {
				t.Errorf("%s: %s, N = %d: %s", name, x.Label, x.Result.Nodes, x.Result.Status)
			}
		}
	}
}

// The committed summaries are what the program makes of the committed cells.
// Columns may have been added since.
func TestReferenceSummaries(t *testing.T) {
	for _, name := range []string{"growth", "load"} {
		dir := t.TempDir()
		var out, errOut bytes.Buffer
		args := []string{"dmebench", "report", "--file", filepath.Join(reference, name), "--out", dir, "--formats", "svg"}
		if code := Run(args, nil, &out, &errOut, catalog.All(), fstest.MapFS{}); code != 0 {
			t.Fatalf("%s: %d: %s", name, code, errOut.String())
		}
		want, got := table(t, filepath.Join(reference, name, "report", "summary.csv")), table(t, filepath.Join(dir, "summary.csv"))
		if len(want) == 0 || len(want) != len(got) {
			t.Fatalf("%s: %d rows, now %d; %s", name, len(want), len(got), again)
		}
		for i, row := range want {
			for column, x := range row {
				if got[i][column] != x {
					t.Errorf("%s: %s, N = %s, %s: %q, now %q; %s", name, row["label"], row["nodes"], column, x, got[i][column], again)
				}
			}
		}
	}
}

// table reads a CSV file with a header.
func table(t *testing.T, path string) []map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, r := range records[1:] {
		row := make(map[string]string)
		for i, name := range records[0] {
			row[name] = r[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// What was simulated then comes out now.
func TestReferenceSimulations(t *testing.T) {
	r, err := experiment.Open(filepath.Join(reference, "growth"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, x := range r.Runs {
		if x.Result.Transport != result.Sim || x.Repetition > 0 || x.Result.Nodes > 31 {
			continue
		}
		job, err := run.Resolve(x.Result.Spec, catalog.All(), nil)
		if err != nil {
			t.Fatal(err)
		}
		now, err := sim.Run(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		compared++
		then := x.Result
		if !reflect.DeepEqual(now.Messages, then.Messages) || !reflect.DeepEqual(now.ResponseTime, then.ResponseTime) || !reflect.DeepEqual(now.Work, then.Work) {
			t.Errorf("%s, N = %d, %s: %+v, now %+v; delete them, and %s", x.Label, then.Nodes, then.Workload, then.Messages, now.Messages, again)
		}
	}
	if compared != 50 {
		t.Errorf("%d simulations compared; want 50", compared)
	}
}
