package advise

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"dmebench/internal/platform/layout"
	"dmebench/report/cells"
	"dmebench/report/rank"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

const (
	// asGood is the part of the best value by which an algorithm may be behind and still be as
	// good for the purpose: a simulation is hardly closer to a system than that, however small
	// its own differences.
	asGood = 0.1

	// servesAll is the part of the rate that must be served.
	servesAll = 0.95

	// nearly is the part of what an algorithm can serve from which on its waiting times are uncertain.
	nearly = 0.8

	// compared is how many algorithms are measured to hold the advice against.
	compared = 3

	// fewNames is how many algorithms a sentence names.
	fewNames = 4
)

// conclude says what to choose, how sure that is, and what is not known.
func (a *Advice) conclude() {
	c := a.contest
	if c == nil || c.By == "" || len(c.Entrants) == 0 {
		return
	}
	by := c.Column(c.By)
	a.Behind = a.behind()
	good := a.asGood(by)
	if len(good) == 0 {
		a.Sure = append(a.Sure, a.tooMuch())
		return
	}
	chosen := good[0]
	for _, e := range good[1:] {
		if a.cheaper(e, chosen) {
			chosen = e
		}
	}
	a.Choose = chosen.Label
	a.sayFailures(chosen, by)
	a.why(chosen, good, by)
	a.sure(good, chosen.Label)
	a.unknown(chosen)
	a.Measure = a.command(chosen.Label)
}

// asGood lists the entrants that serve all requests and are as good as the best in what decides, or
// not certainly behind it; the best first. That the ranking finds no difference is not enough:
// corrected for all pairs of algorithms, its tests miss large ones.
func (a *Advice) asGood(by int) []rank.Entrant {
	var good []rank.Entrant
	for _, e := range a.contest.Entrants {
		if e.Cells[by].Median == nil || slices.Contains(a.Behind, e.Label) {
			continue
		}
		if len(good) == 0 {
			good = append(good, e)
		} else if lag := a.lag(e.Cells[by], good[0].Cells[by]); lag.Median <= asGood || lag.Lo <= 0 {
			good = append(good, e)
		}
	}
	return good
}

// lag is how far a cell is behind the best one, as a part of the best value: the median over
// repetitions. All algorithms have the same arrivals in a repetition, so lags scatter less than
// the values do.
func (a *Advice) lag(x, best rank.Cell) stats.Estimate {
	m, _ := runs.LookupMetric(a.contest.By)
	var lags []float64
	for k := range min(x.N, best.N) {
		lag := 0.0
		if x.Values[k] != best.Values[k] {
			lag = min((x.Values[k]-best.Values[k])/math.Abs(best.Values[k]), math.MaxFloat64)
		}
		if m.Better == runs.Higher {
			lag = -lag
		}
		lags = append(lags, lag)
	}
	return stats.Median(lags)
}

// cheaper reports whether x sends fewer messages than y or, if they send as many,
// whether its busiest node has less to do.
func (a *Advice) cheaper(x, y rank.Entrant) bool {
	for _, metric := range []string{runs.MessagesPerCS, runs.BusiestPerCS} {
		p, q := a.median(x.Label, metric), a.median(y.Label, metric)
		if math.Abs(p-q) > 0.01*math.Max(p, q) {
			return p < q
		}
	}
	return false
}

// median is that of a metric over the runs of an algorithm; NaN if it has none.
func (a *Advice) median(label, metric string) float64 {
	m, _ := runs.LookupMetric(metric)
	var list []*runs.Result
	for _, r := range a.set.Runs {
		if r.Label == label && runs.Usable(r.Result) {
			list = append(list, r.Result)
		}
	}
	return stats.Median(m.Values(list)).Median
}

// behind lists the entrants that cannot serve the offered requests: they make fewer entries even if
// every node always waits, or with this load, whose requests come in a less favourable order.
func (a *Advice) behind() []string {
	names := []string{}
	if a.Question.Rate == 0 {
		return names
	}
	// The rate of Poisson arrivals itself scatters.
	limit := servesAll * a.Question.Rate * (1 - 2/math.Sqrt(float64(a.Requests)))
	for _, e := range a.contest.Entrants {
		most, known := a.Capacity[e.Label]
		if known && most < a.Question.Rate || a.median(e.Label, runs.Throughput) < limit {
			names = append(names, e.Label)
		}
	}
	return names
}

