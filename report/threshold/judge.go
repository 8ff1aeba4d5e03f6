package threshold

import (
	"fmt"

	"dmebench/report/stats"
	"dmebench/result"
)

// Verdict is what came of all thresholds together.
type Verdict struct {
	Crossed bool     // at least one was
	Unknown bool     // at least one could not be told
	Lines   []string // for people: one for each that was crossed or could not be told
}

// OfRun judges a run and notes what came of each threshold in its result. A run
// whose numbers may not be used has no values, unless it was interrupted: then they
// are those of what was measured until then.
func OfRun(r *result.Result, thresholds []Threshold) Verdict {
	var v Verdict
	r.Thresholds = nil
	for _, t := range thresholds {
		var value *float64
		if result.Usable(r) || r.Partial {
			value = t.Metric.Read(r)
		}
		r.Thresholds = append(r.Thresholds, v.add(t, value, "the run"))
	}
	return v
}

// OfCells judges the cells of a sweep, each by the median of its usable runs: the
// value that its report shows, which one run among many does not spoil.
func OfCells(set *result.Set, thresholds []Threshold) Verdict {
	var cells []result.RunKey
	of := make(map[result.RunKey][]*result.Result)
	for _, run := range set.Runs {
		k := run.Key()
		k.Repetition = 0
		if of[k] == nil {
			cells = append(cells, k)
		}
		of[k] = append(of[k], run.Result)
	}
	var v Verdict
	for _, k := range cells {
		var usable []*result.Result
		for _, r := range of[k] {
			if result.Usable(r) {
				usable = append(usable, r)
			}
		}
		for _, t := range thresholds {
			var value *float64
			if e := stats.Median(t.Metric.Values(usable)); e.N > 0 {
				value = &e.Median
			}
			v.add(t, value, fmt.Sprintf("%s, %s nodes, %s, %s", k.Label, k.Cell.Get("nodes"), k.Transport, k.Workload))
		}
	}
	return v
}

// add takes one judgement into account; what says of what it is.
func (v *Verdict) add(t Threshold, value *float64, what string) result.Threshold {
	j := t.Judge(value)
	switch {
	case j.Crossed == nil:
		v.Unknown = true
		v.Lines = append(v.Lines, fmt.Sprintf("threshold %s could not be judged: %s has no %s", t.Text, what, t.Metric.Name))
	case *j.Crossed:
		v.Crossed = true
		v.Lines = append(v.Lines, fmt.Sprintf("threshold %s crossed: %s of %s is %s", t.Text, t.Metric.Name, what, t.Show(*value)))
	}
	return j
}
