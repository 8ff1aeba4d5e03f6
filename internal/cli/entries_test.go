package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"dmebench/algorithms"
	"dmebench/internal/testkit"
	"dmebench/report/rank"
	"dmebench/runs"
)

// A table of critical sections has a row for each of every run, in which nobody is
// inside while another is; with and without --entries the results are the same.
func TestEntries(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, algorithm := range []string{"raymond", "lamport"} {
		run := []string{"run", algorithm, "-n", "3", "--transport", "sim", "--json", "--out"}
		code, with, stderr := dmebench(append(run, "with", "--entries")...)
		if _, without, _ := dmebench(append(run, "without")...); code != 0 || with != without {
			t.Fatalf("%d: %s\nwith entries\n%s\nwithout\n%s", code, stderr, with, without)
		}
	}
	code, stdout, stderr := dmebench("export", "-f", "with", "--format", "entries", "--out", "entries.csv")
	if code != 0 || stderr != "" {
		t.Fatalf("%d: %s%s", code, stdout, stderr)
	}
	table, err := os.ReadFile("entries.csv")
	if err != nil {
		t.Fatal(err)
	}
	rows := testkit.Table(t, table)
	if len(rows) != 2*300 {
		t.Errorf("%d rows", len(rows))
	}
	number := func(text string) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for i, r := range rows {
		if number(r["requested_ns"]) > number(r["entered_ns"]) || number(r["entered_ns"]) >= number(r["exited_ns"]) {
			t.Fatalf("row %d: %v", i, r)
		}
		if r["entry"] != "1" && number(r["entered_ns"]) < number(rows[i-1]["exited_ns"]) {
			t.Fatalf("row %d: %v enters before %v has left", i, r, rows[i-1])
		}
	}
	if code, _, stderr := dmebench("export", "-f", "without", "--format", "entries"); code != 65 ||
		!bytes.Contains([]byte(stderr), []byte("sweep --entries' keep them")) {
		t.Errorf("without records: %d, %s", code, stderr)
	}
	if code, _, stderr := dmebench("run", "-a", "raymond", "-n", "3", "--entries"); code != 64 || stderr == "" {
		t.Errorf("without a folder: %d, %s", code, stderr)
	}
}

// said is what a command prints that must end well.
func said(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, errOut bytes.Buffer
	if code := Run(append([]string{"dmebench"}, args...), nil, &out, &errOut, algorithms.All(), nil, fstest.MapFS{}); code != 0 {
		t.Fatalf("%v: %d: %s", args, code, errOut.String())
	}
	return out.Bytes()
}

// The p-values of the reference data are those that the real benchstat finds in the
// same data, exported: of every algorithm against the best, in every column.
func TestRankAgreesWithBenchstat(t *testing.T) {
	if !testkit.Long() {
		t.Skip("it runs benchstat 30 times")
	}
	for name, want := range map[string]int{"load": 150, "growth": 460} {
		folder := filepath.Join(reference, name)
		var ranking rank.Ranking
		if err := json.Unmarshal(said(t, "rank", "--file", folder, "--json"), &ranking); err != nil {
			t.Fatal(err)
		}
		exported := filepath.Join(t.TempDir(), "exported.txt")
		args := []string{"export", "--file", folder, "--format", "benchfmt"}
		for _, metric := range rank.DefaultMetrics() {
			args = append(args, "--metric", metric)
		}
		if err := os.WriteFile(exported, said(t, args...), 0o666); err != nil {
			t.Fatal(err)
		}
		found := make(map[string]map[string]string) // p, by the best and by what it is compared with
		compared := 0
		for _, c := range ranking.Contests {
			row := strings.Join([]string{c.Transport, c.Workload, fmt.Sprint(c.Nodes), c.Settings["total_rate"]}, " ")
			for i, column := range c.Columns {
				best := c.Entrants[slices.IndexFunc(c.Entrants, func(e rank.Entrant) bool { return e.Cells[i].Standing == rank.First })].Label
				if found[best] == nil {
					found[best] = benchstat(t, exported, best, slices.Sorted(labels(&ranking)))
				}
				for _, e := range c.Entrants {
					cell := e.Cells[i]
					if cell.P == nil {
						continue
					}
					m, _ := runs.LookupMetric(column.Metric)
					unit := strings.TrimSuffix(m.Unit, "-ns")
					if m.Time() {
						unit += "-sec"
					}
					key := strings.Join([]string{strings.TrimSpace(row), unit, e.Label}, "|")
					if got, ours := found[best][key], fmt.Sprintf("p=%.3f n=%d", *cell.P, cell.N); got != ours {
						t.Errorf("%s, %s against %s: benchstat says %q, rank %q", name, key, best, got, ours)
					}
					compared++
				}
			}
		}
		if compared < want {
			t.Errorf("%s: %d comparisons, want at least %d", name, compared, want)
		}
	}
}

// labels are those of all entrants.
func labels(r *rank.Ranking) func(yield func(string) bool) {
	all := make(map[string]bool)
	for _, c := range r.Contests {
		for _, e := range c.Entrants {
			all[e.Label] = true
		}
	}
	return func(yield func(string) bool) {
		for label := range all {
			if !yield(label) {
				return
			}
		}
	}
}

// benchstat runs the real one, with base as what all others are compared with, and
// returns its p-values by row, unit and algorithm.
func benchstat(t *testing.T, file, base string, labels []string) map[string]string {
	t.Helper()
	labels = append([]string{base}, slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return l == base })...)
	var stderr bytes.Buffer
	cmd := exec.Command("go", "tool", "benchstat", "-format", "csv", "-row", "/transport,/workload,/nodes,/total_rate",
		"-col", "/algorithm@("+strings.Join(labels, " ")+")", file)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("benchstat: %v\n%s", err, stderr.String())
	}
	r := csv.NewReader(bytes.NewReader(out))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	p := make(map[string]string)
	var heads, units []string
	for _, row := range rows {
		switch {
		case len(row) > 1 && row[0] == "" && slices.Contains(labels, row[1]):
			heads = row
		case len(row) > 1 && row[0] == "":
			units = row
		case len(row) > 1:
			for i, cell := range row {
				if i < len(units) && units[i] == "P" && cell != "" {
					p[strings.Join([]string{strings.TrimSpace(row[0]), units[1], heads[i-3]}, "|")] = cell
				}
			}
		}
	}
	return p
}