// tooMuch says that no algorithm serves that many requests, and how many the best one serves.
func (a *Advice) tooMuch() string {
	label, most := "", 0.0
	for _, e := range a.contest.Entrants {
		if x := a.median(e.Label, runs.Throughput); x > most {
			label, most = e.Label, x
		}
	}
	if label == "" {
		return "the simulations gave nothing to compare the algorithms by"
	}
	return fmt.Sprintf("no algorithm serves %v requests per second with these critical sections and delays; %s comes closest, with %s",
		a.Question.Rate, label, units.Number(most))
}

func (a *Advice) why(chosen rank.Entrant, good []rank.Entrant, by int) {
	a.Why = fmt.Sprintf("its %s, with %s messages per critical section", a.deciding(*chosen.Cells[by].Median),
		units.Number(a.median(chosen.Label, runs.MessagesPerCS)))
	if len(good) == 1 {
		return
	}
	var others []string
	for _, e := range good {
		if e.Label != chosen.Label {
			others = append(others, e.Label)
		}
	}
	who, verb := cells.List(others), "are"
	switch {
	case len(others) == 1:
		verb = "is"
	case len(others) > fewNames:
		who = fmt.Sprintf("%d others", len(others))
	}
	a.Why += fmt.Sprintf("; %s %s as good in this respect, and %s", who, verb, a.apart(chosen, good))
}

// deciding says what a value of the metric that decides means: "waiting time p99 is 5 ms".
func (a *Advice) deciding(x float64) string {
	m, _ := runs.LookupMetric(a.contest.By)
	return strings.ToLower(m.Title[:1]) + m.Title[1:] + " is " + m.Text(&x)
}

// apart says what tells the chosen one from those that are as good.
func (a *Advice) apart(chosen rank.Entrant, good []rank.Entrant) string {
	for _, e := range good {
		if e.Label != chosen.Label && !a.cheaper(chosen, e) {
			return "none of them needs fewer messages"
		}
	}
	return chosen.Label + " needs the fewest messages of them"
}

func (a *Advice) sure(good []rank.Entrant, chosen string) {
	c, q := a.contest, &a.Question
	switch {
	case c.Outcome == rank.TooFew:
		a.Sure = append(a.Sure, fmt.Sprintf("%d repetitions are too few to tell differences from chance", q.Repetitions))
	case len(good) > 1:
		a.Sure = append(a.Sure, fmt.Sprintf("in the simulations %d of %d algorithms are within %s%% of the best, or not certainly behind it",
			len(good), len(c.Entrants), units.Number(100*asGood)))
	case len(c.Entrants) > 1:
		a.Sure = append(a.Sure, fmt.Sprintf("in the simulations it is more than %s%% ahead of every other algorithm that serves this load, "+
			"which is unlikely to be chance", units.Number(100*asGood)))
	}
	if most, known := a.Capacity[chosen]; known && q.Rate > nearly*most {
		a.Sure = append(a.Sure, fmt.Sprintf("%s serves at most %s requests per second: so close to the limit, "+
			"waiting times depend on every microsecond of T", chosen, units.Number(most)))
	}
	if len(a.Behind) > 0 {
		a.Sure = append(a.Sure, cells.List(a.Behind)+
			" cannot serve this many requests: waiting times grow for as long as the load lasts")
	}
	if len(good) == len(c.Entrants) && len(good) > 1 {
		a.Sure = append(a.Sure, "at this load the choice hardly matters")
	}
}

func (a *Advice) unknown(chosen rank.Entrant) {
	q := &a.Question
	cost := "what a message costs in processor time and system calls"
	if busiest := a.median(chosen.Label, runs.BusiestPerCS); q.Rate > 0 && !math.IsNaN(busiest) {
		cost += fmt.Sprintf(" (the busiest node of %s handles %s messages per second)", chosen.Label, units.Number(math.Round(busiest*q.Rate)))
	}
	a.Unknown = []string{cost, "lost and late messages, and what else runs on the hosts"}
	if q.DelayMeasured {
		a.Unknown = append(a.Unknown, fmt.Sprintf("T on other machines, or while %d nodes share the cores of this one: "+
			"%v was measured between two processes here", q.Nodes, q.Delay))
	}
}

