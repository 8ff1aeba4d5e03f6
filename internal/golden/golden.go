// Package golden compares files of the repository with what they should hold,
// for tests.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the files that are generated as they should be")

// MustBe fails the test where the file does not hold what it should, or makes it
// so with -rewrite.
func MustBe(t *testing.T, file string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(file)
	if err == nil && bytes.Equal(got, want) {
		return
	}
	if !*rewrite {
		t.Errorf("%s is not what the program says (%v); the flag -rewrite writes it", file, err)
		return
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, want, 0o644); err != nil {
		t.Fatal(err)
	}
}
