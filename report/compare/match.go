package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"dmebench/report"
	"dmebench/report/cells"
	"dmebench/runs"
	"dmebench/units"
)

type pair struct {
	cell Cell
	a, b *cells.Cell
}

func (p pair) usable() bool { return len(p.a.Good) > 0 && len(p.b.Good) > 0 }

// match pairs the cells of both sides, in a's order: by network and load, then by
// label, each as it first appears, then by size.
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
		unmatched[c.Key.Without(across...)] = c
	}
	onlyA, onlyB = []Cell{}, []Cell{}
	for _, c := range sideA {
		cell := matched(c, across)
		other := unmatched[cell.key]
		if other == nil {
			onlyA = append(onlyA, cell)
			continue
		}
		if other.Label != c.Label {
			cell.Label += " → " + other.Label
		}
		pairs = append(pairs, pair{cell, c, other})
		delete(unmatched, cell.key)
	}
	for _, c := range sideB {
		if cell := matched(c, across); unmatched[cell.key] != nil {
			onlyB = append(onlyB, cell)
		}
	}
	if len(pairs) == 0 {
		return nil, nil, nil, nothingInCommon(a, b, sideA, sideB, across)
	}
	return pairs, onlyA, onlyB, nil
}

func matched(c *cells.Cell, across []string) Cell {
	key := c.Key.Without(across...)
	m := Cell{Label: c.Label, Settings: key.Settings(), key: key}
	if !slices.Contains(across, "nodes") {
		m.nodes = c.Nodes
	}
	return m
}

// sideOf returns the cells of a side, of which no two may differ in what is compared
// across alone.
func sideOf(name string, s *runs.Set, across []string) ([]*cells.Cell, error) {
	side := cells.Of(&s.Header.Experiment, s.Runs).Cells()
	known := make(map[runs.Key]*cells.Cell)
	labels, places := make(map[string]int), make(map[runs.Key]int)
	for _, c := range side {
		rest := c.Key.Without(across...)
		if other := known[rest]; other != nil && other.Key != c.Key {
			return nil, fmt.Errorf("compare: %s (%s) has cells that differ in %s alone (%s), which is compared across; "+
				"hand in one of them on each side", name, s.Name(), strings.Join(across, " and "), contrast(other.Key, c.Key))
		}
		known[rest] = c
		rank(labels, c.Label)
		rank(places, c.Key.Place())
	}
	slices.SortStableFunc(side, func(x, y *cells.Cell) int {
		return cmp.Or(places[x.Key.Place()]-places[y.Key.Place()], labels[x.Label]-labels[y.Label], x.Nodes-y.Nodes)
	})
	return side, nil
}

// rank numbers things in the order in which they first appear.
func rank[K comparable](ranks map[K]int, k K) {
	if _, known := ranks[k]; !known {
		ranks[k] = len(ranks)
	}
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
func nothingInCommon(a, b *runs.Set, sideA, sideB []*cells.Cell, across []string) error {
	var lines, names []string
	for _, d := range runs.Dimensions() {
		va, vb := valuesOf(sideA, d), valuesOf(sideB, d)
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

// withinClocks says of a significant change of a synchronization delay that it may come
// from clocks of several hosts alone; "" where it may not.
func (p pair) withinClocks(m runs.Metric, r Row) string {
	if !r.Significant || !m.Time() || !slices.Contains(runs.SyncDelays(), m.Name) {
		return ""
	}
	bound := clockBound(p.a.Good) + clockBound(p.b.Good)
	if math.Abs(*r.B.Median-*r.A.Median) > bound || bound == 0 {
		return ""
	}
	return fmt.Sprintf("the hosts' clocks are known to ± %s only, both sides together: the change may be theirs", units.Time(bound))
}

// tooShort says of how many runs the delay is shorter than clocks can tell.
func tooShort(c *cells.Cell, side string, m runs.Metric) []string {
	n := 0
	for _, r := range c.Good {
		if r.SyncDelayTooShort() {
			n++
		}
	}
	if n == 0 || !slices.Contains(runs.SyncDelays(), m.Name) {
		return nil
	}
	return []string{fmt.Sprintf("%s: the delay of %d of %d runs is shorter than the hosts' clocks can tell, and is left out",
		side, n, len(c.Good))}
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

func hostFacts(list []*runs.Result) map[string]map[string]map[string]int {
	facts := make(map[string]map[string]map[string]int)
	for _, host := range cells.Grouped(hostsOf(list), func(h runs.Host) string { return h.Name }) {
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
