package experiment

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"dmebench/algorithms"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// TestFaults compares everything that the program says about faulty files, to
// the letter.
func TestFaults(t *testing.T) {
	const path = "testdata/faults.txtar"
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	now := &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		name, ok := strings.CutSuffix(f.Name, ".yaml")
		if !ok {
			continue
		}
		file, err := Parse(f.Name, f.Data)
		if all := file.AllFaults(few(), nil); all != nil {
			err = all
		} else if err == nil {
			_, err = file.Expand(few(), nil)
		}
		if err == nil {
			t.Fatalf("%s: nothing was wrong with it", f.Name)
		}
		wantRefused(t, err, BadFile)
		now.Files = append(now.Files, f, txtar.File{Name: name + ".says", Data: []byte(err.Error() + "\n")})
	}
	testkit.FileMustBe(t, path, txtar.Format(now))
}

// Which transports, workloads and options there are is told by others; that it
// is told, and of which entry, is told here.
func TestUnknownNames(t *testing.T) {
	f := parse(t, `
schema_version: 1
name: x
algorithms: [maekawa]
nodes: [3]
transports: [tcp, carrier-pigeon, {name: tcp, set: {wings: 2}, label: slow}]
workloads:
  - saturated
  - {name: saturate, set: {think: often}}
`)
	_, err := f.Expand(few(), nil)
	wantRefused(t, err, BadFile, "test.yaml has 4 faults:",
		`test.yaml:6: transports, entry 2: unknown transport "carrier-pigeon"; there are `,
		`test.yaml:6: transports, entry 3: unknown option "wings"; `,
		`test.yaml:8: workloads, entry 1: unknown workload "saturated"; did you mean 'saturate'?`,
		`test.yaml:9: workloads, entry 2: think=often: `)
}

func TestLoadMissingFile(t *testing.T) {
	_, err := Load(filepath.Join(t.TempDir(), "none.yaml"))
	wantRefused(t, err, NoFile, "none.yaml", "--file")
}

func FuzzParse(f *testing.F) {
	archive, err := txtar.ParseFile("testdata/faults.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, a := range archive.Files {
		f.Add(string(a.Data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse("fuzz.yaml", []byte(text))
		if err != nil {
			if !strings.Contains(err.Error(), "fuzz.yaml:") {
				t.Errorf("error %q names no line", err)
			}
			if fewRuns(file) {
				if all := file.AllFaults(few(), func(string) ([]byte, error) { return nil, os.ErrNotExist }); all == nil && file.document.root != nil {
					t.Errorf("refused (%v), and then nothing is wrong with it", err)
				}
			}
			return
		}
		// What has been accepted can be expanded or says why not.
		if !fewRuns(file) {
			return
		}
		if p, err := file.Expand(few(), func(string) ([]byte, error) { return nil, os.ErrNotExist }); err == nil && len(p.Cells) == 0 {
			t.Error("an empty plan")
		}
	})
}

// fewRuns reports whether an experiment is expanded at once.
func fewRuns(f File) bool {
	return f.Repetitions*len(f.Algorithms)*len(f.Nodes)*len(f.Transports)*len(f.Workloads) <= 100 &&
		!slices.ContainsFunc(f.Nodes, func(n int) bool { return n > 1000 })
}

// disabled is a key, or an entry of a list, that is commented out.
var disabled = regexp.MustCompile(`(?m)^( *)#( *- |[a-z])`)

// faulty are faults that the algorithms of the template do not bear.
var faulty = regexp.MustCompile(`(?m)^.*(faults: \[|resource:).*\n`)

func TestTemplate(t *testing.T) {
	text, err := Template("mine", "mine.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "NAME") || !strings.Contains(string(text), "dmebench sweep mine.yaml --dry-run") {
		t.Errorf("the name is not everywhere:\n%s", text)
	}
	f, err := Parse("mine.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := f.Expand(algorithms.All(), nil); err != nil || f.Name != "mine" || len(p.Cells) != 3*3*2*6 {
		t.Errorf("%v", err)
	}
	// With everything that is commented out it is valid too.
	text = []byte(disabled.ReplaceAllString(string(text), "$1$2"))
	if f, err = Parse("all.yaml", text); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if f, err = Parse("all.yaml", faulty.ReplaceAll(text, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Expand(algorithms.All(), nil); err != nil {
		t.Error(err)
	}
}

// Whoever adds a key explains it in the template.
func TestTemplateHasEveryKey(t *testing.T) {
	text := string(template)
	for _, of := range []any{runs.Experiment{}, runs.Entry{}, runs.Workload{}, runs.Axis{}} {
		for i, typ := 0, reflect.TypeOf(of); i < typ.NumField(); i++ {
			key, _, _ := strings.Cut(typ.Field(i).Tag.Get("yaml"), ",")
			if !regexp.MustCompile(`(?m)(^#?|[{,] ?|^# +)` + key + `(:|  |, )`).MatchString(text) {
				t.Errorf("%s: the template does not have %s", typ.Name(), key)
			}
		}
	}
}

func TestTemplateRefusesAName(t *testing.T) {
	for _, name := range []string{"", "a/b", "-x", "two words"} {
		if _, err := Template(name, "x.yaml"); err == nil {
			t.Errorf("%q is no folder, and was taken", name)
		}
	}
}

// A sweep does not continue with the results of a program that has changed since.
func TestPlanKnowsItsPrograms(t *testing.T) {
	script := filepath.Join(t.TempDir(), "node.py")
	plan := func(text, command string) *Plan {
		t.Helper()
		if err := os.WriteFile(script, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Parse("x.yaml", []byte(`schema_version: 1
name: x
algorithms: [ricart-agrawala, {name: exec, set: {command: '`+command+`'}}]
nodes: [2]
transports: [tcp]
workloads: [{name: saturate, requests_per_node: 5}]
repetitions: 1
`))
		if err != nil {
			t.Fatal(err)
		}
		p, err := f.Expand(run.Catalog(algorithms.All()), nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := plan("one", `python3 -u "`+script+`"`)
	if c := first.Cells[1]; c.Label != "exec:node.py" || c.Spec.Algorithm != "exec:node.py" {
		t.Errorf("the cell is %q, of %s", c.Label, c.Spec.Algorithm)
	}
	if again := plan("one", `python3 -u "`+script+`"`); again.digest() != first.digest() {
		t.Error("the same program makes another plan")
	}
	if other := plan("two", `python3 -u "`+script+`"`); other.digest() == first.digest() {
		t.Error("another program makes the same plan")
	}
	if len(first.Files) != 1 {
		t.Errorf("files: %v", first.Files)
	}
}

// What an entry says of itself stands: options of the whole matrix fill in the others.
func TestAMatrixKeepsWhatItsEntriesSay(t *testing.T) {
	entries := runs.List[runs.Entry]{{Name: "maekawa", Label: "own", Set: map[string]string{"quorum": "grid"}},
		{Name: "maekawa", Label: "other"}}
	all := map[string]string{"quorum": "majority"}
	f, err := Matrix(runs.Experiment{Name: "x", Algorithms: entries, Nodes: []int{4}}, all, algorithms.All())
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Expand(algorithms.All(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, c := range p.Cells {
		got[c.Label] = c.Spec.Set["quorum"]
	}
	if want := map[string]string{"own": "grid", "other": "majority"}; !maps.Equal(got, want) {
		t.Errorf("quorums %v, want %v", got, want)
	}
}
