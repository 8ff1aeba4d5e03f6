package report

import (
	"fmt"
	"slices"

	"dmebench/report/circumstance"
	"dmebench/report/plots"
	"dmebench/report/rank"
	"dmebench/report/stats"
	"dmebench/report/units"
	"dmebench/result"
)

// mostLoads is how many loads the summary has a panel for.
const mostLoads = 12

// summary sets messages per CS against delay, all algorithms in one picture for each
// load: what is cheap lies low, what is fast lies to the left. It draws nothing where
// there is nothing to compare.
func (c *collection) summary(contests []rank.Contest) []picture {
	f := picture{Figure: plots.Figure{Name: "summary", Title: "Messages against delay"}}
	var parts []string
	for _, contest := range contests {
		if len(f.Panels) == mostLoads {
			break
		}
		if p := c.summaryPanel(contest); len(p.Series) > 1 {
			f.Panels = append(f.Panels, p)
			parts = append(parts, fmt.Sprintf("N = %d%s%s", contest.Nodes, circumstance.Separator, contest.Title))
		}
	}
	if len(f.Panels) == 0 {
		return nil
	}
	if len(parts) == 1 {
		f.Subtitle = parts[0]
	} else {
		f.Subtitle = circumstance.Common(parts)
		for i, title := range circumstance.Differing(parts) {
			f.Panels[i].Title = title
		}
	}
	f.Caption = "Low is cheap, left is fast. Bars are 95% confidence intervals of the medians over repetitions. "
	if left := len(contests) - len(f.Panels); left > 0 {
		f.Caption += fmt.Sprintf("%s left out: with fewer than two algorithms to compare, or beyond the first %d. ",
			plural(left, "load")+map[bool]string{true: " is", false: " are"}[left == 1], mostLoads)
	}
	return []picture{f}
}

// summaryPanel is one load. Under saturation somebody always waits, and what counts is
// how long it takes until the next one is inside; else it is how long requests wait.
func (c *collection) summaryPanel(contest rank.Contest) plots.Panel {
	delay, _ := result.LookupMetric(result.WaitingP50)
	p := plots.Panel{
		X: plots.Axis{Label: "median waiting time", Kind: plots.Times},
		Y: plots.Axis{Label: "messages per CS", Kind: plots.Values},
	}
	overT, _ := result.LookupMetric(result.SyncDelayOverT)
	unknown := func(e rank.Entrant) bool { return e.Estimate(overT).N == 0 }
	if contest.Workload == "saturate" && !slices.ContainsFunc(contest.Entrants, unknown) {
		delay, p.X = overT, plots.Axis{Label: "synchronization delay / T", Kind: plots.Amounts}
	}
	messages, _ := result.LookupMetric(result.MessagesPerCS)
	for _, e := range contest.Entrants {
		x, y := e.Estimate(delay), e.Estimate(messages)
		if x.N == 0 || y.N == 0 {
			continue
		}
		pt := pointOf(x.Median, y)
		if x.Bounded() {
			pt.Left, pt.Right = x.Lo, x.Hi
		}
		pt.Note = fmt.Sprintf("%s, N = %d: %s messages per CS (%s); %s (%s)", e.Label, contest.Nodes,
			units.Number(y.Median), spread(y, units.Number),
			lowerFirst(delay.Title)+" "+formatOf(delay.Name)(x.Median), spread(x, formatOf(delay.Name)))
		p.Series = append(p.Series, plots.Series{
			Label: e.Label, Style: slices.Index(c.labels, e.Label), Role: plots.Spots, Points: []plots.Point{pt},
		})
	}
	slices.SortFunc(p.Series, func(a, b plots.Series) int { return a.Style - b.Style })
	return p
}

// spread writes the interval of an estimate, or says that there is none.
func spread(e stats.Estimate, write func(float64) string) string {
	if !e.Bounded() {
		return "too few repetitions for an interval"
	}
	return fmt.Sprintf("95%% interval %s to %s", write(e.Lo), write(e.Hi))
}
