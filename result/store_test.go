package result_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"dmebench/result"
)

// A store holds what was appended to it, before and after it is opened again, and
// is never begun twice.
func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), result.StoreName)
	store, err := result.CreateStore(path, result.Header{Planned: 2, Experiment: result.Experiment{Name: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := result.CreateStore(path, result.Header{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("begun twice: %v", err)
	}
	first := result.Run{Label: "maekawa", Workload: "light", Result: made("maekawa", 3, 1)}
	second := result.Run{Label: "maekawa", Workload: "light", Repetition: 1, Result: made("maekawa", 3, 2)}
	if err := store.Append(first); err != nil {
		t.Fatal(err)
	}
	store.Close()
	if store, err = result.OpenStore(path); err != nil {
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
	set, err := result.Read(path)
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
	if !reflect.DeepEqual(set.Runs, []result.Run{first, second}) || set.Header.Experiment.Name != "x" || set.Missing() != 0 {
		t.Errorf("%+v", set)
	}
	if !reflect.DeepEqual(set.Find(second.Key()), second.Result) || set.Find(result.RunKey{Label: "raymond"}) != nil {
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
		path := filepath.Join(t.TempDir(), result.StoreName)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		before, err := result.Read(path)
		store, openErr := result.OpenStore(path)
		if (err == nil) != (openErr == nil) {
			t.Fatalf("read: %v, opened: %v", err, openErr)
		}
		if err != nil {
			return
		}
		if err := store.Append(result.Run{Label: "new", Result: made("maekawa", 3, 1)}); err != nil {
			t.Fatal(err)
		}
		store.Close()
		after, err := result.Read(path)
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
