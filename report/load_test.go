package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/report"
	"dmebench/runs"
)

// loaded is an experiment that serves at most so many entries per second.
func loaded(t *testing.T, capacity float64, rates ...float64) report.Input {
	var in report.Input
	for _, rate := range rates {
		one := experiment(t, []string{"a"}, []string{"poisson"}, []int{5}, 6)
		for _, r := range one.Runs {
			r.Result.Spec.TotalRate, r.Result.Spec.Requests = rate, 0
			*r.Result.Throughput = min(rate, capacity)
		}
		one.Runs, in.Runs = nil, append(in.Runs, one.Runs...)
	}
	return in
}

func TestKnee(t *testing.T) {
	for _, x := range []struct {
		name     string
		capacity float64
		knee     string // "" for none
	}{
		{"in the middle", 500, "a: knee at 400 requests/s"},
		{"nearly all is enough", 770, "a: knee at 800 requests/s"},
		{"never reached", 5000, ""},
		{"below everything", 50, ""},
	} {
		b := build(t, loaded(t, x.capacity, 100, 200, 400, 800, 1600))
		svg, err := os.ReadFile(filepath.Join(b.dir, "plots", "throughput-vs-load-tcp-poisson-n5.svg"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(svg), ">offered load</text>") {
			t.Errorf("%s: the figure does not show what was offered", x.name)
		}
		if x.knee == "" && strings.Contains(string(svg), "knee") {
			t.Errorf("%s: there is a knee", x.name)
		}
		if !strings.Contains(string(svg), x.knee) {
			t.Errorf("%s: the figure lacks %q", x.name, x.knee)
		}
	}
}

// Predicted times come from T and E as they were measured, in seconds.
func TestPredictedTimes(t *testing.T) {
	in := experiment(t, []string{"a"}, []string{"serial"}, []int{3, 7}, 6)
	in.Setting = func(s runs.Spec) (dme.Setting, bool) { return dme.Setting{Nodes: s.Nodes}, true }
	in.Claims = func(string) []dme.Claim {
		return []dme.Claim{
			{Quantity: dme.ResponseTime, Formula: "2T + E", Load: dme.Light, Kind: dme.Exact, Source: "x"},
			{Quantity: dme.Throughput, Formula: "1/(T + E)", Load: dme.AnyLoad, Kind: dme.Mean, Source: "y"},
		}
	}
	b := build(t, in)
	for file, label := range map[string]string{
		"response-mean-vs-n-tcp-serial": ">2T + E</text>", "throughput-vs-n-tcp-serial": ">mean 1/(T + E)</text>",
	} {
		svg, err := os.ReadFile(filepath.Join(b.dir, "plots", file+".svg"))
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(string(svg), label) {
			t.Errorf("%s lacks %q", file, label)
		}
	}
	for _, r := range in.Runs {
		r.Result.T = nil
	}
	b = build(t, in)
	if _, err := os.Stat(filepath.Join(b.dir, "plots", "response-mean-vs-n-tcp-serial.svg")); err == nil {
		t.Error("a time is predicted without T")
	}
}

// Where nobody competes, the order of entries is the workload's.
func TestNoFairnessOfSerialRuns(t *testing.T) {
	in := experiment(t, []string{"a"}, []string{"serial", "saturate"}, []int{3, 7}, 6)
	for _, r := range in.Runs {
		*r.Result.Work.MaxOverMean += float64(r.Result.Nodes) // the same everywhere would not be drawn
	}
	b := build(t, in)
	for workload, want := range map[string]bool{"serial": false, "saturate": true} {
		svg, err := os.ReadFile(filepath.Join(b.dir, "plots", "fairness-vs-n-tcp-"+workload+".svg"))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(svg), "Largest bypass"); got != want {
			t.Errorf("%s: bypass is shown: %v", workload, got)
		}
		if !strings.Contains(string(svg), "Messages of the busiest node") {
			t.Errorf("%s: the division of work is not shown", workload)
		}
	}
}

// Claims about fairness and work are drawn where they apply; one about the order
// of links only over such links.
func TestClaimsAboutFairness(t *testing.T) {
	in := experiment(t, []string{"a"}, []string{"saturate"}, []int{3, 7}, 6)
	for _, r := range in.Runs {
		r.Result.Fairness.ByOne = 2
	}
	claim := func(q dme.Quantity, formula string, fifo bool) dme.Claim {
		return dme.Claim{Quantity: q, Formula: formula, Load: dme.AnyLoad, Kind: dme.Exact, Source: "x", FIFO: fifo,
			Expression: "2"}
	}
	in.Setting = func(s runs.Spec) (dme.Setting, bool) { return dme.Setting{Nodes: s.Nodes}, true }
	in.Claims = func(string) []dme.Claim {
		return []dme.Claim{claim(dme.WorkSpread, "equal work", false), claim(dme.BypassByOne, "in order", true)}
	}
	for _, ordered := range []bool{true, false} {
		in.KeepsOrder = func(runs.Spec) bool { return ordered }
		svg, err := os.ReadFile(filepath.Join(build(t, in).dir, "plots", "fairness-vs-n-tcp-saturate.svg"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(svg), ">equal work</text>") {
			t.Error("the claim about work is not drawn")
		}
		if strings.Contains(string(svg), ">in order</text>") != ordered ||
			strings.Contains(string(svg), "Largest bypass by one node") != ordered {
			t.Errorf("links keep order: %v, but the claim about such links is drawn: %v", ordered, !ordered)
		}
	}
}

// The parts of a bar add up to all messages per CS.
func TestBarsOfKinds(t *testing.T) {
	in := experiment(t, []string{"a"}, []string{"saturate"}, []int{3, 7}, 6)
	for _, r := range in.Runs {
		r.Result.Messages.ByKind["NONE"] = 0
	}
	b := build(t, in)
	svg, err := os.ReadFile(filepath.Join(b.dir, "plots", "kinds-of-messages-tcp-saturate.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, note := range []string{"a, N = 7: 6 REQUEST per CS", "a, N = 7: 6 REPLY per CS", "a, N = 3: 2 REPLY per CS"} {
		if !strings.Contains(string(svg), note) {
			t.Errorf("the figure does not say %q", note)
		}
	}
	if strings.Contains(string(svg), "NONE") {
		t.Error("a kind that was never sent is shown")
	}
}

func TestFormats(t *testing.T) {
	in := lean(experiment(t, []string{"a"}, []string{"saturate"}, []int{3, 7}, 1))
	in.Formats = append(in.Formats, "pdf")
	b := build(t, in)
	files, err := filepath.Glob(filepath.Join(b.dir, "plots", "*"))
	if err != nil || len(files) != 1 || filepath.Ext(files[0]) != ".pdf" {
		t.Errorf("%v, %v; want one PDF", files, err)
	}
	if !strings.Contains(b.page, "<svg ") || strings.Contains(b.page, ".png") {
		t.Error("the page has no figure, or a link to one that was not written")
	}
}
