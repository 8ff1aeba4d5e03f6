package doctor

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"dmebench/internal/clock"
	"dmebench/report/units"
)

// Path is what was measured from one host to another.
type Path struct {
	From string `json:"from"` // names of hosts
	To   string `json:"to"`
	TCP  Way    `json:"tcp"`
	UDP  Way    `json:"udp"`

	// By how much the monotonic clock of To is ahead of From's, and the bound on the
	// error of that, in nanoseconds; nil where no datagram came back, or what came
	// back contradicts itself by at least ContradictionNS: a clock was set meanwhile.
	OffsetNS        *int64 `json:"offset_ns"`
	BoundNS         *int64 `json:"bound_ns"`
	ContradictionNS int64  `json:"contradiction_ns,omitempty"`
}

// Way is what was measured of one kind of traffic along a path.
type Way struct {
	Sent      int    `json:"sent"` // questions
	Lost      int    `json:"lost"` // that were not answered
	RTTMin    int64  `json:"rtt_min_ns"`
	RTTMedian int64  `json:"rtt_median_ns"`
	RTTMax    int64  `json:"rtt_max_ns"`
	Error     string `json:"error,omitempty"` // why nothing came back
	Reason    string `json:"reason,omitempty"`
}

// Passes reports whether anything came back.
func (w Way) Passes() bool { return w.Sent > w.Lost }

// NewWay summarises the round trips of questions that were sent that many times.
func NewWay(sent int, roundTrips []time.Duration) Way {
	w := Way{Sent: sent, Lost: sent - len(roundTrips)}
	if len(roundTrips) == 0 {
		return w
	}
	sorted := slices.Sorted(slices.Values(roundTrips))
	w.RTTMin, w.RTTMax = int64(sorted[0]), int64(sorted[len(sorted)-1])
	w.RTTMedian = int64(sorted[len(sorted)/2])
	if len(sorted)%2 == 0 {
		w.RTTMedian = (w.RTTMedian + int64(sorted[len(sorted)/2-1])) / 2
	}
	return w
}

// traffic is one of the kinds of it, for judges.
type traffic struct {
	name string
	of   func(*Path) Way
}

var kindsOfTraffic = []traffic{
	{"tcp", func(p *Path) Way { return p.TCP }},
	{"udp", func(p *Path) Way { return p.UDP }},
}

// judgePaths says what was measured between hosts means for runs.
func judgePaths(hosts []Host, paths []Path, took time.Duration) []Finding {
	if len(paths) == 0 {
		return nil
	}
	var all []Finding
	for _, k := range kindsOfTraffic {
		all = append(all, judgeReach(k, hosts, paths)...)
	}
	all = append(all, judgeLoss(paths)...)
	all = append(all, judgeRoundTrips(paths)...)
	all = append(all, judgeOffsets(paths, took)...)
	return all
}

