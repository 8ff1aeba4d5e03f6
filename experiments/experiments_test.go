// Package experiments_test holds the figures of the documentation to what the
// experiments that ship give.
package experiments_test

import (
	"bytes"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dmebench"

	"dmebench/internal/cli"
	"dmebench/internal/testkit"
	"dmebench/internal/testkit/golden"
)

// shownFigures are the figures of docs/experiments.md: plots of the report of an
// experiment, by the name of the image. Simulated ones are the same wherever they
// are drawn; a network's are of one day, and cannot be compared.
var shownFigures = []struct {
	experiment string
	simulated  bool
	plots      map[string]string
}{
	{"hotspot", true, map[string]string{
		"hotspot-one-messages":   "messages-per-cs-vs-share-sim-hotspot-20-per-s-hot-1-n13",
		"hotspot-three-messages": "messages-per-cs-vs-share-sim-hotspot-500-per-s-hot-3-n13",
		"hotspot-three-response": "response-mean-vs-share-sim-hotspot-500-per-s-hot-3-n13",
	}},
	{"speeds", true, map[string]string{
		"speeds-messages":   "messages-per-cs-vs-delays-saturate-n13",
		"speeds-sync-delay": "sync-delay-over-t-vs-delays-saturate-n13",
		"speeds-response":   "response-mean-vs-delays-serial-n13",
	}},
	{"work", true, map[string]string{"work": "work-per-node-sim-serial-n31"}},
	{"broadcast", true, map[string]string{
		"broadcast-messages":      "messages-per-cs-vs-load-sim-poisson-n10",
		"broadcast-transmissions": "transmissions-per-cs-vs-load-sim-poisson-n10",
	}},
	{"broadcast-nats", false, map[string]string{"broadcast-nats-transmissions": "transmissions-per-cs-vs-load-nats-poisson-n10"}},
	{"trees", true, map[string]string{"trees-light": "messages-per-cs-vs-n-sim-serial", "trees-heavy": "messages-per-cs-vs-n-sim-saturate"}},
	{"fanout", true, map[string]string{"fanout-messages": "messages-per-cs-vs-degree-sim-serial-n1024"}},
	{"requesters", true, map[string]string{
		"requesters-load":  "messages-per-cs-vs-load-sim-poisson-n64",
		"requesters-count": "messages-per-cs-vs-asking-sim-hotspot-n64",
	}},
	{"faults", true, map[string]string{
		"faults-recovery":        "recovery-vs-n-sim-saturate",
		"faults-ricart-agrawala": "course-ricart-agrawala-robust-sim-saturate-n7",
		"faults-raymond":         "course-raymond-robust-sim-saturate-n7",
		"faults-maekawa":         "course-maekawa-sim-saturate-n7",
	}},
}

// simulation returns the path of a copy of an experiment's file without the
// networks that it compares with the simulated one.
func simulation(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	with := regexp.MustCompile(`(?m)^(transports: \[\{name: sim, .*\}), tcp\]$`)
	copied := filepath.Join(t.TempDir(), file)
	if err := os.WriteFile(copied, with.ReplaceAll(text, []byte("$1]")), 0o666); err != nil {
		t.Fatal(err)
	}
	return copied
}

// docs/experiments.md shows every experiment that ships, and its figures.
func TestExperimentsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "experiments.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%q (%v)", files, err)
	}
	for _, file := range files {
		if link := "](../experiments/" + filepath.Base(file) + ")"; !bytes.Contains(page, []byte(link)) {
			t.Errorf("the page has no link %s", link)
		}
	}
	for _, e := range shownFigures {
		for name := range e.plots {
			image := path.Join("images", "experiments", name+".svg")
			if !bytes.Contains(page, []byte("]("+image+")")) {
				t.Errorf("the page does not show %s", image)
			}
			if _, err := os.Stat(filepath.Join("..", "docs", filepath.FromSlash(image))); err != nil {
				t.Error(err)
			}
		}
	}
}

// The figures are what the experiments give. With -rewrite, what they give
// becomes the figures.
func TestExperimentFigures(t *testing.T) {
	if !testkit.Full() {
		t.Skip("needs DMEBENCH_TESTS=full")
	}
	for _, e := range shownFigures {
		if !e.simulated {
			continue
		}
		t.Run(e.experiment, func(t *testing.T) {
			out := t.TempDir()
			var stdout, stderr bytes.Buffer
			args := []string{"dmebench", "sweep", "--quiet", "--file", simulation(t, e.experiment+".yaml"), "--out", out}
			if code := dmebench.Run(args, strings.NewReader(""), &stdout, &stderr); code != cli.Held {
				t.Fatalf("%q: %d\n%s%s", args, code, &stdout, &stderr)
			}
			// Among them are panels of the report's figures, which are drawn alone where they are asked for.
			args = []string{"dmebench", "report", "--file", filepath.Join(out, e.experiment), "--out", filepath.Join(out, "figures"),
				"--formats", "svg", "--only", strings.Join(slices.Sorted(maps.Values(e.plots)), ",")}
			if code := dmebench.Run(args, strings.NewReader(""), &stdout, &stderr); code != cli.Held {
				t.Fatalf("%q: %d\n%s%s", args, code, &stdout, &stderr)
			}
			for image, plot := range e.plots {
				drawn, err := os.ReadFile(filepath.Join(out, "figures", "plots", plot+".svg"))
				if err != nil {
					t.Fatal(err)
				}
				golden.MustBe(t, filepath.Join("..", "docs", "images", "experiments", image+".svg"), drawn)
			}
		})
	}
}
