package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"dmebench/internal/platform/environment"
	"dmebench/report/cells"
	"dmebench/report/page"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// newListing begins a table with a name in each row.
func newListing(id, title, head string, names []string) page.Table {
	t := page.Table{ID: id, Title: title, Columns: []page.Column{{Key: "name", Title: head, Type: page.Text}}}
	for _, name := range names {
		t.Rows = append(t.Rows, page.Row{Values: []page.Value{page.Word(name)}})
	}
	return t
}

// addColumn adds a value to each row, unless all are empty.
func addColumn(t *page.Table, name string, words bool, values []page.Value) {
	if !slices.ContainsFunc(values, func(v page.Value) bool { return v.Text != "" && v.Text != units.Missing }) {
		return
	}
	column := page.Column{Key: units.Slug(name), Title: name, Type: page.Number}
	if words {
		column.Type = page.Text
		column.Wide = slices.ContainsFunc(values, func(v page.Value) bool { return utf8.RuneCountInString(v.Text) > lineLength })
	}
	t.Columns = append(t.Columns, column)
	for i := range t.Rows {
		t.Rows[i].Values = append(t.Rows[i].Values, values[i])
	}
}

// lineLength is from how many letters on a text is broken into lines.
const lineLength = 24

// hostTables say what there is to say about hosts, for each set of them.
func (p *paper) hostTables() (all []page.Table) {
	for i, s := range p.hostSets {
		of, id := "", ""
		if len(p.hostSets) > 1 {
			of, id = ": "+enumerated(s.names), fmt.Sprintf("-%d", i+1)
		}
		hosts := s.table("hosts"+id, "Hosts"+of)
		hosts.Note = s.about()
		placed, links := s.placementTable("placement"+id, "Placement of nodes"+of), linkTable("links"+id, "Links between hosts"+of, s.links())
		all = append(all, hosts, placed)
		all = append(all, some(links)...)
	}
	for i := range all {
		all[i].Folded = true
	}
	return all
}

// about says how many hosts there were, and for how many runs.
func (s *hostSet) about() string {
	text := fmt.Sprintf("%s on %s.", units.Counted(len(s.runs), "run"), units.Counted(len(s.names), "host"))
	if n := len(s.runs) - len(s.good); n > 0 {
		text += fmt.Sprintf(" Times and loads are those of the %d that ended well.", len(s.good))
	}
	return text
}

// differences says in what the hosts differ, by the environments that runs found.
func (s *hostSet) differences() []string {
	facts := make(map[string]map[string]string)
	for _, name := range s.names {
		var found []map[string]string
		for _, h := range s.each(name, s.runs) {
			found = append(found, h.Environment)
		}
		facts[name] = make(map[string]string)
		for fact, values := range Facts(found) { // a host that was updated between runs differs from itself
			facts[name][fact] = strings.Join(slices.Sorted(maps.Keys(values)), " or ")
		}
	}
	return environment.Differences(facts)
}

// each returns a host as each of the runs has it.
func (s *hostSet) each(name string, list []*runs.Result) []runs.Host {
	var all []runs.Host
	for _, r := range list {
		for _, h := range r.Hosts {
			if h.Name == name {
				all = append(all, h)
			}
		}
	}
	return all
}

// column adds a value for each host.
func (s *hostSet) column(t *page.Table, name string, words bool, of func(host string) page.Value) {
	var values []page.Value
	for _, host := range s.names {
		values = append(values, of(host))
	}
	addColumn(t, name, words, values)
}

