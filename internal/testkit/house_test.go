package testkit_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// The architecture: which package may import which, and what an algorithm may not do
// because it is a pure state machine. The rules speak of the packages themselves, not of
// their tests.
func TestArchitecture(t *testing.T) {
	name, err := moduleName("../../go.mod") // which whoever hosts it may change: scripts/rename-module.sh
	if err != nil {
		t.Fatal(err)
	}
	m, err := load(os.DirFS("../.."), name)
	if err != nil {
		t.Fatal(err)
	}
	// A rule for a folder that is gone would keep nothing.
	for _, pattern := range folders() {
		there := func(folder string) bool { return match(pattern, folder) }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(m.pkgs)), there) {
			t.Errorf("there is no package in %s; has it moved? Then move its rule too", pattern)
		}
	}
	for _, v := range violations(m) {
		t.Error(v)
	}
}

// moduleName reads the path of a module from its go.mod.
func moduleName(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	name, ok := strings.CutPrefix(first, "module ")
	if !ok {
		return "", fmt.Errorf("%s: the first line names no module", file)
	}
	return name, nil
}

// Each rule is shown to fail on a small synthetic module. Each archive of testdata is one.
// Lines of its comment that begin with
// "want " are the violations that must be found, and no others.
func TestRulesAreKept(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			fsys, err := txtar.FS(archive)
			if err != nil {
				t.Fatal(err)
			}
			m, err := load(fsys, "dmebench")
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for line := range strings.Lines(string(archive.Comment)) {
				if v, ok := strings.CutPrefix(line, "want "); ok {
					want = append(want, strings.TrimSpace(v))
				}
			}
			got := violations(m)
			for _, v := range got {
				if !slices.Contains(want, v) {
					t.Errorf("found:     %s", v)
				}
			}
			for _, v := range want {
				if !slices.Contains(got, v) {
					t.Errorf("not found: %s", v)
				}
			}
		})
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, folder string
		want            bool
	}{
		{"algorithms", "algorithms", true},
		{"algorithms", "algorithms/raymond", false},
		{"algorithms/...", "algorithms", false},
		{"algorithms/...", "algorithms/raymond", true},
		{"algorithms/...", "algorithms/raymond/x", true},
		{"algorithms/...", "algorithmsx/raymond", false},
	} {
		if match(c.pattern, c.folder) != c.want {
			t.Errorf("%s, %s: not %v", c.pattern, c.folder, c.want)
		}
	}
}
