package rank

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"dmebench/internal/platform/layout"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// Crossings says along what varies, such as the number of nodes, which algorithm is best and where
// one becomes better than another.
type Crossings struct {
	SchemaVersion int     `json:"schema_version"`
	Name          string  `json:"name"` // of the results
	Along         string  `json:"along"`
	Alpha         float64 `json:"alpha"` // of each line
	Lines         []Line  `json:"lines"`
}

// Line is contests that differ in what varies, and in nothing else.
type Line struct {
	Title     string     `json:"title"`
	Metric    string     `json:"metric"`
	Needed    int        `json:"needed"` // repetitions of each algorithm with which a test can tell any two apart
	Enough    bool       `json:"enough"` // all have as many
	Stretches []Stretch  `json:"stretches"`
	Crossings []Crossing `json:"crossings"` // of pairs, one of which may be best somewhere, by where they cross
	LeftOut   []Gap      `json:"left_out"`
}

// Gap is an algorithm that has no part in a line's contest at a value.
type Gap struct {
	At float64 `json:"at"`
	LeftOut
}

// Stretch is neighbouring values at which the same algorithms may be best: the one with the best
// median, and all that the tests do not separate from it.
type Stretch struct {
	From float64  `json:"from"`
	To   float64  `json:"to"`
	Best []string `json:"best"`
}

// Crossing is where the medians of two algorithms change order. If the tests tell them apart
// on both sides, it lies between the nearest such values.
type Crossing struct {
	First  string   `json:"first"`  // better below
	Then   string   `json:"then"`   // better above
	Above  *float64 `json:"above"`  // the last value at which First is better by the test; null if there is none
	Below  *float64 `json:"below"`  // the first after it at which Then is
	Around float64  `json:"around"` // where straight lines between medians cross, on logarithmic axes
}

// Decided reports whether the tests decide both sides.
func (c Crossing) Decided() bool { return c.Above != nil && c.Below != nil }

// FindCrossings looks along a dimension of runs ("nodes", "total_rate", …, or "transport" by its
// labels) whose values are numbers. The p-values of a line are corrected together.
func FindCrossings(set *runs.Set, along string, opt Options) (*Crossings, error) {
	columns, err := opt.Check()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(runs.Dimensions(), along) {
		return nil, fmt.Errorf("along %s: there is no such key; there are %s", along, strings.Join(runs.Dimensions(), ", "))
	}
	result := &Crossings{SchemaVersion: SchemaVersion, Name: set.Name(), Along: along, Alpha: cmp.Or(opt.Alpha, stats.Alpha), Lines: []Line{}}
	var lines [][]point
	for _, c := range draw(set) {
		text := c.Settings[along]
		if along == "transport" {
			text = c.label
		}
		at, err := number(text)
		if err != nil {
			return nil, fmt.Errorf("along %s: %w", along, err)
		}
		c.judge(columns, opt.Metrics != nil, result.Alpha)
		if c.Column(c.By) < 0 {
			continue
		}
		p := point{at: at, contest: c}
		i := slices.IndexFunc(lines, func(l []point) bool { return l[0].alike(p, along) })
		if i < 0 {
			i, lines = len(lines), append(lines, nil)
		}
		if slices.ContainsFunc(lines[i], func(o point) bool { return o.at == at }) {
			return nil, fmt.Errorf("along %s: there are several contests at %s that differ in something else; choose by --only", along, text)
		}
		lines[i] = append(lines[i], p)
	}
	for _, l := range lines {
		slices.SortFunc(l, func(a, b point) int { return cmp.Compare(a.at, b.at) })
		result.Lines = append(result.Lines, lineOf(l, along, result.Alpha))
	}
	return result, nil
}

// number reads a value of what varies; a duration counts in milliseconds.
func number(text string) (float64, error) {
	if x, err := strconv.ParseFloat(text, 64); err == nil && x > 0 {
		return x, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return float64(d) / float64(time.Millisecond), nil
	}
	return 0, fmt.Errorf("%q is neither a number above 0 nor a duration", text)
}

// point is a contest at a value of what varies.
type point struct {
	at      float64
	contest Contest
}

