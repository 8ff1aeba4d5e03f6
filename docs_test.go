package dmebench

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/dme"
	"dmebench/internal/check"
	"dmebench/internal/exit"
	"dmebench/internal/run"
	"dmebench/internal/trace"
)

var rewrite = flag.Bool("rewrite", false, "write the generated pages and figures of docs as they should be")

// mustBe compares a generated file with what it should hold, or writes it.
func mustBe(t *testing.T, file string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(file)
	if err == nil && bytes.Equal(got, want) {
		return
	}
	if !*rewrite {
		t.Errorf("%s is not what the code says (%v); «go test . -rewrite» writes it", file, err)
		return
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, want, 0o644); err != nil {
		t.Fatal(err)
	}
}

// figure is a worked example of an algorithm, drawn.
type figure struct{ algorithm, title, image, scenario string }

// The figures of the documentation are drawn from the scenarios that the tests
// play, and so cannot drift from the code.
func drawScenarios(t *testing.T) []figure {
	t.Helper()
	var figures []figure
	err := fs.WalkDir(scenarios, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(scenarios, file)
		if err != nil || !trace.IsScenario(text) {
			return err
		}
		folder := path.Dir(file)
		name := path.Base(strings.TrimSuffix(folder, "/testdata")) + "/" + strings.TrimSuffix(path.Base(file), ".txt")
		s, err := trace.Parse(name, text)
		if err != nil {
			return err
		}
		a, err := run.Catalog(catalog.All()).Lookup(s.Algorithm)
		if err != nil {
			return err
		}
		_, diagram, err := s.Play(a, func(name string) ([]byte, error) { return fs.ReadFile(scenarios, path.Join(folder, name)) })
		if err != nil {
			return err
		}
		image := path.Join("images", "scenarios", strings.ReplaceAll(name, "/", "-")+".svg")
		mustBe(t, filepath.Join("docs", filepath.FromSlash(image)), diagram.SVG())
		figures = append(figures, figure{s.Algorithm, s.Title, image, name})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return figures
}

// docs/algorithms.md lists what the algorithms say of themselves.
func TestAlgorithmsPage(t *testing.T) {
	figures := drawScenarios(t)
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("# Algorithms\n")
	p("Everything here is what the algorithms say of themselves (`dmebench list --json`), and the figures are the worked examples that the tests replay. N is the number of nodes, K the size of a quorum, T the delay of a message, E the duration of a critical section.\n")
	p("The sources of the claims: «TR-869» is G. Ricart, A. K. Agrawala: An Algorithm for Mutual Exclusion in Computer Networks, University of Maryland, 1980; «textbook» is A. D. Kshemkalyani, M. Singhal: Distributed Computing, Cambridge University Press, 2008, chapter 9; «slides» are those about Maekawa's paper under the title A √N Algorithm for Mutual Exclusion in Decentralized Systems: a short story. Others are the papers of the algorithms. A claim is made with the default options unless it names others.\n")
	p("| Algorithm | Class | Needs of its links | Messages per critical section, as claimed |")
	p("|---|---|---|---|")
	for _, a := range catalog.All() {
		opt, err := a.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		class := string(a.Class)
		if a.Dynamic {
			class += ", dynamic"
		}
		name := fmt.Sprintf("[`%s`](#%s)", a.Name, a.Name)
		if a.AsPublished {
			name += " (known to be wrong)"
		}
		p("| %s | %s | %s | %s |", name, class, needsOf(a.Needs(opt)), costs(a))
	}
	for _, a := range catalog.All() {
		p("\n## %s\n", a.Name)
		p("%s. %s.\n", a.Title, strings.TrimSuffix(a.Citation, "."))
		if a.AsPublished {
			p("The literal text, kept as a negative control: `dmebench check` finds its fault. See [errata](errata.md).\n")
		}
		p("Messages: %s.", strings.Join(a.Kinds, ", "))
		for _, o := range a.Options {
			def := o.Default
			if def == "" {
				def = "none"
			}
			p("- `--set %s=%s` (default %s): %s", o.Name, o.Values, def, o.Help)
		}
		if len(a.Claims) > 0 {
			p("\n| Claim | Load | Kind | Source |")
			p("|---|---|---|---|")
			for _, c := range byQuantity(a.Claims) {
				source := c.Source
				if c.KnownFalse != "" {
					source += ". **Known to be false**: " + c.KnownFalse
				}
				p("| %s: %s | %s | %s | %s |", c.Quantity, cell(c.Formula), cell(conditions(c)), c.Kind, cell(source))
			}
		}
		for _, f := range figures {
			if f.algorithm == a.Name {
				p("\n![%s](%s)\n\n*%s. `dmebench trace --scenario %s`*", f.title, f.image, f.title, f.scenario)
			}
		}
	}
	mustBe(t, filepath.Join("docs", "algorithms.md"), []byte(b.String()))
}

// byQuantity returns the claims such that those about one quantity stand
// together, where the first of them stood.
func byQuantity(claims []dme.Claim) []dme.Claim {
	first := make(map[dme.Quantity]int)
	for i, c := range claims {
		if _, ok := first[c.Quantity]; !ok {
			first[c.Quantity] = i
		}
	}
	sorted := slices.Clone(claims)
	slices.SortStableFunc(sorted, func(a, b dme.Claim) int { return first[a.Quantity] - first[b.Quantity] })
	return sorted
}

// conditions says under which load, options and links a claim is made.
func conditions(c dme.Claim) string {
	text := string(c.Load)
	for _, name := range slices.Sorted(maps.Keys(c.Set)) {
		text += fmt.Sprintf(", `%s=%s`", name, c.Set[name])
	}
	if c.FIFO {
		text += ", links that keep order"
	}
	return text
}

func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

func needsOf(n dme.Needs) string {
	var parts []string
	for _, x := range []struct {
		need bool
		name string
	}{{n.Reliable, "reliable"}, {n.FIFO, "FIFO"}, {n.BoundedDelay, "bounded delay"}, {n.SequencedBroadcast, "sequenced broadcast"}} {
		if x.need {
			parts = append(parts, x.name)
		}
	}
	return strings.Join(parts, ", ")
}

// costs sums up what an algorithm's messages cost with its default options: what
// is claimed of every entry, and what of light and of heavy load.
func costs(a *dme.Algorithm) string {
	var parts []string
	for _, load := range []dme.Load{dme.AnyLoad, dme.Light, dme.Saturated, dme.Worst} {
		for _, c := range a.Claims {
			told := c.Kind != dme.Asymptotic && c.Kind != dme.LowerBound
			if c.Quantity != dme.MessagesPerCS || c.Load != load || !told || c.KnownFalse != "" || c.Set != nil {
				continue
			}
			formula, _, _ := strings.Cut(c.Formula, ":")
			if c.Kind == dme.UpperBound {
				formula = "≤ " + formula
			}
			parts = append(parts, fmt.Sprintf("%s (%s)", cell(formula), load))
			break
		}
	}
	if parts == nil {
		return "–"
	}
	return strings.Join(parts, "; ")
}

// counterexamples says where the literal texts are searched: the smallest
// systems in which a fault shows.
var counterexamples = map[string]check.Options{
	"singhal-as-published":                 {Nodes: 3, Requests: 3},
	"lodha-kshemkalyani-as-published":      {Nodes: 3, Requests: 3},
	"maekawa-as-published":                 {Nodes: 7, Requests: 7},
	"maekawa-textbook-as-published":        {Nodes: 3, Requests: 3},
	"agrawal-el-abbadi-as-published":       {Nodes: 3, Requests: 3},
	"ricart-agrawala-bounded-as-published": {Nodes: 3, Requests: 6},
	"chaudhuri-karaata-as-published":       {Nodes: 3, Requests: 4, Set: map[string]string{"mesh": "1x1x3"}},
}

// Every literal text is caught, and docs/errata.md shows how.
func TestErrataPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("docs", "errata.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range catalog.All() {
		if !a.AsPublished {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			o, ok := counterexamples[a.Name]
			if !ok {
				t.Fatal("where is it to be searched?")
			}
			o.Seed, o.Schedules, o.Workers = 1, 50_000, 1
			report, err := check.Random(t.Context(), a, o)
			if err != nil {
				t.Fatal(err)
			}
			if report.Trace == nil {
				t.Fatalf("not caught in %d schedules", o.Schedules)
			}
			image := path.Join("images", "errata", a.Name+".svg")
			mustBe(t, filepath.Join("docs", filepath.FromSlash(image)), report.Trace.Diagram().SVG())
			if !bytes.Contains(page, []byte("## "+a.Name+"\n")) || !bytes.Contains(page, []byte("]("+image+")")) {
				t.Errorf("docs/errata.md has no section with the picture %s", image)
			}
		})
	}
}

// The figures of quorums in docs/experiments.md are what the command there draws.
func TestQuorumFigures(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("docs", "experiments.md"))
	if err != nil {
		t.Fatal(err)
	}
	const command = "dmebench list quorums --nodes 31 --availability --plots"
	if !bytes.Contains(page, []byte(command)) {
		t.Errorf("docs/experiments.md does not say %q", command)
	}
	drawn := t.TempDir()
	var stdout, stderr bytes.Buffer
	if code := Run(append(strings.Fields(command), drawn), strings.NewReader(""), &stdout, &stderr); code != exit.Held {
		t.Fatalf("%s: %d\n%s", command, code, &stderr)
	}
	for _, name := range []string{"quorum-availability-n31.svg", "quorum-failures-n31.svg", "quorum-cost-n31.svg"} {
		picture, err := os.ReadFile(filepath.Join(drawn, name))
		if err != nil {
			t.Fatal(err)
		}
		image := path.Join("images", "experiments", name)
		mustBe(t, filepath.Join("docs", filepath.FromSlash(image)), picture)
		if !bytes.Contains(page, []byte("]("+image+")")) {
			t.Errorf("docs/experiments.md does not show %s", image)
		}
	}
}
