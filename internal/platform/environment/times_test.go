package environment

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTimesOfProcessors(t *testing.T) {
	for text, want := range map[string]ProcessorTimes{
		"cpu  1000 0 500 8000 100 0 0 400 77 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n": {Busy: 1500, Stolen: 400, All: 10000, Processors: 1},
		"cpu  1060 10 525 8060 105 1 4 435 99 0\n":                          {Busy: 1600, Stolen: 435, All: 10200},
		"cpu 1 2 3\n":                  {},
		"cpu 1 2 3 many 5 6 7 8 9 0\n": {},
		"":                             {},
	} {
		root := t.TempDir()
		if err := os.Mkdir(filepath.Join(root, "proc"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "proc/stat"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := timesAt(root); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
	if got := timesAt(t.TempDir()); got != (ProcessorTimes{}) {
		t.Errorf("%+v of a host that says nothing", got)
	}
}
