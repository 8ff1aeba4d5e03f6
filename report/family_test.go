package report_test

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/report"
	"dmebench/runs"
)

// varied is one algorithm's runs, six repetitions of each change of their spec.
func varied(t *testing.T, n int, changes ...func(*runs.Spec)) report.Input {
	in := report.Input{}
	for i, change := range changes {
		w := runs.Workload{Name: "poisson", Label: fmt.Sprint("change ", i)}
		for rep := 1; rep <= 6; rep++ {
			r := measured(t, "ricart-agrawala", "poisson", n, rep)
			change(&r.Spec)
			w.Set = r.Spec.Set
			in.Runs = append(in.Runs, runs.Run{Label: "ricart-agrawala", Transport: "tcp", Workload: w.Label,
				Repetition: rep - 1, Result: r})
		}
		in.Header.Experiment.Workloads = append(in.Header.Experiment.Workloads, w)
	}
	return in
}

func rate(x float64) func(*runs.Spec) { return func(s *runs.Spec) { s.TotalRate = x } }

func option(pairs ...string) func(*runs.Spec) {
	return func(s *runs.Spec) {
		s.Set = make(map[string]string)
		for i := 0; i < len(pairs); i += 2 {
			s.Set[pairs[i]] = pairs[i+1]
		}
	}
}

// plots lists the figures of a report, without suffix.
func (b built) plots(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(b.dir, "plots", pattern+".svg"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(p), ".svg"))
	}
	return names
}

// texts returns everything that a figure says.
func (b built) texts(t *testing.T, plot string) string {
	t.Helper()
	svg, err := os.ReadFile(filepath.Join(b.dir, "plots", plot+".svg"))
	if err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(svg, new(struct{})); err != nil {
		t.Fatalf("%s: %v", plot, err)
	}
	var all []string
	for _, m := range regexp.MustCompile(`>([^<>]+)<`).FindAllStringSubmatch(string(svg), -1) {
		all = append(all, strings.TrimSpace(m[1]))
	}
	return strings.Join(all, "\n")
}

func TestSettingsBecomeAnAbscissa(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes []func(*runs.Spec)
		figure  string // "" where there is none
		members int    // of all families; 0 for all
		says    []string
	}{
		{
			"rates in any order", []func(*runs.Spec){rate(400), rate(10), rate(1000)},
			"messages-per-cs-vs-load-tcp-poisson-n7", 0,
			[]string{"offered load (requests/s in all), log scale", "10", "400", "1,000",
				"ricart-agrawala, N = 7, 400 requests/s in all: 12, 95% interval 12 to 12, 6 repetitions"},
		},
		{
			"a load curve with a number of requests for each rate", []func(*runs.Spec){
				func(s *runs.Spec) { s.TotalRate, s.Requests = 10, 70 },
				func(s *runs.Spec) { s.TotalRate, s.Requests = 100, 700 },
				func(s *runs.Spec) { s.TotalRate, s.Requests = 1000, 7000 },
			},
			"messages-per-cs-vs-load-tcp-poisson-n7", 0, []string{"10", "100", "1,000"},
		},
		{
			"the same rate for a longer time is another sample", []func(*runs.Spec){
				rate(10), rate(400), rate(1000), func(s *runs.Spec) { s.TotalRate, s.Requests = 400, 7 },
			},
			"messages-per-cs-vs-load-tcp-poisson-n7", 3, []string{"400 requests/s in all: 12, 95% interval 12 to 12, 6 repetitions"},
		},
		{"two numbers are no curve", []func(*runs.Spec){rate(10), rate(400)}, "", 0, nil},
		{
			"fractions", []func(*runs.Spec){option("share", "0.9"), option("share", "0.1"), option("share", "0.5")},
			"messages-per-cs-vs-share-tcp-poisson-n7", 0, []string{"share", "0.1", "0.5", "0.9"},
		},
		{
			"durations", []func(*runs.Spec){option("t", "500us"), option("t", "1ms"), option("t", "20ms")},
			"messages-per-cs-vs-t-tcp-poisson-n7", 0, []string{"t (ms), log scale", "0.5", "20"},
		},
		{
			"words", []func(*runs.Spec){option("delay", "constant"), option("delay", "exponential")},
			"messages-per-cs-vs-delay-tcp-poisson-n7", 0, []string{"constant", "exponential", "delay"},
		},
		{
			"what else differs keeps families apart",
			[]func(*runs.Spec){
				option("share", "0.1", "hot", "1"), option("share", "0.5", "hot", "1"), option("share", "0.9", "hot", "2"),
			},
			"", 0, nil,
		},
		{
			"two families", []func(*runs.Spec){
				option("hot", "1", "share", "0.1"), option("hot", "1", "share", "0.2"), option("hot", "1", "share", "0.3"),
				option("hot", "2", "share", "0.1"), option("hot", "2", "share", "0.2"), option("hot", "2", "share", "0.3"),
			},
			"messages-per-cs-vs-share-tcp-poisson-hot-2-n7", 0, []string{"0.1", "0.2", "0.3"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := build(t, everything(lean(varied(t, 7, c.changes...))))
			if c.figure == "" {
				if found := b.plots(t, "*-vs-[^n]*"); len(found) > 0 {
					t.Errorf("there are %q", found)
				}
				return
			}
			texts := b.texts(t, c.figure)
			for _, want := range c.says {
				if !strings.Contains(texts, want) {
					t.Errorf("%s does not say %q:\n%s", c.figure, want, texts)
				}
			}
			// The members' own figures would hold one lonely point each.
			alone := len(c.changes) - cmp.Or(c.members, len(c.changes))
			if lonely := b.plots(t, "messages-per-cs-vs-n*"); len(lonely) != alone {
				t.Errorf("also drawn: %q; want %d", lonely, alone)
			}
			if strings.Count(b.page, `class="family"`) == 0 {
				t.Error("the page does not show the figure")
			}
		})
	}
}

