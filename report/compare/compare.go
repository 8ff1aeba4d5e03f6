// Package compare sets the results of two origins against each other: before
// and after a change, one network against another, one machine against the next.
//
// Cells are matched by everything that they were asked to do (algorithm and its
// options, nodes, network, workload), except for what is compared on purpose.
// Each metric of a matched pair is tested by the Mann-Whitney test over
// repetitions; what limits the answer is a note in the result. A run that did
// not end well is in no sample, and is counted.
//
// It does not say which of two results is right, and it knows no algorithm.
package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"dmebench/report"
	"dmebench/report/cells"
	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// SchemaVersion is the version of the JSON form of a [Comparison].
const SchemaVersion = 1

// DefaultAlpha is the probability of an alarm if there is no difference.
const DefaultAlpha = 0.05

// DefaultMetrics are the metrics that are compared unless others are asked for.
func DefaultMetrics() []string {
	return []string{
		"messages_per_cs", "throughput_cs_per_s", "response_time_p50_ns", "response_time_p99_ns",
		"waiting_time_p50_ns", "waiting_time_p99_ns", "sync_delay_p50_ns",
	}
}

// Options are what a comparison depends on.
type Options struct {
	Alpha   float64  // between 0 and 1; 0 means DefaultAlpha
	Metrics []string // by their names in summary.csv; nil means DefaultMetrics
	Across  []string // dimensions in which the sides may differ; see [runs.Dimensions]
}

// Comparison is what came of it. If there is no sample a value is null.
type Comparison struct {
	SchemaVersion int      `json:"schema_version"`
	Alpha         float64  `json:"alpha"`
	Across        []string `json:"across"`
	A             Origin   `json:"a"`
	B             Origin   `json:"b"`
	Tables        []Table  `json:"metrics"`
	OnlyA         []Cell   `json:"only_in_a"`
	OnlyB         []Cell   `json:"only_in_b"`
	Notes         []string `json:"notes"` // what concerns more than one cell
	Gate          *Gate    `json:"fail_on_regression,omitempty"`

	pairs  []pair
	common string // what all cells have in common, in words
	chosen bool   // the metrics were asked for
}

// Origin is one side.
type Origin struct {
	Name string `json:"name"`
	Runs int    `json:"runs"`
	Used int    `json:"used"` // of these, the ones that ended well
}

// Cell is one point of the experiment.
type Cell struct {
	Label    string            `json:"label"`    // "A → B" if the sides call it differently
	Settings map[string]string `json:"settings"` // by dimension; without those that are compared across
	nodes    int               // 0 if they are compared across
	section  string            // what not all cells have in common, in words
}

// Table is one metric over all cells.
type Table struct {
	Metric string         `json:"metric"`
	Rows   []Row          `json:"cells"`
	Mean   *GeometricMean `json:"geometric_mean"`
	metric runs.Metric
}

// Row is one metric of one cell.
type Row struct {
	Cell Cell   `json:"cell"`
	A    Sample `json:"a"`
	B    Sample `json:"b"`
	Difference
	Notes []string `json:"notes"`
}

// Difference is what a test says about two samples, the first of which is the base.
type Difference struct {
	Change      *float64 `json:"change"` // of the median, relative to the base's
	P           *float64 `json:"p"`      // of the Mann-Whitney test
	Significant bool     `json:"significant"`
}

// Sample is a metric over the repetitions of one side.
type Sample struct {
	N      int       `json:"n"`
	Median *float64  `json:"median"`
	Lo     *float64  `json:"ci95_low"` // null if there are too few repetitions for an interval
	Hi     *float64  `json:"ci95_high"`
	Values []float64 `json:"values"`
}

// GeometricMean is the mean of the medians over the cells if both sides have a positive one.
type GeometricMean struct {
	Cells  int     `json:"cells"`
	A      float64 `json:"a"`
	B      float64 `json:"b"`
	Change float64 `json:"change"`
}