// alike reports whether the points have all in common but for what varies, and options, which
// transports and workloads may vary by.
func (p point) alike(o point, along string) bool {
	a, b := p.contest, o.contest
	if a.By != b.By || along != "transport" && a.label != b.label {
		return false
	}
	if along == "nodes" {
		return a.Title == b.Title // the title says requests per node if these are equal
	}
	settings, others := maps.Clone(a.Settings), maps.Clone(b.Settings)
	delete(settings, along)
	delete(others, along)
	return maps.Equal(settings, others)
}

// side is how two algorithms stand to each other at a value.
type side struct {
	at    float64
	ratio float64 // logarithm of the ratio of medians; below 0 if the first is better
	p     float64
}

func lineOf(points []point, along string, alpha float64) Line {
	first := points[0].contest
	line := Line{Title: first.Title, Metric: first.By, Stretches: []Stretch{}, Crossings: []Crossing{}, LeftOut: []Gap{}}
	if along != "nodes" {
		line.Title = first.circumstances(along)
	}
	sides := make(map[[2]string][]side)
	var order [][2]string
	for _, p := range points {
		for _, s := range p.sides() {
			if sides[s.pair] == nil {
				order = append(order, s.pair)
			}
			sides[s.pair] = append(sides[s.pair], s.side)
		}
	}
	var all []*side
	var raw []float64
	for _, pair := range order {
		for i := range sides[pair] {
			all = append(all, &sides[pair][i])
			raw = append(raw, sides[pair][i].p)
		}
	}
	for i, p := range stats.Holm(raw) {
		all[i].p = p
	}
	line.Needed, line.Enough = stats.EnoughFor(max(1, len(raw)), alpha), true
	var leaders []string
	for _, p := range points {
		for _, e := range p.contest.Entrants {
			line.Enough = line.Enough && e.Repetitions >= line.Needed
		}
		for _, l := range p.contest.LeftOut {
			line.LeftOut = append(line.LeftOut, Gap{p.at, l})
		}
		best := p.best(sides, alpha)
		leaders = append(leaders, best...)
		if n := len(line.Stretches); n > 0 && slices.Equal(line.Stretches[n-1].Best, best) {
			line.Stretches[n-1].To = p.at
		} else {
			line.Stretches = append(line.Stretches, Stretch{From: p.at, To: p.at, Best: best})
		}
	}
	for _, pair := range order {
		if slices.Contains(leaders, pair[0]) || slices.Contains(leaders, pair[1]) {
			line.Crossings = append(line.Crossings, crossingsOf(pair, sides[pair], alpha)...)
		}
	}
	slices.SortStableFunc(line.Crossings, func(a, b Crossing) int { return cmp.Compare(a.Around, b.Around) })
	return line
}

// circumstances says what the contests of a line that varies in something else than the
// number of nodes have in common.
func (c *Contest) circumstances(along string) string {
	parts := []string{c.Transport, c.Workload}
	for _, name := range []string{"rate", "total_rate", "cs"} {
		if v := c.Settings[name]; v != "" && name != along {
			parts = append(parts, name+"="+v)
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("N = %d", c.Nodes)), " · ")
}

type pairSide struct {
	pair [2]string
	side
}

// sides compares every two entrants in the metric that decides.
func (p point) sides() []pairSide {
	by := p.contest.Column(p.contest.By)
	higher := p.contest.Columns[by].metric.Better == runs.Higher
	var all []pairSide
	for _, a := range p.contest.Entrants {
		for _, b := range p.contest.Entrants {
			x, y := a.Cells[by], b.Cells[by]
			if a.Label >= b.Label || x.N == 0 || y.N == 0 {
				continue
			}
			ratio := logarithm(*x.Median) - logarithm(*y.Median)
			if higher {
				ratio = -ratio
			}
			all = append(all, pairSide{[2]string{a.Label, b.Label}, side{
				at: p.at, ratio: ratio, p: stats.MannWhitney(x.Values, y.Values),
			}})
		}
	}
	return all
}

// logarithm takes 0 for the smallest number: a token that stays where it is wanted costs no messages.
func logarithm(x float64) float64 { return math.Log(math.Max(x, math.SmallestNonzeroFloat64)) }

