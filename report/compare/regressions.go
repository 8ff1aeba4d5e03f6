package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dmebench/report/cells"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// Gate is what may not have become worse from A to B.
type Gate struct {
	Limit       float64      `json:"limit"` // relative: 0.05 for 5%
	Metrics     []string     `json:"metrics"`
	Regressions []Regression `json:"regressions"`
	Untold      []string     `json:"untold"` // cells that no test can decide, and why
}

// Regression is a metric of a cell that is significantly worse in B, by more than the limit; or a
// cell whose runs end worse in B.
type Regression struct {
	Cell   Cell     `json:"cell"`
	Metric string   `json:"metric"` // "" if runs did not end well
	Change *float64 `json:"change"` // of the medians, relative to A; null if A's is 0
	P      *float64 `json:"p"`
	PFDR   *float64 `json:"p_fdr"` // the same, corrected
	Text   string   `json:"text"`  // one line, for a person
}

// gated are the metrics that a gate looks at, if no others were asked for.
func gated() []string {
	return []string{runs.Throughput, runs.WaitingP99, runs.ResponseP99, runs.MessagesPerCS}
}

// ReadLimit reads "5%".
func ReadLimit(text string) (float64, error) {
	number, ok := strings.CutSuffix(strings.TrimSpace(text), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	switch {
	case err == nil && !ok:
		return 0, fmt.Errorf("%q has no unit; write a percentage such as 5%%", text)
	case err != nil || !(x >= 0 && x < 1e6):
		return 0, fmt.Errorf("%q is not a percentage such as 5%%", text)
	}
	return x / 100, nil
}

// Watch looks for regressions from A to B: a metric that is worse by more than limit, if the
// difference is significant at the comparison's alpha after the correction of [stats.FalseDiscovery]
// over all that is looked at, in which what is better counts as no difference. Metrics are throughput,
// the 99th percentiles of waiting and response time, and messages per CS, or those that the comparison
// was asked for. The comparison keeps what was found.
func (c *Comparison) Watch(limit float64) *Gate {
	g := &Gate{Limit: limit, Metrics: []string{}, Regressions: []Regression{}, Untold: []string{}}
	c.Gate = g
	c.spoilt(g)
	var rows []Row
	var metrics []runs.Metric
	var p []float64
	for _, t := range c.Tables {
		if t.metric.Better == runs.Neither || !c.chosen && !slices.Contains(gated(), t.Metric) {
			continue
		}
		g.Metrics = append(g.Metrics, t.Metric)
		for _, r := range t.Rows {
			if !varies(r.A, r.B) {
				continue
			}
			rows, metrics, p = append(rows, r), append(metrics, t.metric), append(p, *r.P)
			if r.worse(t.metric) <= 0 {
				p[len(p)-1] = 1
			}
		}
	}
	for i, corrected := range stats.FalseDiscovery(p) {
		r, m := rows[i], metrics[i]
		found, better := r.Significant && corrected <= c.Alpha, r.Significant && r.worse(m) <= 0
		switch {
		case found && r.worse(m) > limit:
			text := fmt.Sprintf("%s: %s %s, from %s to %s %s",
				r.Cell.name(), m.Name, r.delta(), m.Text(r.A.Median), m.Text(r.B.Median), r.evidence(r.A, r.B))
			g.Regressions = append(g.Regressions, Regression{r.Cell, m.Name, r.Change, r.P, &corrected, text})
		case !found && !better && stats.LeastP(r.A.N, r.B.N)*float64(len(p)) > c.Alpha:
			text := fmt.Sprintf("%s: %d and %d repetitions: a difference here alone would not be significant at level %v among %s; "+
				"run %d or more on each side", r.Cell.name(), r.A.N, r.B.N, c.Alpha, units.Counted(len(p), "test"), stats.EnoughFor(len(p), c.Alpha))
			if !slices.Contains(g.Untold, text) {
				g.Untold = append(g.Untold, text)
			}
		}
	}
	return g
}

// spoilt finds cells whose runs end worse in B: in a way in which none does in A, or significantly more
// often, by Bonferroni's correction over all cells. If none ends well in B and that is not
// significant, it cannot be told.
func (c *Comparison) spoilt(g *Gate) {
	for _, p := range c.pairs {
		endedA := p.a.Ended()
		isNew := slices.ContainsFunc(p.b.Bad, func(r *runs.Result) bool { return endedA[cells.Outcome(r)] == 0 })
		more := len(p.b.Bad)*p.a.Repetitions() > len(p.a.Bad)*p.b.Repetitions()
		text := fmt.Sprintf("%s: %s in B; in A %s", p.cell.name(), strings.Join(p.b.LeftOut(), ", "),
			cmp.Or(strings.Join(p.a.LeftOut(), ", "), "none"))
		switch chance := stats.MannWhitney(failures(p.a), failures(p.b)) * float64(len(c.pairs)); {
		case isNew || more && chance <= c.Alpha:
			g.Regressions = append(g.Regressions, Regression{Cell: p.cell, Text: text})
		case more && len(p.b.Good) == 0:
			g.Untold = append(g.Untold, text+": with so few repetitions that may be chance")
		}
	}
}

// failures are the repetitions of a cell: 1 for each that did not end well, else 0.
func failures(c *cells.Cell) []float64 {
	values := make([]float64, c.Repetitions())
	for i := range c.Bad {
		values[i] = 1
	}
	return values
}

// worse is by which part of A's median B is worse; below 0 if it is better.
func (r Row) worse(m runs.Metric) float64 {
	sign := 1.0
	if m.Better == runs.Higher {
		sign = -1
	}
	if r.Change == nil { // A's is 0, and B's is not
		return sign * math.Inf(1) * *r.B.Median
	}
	return sign * *r.Change
}

func (c Cell) name() string { return joined(c.Label, size(c.nodes), c.section) }
