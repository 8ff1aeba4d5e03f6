package cells_test

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"dmebench/report"
	"dmebench/report/cells"
	"dmebench/report/compare"
	"dmebench/report/export"
	"dmebench/report/rank"
	"dmebench/runs"
)

// ran is a run of 3 nodes with this throughput.
func ran(label, network string, seed uint64, status runs.Status, throughput float64) runs.Run {
	return runs.Run{Label: label, Repetition: int(seed), Result: &runs.Result{
		Algorithm: "maekawa", Nodes: 3, Seed: seed, Status: status, Throughput: &throughput, Entries: 10,
		Spec: runs.Spec{Transport: network, Workload: "saturate", Requests: 300},
	}}
}

// Report, ranking, comparison, thresholds and exports count the same runs of a cell:
// neither one that failed, nor a simulation whose seed was there before.
func TestTheSameRunsCountEverywhere(t *testing.T) {
	for _, c := range []struct {
		network string
		counted int
		median  string
	}{{runs.Sim, 2, "15"}, {"tcp", 4, "25"}} {
		set := &runs.Set{Runs: []runs.Run{
			ran("a", c.network, 1, runs.OK, 10), ran("a", c.network, 2, runs.OK, 20), ran("a", c.network, 3, runs.Failed, 1000),
			ran("a", c.network, 1, runs.OK, 30), ran("a", c.network, 2, runs.OK, 40),
		}}
		counts := make(map[string]int)

		rows, err := csv.NewReader(bytes.NewReader(report.SummaryCSV(*set))).ReadAll()
		if err != nil || len(rows) != 2 {
			t.Fatalf("%d rows of summary.csv, %v", len(rows), err)
		}
		for i, name := range rows[0] {
			if name == runs.Throughput && rows[1][i] != c.median {
				t.Errorf("%s: summary.csv has a median of %s, want %s", c.network, rows[1][i], c.median)
			}
			if name == "repetitions_ok" {
				counts["summary.csv "+rows[1][i]] = len(rows[1][i])
			}
		}
		delete(counts, map[int]string{2: "summary.csv 2", 4: "summary.csv 4"}[c.counted])

		ranking, err := rank.Of(set, rank.Options{})
		if err != nil {
			t.Fatal(err)
		}
		counts["rank"] = ranking.Contests[0].Entrants[0].Repetitions
		comparison, err := compare.Compare(set, set, compare.Options{Metrics: []string{runs.Throughput}})
		if err != nil {
			t.Fatal(err)
		}
		counts["compare"] = comparison.Tables[0].Rows[0].A.N
		var text bytes.Buffer
		throughput, _ := runs.LookupMetric(runs.Throughput)
		if err := export.Benchfmt(&text, set, []runs.Metric{throughput}); err != nil {
			t.Fatal(err)
		}
		counts["export"] = strings.Count(text.String(), "BenchmarkDME")
		for who, n := range counts {
			if n != c.counted {
				t.Errorf("%s: %s counts %d runs, want %d", c.network, who, n, c.counted)
			}
		}
		limits, err := cells.ParseThresholds([]string{"throughput>" + c.median})
		if err != nil {
			t.Fatal(err)
		}
		if v := cells.JudgeCells(set, limits); v.Crossed || v.Unknown {
			t.Errorf("%s: the threshold is crossed by another median than %s: %q", c.network, c.median, v.Lines)
		}
	}
}

// A label with two meanings becomes two, and every run with known nodes is in one cell.
func TestCellsDivideTheRuns(t *testing.T) {
	other := ran("a", "tcp", 1, runs.OK, 1)
	other.Result.Spec.Set = map[string]string{"quorum": "grid"}
	larger := ran("b", "tcp", 1, runs.Stalled, 1)
	larger.Result.Nodes = 7
	nowhere := runs.Run{Label: "c"}
	table := cells.Of(&runs.Experiment{}, []runs.Run{ran("a", "tcp", 1, runs.OK, 1), larger, other, nowhere, ran("a", "udp", 1, runs.OK, 1)})
	var got []string
	for _, c := range table.Cells() {
		got = append(got, strings.Join(append([]string{c.Label, c.Key.Get("transport"), c.Key.Get("nodes")}, c.LeftOut()...), " "))
	}
	want := "a (maekawa) tcp 3; b tcp 7 1 of 1 runs ended as stalled; a (maekawa quorum=grid) tcp 3; a (maekawa) udp 3"
	if strings.Join(got, "; ") != want {
		t.Errorf("cells %s\nwant %s", strings.Join(got, "; "), want)
	}
	if len(table.Groups) != 2 || len(table.Groups[0].Cells) != 3 || len(table.Runs) != 5 || len(table.Labels) != 4 {
		t.Errorf("%d groups, %d runs, labels %q", len(table.Groups), len(table.Runs), table.Labels)
	}
}