// Compare compares b with a. It fails if options are wrong, or if the sides have no cell in
// common, and says in what they differ.
func Compare(a, b *runs.Set, opt Options) (*Comparison, error) {
	opt.Alpha = cmp.Or(opt.Alpha, DefaultAlpha)
	metrics, err := opt.Check()
	if err != nil {
		return nil, err
	}
	pairs, onlyA, onlyB, err := match(a, b, opt.Across)
	if err != nil {
		return nil, err
	}
	c := &Comparison{
		SchemaVersion: SchemaVersion, Alpha: opt.Alpha, Across: append([]string{}, opt.Across...),
		A: origin(a), B: origin(b), Tables: []Table{}, OnlyA: onlyA, OnlyB: onlyB, Notes: []string{},
		chosen: opt.Metrics != nil,
	}
	c.pairs, c.common = described(pairs)
	c.contrasts()
	tests := 0
	for _, m := range metrics {
		t := Table{Metric: m.Name, metric: m}
		for _, p := range c.pairs {
			samples, notes, varying := beside(m, opt.Alpha, []column{{"A", p.a}, {"B", p.b}})
			if samples != nil {
				t.Rows = append(t.Rows, Row{p.cell, samples[0].Sample, samples[1].Sample, samples[1].Difference, notes})
				tests += varying
			}
		}
		if len(t.Rows) == 0 {
			if opt.Metrics != nil {
				c.note("no run of a common cell has %s", m.Name)
			}
			continue
		}
		t.mean()
		c.Tables = append(c.Tables, t)
	}
	c.concerns(tests)
	return c, nil
}

// Check returns the metrics that are to be compared, or what is wrong with the
// options. An alpha of 0 stands for DefaultAlpha.
func (o Options) Check() ([]runs.Metric, error) {
	if alpha := cmp.Or(o.Alpha, DefaultAlpha); !(alpha > 0 && alpha < 1) {
		return nil, fmt.Errorf("alpha %v: must lie between 0 and 1, such as 0.05", o.Alpha)
	}
	for _, name := range o.Across {
		if all := runs.Dimensions(); !slices.Contains(all, name) {
			return nil, fmt.Errorf("across: %w", units.UnknownName("dimension", name, all, units.Listed(all)))
		}
	}
	names := o.Metrics
	if names == nil {
		names = DefaultMetrics()
	}
	return runs.FindMetrics(names)
}

func origin(s *runs.Set) Origin {
	o := Origin{Name: s.Name(), Runs: len(s.Runs)}
	for _, r := range s.Runs {
		if runs.Usable(r.Result) {
			o.Used++
		}
	}
	return o
}

func (c *Comparison) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// column is a cell with the name under which it is compared.
type column struct {
	name string
	cell *cells.Cell // may be nil
}

// beside compares one metric of columns, each with the first. There are no samples if none has it,
// unless runs of them did not end well. Varying is how many tests could have found a difference.
func beside(m runs.Metric, alpha float64, columns []column) (samples []ColumnSample, notes []string, varying int) {
	notes = []string{}
	var values [][]float64
	shown := false
	for _, c := range columns {
		if c.cell == nil {
			values = append(values, nil)
			continue
		}
		of := m.Values(c.cell.Good)
		values = append(values, of)
		shown = shown || len(of) > 0 || len(c.cell.Good) == 0
		for _, left := range c.cell.LeftOut() {
			notes = append(notes, fmt.Sprintf("%s: %s and are left out", c.name, left))
		}
		if c.cell.Twins > 0 {
			notes = append(notes, fmt.Sprintf("%s: %d simulations repeat the seed of another one and are left out", c.name, c.cell.Twins))
		}
		if n := c.cell.TooShort(); n > 0 && slices.Contains(runs.SyncDelays(), m.Name) {
			notes = append(notes, fmt.Sprintf("%s: the delay of %d of %d runs is shorter than the hosts' clocks can tell, and is left out",
				c.name, n, len(c.cell.Good)))
		}
		if len(of) == 0 {
			notes = append(notes, c.name+": no run has "+m.Name)
		}
	}
	if !shown {
		return nil, nil, 0
	}
	for i, c := range columns {
		d := stats.Compare(values[0], values[i], alpha)
		s := ColumnSample{Sample: sampleOf(values[i], d.B)}
		samples = append(samples, s)
		if i == 0 {
			continue
		}
		samples[i].Difference = Difference{stats.Known(d.Change), stats.Known(d.P), d.Significant}
		if varies(samples[0].Sample, s.Sample) {
			varying++
		}
		notes = append(notes, d.Warnings...)
		if w := withinClocks(m, columns[0].cell, c.cell, d); w != "" {
			notes = append(notes, w)
		}
	}
	return samples, notes, varying
}

