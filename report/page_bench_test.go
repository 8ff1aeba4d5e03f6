package report_test

import (
	"strconv"
	"testing"

	"dmebench/internal/testkit"
	"dmebench/report"
	"dmebench/runs"
)

// BenchmarkPage says how large the page of the reference data's 960 runs is, how long it
// takes from the opening to the first figure, and from a click on an algorithm until the
// figures and the table are shown without it:
//
//	go test ./report -run '^$' -bench Page -benchtime 5x
func BenchmarkPage(b *testing.B) {
	var in report.Input
	for _, name := range []string{"growth", "load"} {
		set, err := runs.Read("../results/reference/" + name)
		if err != nil {
			b.Fatal(err)
		}
		if in.Runs == nil {
			in.Set = *set
		} else {
			in.Runs = append(in.Runs, set.Runs...)
		}
	}
	browser := testkit.NewBrowser(b)
	browser.Size(1400, 900, false)
	milliseconds := func(expression string) float64 {
		x, err := strconv.ParseFloat(browser.Eval(expression), 64)
		if err != nil {
			b.Fatal(err)
		}
		return x
	}
	shown, clicked, size := 0.0, 0.0, 0
	for b.Loop() {
		data, err := in.Page()
		if err != nil {
			b.Fatal(err)
		}
		html, err := data.Render()
		if err != nil {
			b.Fatal(err)
		}
		size = len(html)
		browser.Open(html, "")
		shown += milliseconds(`performance.getEntriesByName("shown")[0].startTime`)
		clicked += milliseconds(`new Promise((done) => {
			const start = performance.now();
			document.querySelector(".chip").click();
			requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
		})`)
	}
	b.ReportMetric(float64(len(in.Runs)), "runs")
	b.ReportMetric(float64(size), "bytes")
	b.ReportMetric(shown/float64(b.N), "ms-to-first-figure")
	b.ReportMetric(clicked/float64(b.N), "ms-per-click")
}
