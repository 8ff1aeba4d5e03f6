package report_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/report"
	"dmebench/report/plots"
	"dmebench/runs"
)

// under makes all runs of an experiment arrive in an open workload.
func under(in report.Input, workload string) report.Input {
	for i := range in.Runs {
		in.Runs[i].Workload, in.Runs[i].Result.Workload, in.Runs[i].Result.Spec.Workload = workload, workload, workload
	}
	return in
}

// What a figure would say is drawn once: waiting that is the response time less the time
// inside, values that are the same everywhere and single points are left out, with the
// reason on the page, and can be asked for.
func TestFiguresThatSayNothing(t *testing.T) {
	labels, sizes := []string{"a", "b"}, []int{3, 7}
	closed := experiment(t, labels, []string{"saturate"}, sizes, 6)
	open := under(experiment(t, labels, []string{"poisson"}, sizes, 6), "poisson")
	same := under(experiment(t, labels, []string{"poisson"}, sizes, 6), "poisson")
	for _, r := range same.Runs { // a response time is what it waited and the time inside
		q := *r.Result.WaitingTime
		q.Mean += *r.Result.CS
		r.Result.ResponseTime = &q
	}
	flat := experiment(t, labels, []string{"saturate"}, sizes, 6)
	for _, r := range flat.Runs {
		*r.Result.Throughput = 500
	}
	for _, c := range []struct {
		name   string
		in     report.Input
		figure string
		drawn  bool
		reason string
	}{
		{"closed", closed, "waiting-p99-vs-n-tcp-saturate", false, "the response time less the time inside"},
		{"open", open, "waiting-p99-vs-n-tcp-poisson", true, ""},
		{"open, and asked as soon as wanted", same, "waiting-p50-vs-n-tcp-poisson", false, "the response time less the time inside"},
		{"flat", flat, "throughput-vs-n-tcp-saturate", false, "the same value everywhere"},
		{"no claim", closed, "response-mean-vs-n-tcp-saturate", false, "no claim speaks of it"},
		{"T is the same", closed, "sync-delay-vs-n-tcp-saturate", false, "the delay in units of T in other units"},
		{"one point", experiment(t, labels[:1], []string{"saturate"}, sizes[:1], 6), "throughput-vs-n-tcp-saturate", false, "a single point"},
		{"two points", experiment(t, labels[:1], []string{"saturate"}, sizes, 6), "throughput-vs-n-tcp-saturate", true, ""},
	} {
		b := build(t, c.in)
		if drawn := len(b.plots(t, c.figure)) == 1; drawn != c.drawn {
			t.Errorf("%s: %s is drawn: %v", c.name, c.figure, drawn)
		}
		if c.reason != "" && !strings.Contains(b.text(), c.reason) {
			t.Errorf("%s: the page does not say that %s is %q", c.name, c.figure, c.reason)
		}
		asked := c.in
		asked.Only = []string{c.figure}
		if all := build(t, asked).plots(t, "*"); !slices.Equal(all, []string{c.figure}) {
			t.Errorf("%s: asked for %s, drawn %q", c.name, c.figure, all)
		}
	}
}

// A delay that costs T in one cell and 2T in another is no copy of that in units of T.
func TestDelaysInTimeWhereTDiffers(t *testing.T) {
	in := experiment(t, []string{"a"}, []string{"saturate"}, []int{3, 7}, 6)
	for _, r := range in.Runs {
		*r.Result.T *= float64(r.Result.Nodes)
	}
	if len(build(t, in).plots(t, "sync-delay-vs-n-tcp-saturate")) != 1 {
		t.Error("the delay is left out, though T differs")
	}
}

// Median and tail have figures of their own, one after the other.
func TestMedianAndTailApart(t *testing.T) {
	b := build(t, under(experiment(t, []string{"a", "b"}, []string{"poisson"}, []int{3, 7}, 6), "poisson"))
	order := []string{
		"response-p50-vs-n-tcp-poisson", "response-p99-vs-n-tcp-poisson", "waiting-p50-vs-n-tcp-poisson", "waiting-p99-vs-n-tcp-poisson",
	}
	last := 0
	for _, name := range order {
		at := strings.Index(b.page, `id="figure-`+name+`"`)
		if at <= last {
			t.Errorf("%s stands at %d, after %d", name, at, last)
		}
		last = at
	}
	if !strings.Contains(b.texts(t, order[3]), "waiting time p99 (ms)") {
		t.Error("the axis does not name the percentile and the unit")
	}
}

