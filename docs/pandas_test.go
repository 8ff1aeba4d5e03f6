package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dmebench/internal/testkit"
)

// python returns a Python that has pandas, as Debian's package python3-pandas gives it.
func python(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import pandas").Run() == nil {
			return name
		}
	}
	t.Skip("there is no python3 with pandas here; apt-get install python3-pandas")
	return ""
}

// everyTable reads all tables and says what a program would stumble over.
const everyTable = `
import glob, pandas as pd
for name in sorted(glob.glob("*.csv")):
    table = pd.read_csv(name)
    doubled = [c for c in table.columns if c.startswith("Unnamed") or c.endswith(".1")]
    text = [c for c in table.columns if table[c].dtype == object and c.endswith(("_ns", "_per_s", "_per_cs", "_low", "_high"))]
    print("read", name, len(table) > 0, doubled, text)
`

const fromPandas = `schema_version: 1
name: small
algorithms: [ricart-agrawala, raymond]
nodes: [3, 7]
transports: [sim]
workloads: [{name: saturate, cs: 100us, requests_per_node: 20}, {name: poisson, total_rate: 50, cs: 100us, requests: 100}]
repetitions: 6
`

// The page's lines for pandas run as they stand, and read in every table what it says.
func TestPandas(t *testing.T) {
	interpreter := python(t)
	page := string(read(t, "results-format.md"))
	_, section, ok := strings.Cut(page, "\n## pandas\n")
	_, script, begun := strings.Cut(section, "```python\n")
	script, _, ended := strings.Cut(script, "```")
	if !ok || !begun || !ended {
		t.Fatal("results-format.md has no section on pandas with a script")
	}
	dmebench, err := filepath.Abs(filepath.Join(program(t), "dmebench"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "small.yaml"), []byte(fromPandas), 0o644); err != nil {
		t.Fatal(err)
	}
	do := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", filepath.Base(name), args, err, out)
		}
		return string(out)
	}
	do(dmebench, "sweep", "-f", "small.yaml", "--quiet")
	do(dmebench, "export", "-f", "results/small", "--format", "csv", "--out", ".")
	do(dmebench, "validate", "--quick", "-a", "ricart-agrawala", "--out", ".", "--quiet") // its runs.jsonl is replaced below
	text, err := os.ReadFile(filepath.Join(dir, "results/small/latest/runs.jsonl"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "runs.jsonl"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}

	summary := testkit.Table(t, read(t, filepath.Join(dir, "summary.csv")))
	out := do(interpreter, "-c", script+everyTable)
	words := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{
		"ricart-agrawala 3 4.0", "waited for less than 1 ms: label raymond 0.", "holds ",
		"read runs.csv True [] []", "read summary.csv True [] []", "read times.csv True [] []", "read validate.csv True [] []",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("the script does not print %q:\n%s", want, out)
		}
	}
	// Entries over time add up to all of them.
	entries := make(map[string]int)
	for _, row := range summary {
		n, err := strconv.Atoi(row["entries_ok"])
		if err != nil {
			t.Fatal(err)
		}
		entries[row["label"]+" "+row["nodes"]] += n
	}
	if want := fmt.Sprintf("label nodes raymond 3 %d 7 %d ", entries["raymond 3"], entries["raymond 7"]); !strings.Contains(words, want) {
		t.Errorf("the course of the runs does not add up to %q:\n%s", want, out)
	}
}
