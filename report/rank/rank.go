// Package rank says which algorithm is best, if the data show it.
//
// Algorithms meet in a [Contest]: everything that ran over one network, under one
// load, on one number of nodes. Each column of it is a metric. In every column the
// entrant with the best median is compared with each other one by the two-sided
// Mann-Whitney test over repetitions. The best is chosen by the very values that
// are then tested, so that any two might have been compared; therefore p-values
// are corrected by Holm's method over all pairs of the column. The probability of
// naming any difference in a column without one is at most alpha.
//
// It also names what remains open: entrants that are not distinguishable, too few
// repetitions for any test, and entrants that are left out because mutual
// exclusion was violated or a run stood still.
//
// The package is handed results, and knows neither networks nor algorithms.
package rank

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dmebench/report/cells"
	"dmebench/runs"
	"dmebench/stats"
)

// SchemaVersion is the version of the JSON form of a [Ranking].
const SchemaVersion = 1

// Options are what a ranking depends on. The zero value has the defaults.
type Options struct {
	Alpha float64 // of each column of each contest, between 0 and 1; 0 means stats.Alpha

	// Metrics are the columns, by their names in summary.csv; nil means DefaultMetrics. The first
	// one decides which is best. Metrics that decide by default depend on the load; see [Deciding].
	Metrics []string
}

// DefaultMetrics are the columns unless others are asked for.
func DefaultMetrics() []string {
	return []string{runs.Throughput, runs.WaitingP50, runs.WaitingP99, runs.MessagesPerCS, runs.BusiestPerCS}
}

// Deciding names the metrics that decide under a workload by default: the first one that was
// measured counts. If all nodes always ask, throughput is what differs; if one node asks at a time,
// messages do; if requests come at a rate of their own, throughput is that rate, and it matters how
// long they wait.
func Deciding(workload string) []string {
	switch workload {
	case "saturate":
		return []string{runs.Throughput, runs.WaitingP99, runs.MessagesPerCS}
	case "serial":
		return []string{runs.MessagesPerCS, runs.WaitingP50, runs.Throughput}
	}
	return []string{runs.WaitingP99, runs.ResponseP99, runs.Throughput, runs.MessagesPerCS}
}

// Ranking is all contests of some results. If there is no value it is null.
type Ranking struct {
	SchemaVersion int       `json:"schema_version"`
	Name          string    `json:"name"` // of the results
	Alpha         float64   `json:"alpha"`
	Contests      []Contest `json:"contests"` // by circumstances as they first appear, then by number of nodes
	Bounds        bool      `json:"-"`        // to print the interval of the deciding metric, and no others, as [low, high]
}

// Contest is the entrants that ran under the same circumstances on as many nodes.
type Contest struct {
	Title     string            `json:"title"`    // the circumstances, without the number of nodes
	Settings  map[string]string `json:"settings"` // the same by dimension, see [runs.Dimensions]
	Transport string            `json:"transport"`
	Workload  string            `json:"workload"`
	Nodes     int               `json:"nodes"`
	By        string            `json:"by"`      // the metric that decides; "" if nothing was measured
	Outcome   Outcome           `json:"outcome"` // in that metric
	Verdict   string            `json:"verdict"` // the same in words
	Best      []string          `json:"best"`    // possible winners: the labels of the first and of all not distinguishable from it
	Columns   []Column          `json:"columns"`
	Entrants  []Entrant         `json:"entrants"` // by place, and then the best median of the deciding metric first
	LeftOut   []LeftOut         `json:"left_out"`
	Notes     []string          `json:"notes"`
	label     string            // of the transport
}

// Outcome is what can be said of a contest.
type Outcome string

// The outcomes.
const (
	Won    Outcome = "won"     // one is better than all others
	Tied   Outcome = "tied"    // the first is not distinguishable from some others, or from all
	TooFew Outcome = "too-few" // no test could have told the first from any other
	Alone  Outcome = "alone"   // there is one entrant alone
	None   Outcome = "none"    // there is nothing to compare
)

// Column is one metric of a contest.
type Column struct {
	Metric   string   `json:"metric"`
	Unit     string   `json:"unit"`
	Outcome  Outcome  `json:"outcome"`
	Best     []string `json:"best"`   // labels, as of the contest
	Needed   int      `json:"needed"` // repetitions of each entrant with which a test can tell any two apart
	Verdict  string   `json:"verdict"`
	metric   runs.Metric
	constant bool             // all values of all entrants are equal
	p        map[pair]float64 // of every two entrants, corrected
}