// best lists the entrant with the best median, and all not separated from it.
func (p point) best(sides map[[2]string][]side, alpha float64) []string {
	first := p.contest.Best[0]
	best := []string{first}
	for _, e := range p.contest.Entrants {
		pair := [2]string{min(first, e.Label), max(first, e.Label)}
		for _, s := range sides[pair] {
			if s.at == p.at && s.p > alpha {
				best = append(best, e.Label)
			}
		}
	}
	slices.Sort(best)
	return best
}

// crossingsOf follows a pair. A decided crossing hides the changes of order inside it: those
// are of medians that no test tells apart.
func crossingsOf(pair [2]string, all []side, alpha float64) []Crossing {
	var found []Crossing
	last := -1 // the last value with a decision
	for i, s := range all {
		if s.p > alpha {
			continue
		}
		if last >= 0 && (all[last].ratio < 0) != (s.ratio < 0) {
			found = append(found, crossing(pair, all[last:i+1], &all[last].at, &all[i].at))
		}
		last = i
	}
	if len(found) == 0 && all[0].ratio*all[len(all)-1].ratio < 0 {
		found = append(found, crossing(pair, all, nil, nil))
	}
	return found
}

// crossing is the first change of order in a stretch whose ends differ.
func crossing(pair [2]string, all []side, above, below *float64) Crossing {
	c := Crossing{First: pair[0], Then: pair[1], Above: above, Below: below}
	if all[0].ratio >= 0 {
		c.First, c.Then = c.Then, c.First
	}
	for i := 1; i < len(all); i++ {
		if a, b := all[i-1], all[i]; (a.ratio < 0) != (b.ratio < 0) {
			c.Around = math.Exp(math.Log(a.at) + (math.Log(b.at)-math.Log(a.at))*a.ratio/(a.ratio-b.ratio))
			break
		}
	}
	return c
}

// WriteText writes the lines for a person.
func (r *Crossings) WriteText(w io.Writer, style layout.Style) error {
	var out strings.Builder
	for _, l := range r.Lines {
		m, _ := runs.LookupMetric(l.Metric)
		fmt.Fprintf(&out, "%s\n", style.Strong(l.Title+": "+phrase(m)+" along "+r.Along))
		t := layout.NewTable("  "+r.Along, "best, or not distinguishable from it")
		for _, s := range l.Stretches {
			text := units.Number(s.From)
			if s.To != s.From {
				text += " to " + units.Number(s.To)
			}
			t.Add("  "+text, strings.Join(s.Best, ", "))
		}
		t.WriteAligned(&out, "ll")
		for _, c := range l.Crossings {
			fmt.Fprintf(&out, "  %s\n", style.Wrap(c.words(), 4))
		}
		for _, g := range l.LeftOut {
			text := fmt.Sprintf("%s is left out at %s: %s", g.Label, units.Number(g.At), g.Reason)
			fmt.Fprintf(&out, "  %s\n", style.Wrap(text, 4))
		}
		if !l.Enough {
			text := fmt.Sprintf("too few repetitions: with %d of each the tests can tell any two apart", l.Needed)
			fmt.Fprintf(&out, "  %s\n", style.Wrap(text, 4))
		}
		out.WriteString("\n")
	}
	fmt.Fprintln(&out, style.Wrap(fmt.Sprintf("A crossing lies between the nearest values at which the tests tell both sides "+
		"(Mann-Whitney, Holm's correction over all pairs and values of a line, p ≤ %v); around: where the medians meet, on "+
		"logarithmic axes", r.Alpha), 0))
	_, err := io.WriteString(w, out.String())
	return err
}

func (c Crossing) words() string {
	around := strconv.FormatFloat(c.Around, 'g', 2, 64)
	if c.Around >= 10 {
		around = units.Number(math.Round(c.Around))
	}
	if !c.Decided() {
		return fmt.Sprintf("%s, then %s: around %s by their medians; the tests do not decide", c.First, c.Then, around)
	}
	return fmt.Sprintf("%s, then %s: between %s and %s, around %s", c.First, c.Then, units.Number(*c.Above), units.Number(*c.Below), around)
}
