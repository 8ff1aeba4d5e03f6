package experiment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dmebench/result"
)

func TestContinue(t *testing.T) {
	dir := t.TempDir()
	begin := func(plan string, fresh bool) int {
		t.Helper()
		store, release, err := Continue(dir, result.Header{Plan: plan}, fresh)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		if _, _, err := Continue(dir, result.Header{Plan: plan}, fresh); err == nil || !strings.Contains(err.Error(), "another") {
			t.Errorf("a second one is let in: %v", err)
		}
		there := len(store.Runs)
		r := &result.Result{SchemaVersion: result.SchemaVersion, Algorithm: "a", Nodes: 3, Status: result.OK}
		if err := store.Append(result.Run{Label: "a", Repetition: there + 1, Result: r}); err != nil {
			t.Fatal(err)
		}
		return there
	}
	for i, x := range []struct {
		plan  string
		fresh bool
		there int
	}{{"one", false, 0}, {"one", false, 1}, {"one", false, 2}, {"one", true, 0}, {"two", false, 0}, {"two", false, 1}} {
		if there := begin(x.plan, x.fresh); there != x.there {
			t.Errorf("%d: %d runs were there, want %d", i, there, x.there)
		}
	}
	// A first line that was cut off is no reason to stop.
	if err := os.WriteFile(filepath.Join(dir, result.StoreName), []byte(`{"schema`), 0o600); err != nil {
		t.Fatal(err)
	}
	if there := begin("two", false); there != 0 {
		t.Errorf("%d runs in a torn header", there)
	}
}