// command measures the chosen one beside those that came next, in the circumstances that
// were simulated: where T was not measured here, links take it.
func (a *Advice) command(chosen string) string {
	q := &a.Question
	names := []string{chosen}
	for _, e := range a.contest.Entrants {
		if len(names) < compared && e.Label != chosen {
			names = append(names, e.Label)
		}
	}
	load, delay := "--workload saturate", ""
	if q.Rate > 0 {
		load = fmt.Sprintf("--workload poisson --total-rate %v", q.Rate)
	}
	if !q.DelayMeasured {
		delay = " --set delay=" + map[string]string{
			"constant": fmt.Sprint(q.Delay), "uniform": fmt.Sprintf("uniform:%v:%v", q.Delay/2, q.Delay/2+q.Delay),
			"exponential": fmt.Sprintf("exp:%v", q.Delay),
		}[q.Law]
	}
	return fmt.Sprintf("dmebench sweep -a %s -n %d --transport %s %s --cs %s%s --requests %d --repetitions %d --seed %d",
		strings.Join(names, ","), q.Nodes, q.Transport, load, q.CS, delay+runs.SetFlags(q.located()), a.measured(), q.Repetitions, q.Seed)
}

// measured is how many requests take about ten seconds, as many as were simulated at most.
func (a *Advice) measured() int {
	if a.Question.Rate == 0 {
		return a.Requests
	}
	enough := int(a.Question.Rate * (10 * time.Second).Seconds())
	return min(a.Requests, max(enough, 10*a.Question.Nodes, 100))
}

// WriteText writes the advice for a person: what was asked, the ranking, and what to do.
func (a *Advice) WriteText(w io.Writer, style layout.Style) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n\n", style.Wrap(a.asked(), 0))
	if a.Ranking != nil {
		a.writeFailures(&out, style)
		if err := a.Ranking.WriteText(&out, style); err != nil {
			return err
		}
		out.WriteByte('\n')
	}
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&out, "%-13s%s\n", name, style.Wrap(text, 13))
		}
	}
	line("failures", a.IfNodesFail)
	if a.Choose == "" {
		line("choose", "none: no algorithm can be recommended for this")
	} else {
		line("choose", a.Choose+": "+a.Why)
	}
	line("how sure", strings.Join(a.Sure, "; "))
	line("not known", strings.Join(a.Unknown, "; "))
	for i, l := range a.LeftOut {
		name := ""
		if i == 0 {
			name = "left out"
		}
		line(name, strings.Join(l.Algorithms, ", ")+": "+l.Why)
	}
	if a.Measured != nil {
		fmt.Fprintf(&out, "\n%s\n", style.Strong("Lock services, measured on this host beside it"))
		if err := a.Measured.WriteText(&out, style); err != nil {
			return err
		}
	}
	if a.Measure != "" {
		fmt.Fprintf(&out, "%-13s%s\n", "measure it", a.Measure) // in one piece, to be pasted
		if !a.Question.DelayMeasured {
			line("", "between hosts whose messages take this long anyway, leave out --set delay")
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// asked repeats the question.
func (a *Advice) asked() string {
	q := &a.Question
	load := "each of which requests again as soon as it leaves"
	if q.Rate > 0 {
		load = fmt.Sprintf("%s requests per second per node, %s in all", units.Number(q.Rate/float64(q.Nodes)), units.Number(q.Rate))
	}
	where := ""
	if q.Sites != "" {
		where = fmt.Sprintf(" beside the delay between sites (%s)", strings.TrimPrefix(q.Sites, "file:"))
	}
	return fmt.Sprintf("%d nodes over %s, %s, critical sections of %s, T = %s (%s)%s: "+
		"predicted by %d simulations of %s requests per algorithm", q.Nodes, q.Transport, load, q.CS,
		units.Time(float64(q.Delay)), q.Law, where, q.Repetitions, units.Count(uint64(a.Requests)))
}