// Figures of one quantity are panels of one, each with its predictions; those that say
// nothing are no panels.
func TestPanels(t *testing.T) {
	in := experiment(t, []string{"a", "b"}, []string{"serial", "saturate"}, []int{3, 7}, 6)
	claim := func(formula string, load dme.Load) dme.Claim {
		return dme.Claim{Quantity: dme.MessagesPerCS, Formula: formula, Load: load, Kind: dme.Exact, Source: "Someone 1980, section 2",
			Expression: "2(N−1)"}
	}
	bound := claim("bound(N)", dme.AnyLoad) // less sharp than the exact ones: a panel has no room for it
	bound.Kind, bound.Expression = dme.UpperBound, "3N"
	in.Claims = func(string) []dme.Claim {
		return []dme.Claim{claim("light(N)", dme.Light), claim("heavy(N)", dme.Saturated), bound}
	}
	in.Setting = func(s runs.Spec) (dme.Setting, bool) { return dme.Setting{Nodes: s.Nodes}, true }
	b := build(t, in)
	texts := b.texts(t, "messages-per-cs-vs-n")
	for _, want := range []string{"serial", "saturate", "light(N)", "heavy(N)"} {
		if !strings.Contains(texts, "\n"+want+"\n") {
			t.Errorf("the panels do not say %q", want)
		}
	}
	if n := strings.Count(texts, "\na\n"); n != 1 {
		t.Errorf("the legend names a series %d times", n)
	}
	caption := b.captions(t)["messages-per-cs-vs-n"]
	if strings.Contains(texts+caption, "bound(N)") {
		t.Errorf("a second prediction stands in a panel, or in its caption: %s", caption)
	}
	for _, want := range []string{
		"Messages per critical section, against nodes N (tcp, CS 100 µs, 50 requests per node).",
		"serial: a, b light(N) (Someone 1980 §2)", "saturate: a, b heavy(N) (Someone 1980 §2)", "Medians of 6 repetitions",
	} {
		if !strings.Contains(caption, want) {
			t.Errorf("the caption does not say %q: %s", want, caption)
		}
	}
	if alone := b.plots(t, "messages-per-cs-vs-n-*"); len(alone) > 0 {
		t.Errorf("drawn again: %q", alone)
	}
	if len(b.plots(t, "sync-delay-over-t-vs-n")) != 1 || strings.Contains(b.page, "figure-waiting") {
		t.Error("not the figures that say something alone are panels")
	}
	in.Only = []string{"messages-per-cs-vs-n-tcp-s?r*"}
	b = build(t, in)
	if alone := b.plots(t, "*"); !slices.Equal(alone, []string{"messages-per-cs-vs-n-tcp-serial"}) {
		t.Errorf("asked for one panel, drawn %q", alone)
	}
	if !strings.Contains(b.texts(t, "messages-per-cs-vs-n-tcp-serial"), "\n≤ bound(N)\n") {
		t.Error("drawn alone a series lacks its second prediction")
	}
}

// More panels than a figure can hold are divided, and none is lost.
func TestManyPanels(t *testing.T) {
	var workloads []string
	for _, c := range "abcdefghijkl" {
		workloads = append(workloads, "w"+string(c))
	}
	in := experiment(t, []string{"a"}, workloads, []int{3, 7}, 2)
	in.Only = []string{"throughput-vs-n*"}
	var grouped []string
	alone := 0
	for _, name := range build(t, lean12(in)).plots(t, "*") {
		if strings.HasPrefix(name, "throughput-vs-n-tcp-") {
			alone++
		} else {
			grouped = append(grouped, name)
		}
	}
	if alone != 12 || !slices.Equal(grouped, []string{"throughput-vs-n-1", "throughput-vs-n-2"}) {
		t.Errorf("%d alone, and %q", alone, grouped)
	}
}

// lean12 keeps what takes long to draw out of many runs.
func lean12(in report.Input) report.Input {
	for _, r := range in.Runs {
		r.Result.Histograms = runs.Histograms{}
	}
	return in
}

