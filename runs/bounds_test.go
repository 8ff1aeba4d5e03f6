package runs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dmebench/runs"
)

// TestEndlessInput reads files that are no results and do not end, or not soon.
func TestEndlessInput(t *testing.T) {
	dir := t.TempDir()
	long := filepath.Join(dir, "long.jsonl")
	header := []byte(`{"schema_version":1,"planned":2}` + "\n")
	if err := os.WriteFile(long, append(header, bytes.Repeat([]byte{' '}, 65<<20)...), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/dev/zero":                      "more than 67108864 bytes",
		linkTo(t, dir, "zero.jsonl"):     "not a regular file",
		linkTo(t, dir, "zero.json"):      "more than 67108864 bytes",
		linkTo(t, dir, "sub/runs.jsonl"): "not a regular file",
		long:                             "long.jsonl: not a result: it has more than 67108864 bytes",
	} {
		if _, err := os.Stat(path); err != nil {
			continue // there is no such device here
		}
		if _, err := runs.Read(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one that says %q", path, err, want)
		}
	}
}

func linkTo(t *testing.T, dir, name string) string {
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", path); err != nil {
		t.Skip(err)
	}
	return path
}
