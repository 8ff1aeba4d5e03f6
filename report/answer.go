package report

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dmebench/report/cells"
	"dmebench/report/rank"
	"dmebench/runs"
	"dmebench/units"
)

// What the page begins with.
//
//go:embed answer.html
var answerHTML string

//go:embed answer.css
var answerCSS string

// answer is what the page begins with: what was asked, who is best under which load
// on how many nodes, and one table.
type answer struct {
	Description string // the author's words; "" where there are none
	Asked       string // what was run, as a sentence
	Loads       []loadAnswer
	Common      string   // what loads of one size each have in common
	Columns     []string // of the table
	Legend      string
	Alone       bool // there is one algorithm alone
}

// loadAnswer is what can be said of one load over one network.
type loadAnswer struct {
	Title string
	Brief string       // what tells it from the other loads, where each has one size; else ""
	Sizes []sizeAnswer // by number of nodes
	Table sizeAnswer   // of the size that the page's table shows
	Other []sizeAnswer // the others
}

// sizeAnswer is what can be said of one load on one number of nodes.
type sizeAnswer struct {
	Nodes   int
	Verdict string
	Chosen  bool   // its rows stand in the page's table
	By      string // what they are ranked by
	Notes   []string
	Columns []string
	Rows    []rankRow
}

// rankRow is an entrant as the table shows it.
type rankRow struct {
	Place, Label string
	Style        int
	Cells        []rankCell
}

// rankCell is a quantity of an entrant.
type rankCell struct {
	Text, Range, Against, Hint string // Against says how it stands to the best
	Standing                   rank.Standing
}

// mostVerdicts is how many sizes of a load are told one below the other; of more only
// the one that the table shows, and the others in a fold.
const mostVerdicts = 4

// answer ranks what was run.
func (c *collection) answer() answer {
	ranking, err := rank.Of(&runs.Set{Path: c.in.Path, Header: c.in.Header, Runs: c.runs}, rank.Options{})
	if err != nil {
		panic(err) // of the default options
	}
	a := answer{Description: strings.TrimSpace(c.in.Header.Experiment.Description), Asked: c.asked(), Alone: len(c.labels) == 1}
	shown := columnsOf(ranking)
	for _, m := range shown {
		a.Columns = append(a.Columns, heading(m))
	}
	for _, contests := range cells.Grouped(ranking.Contests, func(c rank.Contest) string { return c.Title }) {
		load := loadAnswer{Title: contests[0].Title}
		best := fullest(contests)
		for i := range contests {
			size := c.sizeAnswer(&contests[i], shown)
			size.Columns = a.Columns
			if size.Chosen = i == best; size.Chosen {
				load.Table = size
			} else {
				load.Other = append(load.Other, size)
			}
			load.Sizes = append(load.Sizes, size)
		}
		a.Loads = append(a.Loads, load)
	}
	a.brief()
	a.Legend = fmt.Sprintf("Medians over repetitions, with their 95%% intervals. In each column each algorithm is compared with the best "+
		"by the two-sided Mann-Whitney test with Holm’s correction over all pairs: p is the corrected value. ~ is not distinguishable from the "+
		"best (p > %v); a percentage or a factor is the distance of a worse one from the best.", ranking.Alpha)
	return a
}

// brief shortens the titles of several loads that were run on one number of nodes,
// the same for all: what they have in common is told once.
func (a *answer) brief() {
	if len(a.Loads) < 2 {
		return
	}
	for _, l := range a.Loads {
		if len(l.Sizes) != 1 || l.Sizes[0].Nodes != a.Loads[0].Sizes[0].Nodes {
			return
		}
	}
	var titles []string
	for _, l := range a.Loads {
		titles = append(titles, l.Title)
	}
	a.Common = cells.Common(titles) + fmt.Sprintf("%sN = %d", cells.Separator, a.Loads[0].Sizes[0].Nodes)
	for i, brief := range cells.Differing(titles) {
		a.Loads[i].Brief = brief
	}
}

// Span is the number of columns of the table.
func (a answer) Span() int { return len(a.Columns) + 2 }

// More tells whether there are sizes that the table does not show.
func (a answer) More() bool {
	return slices.ContainsFunc(a.Loads, func(l loadAnswer) bool { return len(l.Other) > 0 })
}

// mostBefore is how many loads the table may have before the figure comes first.
const mostBefore = 4

// Many tells whether the table is so long that the figure stands before it.
func (a answer) Many() bool { return len(a.Loads) > mostBefore }

// Few tells whether all verdicts of a load are told one below the other.
func (l loadAnswer) Few() bool { return len(l.Sizes) <= mostVerdicts }

