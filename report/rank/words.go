package rank

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dmebench/claims"
	"dmebench/report/units"
	"dmebench/result"
)

// words says who is best, and who has no part in it.
func (c *Contest) words() string {
	var sentences []string
	for i := range c.Columns {
		c.Columns[i].Verdict = c.verdict(i)
	}
	switch by := c.Column(c.By); {
	case by >= 0:
		sentences = append(sentences, c.Columns[by].Verdict)
		if messages := c.Column(result.MessagesPerCS); messages >= 0 && messages != by && len(c.Entrants) > 1 {
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

// uneven says who of those that may be best serves its nodes unequally: it is quick for
// some of them.
func (c *Contest) uneven() []string {
	var all []string
	m, _ := result.LookupMetric(result.JainIndex)
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
	m, ok := result.LookupMetric(c.By)
	if !ok {
		return ""
	}
	return phrase(m)
}

// verdict says of a column what its tests say.
func (c *Contest) verdict(column int) string {
	col := c.Columns[column]
	all := c.inOrder(column)
	first := all[0]
	what, most := phrase(col.metric), "lowest"
	switch {
	case col.metric.Better == result.Higher:
		most = "highest"
	case col.counts():
		most = "fewest"
	}
	switch col.Outcome {
	case Alone:
		return fmt.Sprintf("%s has %s %s%s; there is no other to compare it with.",
			first.label, article(what), col.write(first.Median), first.interval(col))
	case TooFew:
		return fmt.Sprintf("Nothing can be said yet: with %s of %d algorithms no test can find a difference in %s; %d are needed. "+
			"%s has the %s median, %s%s.", repetitions(all), len(all), what, col.Needed, first.label, most, col.write(first.Median), apart(all))
	case Won:
		return fmt.Sprintf("%s has the %s %s, %s%s; %s.",
			first.label, most, what, col.write(first.Median), first.interval(col), c.next(col, all[1:]))
	}
	return c.tied(col, all, most, what)
}

// tied says of whom the best is not distinguishable.
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

// next says who comes after the best, and by how much.
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
