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

// DefaultAlpha is the probability of an alarm where there is no difference.
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

// Comparison is what came of it. Where there is no sample a value is null.
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
	chosen bool // the metrics were asked for
}

// Origin is one side.
type Origin struct {
	Name string `json:"name"`
	Runs int    `json:"runs"`
	Used int    `json:"used"` // of these, the ones that ended well
}

// Cell is one point of the experiment.
type Cell struct {
	Label    string            `json:"label"`    // "A → B" where the sides call it differently
	Settings map[string]string `json:"settings"` // by dimension; without those that are compared across
	key      runs.Key          // of the settings
	nodes    int               // 0 where they are compared across
}

type id struct {
	label string
	key   runs.Key
}

func (c Cell) id() id { return id{c.Label, c.key} }

// Table is one metric over all cells.
type Table struct {
	Metric string         `json:"metric"`
	Rows   []Row          `json:"cells"`
	Mean   *GeometricMean `json:"geometric_mean"`
	metric runs.Metric
}

// Row is one metric of one cell.
type Row struct {
	Cell        Cell     `json:"cell"`
	A           Sample   `json:"a"`
	B           Sample   `json:"b"`
	Change      *float64 `json:"change"` // (B − A)/A of the medians
	P           *float64 `json:"p"`
	Significant bool     `json:"significant"`
	Notes       []string `json:"notes"`
}

// Sample is a metric over the repetitions of one side.
type Sample struct {
	N      int       `json:"n"`
	Median *float64  `json:"median"`
	Lo     *float64  `json:"ci95_low"` // null where there are too few repetitions for an interval
	Hi     *float64  `json:"ci95_high"`
	Values []float64 `json:"values"`
}

// GeometricMean is the mean of the medians over the cells where both sides have
// a positive one.
type GeometricMean struct {
	Cells  int     `json:"cells"`
	A      float64 `json:"a"`
	B      float64 `json:"b"`
	Change float64 `json:"change"`
}