// Entrant is one algorithm with its options.
type Entrant struct {
	Label       string            `json:"label"`
	Algorithm   string            `json:"algorithm"`
	Options     map[string]string `json:"options"`
	Place       int               `json:"place"` // in the deciding metric; shared by all that are level with its first; 0 if unknown
	Repetitions int               `json:"repetitions"`
	Cells       []Cell            `json:"cells"` // one for each column

	runs []*runs.Result
	at   int // the index by which columns know it, and then its order
}

// Cell is one metric of one entrant.
type Cell struct {
	N      int       `json:"n"`
	Median *float64  `json:"median"`
	Lo     *float64  `json:"ci95_low"` // null if there are too few repetitions for an interval
	Hi     *float64  `json:"ci95_high"`
	Values []float64 `json:"values"`

	Standing Standing `json:"standing"`
	P        *float64 `json:"p"`      // of the test against the best; null for the best
	PHolm    *float64 `json:"p_holm"` // the same, corrected
	Change   *float64 `json:"change"` // of the median, relative to the best's
	estimate stats.Estimate
}

// Standing is how an entrant stands to the best of a column.
type Standing string

// The standings.
const (
	First   Standing = "best"
	Level   Standing = "level"   // not distinguishable from the best
	Worse   Standing = "worse"   // significantly
	Unknown Standing = "unknown" // there are too few repetitions for a test to decide
	Absent  Standing = "absent"  // not measured
)

// LeftOut is an entrant that has no part in the contest.
type LeftOut struct {
	Label  string `json:"label"`
	Reason string `json:"reason"` // "2 of 6 runs ended as violated"
}

// Check returns the metrics that are the columns, or what is wrong with the
// options.
func (o Options) Check() ([]runs.Metric, error) {
	if alpha := cmp.Or(o.Alpha, stats.Alpha); !(alpha > 0 && alpha < 1) {
		return nil, fmt.Errorf("alpha %v: must lie between 0 and 1, such as 0.05", o.Alpha)
	}
	names := o.Metrics
	if names == nil {
		names = DefaultMetrics()
	}
	columns, err := runs.FindMetrics(names)
	for i, m := range columns {
		switch {
		case m.Better == runs.Neither:
			return nil, fmt.Errorf("metric %q is a condition of a run, and none is better than another", names[i])
		case slices.ContainsFunc(columns[:i], func(c runs.Metric) bool { return c.Name == m.Name }):
			return nil, fmt.Errorf("metric %q is named twice", names[i])
		}
	}
	return columns, err
}

// Of ranks the results of a set. It fails if options are wrong.
func Of(set *runs.Set, opt Options) (*Ranking, error) {
	columns, err := opt.Check()
	if err != nil {
		return nil, err
	}
	r := &Ranking{
		SchemaVersion: SchemaVersion, Name: set.Name(), Alpha: cmp.Or(opt.Alpha, stats.Alpha),
	}
	r.Contests = draw(set)
	for i := range r.Contests {
		r.Contests[i].judge(columns, opt.Metrics != nil, r.Alpha)
	}
	return r, nil
}

// judge compares the entrants; if chosen, the first column decides.
func (c *Contest) judge(columns []runs.Metric, chosen bool, alpha float64) {
	deciding := Deciding(c.Workload)
	if chosen {
		deciding = []string{columns[0].Name}
	}
	for _, name := range deciding {
		m, _ := runs.LookupMetric(name)
		if slices.ContainsFunc(c.Entrants, func(e Entrant) bool { return len(m.Values(e.runs)) > 0 }) {
			c.By = name
			if !slices.ContainsFunc(columns, func(m runs.Metric) bool { return m.Name == name }) {
				columns = append([]runs.Metric{m}, columns...)
			}
			break
		}
	}
	for _, m := range columns {
		c.compare(m, alpha)
	}
	c.order(alpha)
	c.Verdict = c.words()
}

