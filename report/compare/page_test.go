package compare

import (
	"testing"

	"dmebench/report/page"
	"dmebench/runs"
)

// A row says whether the second side is better, by the metric's own direction, and only
// where a test finds a difference. It does not take for alike what no test could tell apart.
func TestVerdictsOfThePage(t *testing.T) {
	yes, no := 0.001, 0.4
	up, down := 0.2, -0.2
	few, many := Sample{N: 3, Values: []float64{1, 2, 3}}, Sample{N: 4, Values: []float64{1, 2, 3, 4}}
	constant := Sample{N: 3, Values: []float64{7, 7, 7}}
	for _, x := range []struct {
		better      runs.Direction
		change, p   *float64
		significant bool
		a, b        Sample
		want, class string
	}{
		{runs.Higher, &up, &yes, true, many, many, "better", "good"}, {runs.Higher, &down, &yes, true, many, many, "worse", "bad"},
		{runs.Lower, &up, &yes, true, many, many, "worse", "bad"}, {runs.Lower, &down, &yes, true, many, many, "better", "good"},
		{runs.Neither, &up, &yes, true, many, many, "different", "doubt"}, {runs.Lower, nil, &yes, true, many, many, "different", "doubt"},
		{runs.Lower, &up, &no, false, many, many, "not significant", ""},
		{runs.Lower, &up, &no, false, few, few, "undecided", "unknown"},
		{runs.Lower, &up, &no, false, constant, constant, "equal", ""},
		{runs.Lower, &up, nil, false, few, Sample{}, "not measured", "unknown"},
	} {
		v := versus{
			metric: runs.Metric{Better: x.better}, Difference: Difference{x.change, x.p, x.significant},
			sides: [2]Sample{x.a, x.b}, alpha: 0.05,
		}
		if word, class := v.verdict(); word != x.want || class != x.class {
			t.Errorf("%+v: %s, %s", x, word, class)
		}
	}
}

// Every row of the comparison is on the page, with its notes as warnings.
func TestPageOfAComparison(t *testing.T) {
	one, two := 1.0, 2.0
	row := Row{
		Cell: Cell{Label: "raymond", nodes: 3}, A: Sample{N: 6, Median: &one, Values: []float64{1}}, B: Sample{N: 6, Median: &two},
		Notes: []string{"too few"},
	}
	metric, err := runs.FindMetric(runs.MessagesPerCS)
	if err != nil {
		t.Fatal(err)
	}
	c := &Comparison{Tables: []Table{{Metric: metric.Name, metric: metric, Rows: []Row{row, row}}}}
	p := c.Page()
	rows := p.Tables[0].Rows
	if p.Kind != page.Comparison || len(rows) != 2 || len(p.Labels) != 1 || len(p.Warnings) != 1 {
		t.Fatalf("%+v", p)
	}
	for i, v := range rows[0].Values {
		if len(rows[0].Values) != len(p.Tables[0].Columns) {
			t.Fatalf("%d values in %d columns", len(rows[0].Values), len(p.Tables[0].Columns))
		}
		if key := p.Tables[0].Columns[i].Key; key == "verdict" && v.Text != "not measured" || key == "a" && *v.Number != 1 {
			t.Errorf("%s is %+v", key, v)
		}
	}
}
