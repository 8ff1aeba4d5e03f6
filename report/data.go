package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"dmebench/dme/claim"
	"dmebench/report/cells"
	"dmebench/report/page"
	"dmebench/report/plots"
	"dmebench/report/rank"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// paper fills the data of a page from a collection.
type paper struct {
	*collection
	data     page.Data
	metrics  []runs.Metric // of data.Metrics
	cells    []*cell       // of data.Cells
	at       map[*cell]int
	cellOf   map[*runs.Result]int
	contests []contest
	alpha    float64
}

// contest is a ranking with the set that it is of.
type contest struct {
	rank.Contest
	set  int
	here spot
	all  *rank.Contest // the same in every metric
}

// Page returns what the page of a report shows.
func (in Input) Page() (*page.Data, error) {
	c := collect(in)
	return c.page()
}

func (c *collection) page() (*page.Data, error) {
	p := &paper{collection: c, at: make(map[*cell]int), cellOf: make(map[*runs.Result]int)}
	d := &p.data
	d.Kind, d.Title = page.Report, cmp.Or(c.in.Header.Experiment.Name, "Experiment")
	d.Source, d.File = c.in.Path, strings.TrimSpace(c.in.Header.File)
	if !c.in.Header.Started.IsZero() {
		d.Started = c.in.Header.Started.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	p.rank()
	p.findMetrics()
	for i, label := range c.labels {
		d.Labels = append(d.Labels, page.Label{Name: label, Color: plots.Color(i)})
	}
	p.addLoads()
	p.addCells()
	d.Legend = p.standingNote()
	p.addAxes()
	p.addRuns()
	d.Answer = p.answer()
	d.Tables = slices.Concat(p.recoveryTable(), p.siteTable(), p.kindTable(), p.growthTables(), p.hostTables())
	p.addWarnings() // last, as the others find some
	d.Bad = p.badRuns()
	d.Figures = p.figures()
	for _, f := range c.environment() {
		d.Facts = append(d.Facts, [2]string{f.Name, f.Value})
	}
	d.Notes = c.notes()
	var err error
	d.Stills, err = c.stills()
	return d, err
}

// rank ranks every set by what decides under its load, and in every metric.
func (p *paper) rank() {
	set := &runs.Set{Path: p.in.Path, Header: p.in.Header, Runs: p.runs}
	ranked, err := rank.Of(set, rank.Options{})
	if err != nil {
		panic(err) // never happens with the default options
	}
	p.alpha = ranked.Alpha
	var every []string
	for _, m := range runs.Metrics() {
		if m.Better != runs.Neither {
			every = append(every, m.Name)
		}
	}
	all, err := rank.Of(set, rank.Options{Metrics: every})
	if err != nil {
		panic(err) // never happens: all these metrics exist
	}
	next := 0 // contests are in the order of the sets, and of their sizes
	for i, s := range p.sets {
		for _, here := range s.spots {
			p.contests = append(p.contests, contest{ranked.Contests[next], i, here, &all.Contests[next]})
			next++
		}
	}
}

// shownFirst are the metrics of the table until a reader chooses others.
func shownFirst() []string {
	return []string{
		runs.MessagesPerCS, runs.Throughput, runs.WaitingP50, runs.WaitingP99, runs.ResponseP50, runs.ResponseP99,
		runs.SyncDelayP50, runs.SyncDelayOverT, runs.BusiestPerCS, runs.JainIndex, runs.Recovered, runs.Served, runs.RequestsLost,
	}
}

// findMetrics lists the metrics that some cell has, those first that are shown first.
func (p *paper) findMetrics() {
	known := func(m runs.Metric) bool {
		return slices.ContainsFunc(p.sets, func(s *set) bool {
			return slices.ContainsFunc(s.inOrder(), func(c *cell) bool { return c.estimates[m.Name].N > 0 })
		})
	}
	broadcast := slices.ContainsFunc(p.sets, func(s *set) bool { return s.broadcasts() })
	for _, m := range runs.Metrics() {
		if known(m) && (m.Name != runs.TransmissionsPerCS || broadcast) {
			p.metrics = append(p.metrics, m)
		}
	}
	first := shownFirst()
	place := func(m runs.Metric) int {
		if i := slices.Index(first, m.Name); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortStableFunc(p.metrics, func(a, b runs.Metric) int { return place(a) - place(b) })
	for _, m := range p.metrics {
		shown := page.Metric{Name: m.Name, Title: m.Title, Type: page.Number, Better: string(m.Better), Minor: place(m) == len(first)}
		if m.Time() {
			shown.Type = page.Time
		}
		p.data.Metrics = append(p.data.Metrics, shown)
	}
}

func (p *paper) metric(name string) int {
	return slices.IndexFunc(p.metrics, func(m runs.Metric) bool { return m.Name == name })
}

// silent lists the metrics that say nothing under a load beyond what others say.
func (s *set) silent() []string {
	names := []string{runs.Offered}
	if s.workload == "serial" { // one request at a time: its order is the workload's, its rate 1/response
		names = append(names, runs.Throughput, runs.JainIndex, runs.LongestRun, runs.MaxBypass, runs.MaxBypassByOne)
	}
	if s.waitingIsResponse() {
		names = append(names, runs.ResponseP50, runs.ResponseP90, runs.ResponseP99, runs.ResponseP999, runs.ResponseMean)
	}
	if s.sameDelay() {
		names = append(names, runs.SyncDelayP50)
	}
	return names
}

func (p *paper) addLoads() {
	titles := units.Texts(p.sets, (*set).String)
	briefs := differingOf(titles)
	for i, s := range p.sets {
		load := page.Load{
			Title: titles[i], Brief: cmp.Or(briefs[i], titles[i]), Network: s.network(), Workload: s.load(), Conditions: s.conditions,
		}
		for _, name := range s.silent() {
			if m := p.metric(name); m >= 0 {
				load.Silent = append(load.Silent, m)
			}
		}
		p.data.Loads = append(p.data.Loads, load)
	}
}

// differingOf is what distinguishes titles; all of it for a single one.
func differingOf(titles []string) []string {
	if len(titles) == 1 {
		return titles
	}
	return cells.Differing(titles)
}

// addCells adds the cells load by load: first those of the size in the answer's table, in the order
// of the ranking.
func (p *paper) addCells() {
	for i, s := range p.sets {
		contests := slices.DeleteFunc(slices.Clone(p.contests), func(c contest) bool { return c.set != i })
		best := fullest(contests)
		contests = slices.Concat(contests[best:best+1], contests[:best], contests[best+1:])
		for _, con := range contests {
			labels := units.Texts(con.Entrants, func(e rank.Entrant) string { return e.Label })
			for _, ln := range s.lines {
				if con.here.cells[ln.label] != nil && !slices.Contains(labels, ln.label) {
					labels = append(labels, ln.label)
				}
			}
			for _, label := range labels {
				if cell := con.here.cells[label]; cell != nil {
					p.addCell(i, cell, con)
				}
			}
		}
		p.addCurves(i, s)
	}
}

func (p *paper) addCell(load int, c *cell, con contest) {
	p.at[c] = len(p.cells)
	for _, r := range c.All() {
		p.cellOf[r] = len(p.cells)
	}
	p.cells = append(p.cells, c)
	shown := page.Cell{
		Label: slices.Index(p.labels, c.Label), Load: load, Nodes: c.Nodes, Runs: len(c.Good), Bad: len(c.Bad),
		Predictions: p.predictionsOf(c), Notes: c.LeftOut(), Command: p.command(c),
	}
	shown.Spectra, c.unread = spectra(c.Good)
	p.data.Labels[shown.Label].Algorithm = c.First.Result.Algorithm
	entrant := slices.IndexFunc(con.all.Entrants, func(e rank.Entrant) bool { return e.Label == c.Label })
	for _, m := range p.metrics {
		widened, bound := c.widened(m.Name)
		e := estimateOf(widened)
		e.Clocks = bound
		if k := con.all.Column(m.Name); k >= 0 && entrant >= 0 && len(con.all.Entrants) > 1 && e.Count > 0 {
			e.Standing, e.Against = standing(con.all.Entrants[entrant].Cells[k])
		}
		shown.Values = append(shown.Values, e)
	}
	p.data.Cells = append(p.data.Cells, shown)
}

func estimateOf(e stats.Estimate) page.Estimate {
	return page.Estimate{Count: e.N, Median: e.Median, Lo: e.Lo, Hi: e.Hi, Min: e.Min, Max: e.Max}
}

// standing says how an entrant stands to the best of a column, and in words.
func standing(x rank.Cell) (class, against string) {
	switch x.Standing {
	case rank.First:
		against = "best"
	case rank.Level:
		against = "~ " + rank.Probability(*x.PHolm)
	case rank.Unknown:
		against = "too few repetitions to tell"
	case rank.Worse:
		against = "worse, " + rank.Probability(*x.PHolm)
		if x.Change != nil {
			against = rank.Change(*x.Change) + ", " + rank.Probability(*x.PHolm)
		}
	}
	return string(x.Standing), against
}

// command writes the command that measures the first repetition of a cell again.
func (p *paper) command(c *cell) string {
	spec := c.First.Result.Spec
	spec.Seed = cmp.Or(c.First.Result.Seed, spec.Seed)
	text := spec.Command()
	if len(c.First.Result.Hosts) > 0 {
		text += " --agents URL"
	}
	return text
}

func (p *paper) predictionsOf(c *cell) (all []page.Prediction) {
	for _, q := range quantities() {
		metric := p.metric(q.metric)
		if q.theory == (claim.Quantity{}) || metric < 0 {
			continue
		}
		for _, k := range p.theory.predicting(q.theory, c.First.Result.Spec) {
			x, ok := p.theory.predictCell(k, c)
			if !ok {
				continue
			}
			shown := page.Prediction{
				Metric: metric, Value: page.Real(x), Formula: sign(k.Kind) + brief(k.Formula), Source: k.Source, Kind: string(k.Kind),
				False: k.KnownFalse,
			}
			// Times and rates scatter: whether they are what is predicted, validation says.
			counted := q.theory == claim.MessagesPerCS || q.theory == claim.TransmissionsPerCS
			if counted && p.theory.prepare(c.First.Result.Spec).circumstance.Refutes(k) {
				shown.Verdict = agrees(k, x, c.values(q.metric))
			}
			all = append(all, shown)
		}
	}
	return all
}

// mostCurves is how many predictions of a metric are drawn for one label.
const mostCurves = 2

func (p *paper) addCurves(load int, s *set) {
	for _, ln := range s.lines {
		for _, q := range quantities() {
			metric := p.metric(q.metric)
			if metric < 0 {
				continue
			}
			for _, at := range p.curves(s.chart, ln, q.theory, mostCurves) {
				shown := page.Curve{
					Label: ln.style, Load: load, Metric: metric, Formula: sign(at.Kind) + brief(at.Formula), Source: at.Source,
					Kind: string(at.Kind), False: at.KnownFalse,
				}
				for _, point := range at.points {
					shown.Points = append(shown.Points, [2]page.Real{page.Real(point.X), page.Real(point.Y)})
				}
				p.data.Curves = append(p.data.Curves, shown)
			}
		}
	}
}

// addAxes adds what cells can be drawn against besides the number of nodes.
func (p *paper) addAxes() {
	for _, same := range cells.Grouped(p.families, func(f *family) string { return f.axis }) {
		axis := page.Axis{Name: same[0].charts[0].against, Title: same[0].axis, Type: page.Number}
		if !same[0].numeric {
			axis.Type = page.Text
		}
		var titles []string
		for _, f := range same {
			for _, ch := range f.charts {
				titles = append(titles, strings.Join(ch.about, separator))
			}
		}
		briefs := differingOf(titles)
		for _, f := range same {
			if !f.numeric {
				axis.Type = page.Text
			}
			for _, ch := range f.charts {
				axis.Lines = append(axis.Lines, p.linesOf(ch, &axis, briefs[0])...)
				briefs = briefs[1:]
			}
		}
		p.data.Axes = append(p.data.Axes, axis)
	}
}

func (p *paper) linesOf(ch chart, axis *page.Axis, title string) (all []page.Line) {
	for _, ln := range ch.lines {
		line := page.Line{Title: title}
		if !slices.Contains(p.labels, ln.label) { // made of several labels: the axis is the algorithm's own
			line.Name = ln.label
		}
		for i, s := range ch.spots {
			cell := s.cells[ln.label]
			if cell == nil || len(cell.Good) == 0 {
				continue
			}
			line.Nodes = cell.Nodes
			if len(line.Cells) == 0 {
				line.Label = slices.Index(p.labels, cell.Label)
			}
			line.Cells = append(line.Cells, p.at[cell])
			switch {
			case ch.names != nil:
				line.At = append(line.At, page.Word(ch.names[i]))
			case s.time:
				axis.Type = page.Time
				line.At = append(line.At, page.Num(s.number))
			default:
				line.At = append(line.At, page.Num(s.number))
			}
		}
		if len(line.Cells) > 0 {
			all = append(all, line)
		}
	}
	return all
}

// figures are what the page shows first: the first figure that the experiment asks for, or
// else what varies in it.
func (p *paper) figures() []page.Figure {
	if len(p.cells) == 0 || len(p.metrics) == 0 {
		return nil
	}
	for _, asked := range p.in.Header.Experiment.Figures {
		if f, ok := p.askedFor(asked); ok {
			return []page.Figure{f}
		}
	}
	sizes := 0
	for _, s := range p.sets {
		sizes = max(sizes, len(s.spots))
	}
	distributions := slices.ContainsFunc(p.data.Cells, func(c page.Cell) bool { return len(c.Spectra) > 0 })
	f := page.Figure{Metric: p.firstOf(p.deciding())}
	switch {
	case len(p.data.Axes) > 0 && (sizes == 1 || len(p.in.Header.Experiment.Axes) > 0):
		f.Against = p.data.Axes[0].Name
	case sizes == 1 && distributions:
		f = page.Figure{Against: page.ByPercentile, Metric: p.firstOf(runs.WaitingP50, runs.ResponseP50, runs.SyncDelayP50)}
	case !p.faulty():
		f.Metric = p.firstOf(runs.MessagesPerCS)
	}
	return []page.Figure{f}
}

// askedFor is a figure that the experiment asks for; ok is false if the page has no such.
func (p *paper) askedFor(asked runs.Figure) (f page.Figure, ok bool) {
	switch m, isMetric := asked.Metric(); {
	case isMetric && p.metric(m.Name) >= 0:
		f.Metric, f.Nodes = p.metric(m.Name), asked.Nodes
		if asked.Against != runs.OverN {
			f.Against = asked.Against
		}
	case asked.Show == runs.ResponseCDF:
		f = page.Figure{Against: page.ByPercentile, Metric: p.firstOf(runs.ResponseP50, runs.WaitingP50), Nodes: asked.Nodes}
	default:
		return f, false
	}
	return f, true
}

// firstOf is the first of these metrics that the page has, else its first metric.
func (p *paper) firstOf(names ...string) int {
	for _, name := range names {
		if m := p.metric(name); m >= 0 {
			return m
		}
	}
	return 0
}

func (p *paper) faulty() bool { return slices.ContainsFunc(p.sets, (*set).faulty) }

// deciding is the metric that the first answer ranks by, of faults what recovery costs.
func (p *paper) deciding() string {
	if p.faulty() && p.metric(runs.Recovered) >= 0 {
		return runs.Recovered
	}
	for _, con := range p.contests {
		if con.By != "" {
			return con.By
		}
	}
	return runs.MessagesPerCS
}

// kindTable lists the messages per CS by kind, over all repetitions together.
func (p *paper) kindTable() []page.Table {
	t := page.Table{
		ID: "kinds", Title: "Messages per critical section by kind", Folded: true,
		Note: "All messages of all repetitions over all their entries: the kinds of a row's algorithm add up to its messages per CS.",
		Columns: []page.Column{
			{Key: "label", Title: "algorithm", Type: page.Text}, {Key: "load", Title: "load", Type: page.Text},
			{Key: "nodes", Title: "N", Type: page.Number}, {Key: "kind", Title: "kind", Type: page.Text, Choose: true},
			{Key: "per_cs", Title: "messages per CS", Type: page.Number, Better: "lower"},
		},
	}
	for i, c := range p.cells {
		perCS := c.pooledKinds()
		for _, kind := range slices.Sorted(maps.Keys(perCS)) {
			t.Rows = append(t.Rows, p.row(i, page.Word(kind), page.Num(perCS[kind])))
		}
	}
	return some(t)
}

// row begins a row of a cell with its label, load and number of nodes.
func (p *paper) row(cell int, values ...page.Value) page.Row {
	c := p.data.Cells[cell]
	begin := []page.Value{page.Word(p.labels[c.Label]), page.Word(p.data.Loads[c.Load].Brief), page.Num(float64(c.Nodes))}
	return page.Row{
		Label: page.At(c.Label), Load: page.At(c.Load), Nodes: c.Nodes, Cell: page.At(cell), Values: append(begin, values...),
	}
}

// some is a table that has rows.
func some(t page.Table) []page.Table {
	if len(t.Rows) == 0 {
		return nil
	}
	return []page.Table{t}
}
