package report_test

import (
	"slices"
	"strings"
	"testing"

	"dmebench/claims"
	"dmebench/report"
	"dmebench/report/page"
	"dmebench/report/survival"
)

// survivors is a table with a cell of each outcome.
func survivors() *survival.Document {
	low, high := 1e6, 3e6
	return &survival.Document{
		Nodes: 7, Networks: []string{"sim"}, Repetitions: 6, Seed: 1,
		Cells: []survival.Cell{
			{
				Algorithm: "raymond", Fault: "crash-token", Title: "crash of the token's holder", Safe: survival.Yes, Live: survival.No,
				Runs: 6, Stopped: 6, Struck: 6, SafeBy: survival.ByStates, LiveBy: survival.ByRuns,
				Why: []string{"2 waits for 1's PRIVILEGE; 1 is down"}, Witness: "dmebench run --fault 'kill token @entry:20'",
			},
			{
				Algorithm: "raymond", Fault: "loss", Title: "loss of <1> message", Safe: survival.Yes, Live: survival.Yes,
				SafeBy: survival.ByRuns, Runs: 6,
			},
			{
				Algorithm: "maekawa", Fault: "crash-token", Title: "crash of the token's holder", Safe: survival.Unknown, Live: survival.Unknown,
				WhyNot: "there is no token",
			},
			{
				Algorithm: "maekawa", Fault: "loss", Title: "loss of <1> message", Safe: survival.No, Live: survival.Yes, Runs: 6,
				Recovery: &survival.Measure{Median: 2e6, Low: &low, High: &high, Count: 6},
				Search:   &survival.Search{Safe: survival.No, Verdict: "two nodes", Witness: "dmebench check --lose 1"},
			},
		},
		Claims: []claims.Verdict{{
			Algorithm: "maekawa", Quantity: "violations", Formula: "0", Source: "a paper", Verdict: claims.Fails, Text: "fails: 3", Shown: -1,
		}},
	}
}

// Each word of the table opens the cell with its evidence and the commands that show it.
func TestSurvivalPage(t *testing.T) {
	p := report.SurvivalPage(survivors())
	matrix, cells := p.Tables[0], p.Tables[1]
	if p.Kind != page.Survival || len(matrix.Rows) != 2 || len(cells.Rows) != 4 || len(matrix.Columns) != 3 {
		t.Fatalf("%+v", p)
	}
	for _, x := range []struct {
		row, column             int
		word, class, opens, has string
	}{
		{0, 1, "stops", "doubt", "cells.0", "kill token @entry:20"},
		{0, 2, "goes on²", "good", "cells.1", ""},
		{1, 1, "–", "unknown", "cells.2", "there is no token"},
		{1, 2, "unsafe 0/6", "bad", "cells.3", "dmebench check --lose 1"},
	} {
		v := matrix.Rows[x.row].Values[x.column]
		if v.Text != x.word || v.Class != x.class || v.Opens != x.opens {
			t.Errorf("%+v; want %+v", v, x)
		}
		row := cells.Rows[x.row*2+x.column-1]
		said := strings.Join(slices.Concat(row.Open.Text, row.Open.Commands), "\n")
		if !strings.Contains(said, x.has) || len(row.Values) != len(cells.Columns) {
			t.Errorf("%s opens %q", x.opens, said)
		}
	}
	if v := cells.Rows[3].Values[5]; *v.Number != 2e6 {
		t.Errorf("%+v", v)
	}
	files, err := report.Survival(survivors())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`"why_not": "there is no token"`, "| maekawa | – | unsafe 0/6 |", `loss of \u003c1\u003e message`, "raymond,loss,yes,yes,6",
	} {
		if !strings.Contains(string(files[i].Data), want) {
			t.Errorf("%s does not say %q", files[i].Name, want)
		}
	}
}
