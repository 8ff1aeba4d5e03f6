package dmebench

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dmebench/dme"
)

// The worked example of the documentation is a module of its own. It must build
// from nothing but this one, pass the conformance suite, and run over processes
// that know its algorithm.
func TestAnAlgorithmInAModuleOfItsOwn(t *testing.T) {
	dir := filepath.Join("docs", "examples", "own-algorithm")
	program := filepath.Join(t.TempDir(), "own-algorithm")
	for _, args := range [][]string{{"build", "-o", program, "."}, {"test", "./..."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	out, err := exec.Command(program, "run", "--algorithm", "courier", "--nodes", "4", "--requests", "40").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"courier, 4 nodes over tcp", "40 of 40 requests", "0 violations in 40 entries"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the run does not say %q:\n%s", want, out)
		}
	}
}

func TestAFaultyDescriptionIsRefused(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := Run([]string{"dmebench", "list"}, strings.NewReader(""), &stdout, &stderr,
		&dme.Algorithm{Name: "maekawa"})
	if code != 64 || stdout.Len() > 0 {
		t.Errorf("exit code %d, printed %q", code, stdout.String())
	}
	for _, want := range []string{`algorithm "maekawa": no citation`, `two algorithms are named "maekawa"`} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("standard error does not say %q:\n%s", want, stderr.String())
		}
	}
}
