package rank

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dmebench/claims"
	"dmebench/report/cells"
	"dmebench/runs"
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
	slices.SortStableFunc(all, func(a, b labelled) int {
		if (a.Standing == First) != (b.Standing == First) {
			return map[bool]int{true: -1, false: 1}[a.Standing == First]
		}
		return better(c.Columns[column].metric, a.Cell, b.Cell)
	})
	return all
}

func names(all []labelled) string {
	var labels []string
	for _, x := range all {
		labels = append(labels, x.label)
	}
	return cells.List(labels)
}

// repetitions says how many there are: "3 repetitions", or "2 to 5 repetitions".
func repetitions(all []labelled) string {
	fewest, most := all[0].N, all[0].N
	for _, x := range all {
		fewest, most = min(fewest, x.N), max(most, x.N)
	}
	switch {
	case fewest != most:
		return fmt.Sprintf("%d to %d repetitions", fewest, most)
	case most == 1:
		return "1 repetition"
	}
	return fmt.Sprintf("%d repetitions", most)
}

// apart says whether every repetition of the first was ahead of all others, which
// is as much as few repetitions can say.
func apart(all []labelled) string {
	first := all[0].estimate
	for _, x := range all[1:] {
		if x.estimate.Min <= first.Max && first.Min <= x.estimate.Max {
			return ""
		}
	}
	return ", in each repetition ahead of all others"
}

// probability writes a p-value; several says that it is the smallest of some.
func probability(p float64, several bool) string {
	switch {
	case p < 0.001:
		return "p<0.001"
	case several && p < 1:
		return fmt.Sprintf("p≥%s", digits(p))
	}
	return "p=" + digits(p)
}

func digits(p float64) string {
	if p >= 0.1 {
		return fmt.Sprintf("%.2g", p)
	}
	return fmt.Sprintf("%.3f", p)
}

// unit is that of a metric's written values; "" where the value has it or needs none.
func unit(m runs.Metric) string {
	if m.Name == runs.Throughput {
		return "CS/s"
	}
	return ""
}

func phrase(m runs.Metric) string {
	title := strings.TrimSuffix(m.Title, " (CS/s)")
	first, size := utf8.DecodeRuneInString(title)
	if second, _ := utf8.DecodeRuneInString(title[size:]); !unicode.IsLower(second) || strings.HasPrefix(title, "Jain") {
		return title
	}
	return string(unicode.ToLower(first)) + title[size:]
}

// counts reports whether the metric is a number of things, of which there are many.
func (col Column) counts() bool { return strings.HasPrefix(phrase(col.metric), "messages") }

// article puts what a sentence needs before the name of a quantity.
func article(what string) string {
	if strings.HasPrefix(what, "messages") {
		return what + ":"
	}
	return "a " + what + " of"
}

// write writes a value of the column with its unit.
func (col Column) write(x *float64) string {
	text := col.metric.Text(x)
	if x != nil && col.Unit != "" {
		text += " " + col.Unit
	}
	return text
}

func (col Column) extent(all []labelled) string {
	first, last := all[0], all[len(all)-1]
	if a, b := col.metric.Text(first.Median), col.write(last.Median); a != col.metric.Text(last.Median) {
		if len(all) == 2 {
			return a + " and " + b
		}
		return a + " to " + b
	}
	return col.write(first.Median)
}

func (col Column) behind(x labelled) string {
	switch {
	case x.Change == nil:
		return col.write(x.Median)
	case *x.Change >= 1:
		much := map[bool]string{true: "many", false: "much"}[col.counts()]
		return units.Number(math.Round(10*(1+*x.Change))/10) + " times as " + much
	case *x.Change > 0:
		return percent(*x.Change) + " more"
	}
	return percent(-*x.Change) + " less"
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

// interval writes the 95% interval of a median, where there is one that is no point.
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
func Probability(p float64) string { return probability(p, false) }

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

// uneven says who of those that may be best is quick for some nodes alone.
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
				e.Label, units.Number(e.Estimate(m).Median)))
		}
	}
	return all
}