// table describes each host: what it is, how its clock went, and how busy it was.
func (s *hostSet) table(id, title string) page.Table {
	t := newListing(id, title, "host", s.names)
	for _, c := range []struct {
		name string
		of   func(runs.Host) string
	}{
		{"address", func(h runs.Host) string { return h.Address }},
		{"labels", func(h runs.Host) string { return runs.Settings(h.Labels) }},
		{"cores", func(h runs.Host) string { return h.Environment["cores"] }},
		{"CPU", func(h runs.Host) string { return h.Environment["cpu"] }},
		{"memory", func(h runs.Host) string { return memory(h.Environment["memory"]) }},
		{"kernel", func(h runs.Host) string { return h.Environment["kernel"] }},
		{"clock source", func(h runs.Host) string { return h.Environment["clock_source"] }},
	} {
		s.column(&t, c.name, true, func(host string) page.Value {
			values := make(map[string]int)
			for _, h := range s.each(host, s.runs) {
				if v := c.of(h); v != "" {
					values[v]++
				}
			}
			return page.Word(cmp.Or(differing(values), units.Missing))
		})
	}
	s.column(&t, "clock ahead of the coordinator’s", false, func(host string) page.Value {
		var at []bounded
		for _, c := range s.clocks(host) {
			at = append(at, bounded{float64(c.OffsetNS), float64(c.BoundNS)})
		}
		return offsetOf(at)
	})
	s.column(&t, "set in runs", false, func(host string) page.Value {
		n := 0
		for _, c := range s.clocks(host) {
			if c.SetNS != 0 {
				n++
			}
		}
		return page.Value{Text: map[bool]string{true: fmt.Sprint(n)}[n > 0]}
	})
	s.column(&t, "clock fast by", false, func(host string) page.Value {
		var fast []float64
		for _, c := range s.clocks(host) {
			if drift, known := c.Drift(); known {
				fast = append(fast, drift)
			}
		}
		return driftOf(fast)
	})
	for _, c := range []struct {
		name string
		of   func(*runs.HostLoad) float64
	}{
		{"cores busy", func(l *runs.HostLoad) float64 { return l.Busy }},
		{"with the workers", func(l *runs.HostLoad) float64 { return l.Workers }},
		{"with others", byOthers},
	} {
		s.column(&t, c.name, false, func(host string) page.Value {
			// To hundredths: they are not known any better.
			return show(toHundredths(stats.Median(s.loads(host, c.of))), units.Plain())
		})
	}
	s.column(&t, "memory free, at least", false, func(host string) page.Value {
		left := s.loads(host, func(l *runs.HostLoad) float64 { return float64(l.MemoryFree) })
		if left == nil {
			return page.Word(units.Missing)
		}
		least := max(0, slices.Min(left))
		return page.Value{Number: page.Known(least), Text: units.Bytes(uint64(least))}
	})
	return t
}

// memory writes an amount as the kernel has it, "4026824 kB", for a reader.
func memory(text string) string {
	n, err := strconv.ParseUint(strings.TrimSuffix(text, " kB"), 10, 53)
	if err != nil {
		return text
	}
	return units.Bytes(n * 1024)
}

// clocks are what runs know of the clock of a host.
func (s *hostSet) clocks(host string) (all []*runs.HostClock) {
	for _, h := range s.each(host, s.good) {
		if h.Clock != nil {
			all = append(all, h.Clock)
		}
	}
	return all
}

// driftOf writes by how many parts in a million a clock runs fast, to hundredths.
func driftOf(ppm []float64) page.Value {
	return show(toHundredths(stats.Median(ppm)), units.Scale{Divisor: 1, Unit: "ppm"})
}

// bounded is an offset of two clocks with its bound, both in nanoseconds.
type bounded struct{ offset, bound float64 }

// offsetOf writes what an offset was at the beginning of the last run, and, where runs do not
// agree within their bounds, the range in which it drifted.
func offsetOf(all []bounded) page.Value {
	if len(all) == 0 {
		return page.Word(units.Missing)
	}
	lo, hi, bound := math.Inf(1), math.Inf(-1), 0.0
	for _, x := range all {
		lo, hi, bound = min(lo, x.offset), max(hi, x.offset), max(bound, x.bound)
	}
	last := all[len(all)-1].offset
	v := page.Value{Number: page.Known(last), Text: units.Bounded(last, bound), Hint: "at the beginning of the last run"}
	if hi-lo > 2*bound {
		v.Small = units.Time(lo) + " to " + units.Time(hi)
	}
	return v
}