// fullest is the contest with the most entrants, of equal ones the largest.
func fullest(contests []rank.Contest) int {
	best := 0
	for i, c := range contests {
		if len(c.Entrants) >= len(contests[best].Entrants) {
			best = i
		}
	}
	return best
}

// columnsOf are the metrics of all contests, in the order of the default ones.
func columnsOf(r *rank.Ranking) []runs.Metric {
	var shown []runs.Metric
	for _, m := range runs.Metrics() {
		if slices.ContainsFunc(r.Contests, func(c rank.Contest) bool { return c.Column(m.Name) >= 0 }) {
			shown = append(shown, m)
		}
	}
	order := rank.DefaultMetrics()
	place := func(m runs.Metric) int { return slices.Index(order, m.Name) }
	slices.SortStableFunc(shown, func(a, b runs.Metric) int { return place(a) - place(b) })
	return shown
}

// heading is the head of a column of the answer's table.
func heading(m runs.Metric) string {
	if m.Name == runs.BusiestPerCS {
		return "messages of the busiest node per CS"
	}
	return lowerFirst(m.Title)
}

func (c *collection) sizeAnswer(contest *rank.Contest, shown []runs.Metric) sizeAnswer {
	s := sizeAnswer{Nodes: contest.Nodes, Verdict: contest.Verdict, By: contest.Decides(), Notes: contest.Notes}
	for _, e := range contest.Entrants {
		row := rankRow{Label: e.Label, Style: slices.Index(c.labels, e.Label), Place: "?"}
		if e.Place > 0 {
			row.Place = strconv.Itoa(e.Place)
		}
		for _, m := range shown {
			cell := rankCell{Text: units.Missing}
			if i := contest.Column(m.Name); i >= 0 && e.Cells[i].N > 0 {
				cell = shownCell(m, e.Cells[i], len(contest.Entrants) == 1)
			}
			row.Cells = append(row.Cells, cell)
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

// shownCell writes a cell, and how it stands to the best.
func shownCell(m runs.Metric, x rank.Cell, alone bool) rankCell {
	scale := units.Plain()
	if m.Time() {
		scale = units.TimeScale(*x.Median)
	}
	q := show(x.Estimate(), scale)
	cell := rankCell{Text: q.Text, Range: q.Range, Hint: q.Hint, Standing: x.Standing}
	switch {
	case alone:
		cell.Standing = ""
	case x.Standing == rank.First:
		cell.Against = "best"
	case x.Standing == rank.Level:
		cell.Against = "~ " + rank.Probability(*x.PHolm)
	case x.Standing == rank.Unknown:
		cell.Against = "too few repetitions to tell"
	case x.Standing == rank.Worse && x.Change != nil:
		cell.Against = rank.Change(*x.Change) + ", " + rank.Probability(*x.PHolm)
	case x.Standing == rank.Worse:
		cell.Against = "worse, " + rank.Probability(*x.PHolm)
	}
	return cell
}

// asked says what was run: "5 algorithms (…) on 3, 7 and 13 nodes, over tcp, under
// serial and saturate; 6 repetitions of each."
func (c *collection) asked() string {
	if len(c.sets) == 0 {
		return ""
	}
	var sizes []int
	var networks, workloads, repetitions []string
	for _, s := range c.sets {
		networks, workloads = append(networks, s.transport), append(workloads, s.workload)
		for _, here := range s.spots {
			sizes = append(sizes, here.nodes)
		}
		for _, cell := range s.inOrder() {
			repetitions = append(repetitions, fmt.Sprintf("%04d", cell.Repetitions()))
		}
	}
	slices.Sort(sizes)
	var on []string
	for _, n := range slices.Compact(sizes) {
		on = append(on, strconv.Itoa(n))
	}
	who := plural(len(c.labels), "algorithm") + " (" + enumerated(c.labels) + ")"
	if len(c.labels) == 1 {
		who = c.labels[0]
	}
	nodes := "nodes"
	if len(on) == 1 && on[0] == "1" {
		nodes = "node"
	}
	text := fmt.Sprintf("%s on %s %s, over %s, under %s",
		who, cells.List(on), nodes, cells.List(distinct(networks)), cells.List(distinct(workloads)))
	slices.Sort(repetitions)
	fewest, _ := strconv.Atoi(repetitions[0])
	most, _ := strconv.Atoi(repetitions[len(repetitions)-1])
	if fewest != most {
		return fmt.Sprintf("%s; %d to %s of each.", text, fewest, plural(most, "repetition"))
	}
	return fmt.Sprintf("%s; %s of each.", text, plural(most, "repetition"))
}

// distinct keeps the first of equal texts.
func distinct(texts []string) []string {
	var all []string
	for _, x := range texts {
		if !slices.Contains(all, x) {
			all = append(all, x)
		}
	}
	return all
}