// Decides names the metric by which the entrants are ranked, as a sentence has it; ""
// where nothing was measured.
func (c *Contest) Decides() string {
	m, ok := runs.LookupMetric(c.By)
	if !ok {
		return ""
	}
	return phrase(m)
}

func (c *Contest) verdict(column int) string {
	col := c.Columns[column]
	all := c.inOrder(column)
	first := all[0]
	what, most := phrase(col.metric), "lowest"
	switch {
	case col.metric.Better == runs.Higher:
		most = "highest"
	case col.counts():
		most = "fewest"
	}
	switch col.Outcome {
	case Alone:
		return fmt.Sprintf("%s has %s %s%s; there is no other to compare it with.",
			first.label, article(what), col.write(first.Median), first.interval(col))
	case TooFew:
		if col.counts() {
			most = "lowest"
		}
		return fmt.Sprintf("Nothing can be said yet: with %s of %d algorithms no test can find a difference in %s; %d are needed. "+
			"%s has the %s median, %s%s.", repetitions(all), len(all), what, col.Needed, first.label, most, col.write(first.Median), apart(all))
	case Won:
		return fmt.Sprintf("%s has the %s %s, %s%s; %s.",
			first.label, most, what, col.write(first.Median), first.interval(col), c.next(col, all[1:]))
	}
	return c.tied(col, all, most, what)
}

func (c *Contest) tied(col Column, all []labelled, most, what string) string {
	var level, short []labelled
	least := 1.0
	for _, x := range all {
		switch x.Standing {
		case First:
			level = append(level, x)
		case Level:
			level = append(level, x)
			least = math.Min(least, *x.PHolm)
		case Unknown:
			short = append(short, x)
		}
	}
	worse := slices.DeleteFunc(slices.Clone(all), func(x labelled) bool { return x.Standing != Worse })
	labels := names(level)
	var text string
	switch {
	case col.constant:
		return fmt.Sprintf("%s all have the same %s, %s in every run.", names(all), what, col.write(all[0].Median))
	case len(level) == 1:
		text = fmt.Sprintf("%s has the %s %s, %s", labels, most, what, col.write(level[0].Median))
	case len(level) == len(all) && len(level) > 3:
		last := level[len(level)-1]
		text = fmt.Sprintf("No algorithm is distinguishable from the best in %s (%s): medians of %s (%s) to %s (%s)", what,
			probability(least, true), col.write(level[0].Median), level[0].label, col.write(last.Median), last.label)
	case len(level) == len(all):
		text = fmt.Sprintf("%s are not distinguishable in %s (%s): medians of %s",
			labels, what, probability(least, len(level) > 2), col.extent(level))
	default:
		text = fmt.Sprintf("%s have the %s %s and are not distinguishable (%s): medians of %s",
			labels, most, what, probability(least, len(level) > 2), col.extent(level))
	}
	if len(worse) > 0 {
		text += "; " + c.next(col, worse)
	}
	if len(short) > 0 {
		verb := "are"
		if repetitions(short) == "1 repetition" {
			verb = "is"
		}
		text += fmt.Sprintf("; %s cannot be told from it: %s %s too few", names(short), repetitions(short), verb)
	}
	return text + "."
}

func (c *Contest) next(col Column, worse []labelled) string {
	x, largest := worse[0], 0.0
	for _, w := range worse {
		largest = math.Max(largest, *w.PHolm)
	}
	p := probability(largest, false)
	if len(worse) > 1 {
		p = "each " + strings.Replace(p, "=", "≤", 1)
	}
	return fmt.Sprintf("%s is next with %s (%s)", x.label, col.behind(x), p)
}

// fewest says who sends the fewest messages, where something else decides.
func (c *Contest) fewest(column int) string {
	all := slices.DeleteFunc(c.inOrder(column), func(x labelled) bool { return x.Standing != First && x.Standing != Level })
	return fmt.Sprintf("Fewest messages per CS: %s, %s.", names(all), c.Columns[column].extent(all))
}
