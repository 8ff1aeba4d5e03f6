package commandline

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"dmebench/internal/golden"
)

// A table of critical sections has a row for each of every run, in which nobody is
// inside while another is; with and without --entries the results are the same.
func TestEntries(t *testing.T) {
	t.Chdir(t.TempDir())
	experiment := []string{"sweep", "-a", "raymond,lamport", "-n", "3", "--transport", "sim", "--repetitions", "2", "--quiet"}
	for dir, more := range map[string][]string{"with": {"--entries"}, "without": nil} {
		if code, _, stderr := dmebench(append(append(experiment, "--out", dir), more...)...); code != 0 {
			t.Fatalf("%d: %s", code, stderr)
		}
	}
	with, without := runsOf(t, "with"), runsOf(t, "without")
	if !bytes.Equal(with, without) {
		t.Error("the results differ")
	}
	code, stdout, stderr := dmebench("export", "-f", "with/matrix", "--format", "entries", "--out", "entries.csv")
	if code != 0 || stderr != "" {
		t.Fatalf("%d: %s%s", code, stdout, stderr)
	}
	table, err := os.ReadFile("entries.csv")
	if err != nil {
		t.Fatal(err)
	}
	rows := golden.Table(t, table)
	if len(rows) != 4*300 {
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
	if code, _, stderr := dmebench("export", "-f", "without/matrix", "--format", "entries"); code != 65 ||
		!bytes.Contains([]byte(stderr), []byte("sweep --entries' keep them")) {
		t.Errorf("without records: %d, %s", code, stderr)
	}
	if code, _, stderr := dmebench("run", "-a", "raymond", "-n", "3", "--entries"); code != 64 || stderr == "" {
		t.Errorf("without a folder: %d, %s", code, stderr)
	}
}

// runsOf returns the lines of a sweep's results but for the first, which has the time.
func runsOf(t *testing.T, dir string) []byte {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "matrix", "2*", "runs.jsonl"))
	if len(files) != 1 {
		t.Fatal(files)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	_, runs, _ := bytes.Cut(b, []byte("\n"))
	return runs
}