// Compare compares b with a. It fails where options are wrong, or where the
// sides have no cell in common, and says in what they differ.
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
		pairs: pairs, chosen: opt.Metrics != nil,
	}
	c.contrasts(pairs)
	tests := 0
	for _, m := range metrics {
		t := Table{Metric: m.Name, metric: m}
		for _, p := range pairs {
			if row, ok := p.row(m, opt.Alpha); ok {
				t.Rows = append(t.Rows, row)
				if row.varies() {
					tests++
				}
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
	c.concerns(pairs, tests)
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

// row compares one metric; ok is false where neither side has it.
func (p pair) row(m runs.Metric, alpha float64) (row Row, ok bool) {
	a, b := m.Values(p.a.Good), m.Values(p.b.Good)
	if len(a)+len(b) == 0 && p.usable() {
		return row, false
	}
	d := stats.Compare(a, b, alpha)
	row = Row{
		Cell: p.cell, A: sampleOf(a, d.A), B: sampleOf(b, d.B),
		Change: stats.Known(d.Change), P: stats.Known(d.P), Significant: d.Significant, Notes: []string{},
	}
	for _, side := range []struct {
		name string
		cell *cells.Cell
		n    int
	}{{"A", p.a, len(a)}, {"B", p.b, len(b)}} {
		for _, left := range side.cell.LeftOut() {
			row.Notes = append(row.Notes, fmt.Sprintf("%s: %s and are left out", side.name, left))
		}
		if side.cell.Twins > 0 {
			row.Notes = append(row.Notes, fmt.Sprintf("%s: %d simulations repeat the seed of another one and are left out",
				side.name, side.cell.Twins))
		}
		row.Notes = append(row.Notes, tooShort(side.cell, side.name, m)...)
		if side.n == 0 {
			row.Notes = append(row.Notes, side.name+": no run has "+m.Name)
		}
	}
	row.Notes = append(row.Notes, d.Warnings...)
	if w := p.withinClocks(m, row); w != "" {
		row.Notes = append(row.Notes, w)
	}
	return row, true
}

func (r Row) varies() bool {
	all := append(slices.Clone(r.A.Values), r.B.Values...)
	return r.A.N > 0 && r.B.N > 0 && slices.Min(all) != slices.Max(all)
}

func sampleOf(values []float64, e stats.Estimate) Sample {
	return Sample{N: e.N, Median: stats.Known(e.Median), Lo: stats.Known(e.Lo), Hi: stats.Known(e.Hi), Values: append([]float64{}, values...)}
}

// mean adds the geometric mean, where there are several cells to take it over.
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
func (c *Comparison) contrasts(pairs []pair) {
	var a, b []*cells.Cell
	for _, p := range pairs {
		a, b = append(a, p.a), append(b, p.b)
	}
	for _, d := range runs.Dimensions() {
		if slices.Contains(c.Across, d) {
			c.note("compared across %s: %s in A, %s in B", d, list(valuesOf(a, d)), list(valuesOf(b, d)))
		}
	}
}

// concerns notes what concerns the comparison as a whole.
func (c *Comparison) concerns(pairs []pair, tests int) {
	if chance := float64(tests) * c.Alpha; chance >= 1 {
		c.note("%d tests at level %v: about %.0f of them would raise an alarm by chance alone", tests, c.Alpha, chance)
	}
	if len(c.OnlyA) > 0 {
		c.note("cells that are in A alone: %d", len(c.OnlyA))
	}
	if len(c.OnlyB) > 0 {
		c.note("cells that are in B alone: %d", len(c.OnlyB))
	}
	var inA, inB []*runs.Result
	for _, p := range pairs {
		inA, inB = append(inA, p.a.Good...), append(inB, p.b.Good...)
	}
	c.differences("the environments differ", report.Facts(inA), report.Facts(inB))
	c.hostConcerns(inA, inB)
}

func (c *Comparison) differences(what string, a, b map[string]map[string]int) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	delete(all, "load_average") // which is another one in every run
	for _, fact := range slices.Sorted(maps.Keys(all)) {
		of := func(values map[string]int) string {
			return cmp.Or(strings.Join(slices.Sorted(maps.Keys(values)), " or "), "not known")
		}
		if of(a[fact]) != of(b[fact]) {
			c.note("%s: %s is %s in A and %s in B", what, fact, of(a[fact]), of(b[fact]))
		}
	}
}

// labelsPerFigure keeps the lines of a figure, two for each label, apart.
const labelsPerFigure = 3

// Figures returns the overlays of A and B over the number of nodes: one for each
// metric and each setting of network and workload, and more where there are more
// series than a figure can hold. There is none where nodes are compared across.
func (c *Comparison) Figures() []plots.Figure {
	if slices.Contains(c.Across, "nodes") {
		return nil
	}
	about := c.describe()
	a, b := filepath.Base(c.A.Name), filepath.Base(c.B.Name)
	if a == b {
		a, b = c.A.Name, c.B.Name
	}
	origins := fmt.Sprintf("A is %s, B is %s", a, b)
	var figures []plots.Figure
	for _, t := range c.Tables {
		number, title := 0, t.metric.Title
		for _, rows := range cells.Grouped(t.Rows, func(r Row) string { return strings.Join(about.section(r.Cell), "\x00") }) {
			byLabel := cells.Grouped(rows, func(r Row) string { return r.Cell.Label })
			for labels := range slices.Chunk(byLabel, labelsPerFigure) {
				number++
				f := plots.Figure{
					Name:     fmt.Sprintf("%s-%d", strings.ReplaceAll(t.Metric, "_", "-"), number),
					Title:    title,
					Subtitle: strings.Join(slices.Concat(about.common, about.section(rows[0].Cell), []string{origins}), " · "),
					X:        plots.Axis{Label: "nodes N", Kind: plots.Sizes},
					Y:        plots.Axis{Label: strings.ToLower(title[:1]) + title[1:], Kind: plots.Values},
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
