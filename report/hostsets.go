package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dmebench/report/units"
	"dmebench/result"
)

// hostSet is the runs that were made on the same hosts.
type hostSet struct {
	names []string         // of the hosts, in the order in which the first run has them
	runs  []*result.Result // also those that did not end well
	good  []*result.Result
}

// results returns what came of all runs.
func (c *collection) results() []*result.Result {
	var all []*result.Result
	for _, r := range c.runs {
		all = append(all, r.Result)
	}
	return all
}

// onHosts reports whether any run was made on several hosts.
func (c *collection) onHosts() bool { return len(c.hostSets) > 0 }

// findHosts divides the runs that have hosts by which these are.
func (c *collection) findHosts() {
	placed := slices.DeleteFunc(c.results(), func(r *result.Result) bool { return len(r.Hosts) == 0 })
	for _, runs := range Grouped(placed, func(r *result.Result) string { return r.Key().Get("hosts") }) {
		s := &hostSet{runs: runs}
		for _, h := range runs[0].Hosts {
			s.names = append(s.names, h.Name)
		}
		for _, r := range runs {
			if result.Usable(r) {
				s.good = append(s.good, r)
			}
		}
		c.hostSets = append(c.hostSets, s)
	}
}

// hostsOf says on which hosts a run was made, as a condition; nothing of one on this
// host alone.
func (c *collection) hostsOf(r result.Run) []string {
	key := c.keys[r.Result].Get("hosts")
	for _, s := range c.hostSets {
		if s.runs[0].Key().Get("hosts") == key {
			return []string{"on " + c.nameHosts(s)}
		}
	}
	return nil
}

// nameHosts counts the hosts of a set, and names them where another set has as many.
func (c *collection) nameHosts(s *hostSet) string {
	alike := slices.ContainsFunc(c.hostSets, func(other *hostSet) bool { return other != s && len(other.names) == len(s.names) })
	if !alike {
		return plural(len(s.names), "host")
	}
	return fmt.Sprintf("%s (%s)", plural(len(s.names), "host"), enumerated(s.names))
}

// mostNames is how many names of one kind a sentence has.
const mostNames = 8

// enumerated writes names, the first few of many.
func enumerated(names []string) string {
	if len(names) > mostNames {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNames], ", "), len(names)-mostNames)
	}
	return strings.Join(names, ", ")
}

// placement is which nodes were where in some of the runs.
type placement struct {
	nodes int               // N
	text  string            // identifies it
	at    map[string]string // the nodes of each host
	runs  int
}

// placements returns the placements of a set's runs: by the number of nodes, the most
// frequent first.
func (s *hostSet) placements() []placement {
	text := func(r *result.Result) string { return fmt.Sprint(r.Nodes) + whereabouts(r) }
	var all []placement
	for _, runs := range Grouped(s.runs, text) {
		p := placement{nodes: runs[0].Nodes, text: whereabouts(runs[0]), at: make(map[string]string), runs: len(runs)}
		for _, h := range runs[0].Hosts {
			p.at[h.Name] = numbers(h.Nodes)
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b placement) int { return cmp.Or(a.nodes-b.nodes, b.runs-a.runs) })
	return all
}

// whereabouts identifies the placement of a run's nodes.
func whereabouts(r *result.Result) string {
	var parts []string
	for _, h := range r.Hosts {
		nodes := slices.Sorted(slices.Values(h.Nodes))
		parts = append(parts, fmt.Sprint(h.Name, nodes))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// mostSpans is how many ranges of nodes are written out.
const mostSpans = 6

// numbers writes the numbers of nodes: "1–4, 9", or "1, 5, …, 97" where they are
// equally far apart.
func numbers(nodes []int) string {
	nodes = slices.Sorted(slices.Values(nodes))
	if len(nodes) == 0 {
		return units.Missing
	}
	last := len(nodes) - 1
	if step := evenly(nodes); step > 1 && len(nodes) > 4 {
		return fmt.Sprintf("%d, %d, …, %d", nodes[0], nodes[1], nodes[last])
	}
	var parts []string
	for i := 0; i <= last; {
		j := i
		for j < last && nodes[j+1] == nodes[j]+1 {
			j++
		}
		switch {
		case j > i+1:
			parts = append(parts, fmt.Sprintf("%d–%d", nodes[i], nodes[j]))
		case j == i+1:
			parts = append(parts, fmt.Sprint(nodes[i]), fmt.Sprint(nodes[j]))
		default:
			parts = append(parts, fmt.Sprint(nodes[i]))
		}
		i = j + 1
	}
	if len(parts) > mostSpans {
		return fmt.Sprintf("%s, … (%d nodes)", strings.Join(parts[:mostSpans-1], ", "), len(nodes))
	}
	return strings.Join(parts, ", ")
}

// evenly returns the distance between neighbours where it is the same for all, else 0.
func evenly(nodes []int) int {
	if len(nodes) < 2 {
		return 0
	}
	step := nodes[1] - nodes[0]
	for i := 2; i < len(nodes); i++ {
		if nodes[i]-nodes[i-1] != step {
			return 0
		}
	}
	return step
}

// undecided is for how many pairs of entries the clocks cannot tell whether they
// overlapped, in all of the cell's runs.
func (c *cell) undecided() uint64 {
	var n uint64
	for _, r := range slices.Concat(c.good, c.bad) {
		n += r.Safety.Undecided
	}
	return n
}

// lostUpdates counts those of the shared resource, in all of the cell's runs.
func (c *cell) lostUpdates() uint64 {
	var n uint64
	for _, r := range slices.Concat(c.good, c.bad) {
		if r.Safety.Resource != nil {
			n += r.Safety.Resource.LostUpdates
		}
	}
	return n
}

// clockBound is the largest bound on the error of a delay that crosses hosts, in
// nanoseconds; 0 where none did.
func (c *cell) clockBound() float64 {
	return slices.Max(append(c.values(result.SyncDelayBound), 0))
}