// judgeReach says which hosts do not reach which. What holds for all paths of a host
// is said once.
func judgeReach(k traffic, hosts []Host, paths []Path) []Finding {
	check := "reach-" + k.name
	var cut []*Path
	in, out := make(map[string][]*Path), make(map[string][]*Path) // that are cut, by host
	ins, outs := make(map[string]int), make(map[string]int)       // that were tried
	for i := range paths {
		p := &paths[i]
		ins[p.To]++
		outs[p.From]++
		if !k.of(p).Passes() {
			cut = append(cut, p)
			in[p.To], out[p.From] = append(in[p.To], p), append(out[p.From], p)
		}
	}
	if len(cut) == 0 {
		return []Finding{{Check: check, Found: fmt.Sprintf("every host reaches every other one by %s", k.name)}}
	}
	address := func(name string) string {
		i := slices.IndexFunc(hosts, func(h Host) bool { return h.Name == name })
		if i < 0 {
			return name
		}
		return hosts[i].Address
	}
	if len(cut) == len(paths) && len(paths) > 2 {
		return []Finding{{
			Check: check, Level: Problem, Found: fmt.Sprintf("no host reaches any other one by %s: %s", k.name, k.of(cut[0]).Error),
			Do: fmt.Sprintf("%s; let %s pass between the hosts' addresses (%s), on all ports that systems give out by themselves",
				k.of(cut[0]).Reason, k.name, addresses(hosts)),
		}}
	}
	var all []Finding
	told := make(map[*Path]bool)
	whole := func(name string, here []*Path, tried int, f Finding) {
		if len(here) < 2 || len(here) < tried || slices.ContainsFunc(here, func(p *Path) bool { return told[p] }) {
			return
		}
		for _, p := range here {
			told[p] = true
		}
		f.Check, f.Level = check, Problem
		f.Found += ": " + k.of(here[0]).Error
		f.Do = k.of(here[0]).Reason + "; " + f.Do
		all = append(all, f)
	}
	for _, h := range hosts {
		if len(in[h.Name]) == ins[h.Name] && len(out[h.Name]) == outs[h.Name] {
			whole(h.Name, slices.Concat(in[h.Name], out[h.Name]), ins[h.Name]+outs[h.Name], Finding{
				To: h.Name, Found: fmt.Sprintf("%s and the other hosts do not reach one another by %s", h.Name, k.name),
				Do: fmt.Sprintf("see whether %s is the address by which the others know %s (agent --address), and let %s pass to and from it",
					address(h.Name), h.Name, k.name),
			})
			continue
		}
		whole(h.Name, in[h.Name], ins[h.Name], Finding{
			To: h.Name, Found: fmt.Sprintf("no other host reaches %s by %s", h.Name, k.name),
			Do: fmt.Sprintf("see whether %s is the address by which the others know %s (agent --address), and let %s to it pass",
				address(h.Name), h.Name, k.name),
		})
		whole(h.Name, out[h.Name], outs[h.Name], Finding{
			From: h.Name, Found: fmt.Sprintf("%s reaches no other host by %s", h.Name, k.name),
			Do: fmt.Sprintf("let %s from %s pass, and its answers", k.name, address(h.Name)),
		})
	}
	for _, p := range cut {
		if told[p] {
			continue
		}
		w := k.of(p)
		all = append(all, Finding{
			Check: check, Level: Problem, From: p.From, To: p.To,
			Found: fmt.Sprintf("%s does not reach %s by %s: %s", p.From, p.To, k.name, w.Error),
			Do:    fmt.Sprintf("%s; let %s from %s to %s pass", w.Reason, k.name, address(p.From), address(p.To)),
		})
	}
	return all
}

// addresses names the hosts' addresses, some of them where there are many.
func addresses(hosts []Host) string {
	const most = 4
	text := ""
	for i, h := range hosts {
		switch {
		case i == most:
			return text + fmt.Sprintf(" and %d more", len(hosts)-most)
		case i > 0:
			text += ", "
		}
		text += h.Address
	}
	return text
}

// Loss at which what a run over raw datagrams measures changes, and at which every
// run over UDP does.
const (
	someLoss = 0.001
	muchLoss = 0.01
)

// judgeLoss says where datagrams get lost that nobody lost on purpose.
func judgeLoss(paths []Path) []Finding {
	var all []Finding
	sent, lost := 0, 0
	for _, p := range paths {
		w := p.UDP
		if !w.Passes() {
			continue
		}
		sent, lost = sent+w.Sent, lost+w.Lost
		share := float64(w.Lost) / float64(w.Sent)
		if share <= someLoss {
			continue
		}
		f := Finding{
			Check: "loss", Level: Note, From: p.From, To: p.To,
			Found: fmt.Sprintf("%d of %d datagrams from %s to %s and back were lost", w.Lost, w.Sent, p.From, p.To),
			Do:    "see whether the link is loaded, and whether both hosts had processors to spare",
		}
		if share > muchLoss && w.Lost > 1 {
			f.Level = Warning
		}
		all = append(all, f)
	}
	if all == nil && sent > 0 {
		all = append(all, Finding{Check: "loss", Found: fmt.Sprintf("%d of %d datagrams were lost", lost, sent)})
	}
	return all
}

// far is how many times the usual round trip makes a path an unusual one.
const far = 3

