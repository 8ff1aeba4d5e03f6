package runs_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"dmebench/runs"
)

// A store holds what was appended to it, before and after it is opened again, and
// is never begun twice.
func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), runs.StoreName)
	store, err := runs.CreateStore(path, runs.Header{Planned: 2, Experiment: runs.Experiment{Name: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runs.CreateStore(path, runs.Header{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("begun twice: %v", err)
	}
	first := runs.Run{Label: "maekawa", Workload: "light", Result: made("maekawa", 3, 1)}
	second := runs.Run{Label: "maekawa", Workload: "light", Repetition: 1, Result: made("maekawa", 3, 2)}
	if err := store.Append(first); err != nil {
		t.Fatal(err)
	}
	store.Close()
	if store, err = runs.OpenStore(path); err != nil {
		t.Fatal(err)
	}
	packed := []byte("records of critical sections")
	second.Result.Sections = packed
	if err := store.Append(second); err != nil {
		t.Fatal(err)
	}
	if second.Result.Sections != nil {
		t.Error("records that are on the disk are still in memory")
	}
	store.Close()
	set, err := runs.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(set.Runs[0].Sections); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("records of a run that has none: %v", err)
	}
	if b, err := os.ReadFile(set.Runs[1].Sections); err != nil || string(b) != string(packed) {
		t.Errorf("the records are %q, %v", b, err)
	}
	for i := range set.Runs {
		set.Runs[i].Sections = ""
	}
	if !reflect.DeepEqual(set.Runs, []runs.Run{first, second}) || set.Header.Experiment.Name != "x" || set.Missing() != 0 {
		t.Errorf("%+v", set)
	}
	if !reflect.DeepEqual(set.Find(second.Key()), second.Result) || set.Find(runs.RunKey{Label: "raymond"}) != nil {
		t.Errorf("found %+v", set.Find(second.Key()))
	}
	if err := store.Append(first); err == nil {
		t.Error("appended to a store that is closed")
	}
}

// Whatever a store's file holds, it is refused, or it can be continued and then
// holds one run more at most.
func FuzzOpenStore(f *testing.F) {
	const header = `{"schema_version":1,"planned":2}` + "\n"
	const run = `{"label":"a","result":{"schema_version":1,"algorithm":"a","nodes":3,"status":"ok"}}` + "\n"
	for _, text := range []string{"", header, header + run, header + run + run[:40], run, header + "\n", header + "{}\n", "\x00\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), runs.StoreName)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		before, err := runs.Read(path)
		store, openErr := runs.OpenStore(path)
		if (err == nil) != (openErr == nil) {
			t.Fatalf("read: %v, opened: %v", err, openErr)
		}
		if err != nil {
			return
		}
		if err := store.Append(runs.Run{Label: "new", Result: made("maekawa", 3, 1)}); err != nil {
			t.Fatal(err)
		}
		store.Close()
		after, err := runs.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(after.Damaged) > 0 {
			t.Errorf("damaged lines are left in a store that was opened: %v", after.Warnings())
		}
		if n := len(after.Runs) - len(before.Runs); n != 0 && n != 1 || after.Runs[len(after.Runs)-1].Result == nil {
			t.Errorf("%d runs, then %d", len(before.Runs), len(after.Runs))
		}
	})
}

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

func made(algorithm string, n int, seed uint64) *runs.Result {
	return &runs.Result{
		SchemaVersion: runs.SchemaVersion, Algorithm: algorithm, Nodes: n, Status: runs.OK, Seed: seed,
		Spec: runs.Spec{Algorithm: algorithm, Nodes: n, Seed: seed},
	}
}

// Results of one cell are its repetitions, whatever else lies between them.
func TestFolderOfResults(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a [strange] *name?")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for i, r := range []*runs.Result{
		made("maekawa", 3, 1), made("raymond", 3, 1), made("maekawa", 3, 2), made("maekawa", 7, 1), made("maekawa", 3, 1),
	} {
		write(t, filepath.Join(dir, fmt.Sprintf("%d.json", i)), r)
	}
	write(t, filepath.Join(dir, "notes.txt"), "no result, and no claim to be one")
	set, err := runs.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range set.Runs {
		got = append(got, fmt.Sprintf("%s/%d#%d", r.Label, r.Result.Nodes, r.Repetition+1))
	}
	if want := "maekawa/3#1 raymond/3#1 maekawa/3#2 maekawa/7#1 maekawa/3#3"; strings.Join(got, " ") != want {
		t.Errorf("read %v, want %s", got, want)
	}
	if set.Name() != dir || !set.Header.Started.IsZero() {
		t.Errorf("%q, begun %v", set.Name(), set.Header.Started)
	}
}