// A prediction is drawn only if it speaks of every value of the setting.
func TestPredictionsOverSettings(t *testing.T) {
	in := everything(lean(varied(t, 7, rate(1), rate(2), rate(3))))
	claim := func(formula string, known func(runs.Spec) bool) dme.Claim {
		return dme.Claim{
			Quantity: dme.MessagesPerCS, Formula: formula, Load: dme.AnyLoad, Kind: dme.Exact, Source: "TR-869, section 4",
			Expression: "12", Applies: func(s dme.Setting) bool { return known(runs.Spec{TotalRate: float64(s.E)}) },
		}
	}
	in.Claims = func(string) []dme.Claim {
		return []dme.Claim{
			claim("partial", func(s runs.Spec) bool { return s.TotalRate < 3 }),
			claim("everywhere", func(runs.Spec) bool { return true }),
		}
	}
	in.Setting = func(s runs.Spec) (dme.Setting, bool) {
		// A claim sees no rate: E tells it here.
		return dme.Setting{Nodes: s.Nodes, E: time.Duration(s.TotalRate)}, true
	}
	b := build(t, in)
	texts := b.texts(t, "messages-per-cs-vs-load-tcp-poisson-n7")
	if strings.Contains(texts, "partial") || !strings.Contains(texts, "\neverywhere\n") {
		t.Errorf("the figure says\n%s", texts)
	}
	b.wants(t, "ricart-agrawala everywhere (TR-869 §4)")
}

// A claim about links of equal delay is drawn over none of several networks
// unless all have such links, in whichever order they were run.
func TestPredictionsOverNetworks(t *testing.T) {
	for _, delays := range [][]string{{"constant", "uniform"}, {"uniform", "constant"}, {"constant", "1ms"}} {
		in := everything(lean(varied(t, 7, option("delay", delays[0]), option("delay", delays[1]))))
		in.Claims = func(string) []dme.Claim {
			return []dme.Claim{{
				Quantity: dme.MessagesPerCS, Formula: "12", Load: dme.AnyLoad, Kind: dme.Exact, Source: "x", EqualDelays: true,
			}}
		}
		in.Setting = func(s runs.Spec) (dme.Setting, bool) { return dme.Setting{Nodes: s.Nodes}, true }
		drawn := strings.Contains(build(t, in).captions(t)["messages-per-cs-vs-delay-tcp-poisson-n7"], "12, links of equal delay (x)")
		if want := delays[1] == "1ms"; drawn != want {
			t.Errorf("%q: drawn %v, want %v", delays, drawn, want)
		}
	}
}

// Transmissions are shown where they differ from messages, and only there.
func TestTransmissions(t *testing.T) {
	in := everything(lean(varied(t, 7, rate(1), rate(2), rate(3))))
	const plot = "transmissions-per-cs-vs-load-tcp-poisson-n7"
	if found := build(t, in).plots(t, plot); len(found) > 0 {
		t.Errorf("%q though every message was sent for itself", found)
	}
	in.Runs[0].Result.Messages.Transmissions /= 2
	if found := build(t, in).plots(t, plot); len(found) != 1 {
		t.Error("there is no figure of transmissions though there were broadcasts")
	}
}

