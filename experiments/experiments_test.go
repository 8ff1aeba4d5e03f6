// Package experiments_test holds the figures of the documentation to what the
// experiments that ship give.
package experiments_test

import (
	"bytes"
	"flag"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dmebench"

	"dmebench/internal/exit"
	"dmebench/internal/golden"
)

var full = flag.Bool("full", false, "carry out the simulated experiments again and compare their figures with those of the documentation")

// shownFigures are the figures of docs/experiments.md: plots of the report of an
// experiment, by the name of the image. Simulated ones are the same wherever they
// are drawn; a network's are of one day, and cannot be compared.
var shownFigures = []struct {
	experiment string
	simulated  bool
	plots      map[string]string
}{
	{"hotspot", true, map[string]string{
		"hotspot-one-messages":   "20-requests-s-in-all-hot-1-messages-per-cs-by-share",
		"hotspot-three-messages": "500-requests-s-in-all-hot-3-messages-per-cs-by-share",
		"hotspot-three-response": "500-requests-s-in-all-hot-3-mean-response-time-by-share",
	}},
	{"speeds", true, map[string]string{
		"speeds-messages":   "saturate-messages-per-cs-by-delays",
		"speeds-sync-delay": "saturate-sync-delay-over-t-by-delays",
		"speeds-response":   "serial-mean-response-time-by-delays",
	}},
	{"work", true, map[string]string{"work": "serial-work-per-node"}},
	{"broadcast", true, map[string]string{
		"broadcast-messages":      "messages-per-cs-by-load",
		"broadcast-transmissions": "transmissions-per-cs-by-load",
	}},
	{"broadcast-nats", false, map[string]string{"broadcast-nats-transmissions": "transmissions-per-cs-by-load"}},
	{"trees", true, map[string]string{"trees-light": "serial-messages-per-cs", "trees-heavy": "saturate-messages-per-cs"}},
	{"fanout", true, map[string]string{"fanout-messages": "messages-per-cs-by-degree-n1024"}},
	{"requesters", true, map[string]string{
		"requesters-load":  "messages-per-cs-by-load",
		"requesters-count": "messages-per-cs-by-asking",
	}},
	{"faults", true, map[string]string{
		"faults-recovery":        "recovery",
		"faults-ricart-agrawala": "course-ricart-agrawala-robust-n7",
		"faults-raymond":         "course-raymond-robust-n7",
		"faults-maekawa":         "course-maekawa-n7",
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
	if !*full {
		t.Skip("needs -full")
	}
	for _, e := range shownFigures {
		if !e.simulated {
			continue
		}
		t.Run(e.experiment, func(t *testing.T) {
			out := t.TempDir()
			var stdout, stderr bytes.Buffer
			args := []string{"dmebench", "sweep", "--quiet", "--file", simulation(t, e.experiment+".yaml"), "--out", out}
			if code := dmebench.Run(args, strings.NewReader(""), &stdout, &stderr); code != exit.Held {
				t.Fatalf("%q: %d\n%s%s", args, code, &stdout, &stderr)
			}
			for image, plot := range e.plots {
				drawn, err := os.ReadFile(filepath.Join(out, e.experiment, "latest", "report", "plots", plot+".svg"))
				if err != nil {
					t.Fatal(err)
				}
				golden.MustBe(t, filepath.Join("..", "docs", "images", "experiments", image+".svg"), drawn)
			}
		})
	}
}
