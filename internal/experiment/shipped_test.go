package experiment

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

const shipped = "../../experiments"

// Every experiment that ships can be run as it is.
func TestShippedExperimentsExpand(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(shipped, "*.yaml"))
	if err != nil || len(paths) < 2 {
		t.Fatalf("found %q (%v)", paths, err)
	}
	for _, path := range paths {
		f, err := Load(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if f.Name+".yaml" != filepath.Base(path) {
			t.Errorf("%s is called %s", path, f.Name)
		}
		if f.Repetitions < 6 {
			t.Errorf("%s: %d repetitions give no interval", path, f.Repetitions)
		}
		// Once is enough here: repetitions differ in their seed only.
		f.Repetitions = 1
		p, err := f.Expand(algorithms.All(), nil)
		if err != nil {
			t.Error(err)
			continue
		}
		if len(p.LeftOut) > 0 {
			t.Errorf("%s leaves out %q", path, p.LeftOut)
		}
	}
}

// What the comments of quickstart.yaml promise.
func TestQuickstartIsSmall(t *testing.T) {
	f, err := Load(filepath.Join(shipped, "quickstart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Expand(algorithms.All(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Cells) != 180 {
		t.Errorf("%d runs; want 180", len(p.Cells))
	}
	if most := slices.Max(f.Nodes); most > 13 {
		t.Errorf("%d processes", most)
	}
	// At half a second for a run's start and end, the whole stays within two
	// minutes as long as no workload lasts.
	if least := leastTime(p.Cells); least > 10*time.Second {
		t.Errorf("durations add up to %v", least)
	}
}

var (
	yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")
	// keyRow is a row of a table of keys: the key first, an example last.
	keyRow = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|.*\\| `([^`]+)` \\|$")
)

// Every example of the documentation can be run as it is, and every key has one.
func TestDocumentationExamples(t *testing.T) {
	text, err := os.ReadFile("../../docs/experiments.md")
	if err != nil {
		t.Fatal(err)
	}
	try := func(example string) {
		t.Helper()
		f, err := Parse("example", []byte(whole(example)))
		if err == nil {
			f.Repetitions = 1
			_, err = f.Expand(algorithms.All(), nil)
		}
		if err != nil {
			t.Errorf("%s\n%v", example, err)
		}
	}
	for _, m := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
		try(m[1])
	}
	var keys []string
	for _, m := range keyRow.FindAllStringSubmatch(string(text), -1) {
		key, example := m[1], m[2]
		keys = append(keys, key)
		if !strings.Contains(example, key+":") {
			t.Errorf("the example of %s does not use it: %s", key, example)
		}
		if strings.HasPrefix(example, "{") {
			example = list(t, example) + ": [" + example + "]"
		}
		try(example)
	}
	for _, of := range []any{runs.Experiment{}, runs.Entry{}, runs.Workload{}, runs.Axis{}} {
		for _, key := range keysOf(reflect.TypeOf(of)) {
			if !slices.Contains(keys, key) {
				t.Errorf("%s is not documented", key)
			}
		}
	}
}

// whole completes an excerpt with what a file must have.
func whole(excerpt string) string {
	for _, line := range []string{"schema_version: 1", "name: example", "algorithms: [raymond]", "nodes: [7]"} {
		key, _, _ := strings.Cut(line, ":")
		if !strings.HasPrefix(excerpt, key+":") && !strings.Contains(excerpt, "\n"+key+":") {
			excerpt = line + "\n" + excerpt
		}
	}
	return excerpt
}

// list returns the list that an entry belongs to, by its name.
func list(t *testing.T, entry string) string {
	for key, name := range map[string]string{"over:": "axes", "show:": "figures"} {
		if strings.Contains(entry, key) {
			return name
		}
	}
	name := regexp.MustCompile(`name: ([a-z-]+)`).FindStringSubmatch(entry)
	if name == nil {
		t.Fatalf("%s has no name", entry)
	}
	if _, err := run.Catalog(algorithms.All()).Lookup(name[1]); err == nil {
		return "algorithms"
	}
	if _, err := run.LookupNetwork(name[1]); err == nil {
		return "transports"
	}
	return "workloads"
}
