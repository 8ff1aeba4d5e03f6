package docs_test

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

	"dmebench/internal/cli"
	"dmebench/internal/testkit"
)

// shownFigures are the figures of experiments.md: plots of the report of an
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
func simulation(t *testing.T, experiment string) string {
	with := regexp.MustCompile(`(?m)^(transports: \[\{name: sim, .*\}), tcp\]$`)
	file := experiment + ".yaml"
	copied := filepath.Join(t.TempDir(), file)
	if err := os.WriteFile(copied, with.ReplaceAll(read(t, filepath.Join("..", "experiments", file)), []byte("$1]")), 0o666); err != nil {
		t.Fatal(err)
	}
	return copied
}

// experiments.md shows every experiment that ships, and its figures.
func TestExperimentsPage(t *testing.T) {
	page := read(t, "experiments.md")
	files, err := filepath.Glob("../experiments/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%q (%v)", files, err)
	}
	for _, file := range files {
		if link := "](" + filepath.ToSlash(file) + ")"; !bytes.Contains(page, []byte(link)) {
			t.Errorf("the page has no link %s", link)
		}
	}
	for _, e := range shownFigures {
		for name := range e.plots {
			image := path.Join("images", "experiments", name+".svg")
			if !bytes.Contains(page, []byte("]("+image+")")) {
				t.Errorf("the page does not show %s", image)
			}
			if _, err := os.Stat(filepath.FromSlash(image)); err != nil {
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
			say(t, cli.Held, "sweep", "--quiet", "--file", simulation(t, e.experiment), "--out", out)
			// Among them are panels of the report's figures, which are drawn alone where they are asked for.
			say(t, cli.Held, "report", "--file", filepath.Join(out, e.experiment), "--out", filepath.Join(out, "figures"),
				"--formats", "svg", "--only", strings.Join(slices.Sorted(maps.Values(e.plots)), ","))
			for image, plot := range e.plots {
				drawn := read(t, filepath.Join(out, "figures", "plots", plot+".svg"))
				testkit.FileMustBe(t, filepath.Join("images", "experiments", image+".svg"), drawn)
			}
		})
	}
}
