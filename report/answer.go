package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dmebench/report/cells"
	"dmebench/report/page"
	"dmebench/units"
)

// mostVerdicts is how many sizes of a load are shown; with more only the one that the table begins
// with, and the others on request.
const mostVerdicts = 4

// answer says what was asked, how the runs ended, and which is best under each load for each number
// of nodes.
func (p *paper) answer() page.Answer {
	a := page.Answer{Description: strings.TrimSpace(p.in.Header.Experiment.Description), Asked: p.asked(), Title: "Which algorithm is best"}
	if len(p.labels) == 1 {
		a.Title = "What was measured"
	}
	a.Level, a.Status = p.status()
	for i, load := range p.data.Loads {
		contests := slices.DeleteFunc(slices.Clone(p.contests), func(c contest) bool { return c.set != i })
		best := fullest(contests)
		for k, c := range contests {
			s := page.Sentence{
				Group: load.Title, About: fmt.Sprintf("N = %d", c.Nodes), Text: c.Verdict, Notes: c.Notes, Load: page.At(i), Nodes: c.Nodes,
				Minor: k != best && (len(contests) > mostVerdicts || len(p.data.Loads) > mostVerdicts),
			}
			if m := p.metric(c.By); m >= 0 {
				s.Metric = page.At(m)
			}
			a.Sentences = append(a.Sentences, s)
		}
	}
	return a
}

// fullest is the contest with the most entrants, of equal ones the largest.
func fullest(contests []contest) int {
	best := 0
	for i, c := range contests {
		if len(c.Entrants) >= len(contests[best].Entrants) {
			best = i
		}
	}
	return best
}

// asked says what was run: "5 algorithms (…) on 3, 7 and 13 nodes, over tcp, under
// serial and saturate; 6 repetitions of each."
func (c *collection) asked() string {
	if len(c.sets) == 0 {
		return ""
	}
	var sizes, repetitions []int
	var networks, workloads, on []string
	for _, s := range c.sets {
		networks, workloads = append(networks, s.transport), append(workloads, s.workload)
		for _, here := range s.spots {
			sizes = append(sizes, here.nodes)
		}
		for _, cell := range s.inOrder() {
			repetitions = append(repetitions, cell.Repetitions())
		}
	}
	slices.Sort(sizes)
	for _, n := range slices.Compact(sizes) {
		on = append(on, strconv.Itoa(n))
	}
	who := units.Counted(len(c.labels), "algorithm") + " (" + enumerated(c.labels) + ")"
	if len(c.labels) == 1 {
		who = c.labels[0]
	}
	many := units.Counted(slices.Max(repetitions), "repetition")
	if fewest := slices.Min(repetitions); fewest != slices.Max(repetitions) {
		many = fmt.Sprintf("%d to %s", fewest, many)
	}
	return fmt.Sprintf("%s on %s nodes, over %s, under %s; %s of each.",
		who, cells.List(on), cells.List(distinct(networks)), cells.List(distinct(workloads)), many)
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

// standingNote says how the algorithms of a table are compared.
func (p *paper) standingNote() string {
	return fmt.Sprintf("Medians over repetitions, with their 95%% intervals. In each column each algorithm is compared with the best "+
		"under the same load on as many nodes by the two-sided Mann-Whitney test with Holm’s correction over all pairs: "+
		"p is the corrected value. "+
		"~ is not distinguishable from the best (p > %v); a percentage or a factor is the distance of a worse one from the best.", p.alpha)
}
