// Package docs_test holds the documentation to what the program says.
package docs_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"dmebench"
	"dmebench/algorithms"
	"dmebench/internal/cli"
	"dmebench/internal/testkit"
)

// say runs the program, which must end with the given exit code, and returns
// what it prints.
func say(t *testing.T, code int, args ...string) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if got := dmebench.Run(append([]string{"dmebench"}, args...), strings.NewReader(""), &stdout, &stderr, dmebench.Config{}); got != code {
		t.Fatalf("%q: exit code %d, want %d\n%s%s", args, got, code, &stdout, &stderr)
	}
	return stdout.Bytes()
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// algorithms.md lists what the algorithms say of themselves.
func TestAlgorithmsPage(t *testing.T) {
	testkit.FileMustBe(t, "algorithms.md", say(t, cli.Held, "list", "algorithms", "--markdown"))
}

func TestSchema(t *testing.T) {
	testkit.FileMustBe(t, "result.schema.json", say(t, cli.Held, "list", "schema"))
}

// The figures of the worked examples are drawn from the scenarios that the tests
// play, and so cannot drift from the code.
func TestScenarioFigures(t *testing.T) {
	var scenarios []struct{ Name string }
	if err := json.Unmarshal(say(t, cli.Held, "list", "scenarios", "--json"), &scenarios); err != nil || len(scenarios) == 0 {
		t.Fatal(len(scenarios), err)
	}
	page := read(t, "algorithms.md")
	for _, s := range scenarios {
		drawn := filepath.Join(t.TempDir(), "drawn.svg")
		say(t, cli.Held, "trace", "--scenario", s.Name, "--svg", drawn)
		image := path.Join("images", "scenarios", strings.ReplaceAll(s.Name, "/", "-")+".svg")
		testkit.FileMustBe(t, filepath.FromSlash(image), read(t, drawn))
		if !bytes.Contains(page, []byte("]("+image+")")) {
			t.Errorf("algorithms.md does not show %s", image)
		}
	}
}

// survival.md is what the program finds out, and survival.csv the same for 'advise'; it
// takes half a minute.
func TestSurvivalPage(t *testing.T) {
	if !testkit.Full() {
		t.Skip("needs DMEBENCH_TESTS=full")
	}
	dir := t.TempDir()
	say(t, cli.Held, "validate", "--faults", "--quick", "--quiet", "--out", dir)
	testkit.FileMustBe(t, "survival.md", read(t, filepath.Join(dir, "survival.md")))
	testkit.FileMustBe(t, filepath.FromSlash("../internal/experiment/advise/survival.csv"), read(t, filepath.Join(dir, "survival.csv")))
}

// counterexamples says where the literal texts are searched: the smallest
// systems in which a fault shows.
var counterexamples = map[string]string{
	"singhal-as-published":                 "--nodes 3 --requests 3",
	"lodha-kshemkalyani-as-published":      "--nodes 3 --requests 3",
	"maekawa-as-published":                 "--nodes 7 --requests 7",
	"maekawa-textbook-as-published":        "--nodes 3 --requests 3",
	"agrawal-el-abbadi-as-published":       "--nodes 3 --requests 3",
	"ricart-agrawala-bounded-as-published": "--nodes 3 --requests 6",
	"ricart-agrawala-robust-as-published":  "--nodes 3 --requests 4 --faults 1",
	"chaudhuri-karaata-as-published":       "--nodes 3 --requests 4 --set mesh=1x1x3",
}

// Every literal text is caught, and errata.md shows how.
func TestErrataPage(t *testing.T) {
	page := read(t, "errata.md")
	for _, a := range algorithms.All() {
		if !a.AsPublished {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			where, ok := counterexamples[a.Name]
			if !ok {
				t.Fatal("where is it to be searched?")
			}
			drawn := filepath.Join(t.TempDir(), "drawn.svg")
			args := append(strings.Fields("check --quiet --schedules 50000 --algorithm "+a.Name+" "+where), "--svg", drawn)
			say(t, cli.Broken, args...)
			image := path.Join("images", "errata", a.Name+".svg")
			testkit.FileMustBe(t, filepath.FromSlash(image), read(t, drawn))
			if !bytes.Contains(page, []byte("## "+a.Name+"\n")) || !bytes.Contains(page, []byte("]("+image+")")) {
				t.Errorf("errata.md has no section with the picture %s", image)
			}
		})
	}
}

// The figures of quorums in experiments.md are what the command there draws.
func TestQuorumFigures(t *testing.T) {
	testkit.TakesLong(t)
	page := read(t, "experiments.md")
	const command = "list quorums --nodes 31 --availability --plots"
	if !bytes.Contains(page, []byte("dmebench "+command)) {
		t.Errorf("experiments.md does not say %q", command)
	}
	drawn := t.TempDir()
	say(t, cli.Held, append(strings.Fields(command), drawn)...)
	for _, name := range []string{"quorum-availability-n31.svg", "quorum-failures-n31.svg", "quorum-cost-n31.svg"} {
		image := path.Join("images", "experiments", name)
		testkit.FileMustBe(t, filepath.FromSlash(image), read(t, filepath.Join(drawn, name)))
		if !bytes.Contains(page, []byte("]("+image+")")) {
			t.Errorf("experiments.md does not show %s", image)
		}
	}
}

// The guide writes the worked example, which stands in a module of its own, too.
func TestTheGuideWritesTheExample(t *testing.T) {
	const page = "guide/5-your-own-algorithm.md"
	blocks, err := fences(string(read(t, page)))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range blocks {
		if file, ok := strings.CutPrefix(f.file, "../courier/courier/"); ok {
			found++
			testkit.FileMustBe(t, filepath.Join("examples", "own-algorithm", "courier", file), []byte(strings.Join(f.lines, "\n")+"\n"))
		}
	}
	if found != 2 {
		t.Errorf("%s has %d files of the example, not 2", page, found)
	}
}