// A name depends on network and workload and on nothing else that an experiment compares,
// unless that would be ambiguous.
func TestNamesAreStable(t *testing.T) {
	const name = "throughput-vs-n-tcp-saturate"
	for _, workloads := range [][]string{{"saturate"}, {"saturate", "serial"}} {
		in := lean12(experiment(t, []string{"a"}, workloads, []int{3, 7}, 6))
		in.Only = []string{name}
		if all := build(t, in).plots(t, "*"); !slices.Equal(all, []string{name}) {
			t.Errorf("%q: %q", workloads, all)
		}
	}
	in := lean12(experiment(t, []string{"a"}, []string{"saturate"}, []int{3, 7}, 6))
	other := lean12(experiment(t, []string{"a"}, []string{"saturate"}, []int{3, 7}, 6))
	for _, r := range other.Runs {
		r.Result.Spec.CS = "5ms"
	}
	in.Runs = append(in.Runs, other.Runs...)
	in.Only = []string{"throughput-vs-n-*"}
	want := []string{name + "-cs-100-us", name + "-cs-5-ms"}
	if all := build(t, in).plots(t, "*"); !slices.Equal(all, want) {
		t.Errorf("two durations: %q, want %q", all, want)
	}
}

// Asked for what is not there, a report writes nothing and says what there is.
func TestUnknownFigures(t *testing.T) {
	in := lean12(experiment(t, []string{"a"}, []string{"saturate"}, []int{3, 7}, 6))
	in.Only = []string{"throughput-*", "thruput-*"}
	dir := filepath.Join(t.TempDir(), "report")
	_, err := report.Build(in, dir)
	unknown := new(report.UnknownFigures)
	if !errors.As(err, &unknown) || !slices.Equal(unknown.Patterns, []string{"thruput-*"}) ||
		!slices.Contains(unknown.Names, "throughput-vs-n-tcp-saturate") || !slices.Contains(unknown.Names, "waiting-p50-vs-n-tcp-saturate") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
}

// Files have the size of the paper, without a title; the page has its own.
func TestFilesForPaper(t *testing.T) {
	in := lean12(experiment(t, []string{"a"}, []string{"saturate"}, []int{3, 7}, 6))
	in.Only, in.Size = []string{"throughput-*"}, plots.Size{Width: 240, Font: 8, Bare: true}
	b := build(t, in)
	file := b.svg(t, "throughput-vs-n-tcp-saturate")
	if !strings.HasPrefix(file, `<svg xmlns="http://www.w3.org/2000/svg" width="240pt"`) || strings.Contains(file, ">Throughput</text>") {
		t.Errorf("the file begins with %.120s", file)
	}
	if !strings.Contains(b.page, `width="440pt"`) || !strings.Contains(b.page, ">Throughput</text>") {
		t.Error("the page's figure is not as a screen wants it")
	}
	in.Size.Font = 90
	if _, err := report.Build(in, t.TempDir()); err == nil || !strings.Contains(err.Error(), "choose") {
		t.Errorf("a text of 90 pt: %v", err)
	}
}

// On one number of nodes the series stand side by side, each above its name, and the
// caption says on how many nodes.
func TestOneNumberOfNodes(t *testing.T) {
	in := lean12(experiment(t, []string{"a", "b"}, []string{"saturate"}, []int{3}, 6))
	for _, r := range in.Runs {
		if r.Label == "b" {
			*r.Result.Throughput *= 2
		}
	}
	b := build(t, in)
	b.wants(t, "On 3 nodes")
	const name = "throughput-vs-n-tcp-saturate"
	texts := b.texts(t, name)
	if strings.Count(texts, "\na\n") != 2 || strings.Count(texts, "\nb\n") != 2 || strings.Contains(texts, "nodes N") {
		t.Errorf("not a name below each series and one in the legend:\n%s", texts)
	}
	if caption := b.captions(t)[name]; !strings.HasPrefix(caption, "Throughput (tcp, saturate, CS 100 µs, 50 requests per node, N = 3).") {
		t.Errorf("the caption is %q", caption)
	}
	if more := build(t, lean12(experiment(t, []string{"a", "b"}, []string{"saturate"}, []int{3, 7}, 6))); !strings.Contains(
		more.texts(t, name), "nodes N") {
		t.Error("two numbers of nodes are no abscissa")
	}
}