func varies(a, b Sample) bool {
	all := append(slices.Clone(a.Values), b.Values...)
	return a.N > 0 && b.N > 0 && slices.Min(all) != slices.Max(all)
}

// withinClocks says of a significant change of a synchronization delay that it may come from clocks
// of several hosts alone; "" if it may not.
func withinClocks(m runs.Metric, a, b *cells.Cell, d stats.Difference) string {
	if !d.Significant || !m.Time() || !slices.Contains(runs.SyncDelays(), m.Name) {
		return ""
	}
	bound := a.ClockBound() + b.ClockBound()
	if math.Abs(d.B.Median-d.A.Median) > bound || bound == 0 {
		return ""
	}
	return fmt.Sprintf("the hosts' clocks are known to ± %s only, both sides together: the change may be theirs", units.Time(bound))
}

func sampleOf(values []float64, e stats.Estimate) Sample {
	return Sample{N: e.N, Median: stats.Known(e.Median), Lo: stats.Known(e.Lo), Hi: stats.Known(e.Hi), Values: append([]float64{}, values...)}
}

// mean adds the geometric mean, if there are several cells to take it over.
func (t *Table) mean() {
	var a, b []float64
	for _, r := range t.Rows {
		if r.A.Median != nil && r.B.Median != nil && *r.A.Median > 0 && *r.B.Median > 0 {
			a, b = append(a, *r.A.Median), append(b, *r.B.Median)
		}
	}
	if len(a) < 2 {
		return
	}
	ga, errA := stats.GeometricMean(a)
	gb, errB := stats.GeometricMean(b)
	if errA == nil && errB == nil {
		t.Mean = &GeometricMean{Cells: len(a), A: ga, B: gb, Change: gb/ga - 1}
	}
}

// contrasts notes what the sides are in each dimension that is compared across.
func (c *Comparison) contrasts() {
	var a, b []*cells.Cell
	for _, p := range c.pairs {
		a, b = append(a, p.a), append(b, p.b)
	}
	for _, d := range runs.Dimensions() {
		if slices.Contains(c.Across, d) {
			c.note("compared across %s: %s in A, %s in B", d, list(valuesOf(a, d)), list(valuesOf(b, d)))
		}
	}
}

// concerns notes what concerns the comparison as a whole.
func (c *Comparison) concerns(tests int) {
	c.Notes = append(c.Notes, byChance(tests, c.Alpha)...)
	if len(c.OnlyA) > 0 {
		c.note("cells that are in A alone: %d", len(c.OnlyA))
	}
	if len(c.OnlyB) > 0 {
		c.note("cells that are in B alone: %d", len(c.OnlyB))
	}
	var inA, inB []*runs.Result
	for _, p := range c.pairs {
		inA, inB = append(inA, p.a.Good...), append(inB, p.b.Good...)
	}
	a, b := facts(inA), facts(inB)
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, fact := range slices.Sorted(maps.Keys(all)) {
		of := func(values map[string]int) string {
			return cmp.Or(strings.Join(slices.Sorted(maps.Keys(values)), " or "), "not known")
		}
		elsewhere := strings.Contains(fact, " of ") && (a[fact] == nil || b[fact] == nil) // a host of one side alone
		if of(a[fact]) != of(b[fact]) && !elsewhere {
			c.note("the environments differ: %s is %s in A and %s in B", fact, of(a[fact]), of(b[fact]))
		}
	}
}