// loads is how busy a host was in each run that says so.
func (s *hostSet) loads(host string, of func(*runs.HostLoad) float64) (all []float64) {
	for _, h := range s.each(host, s.good) {
		if h.Load != nil {
			all = append(all, of(h.Load))
		}
	}
	return all
}

func toHundredths(e stats.Estimate) stats.Estimate {
	for _, x := range []*float64{&e.Median, &e.Lo, &e.Hi, &e.Min, &e.Max} {
		*x = math.Round(100**x) / 100
	}
	return e
}

// byOthers is how many cores of a host were busy with other things than the run's
// workers. The two are not read at the same instant.
func byOthers(l *runs.HostLoad) float64 { return max(0, l.Busy-l.Workers) }

// placementTable says which nodes were where: for each number of nodes in the first of its
// runs. A warning says where others placed them otherwise.
func (s *hostSet) placementTable(id, title string) page.Table {
	t := newListing(id, title, "host", s.names)
	sizes := cells.Grouped(s.runs, func(r *runs.Result) int { return r.Nodes })
	slices.SortFunc(sizes, func(a, b []*runs.Result) int { return a[0].Nodes - b[0].Nodes })
	for _, same := range sizes {
		s.column(&t, fmt.Sprintf("N = %d", same[0].Nodes), true, func(host string) page.Value {
			at := s.each(host, same[:1])
			if len(at) == 0 {
				return page.Word(units.Missing)
			}
			return page.Word(numbers(at[0].Nodes))
		})
	}
	return t
}

// hostSet is the runs that were made on the same hosts.
type hostSet struct {
	names []string       // of the hosts, in the order in which the first run has them
	runs  []*runs.Result // also those that did not end well
	good  []*runs.Result
}

// results returns what came of all runs.
func (c *collection) results() []*runs.Result {
	var all []*runs.Result
	for _, r := range c.runs {
		all = append(all, r.Result)
	}
	return all
}

// onHosts reports whether any run was made on several hosts.
func (c *collection) onHosts() bool { return len(c.hostSets) > 0 }

// findHosts divides the runs that have hosts by which these are.
func (c *collection) findHosts() {
	placed := slices.DeleteFunc(c.results(), func(r *runs.Result) bool { return len(r.Hosts) == 0 })
	for _, list := range cells.Grouped(placed, func(r *runs.Result) string { return r.Key().Get("hosts") }) {
		s := &hostSet{runs: list}
		for _, h := range list[0].Hosts {
			s.names = append(s.names, h.Name)
		}
		for _, r := range list {
			if runs.Usable(r) {
				s.good = append(s.good, r)
			}
		}
		c.hostSets = append(c.hostSets, s)
	}
}

// hostsOf says on which hosts a run was made, as a condition; nothing of one on this
// host alone.
func (c *collection) hostsOf(r runs.Run) []string {
	key := c.keys[r.Result].Get("hosts")
	for _, s := range c.hostSets {
		if s.runs[0].Key().Get("hosts") == key {
			return []string{"on " + c.nameHosts(s)}
		}
	}
	return nil
}

