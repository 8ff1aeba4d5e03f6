package rank

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dmebench/claims"
	"dmebench/report/cells"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

type labelled struct {
	label string
	Cell
}

// inOrder lists the cells of a column that have a value, the best first.
func (c *Contest) inOrder(column int) []labelled {
	var all []labelled
	for _, e := range c.Entrants {
		if cell := e.Cells[column]; cell.N > 0 {
			all = append(all, labelled{e.Label, cell})
		}
	}
	m := c.Columns[column].metric
	slices.SortStableFunc(all, func(a, b labelled) int { return better(m, a.Cell, b.Cell) })
	return all
}

func names(all []labelled) string {
	return cells.List(units.Texts(all, func(x labelled) string { return x.label }))
}

// probability writes a p-value; relation says how it compares with those that are meant.
func probability(relation string, p float64) string {
	switch {
	case p < 0.001:
		return "p<0.001"
	case p >= 1:
		return "p=1"
	}
	return "p" + relation + digits(p)
}

func digits(p float64) string {
	if p >= 0.1 {
		return fmt.Sprintf("%.2g", p)
	}
	return fmt.Sprintf("%.3f", p)
}

// unit is that of a metric's written values; "" if the value has it or needs none.
func unit(m runs.Metric) string {
	if m.Name == runs.Throughput {
		return "CS/s"
	}
	return ""
}

func phrase(m runs.Metric) string { return strings.TrimSuffix(m.Phrase(), " (CS/s)") }

// write writes a value of the column with its unit.
func (col Column) write(x *float64) string {
	text := col.metric.Text(x)
	if x != nil && col.Unit != "" {
		text += " " + col.Unit
	}
	return text
}

// extent writes the medians of the entrants that are level, the best one first.
func (col Column) extent(all []labelled) string {
	a, b := col.write(all[0].Median), col.write(all[len(all)-1].Median)
	if a == b {
		return a
	}
	return a + " to " + b
}

func percent(x float64) string {
	if x < 0.0005 {
		return "under 0.1%"
	}
	if x < 0.1 {
		return fmt.Sprintf("%.1f%%", 100*x)
	}
	return fmt.Sprintf("%.0f%%", 100*x)
}

// interval writes the 95% interval of a median, if there is one that is no point.
func (c Cell) interval(col Column) string {
	if c.Lo == nil || c.Hi == nil {
		return ""
	}
	a, b := col.metric.Text(c.Lo), col.metric.Text(c.Hi)
	if a == b {
		return ""
	}
	return fmt.Sprintf(" (95%% interval %s to %s)", a, b)
}

// Probability writes a p-value: "p=0.022".
func Probability(p float64) string { return probability("=", p) }

// Change writes a relative change: "+12%", "×3.4".
func Change(x float64) string {
	switch {
	case x >= 1:
		return "×" + units.Number(math.Round(10*(1+x))/10)
	case math.Abs(x) < 0.0005:
		return "under 0.1%"
	case x < 0:
		return "−" + percent(-x)
	}
	return "+" + percent(x)
}

func (c *Contest) words() string {
	var sentences []string
	for i := range c.Columns {
		c.Columns[i].Verdict = c.verdict(i)
	}
	switch by := c.Column(c.By); {
	case by >= 0:
		sentences = append(sentences, c.Columns[by].Verdict)
		if messages := c.Column(runs.MessagesPerCS); messages >= 0 && messages != by && len(c.Entrants) > 1 {
			sentences = append(sentences, c.fewest(messages))
		}
		sentences = append(sentences, c.uneven()...)
	case len(c.Entrants) > 0:
		sentences = append(sentences, "Nothing that could be compared was measured.")
	default:
		sentences = append(sentences, "There is nothing to compare: no run ended well.")
	}
	for _, l := range c.LeftOut {
		sentences = append(sentences, fmt.Sprintf("%s is left out: %s.", l.Label, l.Reason))
	}
	return strings.Join(sentences, " ")
}

// uneven lists the possible winners that are quick for some nodes alone.
func (c *Contest) uneven() []string {
	var all []string
	m, _ := runs.LookupMetric(runs.JainIndex)
	for _, e := range c.Entrants {
		count := 0
		for _, r := range e.runs {
			if claims.Uneven(r) {
				count++
			}
		}
		if 2*count > len(e.runs) && slices.Contains(c.Best, e.Label) {
			all = append(all, fmt.Sprintf("%s serves its nodes unequally, though all ask all the time: Jain's index is %s.",
				e.Label, units.Number(stats.Median(m.Values(e.runs)).Median)))
		}
	}
	return all
}

// verdict says which is best in a column, and which is next.
func (c *Contest) verdict(column int) string {
	col := c.Columns[column]
	all := c.inOrder(column)
	first, what := all[0], phrase(col.metric)
	value := col.write(first.Median) + first.interval(col)
	switch {
	case col.Outcome == Alone:
		return fmt.Sprintf("%s has no other to compare it with; its %s: %s.", first.label, what, value)
	case col.Outcome == TooFew:
		return fmt.Sprintf("Nothing can be said yet: no test can find a difference in %s between %d algorithms with fewer than "+
			"%d repetitions of each. The best median is that of %s, %s.", what, len(all), col.Needed, first.label, value)
	case col.constant:
		return fmt.Sprintf("%s all have the same %s, %s in every run.", names(all), what, value)
	}
	of := make(map[Standing][]labelled)
	least, largest := 1.0, 0.0 // of the p-values of entrants that are level, and of those that are worse
	for _, x := range all {
		of[x.Standing] = append(of[x.Standing], x)
		switch x.Standing {
		case Level:
			least = math.Min(least, *x.PHolm)
		case Worse:
			largest = math.Max(largest, *x.PHolm)
		}
	}
	most := "lowest"
	switch {
	case col.metric.Better == runs.Higher:
		most = "highest"
	case strings.HasPrefix(what, "messages"):
		most = "fewest"
	}
	text := fmt.Sprintf("%s has the %s %s, %s", first.label, most, what, value)
	if level := append(of[First], of[Level]...); len(level) > 1 {
		text = fmt.Sprintf("%s have the %s %s and are not distinguishable (%s): medians of %s",
			names(level), most, what, probability(relation(level[1:], "≥"), least), col.extent(level))
	}
	if worse := of[Worse]; len(worse) > 0 {
		far := col.write(worse[0].Median)
		if x := worse[0].Change; x != nil {
			far = Change(*x)
		}
		text += fmt.Sprintf("; %s is next, %s (%s)", worse[0].label, far, probability(relation(worse, "≤"), largest))
	}
	if short := of[Unknown]; len(short) > 0 {
		text += fmt.Sprintf("; too few repetitions to tell of %s", names(short))
	}
	return text + "."
}

// relation is how the p-values of all stand to an extreme of them.
func relation(all []labelled, several string) string {
	if len(all) == 1 {
		return "="
	}
	return several
}

// fewest says which sends the fewest messages, if something else decides.
func (c *Contest) fewest(column int) string {
	all := slices.DeleteFunc(c.inOrder(column), func(x labelled) bool { return x.Standing != First && x.Standing != Level })
	return fmt.Sprintf("Fewest messages per CS: %s, %s.", names(all), c.Columns[column].extent(all))
}