// byChance notes how many alarms there would be if nothing has changed.
func byChance(tests int, alpha float64) []string {
	chance := float64(tests) * alpha
	if chance < 1 {
		return nil
	}
	return []string{fmt.Sprintf("%d tests at level %v: about %.0f of them would raise an alarm by chance alone", tests, alpha, chance)}
}

// facts are the environments of runs and of their hosts, without the load average, which is
// another one in every run.
func facts(list []*runs.Result) map[string]map[string]int {
	var all []map[string]string
	for _, r := range list {
		all = append(all, r.Environment)
		for _, h := range r.Hosts {
			about := make(map[string]string)
			for fact, value := range h.Environment {
				about[fact+" of "+h.Name] = value
			}
			all = append(all, about)
		}
	}
	values := report.Facts(all)
	maps.DeleteFunc(values, func(fact string, _ map[string]int) bool { return strings.HasPrefix(fact, "load_average") })
	return values
}

// labelsPerFigure keeps the lines of a figure, two for each label, apart.
const labelsPerFigure = 3

// Figures returns the overlays of A and B over the number of nodes: one for each metric and each
// setting of network and workload, and more if there are more series than a figure can hold. There
// is none if nodes are compared across.
func (c *Comparison) Figures() []plots.Figure {
	if slices.Contains(c.Across, "nodes") {
		return nil
	}
	a, b := filepath.Base(c.A.Name), filepath.Base(c.B.Name)
	if a == b {
		a, b = c.A.Name, c.B.Name
	}
	origins := fmt.Sprintf("A is %s, B is %s", a, b)
	var figures []plots.Figure
	for _, t := range c.Tables {
		number, title := 0, t.metric.Title
		for _, rows := range cells.Grouped(t.Rows, func(r Row) string { return r.Cell.section }) {
			byLabel := cells.Grouped(rows, func(r Row) string { return r.Cell.Label })
			for labels := range slices.Chunk(byLabel, labelsPerFigure) {
				number++
				f := plots.Figure{
					Name:     fmt.Sprintf("%s-%d", strings.ReplaceAll(t.Metric, "_", "-"), number),
					Title:    title,
					Subtitle: joined(c.common, rows[0].Cell.section, origins),
					X:        plots.Axis{Label: "nodes N", Kind: plots.Sizes},
					Y:        plots.Axis{Label: t.metric.Phrase(), Kind: plots.Values},
				}
				if t.metric.Time() {
					f.Y.Kind = plots.Times
				}
				for k, of := range labels {
					f.Series = append(f.Series, t.series(of, "A", 2*k, func(r Row) Sample { return r.A }),
						t.series(of, "B", 2*k+1, func(r Row) Sample { return r.B }))
				}
				if !f.Empty() {
					figures = append(figures, f)
				}
			}
		}
	}
	return figures
}

func (t Table) series(rows []Row, side string, style int, of func(Row) Sample) plots.Series {
	s := plots.Series{Label: side + ": " + part(rows[0].Cell.Label, side), Style: style, Role: plots.Measured}
	gap := false
	for _, r := range rows {
		sample := of(r)
		if sample.Median == nil {
			gap = true
			continue
		}
		p := plots.At(float64(r.Cell.nodes), *sample.Median)
		if sample.Lo != nil && sample.Hi != nil {
			p.Lo, p.Hi = *sample.Lo, *sample.Hi
		}
		p.Gap, gap = gap, false
		s.Points = append(s.Points, p)
	}
	return s
}

func part(label, side string) string {
	a, b, differ := strings.Cut(label, " → ")
	if differ && side == "B" {
		return b
	}
	return a
}
