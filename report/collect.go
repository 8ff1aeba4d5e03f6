package report

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dmebench/internal/platform/fileio"
	"dmebench/internal/platform/layout"
	"dmebench/report/cells"
	"dmebench/report/page"
	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// collection is everything a report is made of, in order.
type collection struct {
	in       Input
	theory   *theory
	runs     []runs.Run // with complete specifications and unambiguous labels; no Result is nil
	keys     map[*runs.Result]runs.Key
	labels   []string // of all series, in order of appearance: a label's place is its look
	sets     []*set
	families []*family
	hostSets []*hostSet
	warnings []string // found while collecting
}

// set is what was measured over one network under one workload.
type set struct {
	chart                             // its figures against the number of nodes
	transport, workload string        // their names
	first               runs.Run      // for what is the same in all its runs
	options             cells.Options // of network and workload
	hosts               []string      // on which they were, one of the conditions
	conditions          []string      // what else distinguishes it from other sets
	requests            string        // how many there were, one of the conditions; "" if runs have no number in common
}

// cell is the repetitions of one point of the experiment.
type cell struct {
	*cells.Cell
	estimates map[string]stats.Estimate // by name of the metric, over the runs that count
	unread    error                     // why the distribution of its times is not known
}

func collect(in Input) *collection {
	c := &collection{in: in, theory: newTheory(in), warnings: in.Warnings()}
	table := cells.Of(&in.Header.Experiment, in.Runs)
	c.runs, c.in.Runs, c.keys, c.labels = table.Runs, table.Runs, table.Keys, table.Labels
	c.findHosts()
	for _, g := range table.Groups {
		c.sets = append(c.sets, c.newSet(g))
	}
	c.nameSets()
	c.families = c.findFamilies()
	return c
}

func (c *collection) newSet(g *cells.Group) *set {
	first := g.Runs[0].Result.Spec
	s := &set{transport: first.Transport, workload: first.Workload, first: g.Runs[0], options: g.Cells[0].Options}
	s.conditions = append(cells.Conditions(first), cells.Settings(s.options.Network, s.options.Workload)...)
	if s.requests = cells.Requests(g.Runs); s.requests != "" {
		s.conditions = append(s.conditions, s.requests)
	}
	s.hosts = c.hostsOf(g.Runs[0])
	s.conditions = append(s.conditions, s.hosts...)
	s.conditions = append(s.conditions, cells.Faults(first)...)
	s.chart = chart{against: "n", about: s.describe(), abscissa: plots.Axis{Label: "nodes N", Kind: plots.Sizes}, between: true}
	for _, size := range cells.Grouped(g.Cells, func(c *cells.Cell) int { return c.Nodes }) {
		n := size[0].Nodes
		here := spot{x: float64(n), nodes: n, cells: make(map[string]*cell)}
		for _, x := range size {
			here.cells[x.Label] = newCell(x)
		}
		s.spots = append(s.spots, here)
	}
	for style, label := range c.labels {
		if slices.ContainsFunc(g.Cells, func(x *cells.Cell) bool { return x.Label == label }) {
			s.lines = append(s.lines, line{label, style})
		}
	}
	return s
}

func newCell(x *cells.Cell) *cell {
	c := &cell{Cell: x, estimates: make(map[string]stats.Estimate)}
	for _, m := range runs.Metrics() {
		c.estimates[m.Name] = stats.Median(m.Values(c.Good))
	}
	if c.TooShort() > 0 {
		for _, name := range runs.SyncDelays() {
			c.estimates[name] = stats.Median(nil)
		}
	}
	return c
}

// String says what a set is: "tcp · saturate · CS 100 µs · 50 requests per node".
func (s *set) String() string { return strings.Join(s.describe(), separator) }

func (s *set) describe() []string { return append([]string{s.transport, s.workload}, s.conditions...) }

// nameSets says of each set what stands for its network and workload in names of files.
func (c *collection) nameSets() {
	var short, long [][]string
	for _, s := range c.sets {
		names := []string{cmp.Or(s.first.Transport, s.transport), cmp.Or(s.first.Workload, s.workload)}
		short, long = append(short, names), append(long, append(slices.Clone(names), s.conditions...))
	}
	for i, place := range placeNames(short, long) {
		c.sets[i].place = place
	}
}

