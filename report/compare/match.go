package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dmebench/report"
	"dmebench/report/cells"
	"dmebench/result"
)

// Dimensions names everything by which cells are matched.
func Dimensions() []string {
	var names []string
	for _, d := range cells.Dimensions() {
		names = append(names, d.Name)
	}
	return names
}

// group is the runs of one cell of one side.
type group struct {
	label string
	spec  result.Spec // of the first run
	good  []*result.Result
	bad   map[string]int // runs that are left out, by status
	twins int            // simulations left out because they repeat a seed
}

func (g *group) all() int {
	n := len(g.good) + g.twins
	for _, k := range g.bad {
		n += k
	}
	return n
}

// pair is a cell that both sides have.
type pair struct {
	cell Cell
	a, b *group
}

// usable reports whether both sides have a run that counts.
func (p pair) usable() bool { return len(p.a.good) > 0 && len(p.b.good) > 0 }

// match pairs the cells of both sides, in a's order: by network and load, then by
// label, each as it first appears, then by size.
func match(a, b Side, across []string) (pairs []pair, onlyA, onlyB []Cell, err error) {
	keysA, cellsA, err := groupsOf("A", a, across)
	if err != nil {
		return nil, nil, nil, err
	}
	keysB, cellsB, err := groupsOf("B", b, across)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, key := range keysA {
		g := cellsA[key]
		other, ok := cellsB[key]
		if !ok {
			onlyA = append(onlyA, cellOf(g.label, g.spec, across))
			continue
		}
		label := g.label
		if other.label != label {
			label += " → " + other.label
		}
		pairs = append(pairs, pair{cellOf(label, g.spec, across), g, other})
	}
	for _, key := range keysB {
		if g := cellsB[key]; cellsA[key] == nil {
			onlyB = append(onlyB, cellOf(g.label, g.spec, across))
		}
	}
	if len(pairs) == 0 {
		return nil, nil, nil, nothingInCommon(a, b, cellsA, cellsB, across)
	}
	return pairs, onlyA, onlyB, nil
}

func cellOf(label string, s result.Spec, across []string) Cell {
	c := Cell{Label: label, Settings: make(map[string]string), nodes: s.Nodes}
	for _, d := range cells.Dimensions() {
		if value := d.Of(s); value != "" && !slices.Contains(across, d.Name) {
			c.Settings[d.Name] = value
		}
	}
	return c
}

// groupsOf groups the runs of a side by what they were asked to do.
func groupsOf(name string, s Side, across []string) (keys []string, groups map[string]*group, err error) {
	groups = make(map[string]*group)
	seeds := make(map[string]map[uint64]bool)
	var labels, places []string
	for _, r := range s.Runs {
		if r.Result == nil {
			continue
		}
		spec := cells.Spec(r.Result)
		key := cells.Key(spec, across...)
		g := groups[key]
		if g == nil {
			g = &group{label: cmp.Or(r.Label, spec.Algorithm), spec: spec, bad: make(map[string]int)}
			groups[key], seeds[key] = g, make(map[uint64]bool)
			keys = append(keys, key)
			labels, places = appendNew(labels, g.label), appendNew(places, cells.Place(spec))
		}
		if cells.Key(g.spec) != cells.Key(spec) {
			return nil, nil, fmt.Errorf("compare: %s (%s) has cells that differ in %s alone (%s), which is compared across; hand in one of them on each side",
				name, s.Name, strings.Join(across, " and "), contrast(g.spec, spec))
		}
		switch {
		case !report.Usable(r.Result):
			g.bad[status(r.Result)]++
		case spec.Transport == "sim" && seeds[key][r.Result.Seed]:
			g.twins++ // the same bytes again are no further repetition
		default:
			seeds[key][r.Result.Seed] = true
			g.good = append(g.good, r.Result)
		}
	}
	slices.SortStableFunc(keys, func(x, y string) int {
		return cmp.Or(
			cmp.Compare(slices.Index(places, cells.Place(groups[x].spec)), slices.Index(places, cells.Place(groups[y].spec))),
			cmp.Compare(slices.Index(labels, groups[x].label), slices.Index(labels, groups[y].label)),
			cmp.Compare(groups[x].spec.Nodes, groups[y].spec.Nodes),
		)
	})
	return keys, groups, nil
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// contrast writes the dimensions in which two cells differ.
func contrast(x, y result.Spec) string {
	var parts []string
	for _, d := range cells.Dimensions() {
		if vx, vy := d.Of(x), d.Of(y); vx != vy {
			parts = append(parts, fmt.Sprintf("%s %s and %s", d.Name, cmp.Or(vx, "not given"), cmp.Or(vy, "not given")))
		}
	}
	return strings.Join(parts, ", ")
}

// nothingInCommon says in which dimensions the sides share no value.
func nothingInCommon(a, b Side, cellsA, cellsB map[string]*group, across []string) error {
	values := func(groups map[string]*group, d cells.Dimension) []string {
		all := make(map[string]bool)
		for _, g := range groups {
			all[cmp.Or(d.Of(g.spec), "not given")] = true
		}
		return slices.Sorted(maps.Keys(all))
	}
	var lines, names []string
	for _, d := range cells.Dimensions() {
		va, vb := values(cellsA, d), values(cellsB, d)
		if slices.Contains(across, d.Name) || slices.ContainsFunc(va, func(v string) bool { return slices.Contains(vb, v) }) {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s is %s in A and %s in B", d.Name, list(va), list(vb)))
		names = append(names, "--across "+d.Name)
	}
	text := fmt.Sprintf("compare: %s and %s have no cell in common", a.Name, b.Name)
	if len(lines) == 0 {
		return fmt.Errorf("%s: no combination of algorithm, options, nodes, network and workload is in both, though each value is; compare sweeps of one experiment file", text)
	}
	return fmt.Errorf("%s: %s; to compare them nevertheless, add %s", text, strings.Join(lines, "; "), strings.Join(names, " "))
}

// list writes a few values.
func list(values []string) string {
	const shown = 5
	if len(values) > shown {
		return fmt.Sprintf("%s and %d others", strings.Join(values[:shown], ", "), len(values)-shown)
	}
	return strings.Join(values, ", ")
}
