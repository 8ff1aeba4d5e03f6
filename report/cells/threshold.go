package cells

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"dmebench/internal/platform"
	"dmebench/runs"
	"dmebench/stats"
)

// Threshold is a limit on a metric, such as p99>10ms: what a user does not accept, so that a script
// or a CI job fails by it.
//
// The grammar is METRIC OP VALUE, with optional spaces. METRIC is what [runs.FindMetric]
// finds; OP is <, <=, > or >=; VALUE is a duration for a time (10ms), a number or a percentage for
// Jain's index (0.95, 95%), a number with or without CS/s or /s for a rate, and else a number.
// Nothing else passes.
//
// A threshold is crossed if the condition holds, and kept if it does not. If the metric has no
// value it is neither.
type Threshold struct {
	Text   string // as it was given, without spaces around it
	Metric runs.Metric
	op     string
	limit  float64 // in the metric's unit
}

// thresholdForm says what a threshold looks like.
const thresholdForm = "METRIC OP VALUE, such as 'p99>10ms', 'throughput<500', 'jain<95%' or 'messages>12'"

var (
	limit   = platform.Pattern(`^([^<>=\s]*)\s*(<=|>=|<|>)\s*([^<>=\s].*)$`)
	numeral = platform.Pattern(`^[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
)

// parseThreshold reads one. The error says what is wrong with it, and what would do.
func parseThreshold(text string) (Threshold, error) {
	t := Threshold{Text: strings.TrimSpace(text)}
	if strings.Contains(text, ",") {
		return t, fmt.Errorf("threshold %q: want one; give --fail-if once for each", text)
	}
	parts := limit().FindStringSubmatch(t.Text)
	if parts == nil {
		return t, fmt.Errorf("threshold %q: want %s", text, thresholdForm)
	}
	m, err := runs.FindMetric(parts[1])
	if err != nil {
		return t, fmt.Errorf("threshold %q: %w", text, err)
	}
	t.Metric, t.op = m, parts[2]
	if t.limit, err = value(m, parts[3]); err != nil {
		return t, fmt.Errorf("threshold %q: %w", text, err)
	}
	return t, nil
}

// ParseThresholds reads thresholds. Every fault is reported.
func ParseThresholds(texts []string) ([]Threshold, error) {
	var all []Threshold
	var errs []error
	for _, text := range texts {
		t, err := parseThreshold(text)
		all, errs = append(all, t), append(errs, err)
	}
	return all, errors.Join(errs...)
}

// value reads a value of the metric, in its unit.
func value(m runs.Metric, text string) (float64, error) {
	if m.Time() {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return 0, fmt.Errorf("%s is a time; want a duration such as 500us or 10ms, not %q", m.Name, text)
		}
		return float64(d), nil
	}
	number, scale, want := text, 1.0, "a number such as 12.5"
	switch {
	case m.Name == runs.JainIndex:
		want = "a number or a percentage, such as 0.95 or 95%"
		if percent, ok := strings.CutSuffix(text, "%"); ok {
			number, scale = strings.TrimSpace(percent), 100
		}
	case strings.HasSuffix(m.Unit, "CS/s"):
		want = "a rate such as 500 or 500 CS/s"
		number = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(text, "/s"), "CS"))
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || !numeral().MatchString(number) {
		return 0, fmt.Errorf("%s: want %s, not %q", m.Name, want, text)
	}
	return x / scale, nil
}

func (t Threshold) crossed(x float64) bool {
	switch t.op {
	case "<":
		return x < t.limit
	case "<=":
		return x <= t.limit
	case ">":
		return x > t.limit
	}
	return x >= t.limit
}

// Verdict is what came of all thresholds together.
type Verdict struct {
	Crossed bool     // at least one was
	Unknown bool     // at least one could not be decided
	Lines   []string // for people: one for each that was crossed or could not be decided
}

// JudgeRun judges a run and notes what came of each threshold in its result. A run
// whose numbers may not be used has no values, unless it was interrupted: then they
// are those of what was measured until then.
func JudgeRun(r *runs.Result, thresholds []Threshold) Verdict {
	var v Verdict
	r.Thresholds = nil
	for _, t := range thresholds {
		var value *float64
		if runs.Usable(r) || r.Partial {
			value = t.Metric.Read(r)
		}
		r.Thresholds = append(r.Thresholds, v.add(t, value, "the run"))
	}
	return v
}

// JudgeCells judges the cells of a sweep, each by the median of the runs that count: the
// value that its report shows, which one run among many does not spoil.
func JudgeCells(set *runs.Set, thresholds []Threshold) Verdict {
	var v Verdict
	for _, c := range Of(&set.Header.Experiment, set.Runs).Cells() {
		for _, t := range thresholds {
			var value *float64
			if e := stats.Median(t.Metric.Values(c.Good)); e.N > 0 {
				value = &e.Median
			}
			v.add(t, value, fmt.Sprintf("%s, %d nodes, %s, %s", c.Label, c.Nodes, c.First.Transport, c.First.Workload))
		}
	}
	return v
}

// add takes one judgement into account; what says of what it is.
func (v *Verdict) add(t Threshold, value *float64, what string) runs.Threshold {
	j := runs.Threshold{Threshold: t.Text, Metric: t.Metric.Name, Limit: t.limit, Value: value}
	if value == nil {
		v.Unknown = true
		v.Lines = append(v.Lines, fmt.Sprintf("threshold %s could not be judged: %s has no %s", t.Text, what, t.Metric.Name))
		return j
	}
	crossed := t.crossed(*value)
	j.Crossed = &crossed
	if crossed {
		v.Crossed = true
		v.Lines = append(v.Lines, fmt.Sprintf("threshold %s crossed: %s of %s is %s", t.Text, t.Metric.Name, what, t.Metric.Text(value)))
	}
	return j
}
