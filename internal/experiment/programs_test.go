package experiment

import (
	"os"
	"path/filepath"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/internal/run"
)

// A sweep does not continue with the results of a program that has changed since.
func TestPlanKnowsItsPrograms(t *testing.T) {
	script := filepath.Join(t.TempDir(), "node.py")
	plan := func(text, command string) *Plan {
		t.Helper()
		if err := os.WriteFile(script, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Parse("x.yaml", []byte(`schema_version: 1
name: x
algorithms: [ricart-agrawala, {name: exec, set: {command: '`+command+`'}}]
nodes: [2]
transports: [tcp]
workloads: [{name: saturate, requests_per_node: 5}]
repetitions: 1
`))
		if err != nil {
			t.Fatal(err)
		}
		p, err := f.Expand(run.Catalog(catalog.All()), nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := plan("one", "python3 -u "+script)
	if c := first.Cells[1]; c.Label != "exec:node.py" || c.Spec.Algorithm != "exec:node.py" {
		t.Errorf("the cell is %q, of %s", c.Label, c.Spec.Algorithm)
	}
	if again := plan("one", "python3 -u "+script); again.digest() != first.digest() {
		t.Error("the same program makes another plan")
	}
	if other := plan("two", "python3 -u "+script); other.digest() == first.digest() {
		t.Error("another program makes the same plan")
	}
	if len(first.Files) != 1 {
		t.Errorf("files: %v", first.Files)
	}
}