// placeNames makes names of short descriptions, such as network and workload. So a name does not
// depend on what else an experiment compares. If several are the same, everything by which their
// long descriptions differ is added.
func placeNames(short, long [][]string) []string {
	join := func(parts []string) string { return strings.Join(parts, " ") }
	all := make([]int, len(short))
	for i := range all {
		all[i] = i
	}
	names := make([]string, len(short))
	taken := make(units.Names)
	for _, same := range cells.Grouped(all, func(i int) string { return join(short[i]) }) {
		var descriptions [][]string
		for _, i := range same {
			descriptions = append(descriptions, long[i])
		}
		for k, parts := range differingParts(descriptions) {
			names[same[k]] = taken.Take(perSecond.Replace(join(append(slices.Clone(short[same[k]]), parts...))))
		}
	}
	return names
}

// perSecond shortens conditions for names.
var perSecond = strings.NewReplacer(" requests/s in all", " per s", " requests/s per node", " per s per node")

// differingParts returns of each description the parts that not all of them have.
func differingParts(all [][]string) [][]string {
	parts := make([][]string, len(all))
	for i := range all {
		parts[i] = slices.DeleteFunc(slices.Clone(all[i]), func(part string) bool {
			return !slices.ContainsFunc(all, func(other []string) bool { return !slices.Contains(other, part) })
		})
	}
	return parts
}

// values returns a metric of every good run that has it.
func (c *cell) values(metric string) []float64 {
	m, _ := runs.LookupMetric(metric)
	return m.Values(c.Good)
}

// stills draws the first figures for the part of the page that needs no scripts.
func (c *collection) stills() (all []page.Still, err error) {
	for _, f := range c.firstFigures() {
		drawn, failed := f.RenderAs(plots.Size{Bare: true}, plots.SVG) // the page has its title
		err = cmp.Or(err, failed)
		all = append(all, page.Still{Name: f.Name, Title: f.Title, Caption: f.Caption, SVG: string(drawn[plots.SVG])})
	}
	return all, err
}

// plotFiles draws figures for papers, those of [Input].Only or the first ones, with their
// captions, and writes the results as tables for LaTeX.
func (c *collection) plotFiles() (files []File, err error) {
	figures := c.firstFigures()
	if c.in.Only != nil {
		if figures, err = c.onlyFigures(c.in.Only); err != nil {
			return nil, err
		}
	}
	var text, tex strings.Builder
	tex.WriteString("% Figures of a report: copy those that you want. They need \\usepackage{graphicx}.\n")
	taken := make(units.Names)
	for i, f := range figures {
		f.Name = taken.Take(f.Name)
		drawn, err := f.RenderAs(c.in.Size, c.in.Formats...)
		if err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
		for _, format := range c.in.Formats {
			files = append(files, File{filepath.Join("plots", f.Name+"."+string(format)), drawn[format]})
		}
		if i > 0 {
			text.WriteString("\n")
		}
		fmt.Fprintf(&text, "%s\n%s\n", f.Name, f.Caption)
		fmt.Fprintf(&tex, "\n\\begin{figure}\n  \\centering\n  \\includegraphics{plots/%s}\n  \\caption{%s}\n  \\label{fig:%s}\n\\end{figure}\n",
			f.Name, layout.LaTeX(f.Caption), f.Name)
	}
	for _, table := range c.texTables() {
		files = append(files, File{filepath.Join("tables", table.Name), table.Data})
	}
	return append(files, File{"captions.txt", []byte(text.String())}, File{"captions.tex", []byte(tex.String())}), nil
}

// writeAll replaces files of a folder, each as a whole or not at all.
func writeAll(dir string, files []File) error {
	for _, file := range files {
		path := filepath.Join(dir, file.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return fmt.Errorf("report: %w; choose another folder", err)
		}
		if err := fileio.Write(path, file.Data); err != nil {
			return fmt.Errorf("report: write %s: %w; is its folder writable, and is there room on the disk?", path, err)
		}
	}
	return nil
}