// Each node's work is relative to the mean, and that of every node is shown.
func TestWorkOfEachNode(t *testing.T) {
	in := lean(experiment(t, []string{"centralized", "ricart-agrawala"}, []string{"saturate"}, []int{3, 5, 57}, 6))
	for _, r := range in.Runs {
		w := &r.Result.Work
		for i := range r.Result.Nodes {
			sent := uint64(10)
			if r.Label == "centralized" && i == 0 {
				sent = 10 * uint64(r.Result.Nodes-1)
			}
			w.SentByNode, w.HandledByNode = append(w.SentByNode, sent), append(w.HandledByNode, sent)
		}
	}
	b := build(t, in)
	texts := b.texts(t, "work-per-node-tcp-saturate-n5") // 57 nodes would be a smear
	// The hub of five handles 4 of 8 parts, 4/(8/5) of the mean; the others 1/(8/5).
	for i, want := range []string{"2.5", "0.625", "0.625", "0.625", "0.625"} {
		note := fmt.Sprintf("centralized, node %d of 5: %s times the mean, 95%% interval", i+1, want)
		if !strings.Contains(texts, note) {
			t.Errorf("no %q in\n%s", note, texts)
		}
	}
	if n := strings.Count(texts, "ricart-agrawala, node"); n != 5 {
		t.Errorf("%d nodes of ricart-agrawala are shown", n)
	}
	if found := b.plots(t, "*work*"); len(found) != 1 {
		t.Errorf("there are %q", found)
	}

	// A node that is missing from a count must not shift the others.
	for _, r := range in.Runs {
		if r.Label == "centralized" {
			r.Result.Work.SentByNode = r.Result.Work.SentByNode[1:]
		}
	}
	if texts := build(t, in).texts(t, "work-per-node-tcp-saturate-n5"); strings.Contains(texts, "centralized") {
		t.Error("work is shown though a node's is not known")
	}
}

// Where an experiment names its networks, these are compared by name, whatever
// options are behind it; the options alone would show the same once more.
func TestNamedNetworks(t *testing.T) {
	in := everything(lean(varied(t, 7, option("delay", "constant"), option("delay", "uniform"),
		option("delay", "constant", "links", "1-2:delay=9ms"))))
	for i := range in.Runs {
		in.Runs[i].Transport, in.Runs[i].Workload = []string{"all equal", "scattered", "one slow link"}[i/6], "poisson"
		if i%6 == 0 {
			in.Header.Experiment.Transports = append(in.Header.Experiment.Transports, runs.Entry{
				Name: "tcp", Label: in.Runs[i].Transport, Set: in.Runs[i].Result.Spec.Set})
		}
	}
	in.Header.Experiment.Workloads = nil
	b := build(t, in)
	texts := b.texts(t, "messages-per-cs-vs-network-poisson-n7")
	for _, want := range []string{"all equal", "scattered", "one slow link", "ricart-agrawala, N = 7, one slow link: 12"} {
		if !strings.Contains(texts, want) {
			t.Errorf("the figure does not say %q:\n%s", want, texts)
		}
	}
	if again := b.plots(t, "*-vs-delay-*"); len(again) > 0 {
		t.Errorf("the same is drawn again: %q", again)
	}
	// A network that is called by its own name has no name of its own.
	for i := range in.Runs {
		in.Runs[i].Transport = "tcp"
	}
	if named := build(t, in).plots(t, "*-vs-network-*"); len(named) > 0 {
		t.Errorf("there are %q", named)
	}
}

// Where the experiment asks for it, series of one algorithm that differ in one of
// its options become one line over the numbers that the experiment gives to that
// option, beside the figures of the set.
func TestOptionsOfAnAlgorithm(t *testing.T) {
	in := everything(lean(varied(t, 7, option("tree", "kary:2", "x", "y"), option("tree", "kary:8", "x", "y"),
		option("tree", "kary:4", "x", "y"), option("tree", "line", "x", "y"))))
	in.Header.Experiment = runs.Experiment{}
	for i := range in.Runs {
		in.Runs[i].Label, in.Runs[i].Workload = []string{"two", "eight", "four", "line"}[i/6], "poisson"
	}
	if found := build(t, in).plots(t, "*-vs-[^n]*"); len(found) > 0 {
		t.Errorf("nobody asks for %q", found)
	}
	in.Header.Experiment.Axes = []runs.Axis{{
		Name: "fan-out", Over: "tree", Title: "children of a node", Values: map[string]float64{"kary:2": 2, "kary:4": 4, "kary:8": 8},
	}}
	b := build(t, in)
	texts := b.texts(t, "messages-per-cs-vs-fan-out-tcp-poisson-n7")
	for _, want := range []string{"children of a node", "2", "4", "8", "ricart-agrawala x=y", "ricart-agrawala x=y, N = 7, fan-out 4: 12"} {
		if !strings.Contains(texts, want) {
			t.Errorf("the figure does not say %q:\n%s", want, texts)
		}
	}
	if strings.Contains(texts, "line") {
		t.Error("the figure shows a tree without a number")
	}
	if own := b.plots(t, "messages-per-cs-vs-n*"); len(own) != 1 {
		t.Error("the set's own figure is missing")
	}
}
