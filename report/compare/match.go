package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"dmebench/report"
	"dmebench/runs"
	"dmebench/units"
)

// group is the runs of one cell of one side.
type group struct {
	label string
	key   runs.Key
	nodes int
	good  []*runs.Result
	bad   map[string]int // runs that are left out, by status
	twins int            // simulations left out because they repeat a seed
	ran   map[uint64]bool
}

// newGroup is one without runs.
func newGroup(label string, key runs.Key, nodes int) *group {
	return &group{label: label, key: key, nodes: nodes, bad: make(map[string]int), ran: make(map[uint64]bool)}
}

// add adds a run, or counts why it is left out.
func (g *group) add(r runs.Run) {
	switch {
	case !runs.Usable(r.Result):
		g.bad[report.Outcome(r.Result)]++
	case r.Result.Asked().Transport == runs.Sim && g.ran[r.Result.Seed]:
		g.twins++ // the same bytes again are no further repetition
	default:
		g.ran[r.Result.Seed] = true
		g.good = append(g.good, r.Result)
	}
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
func match(a, b *runs.Set, across []string) (pairs []pair, onlyA, onlyB []Cell, err error) {
	groupsA, err := groupsOf("A", a, across)
	if err != nil {
		return nil, nil, nil, err
	}
	groupsB, err := groupsOf("B", b, across)
	if err != nil {
		return nil, nil, nil, err
	}
	unmatched := make(map[runs.Key]*group)
	for _, g := range groupsB {
		unmatched[g.key.Without(across...)] = g
	}
	onlyA, onlyB = []Cell{}, []Cell{}
	for _, g := range groupsA {
		cell := g.cell(across)
		other := unmatched[cell.key]
		if other == nil {
			onlyA = append(onlyA, cell)
			continue
		}
		if other.label != g.label {
			cell.Label += " → " + other.label
		}
		pairs = append(pairs, pair{cell, g, other})
		delete(unmatched, cell.key)
	}
	for _, g := range groupsB {
		if cell := g.cell(across); unmatched[cell.key] != nil {
			onlyB = append(onlyB, cell)
		}
	}
	if len(pairs) == 0 {
		return nil, nil, nil, nothingInCommon(a, b, groupsA, groupsB, across)
	}
	return pairs, onlyA, onlyB, nil
}

// cell is what is matched of a group.
func (g *group) cell(across []string) Cell {
	key := g.key.Without(across...)
	c := Cell{Label: g.label, Settings: key.Settings(), key: key}
	if !slices.Contains(across, "nodes") {
		c.nodes = g.nodes
	}
	return c
}

// groupsOf groups the runs of a side by what they were asked to do.
func groupsOf(name string, s *runs.Set, across []string) ([]*group, error) {
	keys := runs.Keys(s.Runs)
	key := func(r runs.Run) runs.Key { return keys[r.Result] }
	var groups []*group
	labels, places := make(map[string]int), make(map[runs.Key]int)
	for _, runs := range report.Grouped(s.Runs, func(r runs.Run) runs.Key { return key(r).Without(across...) }) {
		spec := runs[0].Result.Asked()
		g := newGroup(cmp.Or(runs[0].Label, spec.Algorithm), key(runs[0]), spec.Nodes)
		for _, r := range runs {
			if g.key != key(r) {
				return nil, fmt.Errorf("compare: %s (%s) has cells that differ in %s alone (%s), which is compared across; "+
					"hand in one of them on each side",
					name, s.Name(), strings.Join(across, " and "), contrast(g.key, key(r)))
			}
			g.add(r)
		}
		groups = append(groups, g)
		rank(labels, g.label)
		rank(places, g.key.Place())
	}
	slices.SortStableFunc(groups, func(x, y *group) int {
		return cmp.Or(places[x.key.Place()]-places[y.key.Place()], labels[x.label]-labels[y.label], x.nodes-y.nodes)
	})
	return groups, nil
}

// rank numbers things in the order in which they first appear.
func rank[K comparable](ranks map[K]int, k K) {
	if _, known := ranks[k]; !known {
		ranks[k] = len(ranks)
	}
}

// contrast writes the dimensions in which two cells differ.
func contrast(x, y runs.Key) string {
	var parts []string
	for _, d := range runs.Varying([]runs.Key{x, y}) {
		parts = append(parts, fmt.Sprintf("%s %s and %s", d, cmp.Or(x.Get(d), "not given"), cmp.Or(y.Get(d), "not given")))
	}
	return strings.Join(parts, ", ")
}

// valuesOf lists the values that groups have in a dimension.
func valuesOf(groups []*group, dimension string) []string {
	all := make(map[string]bool)
	for _, g := range groups {
		all[cmp.Or(g.key.Get(dimension), "not given")] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// nothingInCommon says in which dimensions the sides share no value.
func nothingInCommon(a, b *runs.Set, groupsA, groupsB []*group, across []string) error {
	var lines, names []string
	for _, d := range runs.Dimensions() {
		va, vb := valuesOf(groupsA, d), valuesOf(groupsB, d)
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

// list writes a few values.
func list(values []string) string {
	const shown = 5
	if len(values) > shown {
		return fmt.Sprintf("%s and %d others", strings.Join(values[:shown], ", "), len(values)-shown)
	}
	return strings.Join(values, ", ")
}

// withinClocks says of a significant change of a synchronization delay that it may come
// from clocks of several hosts alone; "" where it may not.
func (p pair) withinClocks(m runs.Metric, r Row) string {
	if !r.Significant || !m.Time() || !slices.Contains(runs.SyncDelays(), m.Name) {
		return ""
	}
	bound := clockBound(p.a.good) + clockBound(p.b.good)
	if math.Abs(*r.B.Median-*r.A.Median) > bound || bound == 0 {
		return ""
	}
	return fmt.Sprintf("the hosts' clocks are known to ± %s only, both sides together: the change may be theirs", units.Time(bound))
}

// tooShort says of how many runs of a side the delay is shorter than clocks can tell:
// the others are slow ones.
func (g *group) tooShort(side string, m runs.Metric) []string {
	n := 0
	for _, r := range g.good {
		if r.SyncDelayTooShort() {
			n++
		}
	}
	if n == 0 || !slices.Contains(runs.SyncDelays(), m.Name) {
		return nil
	}
	return []string{fmt.Sprintf("%s: the delay of %d of %d runs is shorter than the hosts' clocks can tell, and is left out",
		side, n, len(g.good))}
}

// clockBound is the largest bound on the error of a delay between hosts, in
// nanoseconds; 0 where no delay crossed any.
func clockBound(runs []*runs.Result) float64 {
	bound := 0.0
	for _, r := range runs {
		if r.SyncDelayBound != nil {
			bound = max(bound, float64(*r.SyncDelayBound))
		}
	}
	return bound
}

// hostConcerns notes in what hosts that both sides have differ from themselves.
func (c *Comparison) hostConcerns(a, b []*runs.Result) {
	inA, inB := hostFacts(a), hostFacts(b)
	for _, host := range slices.Sorted(maps.Keys(inA)) {
		if inB[host] != nil {
			c.differences("the environments of "+host+" differ", inA[host], inB[host])
		}
	}
}

// hostFacts are the environments of the runs' hosts, by name.
func hostFacts(list []*runs.Result) map[string]map[string]map[string]int {
	facts := make(map[string]map[string]map[string]int)
	for _, host := range report.Grouped(hostsOf(list), func(h runs.Host) string { return h.Name }) {
		var all []*runs.Result
		for _, h := range host {
			all = append(all, &runs.Result{Environment: h.Environment})
		}
		facts[host[0].Name] = report.Facts(all)
	}
	return facts
}

func hostsOf(list []*runs.Result) []runs.Host {
	var all []runs.Host
	for _, r := range list {
		all = append(all, r.Hosts...)
	}
	return all
}