// nameHosts counts the hosts of a set, and names them if another set has as many.
func (c *collection) nameHosts(s *hostSet) string {
	alike := slices.ContainsFunc(c.hostSets, func(other *hostSet) bool { return other != s && len(other.names) == len(s.names) })
	if !alike {
		return units.Counted(len(s.names), "host")
	}
	return fmt.Sprintf("%s (%s)", units.Counted(len(s.names), "host"), enumerated(s.names))
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

// whereabouts identifies the placement of a run's nodes.
func whereabouts(r *runs.Result) string {
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

// numbers writes the numbers of nodes: "1–4, 9".
func numbers(nodes []int) string {
	nodes = slices.Sorted(slices.Values(nodes))
	var parts []string
	for i, j := 0, 0; i < len(nodes); i = j + 1 {
		for j = i; j+1 < len(nodes) && nodes[j+1] == nodes[j]+1; j++ {
		}
		text := fmt.Sprint(nodes[i])
		if j > i {
			text += "–" + fmt.Sprint(nodes[j])
		}
		parts = append(parts, text)
	}
	if len(parts) > mostSpans {
		return fmt.Sprintf("%s, … (%d nodes)", strings.Join(parts[:mostSpans-1], ", "), len(nodes))
	}
	return cmp.Or(strings.Join(parts, ", "), units.Missing)
}

// clockBound is the largest bound on the error of a delay that crosses hosts, in nanoseconds; 0 if
// none did.
func (c *cell) clockBound() float64 { return c.ClockBound() }

// link is what is known of the way from one host to another, over all runs that
// ended well.
type link struct {
	from, to     string
	sent, lost   int
	quickest     float64 // NaN if no datagram ever came back, as of all times here
	median, tail stats.Estimate
	offsets      []bounded
	control      int // runs in which no datagram passed
	drift        []float64
}

// links returns the links between the hosts of a set in the order of their names.
func (s *hostSet) links() []link {
	var found []runs.HostLink
	for _, r := range s.good {
		found = append(found, r.Links...)
	}
	var all []link
	for _, same := range cells.Grouped(found, func(l runs.HostLink) [2]string { return [2]string{l.From, l.To} }) {
		all = append(all, newLink(same[0].From, same[0].To, same))
	}
	slices.SortFunc(all, func(a, b link) int {
		place := func(name string) int { return slices.Index(s.names, name) }
		return cmp.Or(place(a.from)-place(b.from), place(a.to)-place(b.to), cmp.Compare(a.String(), b.String()))
	})
	return all
}

func newLink(from, to string, runs []runs.HostLink) link {
	l := link{from: from, to: to, quickest: math.NaN()}
	var medians, tails []float64
	for _, r := range runs {
		l.sent, l.lost = l.sent+r.Sent, l.lost+r.Lost
		if r.RTTMedian > 0 {
			medians, tails = append(medians, float64(r.RTTMedian)), append(tails, float64(r.RTTP99))
			if quick := float64(r.RTTMin); !(l.quickest <= quick) {
				l.quickest = quick
			}
		} else {
			l.control++
		}
		if r.BoundNS == nil {
			continue
		}
		l.offsets = append(l.offsets, bounded{float64(r.OffsetNS), float64(*r.BoundNS)})
		if drift, known := r.Drift(); known {
			l.drift = append(l.drift, drift)
		}
	}
	l.median, l.tail = stats.Median(medians), stats.Median(tails)
	return l
}

// String names the link: "a → b".
func (l link) String() string { return l.from + " → " + l.to }

// losses says how many exchanges had no answer.
func (l link) losses() string {
	if l.sent == 0 {
		return units.Missing
	}
	return fmt.Sprintf("%s of %s", units.Count(uint64(l.lost)), units.Count(uint64(l.sent)))
}

func linkTable(id, title string, links []link) page.Table {
	t := newListing(id, title, "from → to", units.Texts(links, link.String))
	for _, c := range []struct {
		name string
		of   func(link) page.Value
	}{
		{"round trip, least", func(l link) page.Value {
			if math.IsNaN(l.quickest) {
				return page.Word(units.Missing)
			}
			return page.Word(units.Time(l.quickest))
		}},
		{"median", func(l link) page.Value { return timeValue(l.median) }},
		{"p99", func(l link) page.Value { return timeValue(l.tail) }},
		{"lost", func(l link) page.Value { return page.Word(l.losses()) }},
		{"clock of the second ahead of the first’s", link.offset},
		{"and fast by", func(l link) page.Value { return driftOf(l.drift) }},
	} {
		var values []page.Value
		for _, l := range links {
			values = append(values, c.of(l))
		}
		addColumn(&t, c.name, false, values)
	}
	return t
}

// offset is that of the second clock, which may be known by way of the coordinator's alone.
func (l link) offset() page.Value {
	v := offsetOf(l.offsets)
	if l.control > 0 && len(l.offsets) > 0 {
		v.Small = fmt.Sprintf("by way of the coordinator’s clock in %s", units.Counted(l.control, "run"))
	}
	return v
}
