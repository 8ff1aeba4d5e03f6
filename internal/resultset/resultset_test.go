package resultset_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dmebench/internal/exit"
	"dmebench/internal/resultset"
	"dmebench/result"
)

func write(t *testing.T, path string, value any) {
	t.Helper()
	b, ok := value.(string)
	if !ok {
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		b = string(encoded)
	}
	if err := os.WriteFile(path, []byte(b), 0o666); err != nil {
		t.Fatal(err)
	}
}

func made(algorithm string, n int, seed uint64) *result.Result {
	return &result.Result{
		SchemaVersion: result.SchemaVersion, Algorithm: algorithm, Nodes: n, Status: result.OK, Seed: seed,
		Spec: result.Spec{Algorithm: algorithm, Nodes: n, Seed: seed},
	}
}

// Results of one cell are its repetitions, whatever else lies between them.
func TestFolderOfResults(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a [strange] *name?")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for i, r := range []*result.Result{
		made("maekawa", 3, 1), made("raymond", 3, 1), made("maekawa", 3, 2), made("maekawa", 7, 1), made("maekawa", 3, 1),
	} {
		write(t, filepath.Join(dir, fmt.Sprintf("%d.json", i)), r)
	}
	write(t, filepath.Join(dir, "notes.txt"), "no result, and no claim to be one")
	set, err := resultset.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range set.Runs {
		got = append(got, fmt.Sprintf("%s/%d#%d", r.Label, r.Result.Nodes, r.Repetition))
	}
	if want := "maekawa/3#1 raymond/3#1 maekawa/3#2 maekawa/7#1 maekawa/3#3"; strings.Join(got, " ") != want {
		t.Errorf("read %v, want %s", got, want)
	}
	if set.Name() != dir || !set.Started.IsZero() {
		t.Errorf("%q, begun %v", set.Name(), set.Started)
	}
}

// A cell of an experiment is a result with its label.
func TestFileOfACell(t *testing.T) {
	path := filepath.Join(t.TempDir(), "28d842c1f3701e72.json")
	write(t, path, map[string]any{"schema_version": 1, "hash": "28d842c1f3701e72", "label": "maekawa-grid", "result": made("maekawa", 13, 5)})
	set, err := resultset.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Runs) != 1 || set.Runs[0].Label != "maekawa-grid" || set.Runs[0].Result.Nodes != 13 || set.Runs[0].Result.Seed != 5 {
		t.Errorf("%+v", set.Runs)
	}
}

func TestWhatIsNotAResultIsNamed(t *testing.T) {
	dir := t.TempDir()
	at := func(name string, value any) string {
		path := filepath.Join(dir, name, "x.json")
		if err := os.Mkdir(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, path, value)
		return path
	}
	newer := made("maekawa", 3, 1)
	newer.SchemaVersion = 99
	empty := t.TempDir()
	for _, c := range []struct {
		path string
		code int
		says string
	}{
		{filepath.Join(dir, "nowhere"), exit.NoInput, "there is no such file or folder"},
		{empty, exit.NoInput, "holds no results"},
		{at("rubbish", "{"), exit.Data, "not a result"},
		{at("other", `{"a": 1}`), exit.Data, "lacks algorithm"},
		{at("null", `null`), exit.Data, "not a result"},
		{at("list", `[1]`), exit.Data, "not a result"},
		{at("newer", newer), exit.Data, "version 99"},
	} {
		paths := []string{c.path}
		if filepath.Base(c.path) == "x.json" {
			paths = append(paths, filepath.Dir(c.path)) // also in a folder
		}
		for _, path := range paths {
			_, err := resultset.Read(path)
			var coded interface{ ExitCode() int }
			if err == nil || !errors.As(err, &coded) || coded.ExitCode() != c.code || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.path) {
				t.Errorf("%s: %v, want code %d, %q and the name", path, err, c.code, c.says)
			}
		}
	}
}