// One file that is no result does not keep the others from being read, and is named.
func TestFolderWithADamagedResult(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "1.json"), made("maekawa", 3, 1))
	write(t, filepath.Join(dir, "2.json"), `{"algorithm": "maek`)
	write(t, filepath.Join(dir, "3.json"), made("maekawa", 3, 2))
	set, err := runs.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if warnings := set.Warnings(); len(set.Runs) != 2 || len(warnings) != 1 ||
		!strings.HasPrefix(warnings[0], filepath.Join(dir, "2.json")+": not a result") || !strings.HasSuffix(warnings[0], "; left out") {
		t.Errorf("%d runs, %q", len(set.Runs), warnings)
	}
}

// A line of a store may be a file, too.
func TestFileOfARun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	write(t, path, map[string]any{"label": "maekawa-grid", "repetition": 4, "result": made("maekawa", 13, 5)})
	set, err := runs.Read(path)
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
		none bool // there are no results at all
		says string
	}{
		{filepath.Join(dir, "nowhere"), true, "there are no results: no such file or folder"},
		{empty, true, "there are no results; name a folder"},
		{at("rubbish", "{"), false, "not a result"},
		{at("other", `{"a": 1}`), false, "lacks algorithm"},
		{at("null", `null`), false, "not a result"},
		{at("list", `[1]`), false, "not a result"},
		{at("newer", newer), false, "version 99"},
	} {
		paths := []string{c.path}
		if filepath.Base(c.path) == "x.json" {
			paths = append(paths, filepath.Dir(c.path)) // also in a folder
		}
		for _, path := range paths {
			_, err := runs.Read(path)
			if err == nil || errors.Is(err, runs.ErrNone) != c.none ||
				!strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.path) {
				t.Errorf("%s: %v, want %q and the name", path, err, c.says)
			}
		}
	}
}

// A sweep is found by its folder, by its experiment's folder, by its store, and
// when that is compressed; a folder of experiments names them.
func TestWaysToASweep(t *testing.T) {
	out := t.TempDir()
	dated := filepath.Join(out, "small", "2026-11-20T12-30-05Z")
	if err := os.MkdirAll(dated, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Base(dated), filepath.Join(out, "small", "latest")); err != nil {
		t.Fatal(err)
	}
	store, err := runs.CreateStore(filepath.Join(dated, runs.StoreName), runs.Header{Planned: 3})
	if err != nil {
		t.Fatal(err)
	}
	failed := made("raymond", 3, 1)
	failed.Status = runs.Failed
	for _, r := range []*runs.Result{failed, made("maekawa", 3, 1), made("raymond", 3, 1)} {
		if err := store.Append(runs.Run{Label: r.Algorithm, Result: r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	check := func(path, name string) {
		t.Helper()
		set, err := runs.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if set.Name() != name || len(set.Runs) != 2 || set.Missing() != 1 ||
			set.Runs[0].Label != "raymond" || set.Runs[0].Result.Status != runs.OK {
			t.Errorf("%s: %q, %+v", path, set.Name(), set.Runs)
		}
	}
	for _, path := range []string{dated, out, filepath.Join(out, "small"), filepath.Join(out, "small", "latest"), store.Path} {
		check(path, dated)
	}
	if err := os.Mkdir(filepath.Join(out, "other"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(out, "other", runs.StoreName), "")
	if _, err := runs.Read(out); err == nil || !strings.Contains(err.Error(), "; name one of "+filepath.Join(out, "other")) {
		t.Errorf("%v", err)
	}

	text, err := os.ReadFile(store.Path)
	if err != nil {
		t.Fatal(err)
	}
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	w.Write(text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, store.Path+".gz", compressed.String())
	if err := os.Remove(store.Path); err != nil {
		t.Fatal(err)
	}
	check(dated, dated)
	check(store.Path+".gz", dated)
	write(t, store.Path+".gz", compressed.String()[:compressed.Len()/2])
	if _, err := runs.Read(dated); err == nil || !strings.Contains(err.Error(), store.Path+".gz") {
		t.Errorf("half a compressed store: %v", err)
	}
}
