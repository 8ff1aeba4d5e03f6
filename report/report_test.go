package report_test

import (
	"bytes"
	"errors"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dmebench/report"
	"dmebench/report/plots"
	"dmebench/runs"
)

func TestSameInputSameBytes(t *testing.T) {
	in := lean(experiment(t, []string{"a", "b"}, []string{"saturate"}, []int{3, 7}, 6))
	in.Formats = plots.Formats()
	one, two := build(t, in), build(t, in)
	if len(one.files) != 8 || !maps.EqualFunc(one.files, two.files, bytes.Equal) {
		t.Errorf("%q: two reports of the same input differ, or lack a figure in three formats, a table, the page, the summary or captions",
			slices.Sorted(maps.Keys(one.files)))
	}
	for name, data := range one.files {
		if _, err := png.Decode(bytes.NewReader(data)); strings.HasSuffix(name, ".png") && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestResultsWithoutAnyValue(t *testing.T) {
	in := report.Input{Set: runs.Set{Runs: []runs.Run{
		{Label: "a", Repetition: 1, Result: &runs.Result{Algorithm: "a", Nodes: 1, Transport: "sim", Workload: "serial",
			Status: runs.OK}},
		{Label: "a", Repetition: 2, Result: &runs.Result{Algorithm: "a", Nodes: 1, Transport: "sim", Workload: "serial",
			Status: runs.OK, Seed: 2,
			ResponseTime: &runs.Quantiles{}, Histograms: runs.Histograms{Response: "damaged"}}},
		{Label: "", Repetition: 1, Result: nil},
		{Label: "b", Repetition: 1, Result: &runs.Result{}},
	}}}
	b := build(t, in)
	text := strings.Join(slices.Concat(b.data(t, []string{"answer"}), b.data(t, []string{"bad"}), b.data(t, []string{"warnings"})), "\n")
	for _, want := range []string{"4 runs: 2 ok, 2 failed", "there is no result", "no percentile curve", "no reason is given"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q:\n%s", want, text)
		}
	}
}

func TestOddTextIsEscaped(t *testing.T) {
	odd := `<script>alert("x")</script>&\x00-ü-"'`
	in := experiment(t, []string{odd, "=cmd|' /C calc'!A0"}, []string{"saturate"}, []int{3, 7}, 2)
	in.Header.Experiment.Name, in.Header.File = odd, "</pre><script>"+odd
	in.Header.Environment = map[string]string{odd: odd}
	for i := range in.Runs {
		in.Runs[i].Result.Warnings = []string{odd}
		in.Runs[i].Result.Messages.ByKind = map[string]uint64{odd: 1}
		in.Runs[i].Result.Spec.Set = map[string]string{odd: odd}
	}
	b := build(t, in)
	if d := b.page(t); d.Labels[0].Name != odd || !strings.Contains(d.Title, odd) {
		t.Errorf("%q, of %q", d.Labels[0].Name, d.Title)
	}
	if rows := b.csv(t); rows[0]["label"] != odd {
		t.Errorf("summary.csv has the label %q", rows[0]["label"])
	}
}

func TestErrorsNameTheFile(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "file")
	if err := os.WriteFile(blocked, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := report.Build(report.Input{}, filepath.Join(blocked, "report"))
	if err == nil || !strings.HasPrefix(err.Error(), "report: ") || !strings.Contains(err.Error(), blocked) {
		t.Errorf("a folder below a file: %v", err)
	}

	// A folder where a file should be: the old state stays, and no temporary
	// file is left behind.
	if err := os.MkdirAll(filepath.Join(dir, "summary.csv", "occupied"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = report.Build(report.Input{}, dir)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "summary.csv")) {
		t.Errorf("a folder in the way: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestBuildingAgainReplaces(t *testing.T) {
	dir := t.TempDir()
	in := lean(experiment(t, []string{"a"}, []string{"saturate"}, []int{3, 7}, 1))
	for _, title := range []string{"the first", "the second"} {
		in.Header.Experiment.Name = title
		in.Plots = true
		page, err := report.Build(in, dir)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(page)
		if err != nil || !strings.Contains(string(b), title) {
			t.Errorf("the page does not have %q: %v", title, err)
		}
		if info, err := os.Stat(page); err != nil || info.Mode().Perm()&0o444 != 0o444 {
			t.Errorf("others cannot read the page: %v %v", info.Mode(), err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 6 {
		t.Errorf("%v, %v; want report.html, summary.csv, captions.txt, captions.tex, plots and tables", entries, err)
	}
}

func TestFormats(t *testing.T) {
	in := lean(experiment(t, []string{"a"}, []string{"saturate"}, []int{3, 7}, 1))
	in.Formats = append(in.Formats, "pdf")
	b := build(t, in)
	if all := b.plots(t, "*"); len(all) != 1 || !strings.HasSuffix(all[0], ".pdf") {
		t.Errorf("%q; want one PDF", all)
	}
	if len(b.page(t).Stills) != 1 || !strings.HasPrefix(b.page(t).Stills[0].SVG, "<svg ") {
		t.Errorf("the page without scripts has %d figures", len(b.page(t).Stills))
	}
}

// Asked for what is not there, a report writes nothing and says what there is.
func TestUnknownFigures(t *testing.T) {
	in := experiment(t, []string{"a"}, []string{"saturate"}, []int{3, 7}, 6)
	in.Plots, in.Only = true, []string{"throughput-*", "thruput-*"}
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

// Files have the size of the paper, without a title.
func TestFilesForPaper(t *testing.T) {
	in := experiment(t, []string{"a"}, []string{"saturate"}, []int{3, 7}, 6)
	in.Only, in.Size = []string{"throughput-*"}, plots.Size{Width: 240, Font: 8, Bare: true}
	b := build(t, in)
	file := b.svg(t, "throughput-vs-n-tcp-saturate")
	if !strings.HasPrefix(file, `<svg xmlns="http://www.w3.org/2000/svg" width="240pt"`) || strings.Contains(file, ">Throughput</text>") {
		t.Errorf("the file begins with %.120s", file)
	}
	in.Size.Font = 90
	if _, err := report.Build(in, t.TempDir()); err == nil || !strings.Contains(err.Error(), "choose") {
		t.Errorf("a text of 90 pt: %v", err)
	}
}
