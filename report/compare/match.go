package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dmebench/report/cells"
	"dmebench/runs"
	"dmebench/units"
)

type pair struct {
	cell Cell
	a, b *cells.Cell
}

// place is a cell with its circumstances in words.
type place struct {
	*cells.Cell
	title string
}

// placesOf returns the cells of a set by network and load, then by label, each as it first
// appears, then by size. Some dimensions are left out of the titles.
func placesOf(set *runs.Set, without ...string) []place {
	table := cells.Of(&set.Header.Experiment, set.Runs)
	requests := make(map[*cells.Cell]string) // how many all of its group made, in words
	for _, g := range table.Groups {
		for _, c := range g.Cells {
			requests[c] = cells.Requests(g.Runs)
		}
	}
	var all []place
	var titles, labels []string
	for _, c := range table.Cells() {
		p := place{c, title(&set.Header.Experiment, c.First, requests[c], without)}
		all, titles = append(all, p), append(titles, p.title)
		if !slices.Contains(without, "algorithm") {
			labels = append(labels, c.Label)
		}
	}
	slices.SortStableFunc(all, func(a, b place) int {
		return cmp.Or(slices.Index(titles, a.title)-slices.Index(titles, b.title),
			slices.Index(labels, a.Label)-slices.Index(labels, b.Label), a.Nodes-b.Nodes)
	})
	return all
}

// title is that of a run's circumstances, without some dimensions. requests says how many
// all runs under these circumstances made.
func title(e *runs.Experiment, r runs.Run, requests string, without []string) string {
	spec := r.Result.Spec.Without("requests")
	given := runs.Experiment{Transports: e.Transports, Workloads: e.Workloads}
	hosts := ""
	if names := r.Result.Key().Get("hosts"); names != "" {
		hosts = "on " + names
	}
	for _, dimension := range without {
		switch dimension {
		case "algorithm", "nodes": // not in titles
			continue
		case "set":
			given = runs.Experiment{}
			continue
		case "transport":
			given.Transports = nil
		case "workload":
			given.Workloads, requests = nil, ""
			spec.Rate, spec.TotalRate, spec.Duration = 0, 0, 0
		case "requests":
			requests = ""
		case "hosts":
			hosts = ""
		}
		spec = spec.Without(dimension)
	}
	about := *r.Result
	about.Spec = spec
	r.Result = &about
	return joined(cells.Title(&given, []runs.Run{r}, hosts), requests)
}

// joined joins the parts of a title that are not empty.
func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), cells.Separator)
}

// described gives each cell its section; what all have in common stands by itself.
func described(pairs []pair) (all []pair, common string) {
	titles := units.Texts(pairs, func(p pair) string { return p.cell.section })
	for i, section := range cells.Differing(titles) {
		pairs[i].cell.section = section
	}
	return pairs, cells.Common(titles)
}

// match pairs the cells of both sides, in a's order.
func match(a, b *runs.Set, across []string) (pairs []pair, onlyA, onlyB []Cell, err error) {
	sideA, err := sideOf("A", a, across)
	if err != nil {
		return nil, nil, nil, err
	}
	sideB, err := sideOf("B", b, across)
	if err != nil {
		return nil, nil, nil, err
	}
	unmatched := make(map[runs.Key]*cells.Cell)
	for _, c := range sideB {
		unmatched[c.Key.Without(across...)] = c.Cell
	}
	onlyA, onlyB = []Cell{}, []Cell{}
	for _, c := range sideA {
		cell, key := c.matched(across), c.Key.Without(across...)
		other := unmatched[key]
		if other == nil {
			onlyA = append(onlyA, cell)
			continue
		}
		if other.Label != c.Label {
			cell.Label += " → " + other.Label
		}
		pairs = append(pairs, pair{cell, c.Cell, other})
		delete(unmatched, key)
	}
	for _, c := range sideB {
		if unmatched[c.Key.Without(across...)] != nil {
			onlyB = append(onlyB, c.matched(across))
		}
	}
	if len(pairs) == 0 {
		return nil, nil, nil, nothingInCommon(a, b, sideA, sideB, across)
	}
	return pairs, onlyA, onlyB, nil
}

func (p place) matched(across []string) Cell {
	m := Cell{Label: p.Label, Settings: p.Key.Without(across...).Settings(), section: p.title}
	if !slices.Contains(across, "nodes") {
		m.nodes = p.Nodes
	}
	return m
}

// sideOf returns the cells of a side, no two of which may differ only in what is compared across.
func sideOf(name string, s *runs.Set, across []string) ([]place, error) {
	side := placesOf(s, across...)
	known := make(map[runs.Key]runs.Key)
	for _, c := range side {
		rest := c.Key.Without(across...)
		if other, ok := known[rest]; ok && other != c.Key {
			return nil, fmt.Errorf("compare: %s (%s) has cells that differ in %s alone (%s), which is compared across; "+
				"give one of them on each side", name, s.Name(), strings.Join(across, " and "), contrast(other, c.Key))
		}
		known[rest] = c.Key
	}
	return side, nil
}

func contrast(x, y runs.Key) string {
	var parts []string
	for _, d := range runs.Varying([]runs.Key{x, y}) {
		parts = append(parts, fmt.Sprintf("%s %s and %s", d, cmp.Or(x.Get(d), "not given"), cmp.Or(y.Get(d), "not given")))
	}
	return strings.Join(parts, ", ")
}

func valuesOf(side []*cells.Cell, dimension string) []string {
	all := make(map[string]bool)
	for _, g := range side {
		all[cmp.Or(g.Key.Get(dimension), "not given")] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// nothingInCommon says in which dimensions the sides share no value.
func nothingInCommon(a, b *runs.Set, sideA, sideB []place, across []string) error {
	inA, inB := cellsOf(sideA), cellsOf(sideB)
	var lines, names []string
	for _, d := range runs.Dimensions() {
		va, vb := valuesOf(inA, d), valuesOf(inB, d)
		if slices.Contains(across, d) || slices.ContainsFunc(va, func(v string) bool { return slices.Contains(vb, v) }) {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s is %s in A and %s in B", d, list(va), list(vb)))
		names = append(names, "--across "+d)
	}
	text := fmt.Sprintf("compare: %s and %s have no cell in common", a.Name(), b.Name())
	if len(lines) == 0 {
		return fmt.Errorf("%s: no combination of algorithm, options, nodes, network and workload is in both, though each value is; "+
			"compare sweeps of one experiment file", text)
	}
	return fmt.Errorf("%s: %s; to compare them nevertheless, add %s", text, strings.Join(lines, "; "), strings.Join(names, " "))
}

func list(values []string) string {
	const shown = 5
	if len(values) > shown {
		return fmt.Sprintf("%s and %d others", strings.Join(values[:shown], ", "), len(values)-shown)
	}
	return strings.Join(values, ", ")
}

func cellsOf(side []place) (all []*cells.Cell) {
	for _, p := range side {
		all = append(all, p.Cell)
	}
	return all
}