// judgeRoundTrips names paths that are much longer than the others.
func judgeRoundTrips(paths []Path) []Finding {
	var medians []int64
	way := func(p *Path) Way {
		if p.UDP.Passes() {
			return p.UDP
		}
		return p.TCP
	}
	for i := range paths {
		if w := way(&paths[i]); w.Passes() {
			medians = append(medians, w.RTTMedian)
		}
	}
	if len(medians) == 0 {
		return nil
	}
	slices.Sort(medians)
	usual := medians[(len(medians)-1)/2]
	var all []Finding
	for i := range paths {
		p := &paths[i]
		if w := way(p); w.Passes() && w.RTTMedian > far*usual {
			all = append(all, Finding{
				Check: "round-trip", Level: Note, From: p.From, To: p.To,
				Found: fmt.Sprintf("%s from %s to %s and back, where %s is usual",
					units.Time(float64(w.RTTMedian)), p.From, p.To, units.Time(float64(usual))),
				Do: "place nodes with that in mind: algorithms that pass a token along meet such a path often or never",
			})
		}
	}
	if all == nil {
		all = append(all, Finding{Check: "round-trip", Found: fmt.Sprintf("medians of %s to %s",
			units.Time(float64(medians[0])), units.Time(float64(medians[len(medians)-1])))})
	}
	return all
}

const settle = "a clock was set or slewed meanwhile: wait until the time services have settled, and look again"

// judgeOffsets looks for offsets that cannot be true together: those of a path there
// and back, and those of two paths that make a third. In the time that measuring took,
// clocks may have drifted.
func judgeOffsets(paths []Path, took time.Duration) []Finding {
	drift := int64(took.Seconds() * float64(clock.MaxDrift))
	type pair struct{ from, to string }
	known := make(map[pair]*Path)
	var widest *Path
	for i := range paths {
		p := &paths[i]
		if p.ContradictionNS > 0 {
			return []Finding{{
				Check: "clock-offsets", Level: Problem, From: p.From, To: p.To,
				Found: fmt.Sprintf("a clock of %s or %s was set by at least %s while they were compared",
					p.From, p.To, units.Time(float64(p.ContradictionNS))),
				Do: settle,
			}}
		}
		if p.OffsetNS == nil || p.BoundNS == nil {
			continue
		}
		known[pair{p.From, p.To}] = p
		if widest == nil || *p.BoundNS > *widest.BoundNS {
			widest = p
		}
	}
	if widest == nil {
		return nil
	}
	var worst Finding
	var excess int64 = math.MinInt64
	note := func(apart, allowed int64, what string) {
		if by := max(apart, -apart) - allowed - drift; by > 0 && by > excess {
			excess = by
			worst = Finding{
				Check: "clock-offsets", Level: Problem,
				Found: fmt.Sprintf("%s differ by %s, and their bounds allow %s",
					what, units.Time(math.Abs(float64(apart))), units.Time(float64(allowed+drift))),
				Do: settle,
			}
		}
	}
	names := make(map[string]bool)
	for at := range known {
		names[at.from], names[at.to] = true, true
	}
	sorted := slices.Sorted(maps.Keys(names))
	for i, a := range sorted {
		for _, b := range sorted[i+1:] {
			there, back := known[pair{a, b}], known[pair{b, a}]
			if there == nil {
				continue
			}
			if back != nil {
				note(*there.OffsetNS+*back.OffsetNS, *there.BoundNS+*back.BoundNS, fmt.Sprintf("the offsets seen by %s and %s", a, b))
			}
			for _, c := range sorted {
				onwards, whole := known[pair{b, c}], known[pair{a, c}]
				if c == a || c == b || onwards == nil || whole == nil {
					continue
				}
				note(*there.OffsetNS+*onwards.OffsetNS-*whole.OffsetNS, *there.BoundNS+*onwards.BoundNS+*whole.BoundNS,
					fmt.Sprintf("the offset of %s to %s and that by way of %s", a, c, b))
			}
		}
	}
	if excess > 0 {
		return []Finding{worst}
	}
	return []Finding{{Check: "clock-offsets", Found: fmt.Sprintf("agree with one another; known to within %s, or better",
		units.Time(float64(*widest.BoundNS)))}}
}