// order puts the best median of the deciding metric first, and entrants without one last. Those not
// distinguishable from the first of a place share it.
func (c *Contest) order(alpha float64) {
	by := c.Column(c.By)
	if by < 0 {
		return
	}
	col := c.Columns[by]
	c.Outcome, c.Best = col.Outcome, col.Best
	slices.SortStableFunc(c.Entrants, func(a, b Entrant) int {
		return better(col.metric, a.Cells[by], b.Cells[by])
	})
	for i := range c.Entrants {
		e := &c.Entrants[i]
		if standing := e.Cells[by].Standing; standing == Absent || standing == Unknown {
			continue
		}
		e.Place = i + 1
		for k, first := range c.Entrants[:i] {
			if first.Place == k+1 && col.p[key(first.at, e.at)] > alpha {
				e.Place = first.Place
				break
			}
		}
	}
	for i := range c.Entrants {
		c.Entrants[i].at = cmp.Or(c.Entrants[i].Place, i+1) // so that those of a place stand together
	}
	slices.SortStableFunc(c.Entrants, func(a, b Entrant) int { return a.at - b.at })
}

// better orders cells by their medians, the better one first; of equal ones the
// first of its column, and those without any last.
func better(m runs.Metric, a, b Cell) int {
	switch {
	case a.Median == nil || b.Median == nil:
		return cmp.Compare(b.N, a.N)
	case *a.Median != *b.Median && m.Better == runs.Higher:
		return cmp.Compare(*b.Median, *a.Median)
	case *a.Median != *b.Median:
		return cmp.Compare(*a.Median, *b.Median)
	}
	first := func(c Cell) int { return map[bool]int{true: 0, false: 1}[c.Standing == First] }
	return first(a) - first(b)
}

// Column returns the place of a metric among the columns; -1 if it is none.
func (c *Contest) Column(metric string) int {
	return slices.IndexFunc(c.Columns, func(col Column) bool { return col.Metric == metric })
}

// draw says which entrants meet.
func draw(set *runs.Set) []Contest {
	all := []Contest{}
	experiment := &set.Header.Experiment
	for _, g := range cells.Of(experiment, set.Runs).Groups {
		title := cells.Title(experiment, g.Runs, onHosts(g.Cells[0].Key.Get("hosts")))
		for _, size := range cells.Grouped(g.Cells, func(c *cells.Cell) int { return c.Nodes }) {
			spec := size[0].First.Result.Spec
			contest := Contest{
				Title: title, Transport: spec.Transport, Workload: spec.Workload, Nodes: size[0].Nodes, Outcome: None,
				Settings: size[0].Key.Without("algorithm", "set").Settings(),
				label:    size[0].First.Transport,
				Columns:  []Column{}, Entrants: []Entrant{}, LeftOut: []LeftOut{}, Notes: []string{}, Best: []string{},
			}
			for _, c := range size {
				contest.enter(c)
			}
			all = append(all, contest)
		}
	}
	return all
}

// onHosts says on which hosts runs were made; "" of runs on one.
func onHosts(names string) string {
	const shown = 4
	switch all := strings.Split(names, ", "); {
	case names == "":
		return ""
	case len(all) > shown:
		return fmt.Sprintf("on %d hosts (%s, …)", len(all), strings.Join(all[:shown], ", "))
	}
	return "on " + names
}

// enter adds the repetitions of an entrant, or leaves it out. A run that is
// violated or stalled is of the algorithm's doing, and the others of its cell would
// be those in which it went well; one that failed is a run less.
func (d *Contest) enter(c *cells.Cell) {
	ended, all := c.Ended(), c.Repetitions()+c.Twins
	if ended[runs.Violated]+ended[runs.Stalled] > 0 || len(c.Good) == 0 {
		d.LeftOut = append(d.LeftOut, LeftOut{c.Label, strings.Join(c.LeftOut(), ", ")})
		return
	}
	note := func(n int, format string) {
		if n > 0 {
			d.Notes = append(d.Notes, fmt.Sprintf("%s: "+format, c.Label, n, all))
		}
	}
	partial := 0
	for _, r := range c.Good {
		if r.Partial {
			partial++
		}
	}
	note(partial, "of %d of %d runs there is only what was measured before they were interrupted")
	note(ended[runs.Failed], "%d of %d runs failed and are missing here")
	note(c.Twins, "%d of %d simulations repeat the seed of another one and do not count")
	d.Entrants = append(d.Entrants, Entrant{
		Label: c.Label, Algorithm: c.First.Result.Algorithm, Options: c.Options.Algorithm, Repetitions: len(c.Good), runs: c.Good,
	})
}
