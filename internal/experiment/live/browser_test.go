package live_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dmebench/internal/experiment/live"
	"dmebench/internal/testkit"
	"dmebench/report/page"
	"dmebench/runs"
)

// An open page follows the sweep: it says where that stands, takes the newer version of
// itself and keeps what its reader has chosen, and says how the sweep has ended. The page
// as a file has nothing of it.
func TestPageFollowsASweep(t *testing.T) {
	browser := testkit.NewBrowser(t)
	paper := func(version int) *page.Data {
		table := page.Table{ID: "runs", Title: "Runs", Columns: []page.Column{{Key: "run", Title: "run", Type: page.Number}}}
		for i := range version {
			table.Rows = append(table.Rows, page.Row{Label: page.At(i % 2), Values: []page.Value{page.Num(float64(i))}})
		}
		return &page.Data{
			Kind: page.Report, Title: fmt.Sprintf("version %d", version), Tables: []page.Table{table},
			Labels: []page.Label{{Name: "raymond", Color: "#1b9e77"}, {Name: "maekawa", Color: "#d95f02"}},
		}
	}
	board := live.NewBoard()
	board.Plan("small", []live.Cell{{Label: "raymond", Nodes: 3, Planned: 2}}, nil)
	board.Begin(0, "raymond, <b>3</b> nodes")
	s, err := live.Serve("127.0.0.1:0", board, func(version int) ([]byte, error) {
		d := paper(version)
		d.Live = fmt.Sprintf("%s?%d", live.Events, version)
		return d.Render()
	})
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	defer func() {
		if !closed {
			s.Close()
		}
	}()
	s.Refresh(true)
	until := func(expression, want string) {
		t.Helper()
		for got := ""; !strings.Contains(got, want); time.Sleep(20 * time.Millisecond) {
			if got = browser.Eval(expression); t.Context().Err() != nil {
				t.Fatalf("%s is %s; want %s", expression, got, want)
			}
		}
	}
	const standing, rows = "document.getElementById('live')?.innerText", "'' + document.querySelectorAll('#table-runs tbody tr').length"
	browser.Visit(s.URL, "")
	until(standing, "0 of 2 runs")
	until(standing, "raymond, <b>3</b> nodes")
	board.Read(live.Reading{Entries: 50, Of: 100, Rate: 4100, P50: 1e6, P99: 2e6})
	until(standing, "50 of 100 entries, 4,100 CS/s, waited p50 1 ms, p99 2 ms")
	browser.Eval("document.querySelectorAll('.chip')[1].click()")
	until(rows, "1")
	board.Finish(&runs.Result{Status: runs.Stalled, Warnings: []string{"too short"}}, "1/2 raymond: stalled", 20*time.Second)
	s.Refresh(true)
	until("document.querySelector('h1').innerText", "version 2")
	until(rows, "1") // of two, one of which is hidden still
	until(standing, "about 20 s left · 1 stalled")
	until(standing, "1/2 raymond: stalled")
	until(standing, "1 run: too short")
	board.End("2 runs: 1 stalled, 1 not yet run")
	closed = true
	s.Close()
	until(standing, "Ended: 2 runs: 1 stalled, 1 not yet run")

	html, err := paper(1).Render()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"EventSource", "fetch(location", "connect-src"} {
		if strings.Contains(string(html), text) {
			t.Errorf("a file has %q", text)
		}
	}
}
