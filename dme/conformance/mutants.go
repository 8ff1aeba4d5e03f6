package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Mutant is an algorithm with one of its rules taken out or changed. A test
// that no mutant fails has shown nothing.
type Mutant struct {
	Name     string
	File     string      // of the package under test
	Old, New string      // Old must stand in the file exactly once
	More     [][2]string // further pairs of old and new, in the same file
	Args     []string    // of the test binary
	Caught   string      // what the failing test's output says
}

// The words of reports for a schedule that is unsafe, and for one that is not live.
const (
	Unsafe  = "are in the critical section"
	Stalled = "wait and nothing moves"
)

// TestMutants builds the package under test once for each mutant, by an overlay
// that leaves its files alone, and runs one of its tests, named by a regular
// expression, which must fail. That takes long: it is skipped unless the environment
// variable DMEBENCH_TESTS is "long", for every other mutant if there are many, or "full".
func TestMutants(t *testing.T, test string, mutants ...Mutant) {
	effort := os.Getenv("DMEBENCH_TESTS")
	if effort != "long" && effort != "full" {
		t.Skip("builds the package once for each mutant: needs DMEBENCH_TESTS=long")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command to build mutants with")
	}
	sampled := effort == "long" && len(mutants) > 3
	for i, m := range mutants {
		if sampled && i%2 == 1 {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			cmd := exec.Command(tool, "test", "-vet=off", "-count=1", "-failfast", "-run="+test, "-overlay="+m.overlay(t), ".")
			cmd.Args = append(cmd.Args, m.Args...)
			output, err := cmd.CombinedOutput()
			switch {
			case err == nil:
				t.Fatal("not caught")
			case strings.Contains(string(output), "[build failed]"):
				t.Fatalf("the mutant does not build:\n%s", output)
			case !strings.Contains(string(output), m.Caught):
				t.Fatalf("want a report that says %q, got\n%s", m.Caught, output)
			}
		})
	}
}

// Applied returns the mutated file, or says why the mutant cannot be made of the file as it
// is.
func (m Mutant) Applied() (text string, err error) {
	source, err := os.ReadFile(m.File)
	if err != nil {
		return "", err
	}
	text = string(source)
	for _, e := range append([][2]string{{m.Old, m.New}}, m.More...) {
		if n := strings.Count(string(source), e[0]); n != 1 {
			return "", fmt.Errorf("the patch does not apply: %s has %d places like\n%s", m.File, n, e[0])
		}
		text = strings.Replace(text, e[0], e[1], 1)
	}
	return text, nil
}

// overlay writes the mutated file and an overlay that puts it in its place, and
// returns the overlay's name.
func (m Mutant) overlay(t *testing.T) string {
	t.Helper()
	text, err := m.Applied()
	if err != nil {
		t.Fatal(err)
	}
	original, err := filepath.Abs(m.File)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mutated := filepath.Join(dir, filepath.Base(m.File))
	if err := os.WriteFile(mutated, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(name, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
