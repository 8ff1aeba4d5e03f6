package doctor

import (
	"fmt"
	"math"
	"slices"
	"time"

	"dmebench/internal/platform/clock"
	"dmebench/units"
)

// Path is what was measured from one host to another.
type Path struct {
	From string `json:"from"` // names of hosts
	To   string `json:"to"`
	TCP  Way    `json:"tcp"`
	UDP  Way    `json:"udp"`

	// By how much the monotonic clock of To is ahead of From's, and the bound on the
	// error of that, in nanoseconds; nil if no datagram came back, or if what came
	// back contradicts itself by at least ContradictionNS: a clock was set meanwhile.
	OffsetNS        *int64 `json:"offset_ns"`
	BoundNS         *int64 `json:"bound_ns"`
	ContradictionNS int64  `json:"contradiction_ns,omitempty"`
}

// Way is what was measured of one kind of traffic along a path.
type Way struct {
	Sent      int    `json:"sent"` // questions
	Lost      int    `json:"lost"` // not answered
	RTTMin    int64  `json:"rtt_min_ns"`
	RTTMedian int64  `json:"rtt_median_ns"`
	RTTMax    int64  `json:"rtt_max_ns"`
	Error     string `json:"error,omitempty"` // why nothing came back
	Reason    string `json:"reason,omitempty"`
}

// Passes reports whether anything came back.
func (w *Way) Passes() bool { return w.Sent > w.Lost }

func newWay(network string, sent int, trips []time.Duration, err error) Way {
	w := Way{Sent: sent, Lost: sent - len(trips)}
	if n := len(trips); n > 0 {
		slices.Sort(trips)
		w.RTTMin, w.RTTMedian, w.RTTMax = int64(trips[0]), int64(trips[n/2]+trips[(n-1)/2])/2, int64(trips[n-1])
	} else if err != nil {
		w.Error, w.Reason = err.Error(), whyNot(network, err)
	}
	return w
}

func (p *Path) way(network string) *Way {
	if network == "tcp" {
		return &p.TCP
	}
	return &p.UDP
}

// judgeReach says which hosts do not reach which. A finding about all paths of a host
// is reported once.
func judgeReach(network string, hosts []Host, paths []Path) (all []Finding) {
	address, reported := make(map[string]string), make(map[*Path]bool)
	for _, h := range hosts {
		address[h.Name] = h.Address
	}
	// report reports the paths from a host, to a host, or from one to the other ("" for any),
	// if none of them passes and none has been reported.
	report := func(from, to string, eitherWay bool, found, do string) {
		var cut []*Path
		for i := range paths {
			p := &paths[i]
			if (from == "" || p.From == from) && (to == "" || p.To == to) || eitherWay && p.From == to {
				if p.way(network).Passes() || reported[p] {
					return
				}
				cut = append(cut, p)
			}
		}
		if len(cut) < 2 && (from == "" || to == "") {
			return
		}
		for _, p := range cut {
			reported[p] = true
		}
		w := cut[0].way(network)
		all = append(all, fine("reach-"+network, "%s by %s: %s", found, network, w.Error).
			raise(true, Problem, w.Reason).raise(true, Problem, do).along(from, to))
	}
	report("", "", false, "no host reaches any other one",
		"let "+network+" pass between all hosts, on all ports that systems give out by themselves")
	for _, h := range hosts {
		let := fmt.Sprintf("see whether %s is the address by which the others know %s (agent --address), and let %s to it pass",
			h.Address, h.Name, network)
		report("", h.Name, true, h.Name+" and the other hosts do not reach one another", let+", and from it")
		report("", h.Name, false, "no other host reaches "+h.Name, let)
		report(h.Name, "", false, h.Name+" reaches no other host", fmt.Sprintf("let %s from %s pass, and its answers", network, h.Address))
	}
	for _, p := range paths {
		report(p.From, p.To, false, p.From+" does not reach "+p.To,
			fmt.Sprintf("let %s from %s to %s pass", network, address[p.From], address[p.To]))
	}
	if all == nil {
		all = []Finding{fine("reach-"+network, "every host reaches every other one by %s", network)}
	}
	return all
}

// judgeTrips says where datagrams get lost unintentionally, and which paths are much longer than
// the others.
func judgeTrips(paths []Path) (all []Finding) {
	// Up to some loss, what a run over raw datagrams measures stays the same; from much
	// loss on, every run over UDP changes.
	const some, much, far = 0.001, 0.01, 3
	paths = slices.DeleteFunc(slices.Clone(paths), func(p Path) bool { return !p.UDP.Passes() })
	if len(paths) == 0 {
		return nil
	}
	var medians []int64
	for _, p := range paths {
		medians = append(medians, p.UDP.RTTMedian)
	}
	slices.Sort(medians)
	usual, sent, lost := medians[(len(medians)-1)/2], 0, 0
	for _, p := range paths {
		w := p.UDP
		sent, lost = sent+w.Sent, lost+w.Lost
		share := float64(w.Lost) / float64(w.Sent)
		const do = "see whether the link is loaded, and whether both hosts had processors to spare"
		for _, f := range []Finding{
			fine("loss", "%d of %d datagrams from %s to %s and back were lost", w.Lost, w.Sent, p.From, p.To).
				raise(share > some, Note, do).raise(share > much && w.Lost > 1, Warning, do),
			fine("round-trip", "%s from %s to %s and back; %s is usual",
				units.Time(float64(w.RTTMedian)), p.From, p.To, units.Time(float64(usual))).raise(w.RTTMedian > far*usual, Note,
				"place nodes with that in mind: algorithms that pass a token along meet such a path often or never"),
		} {
			if f.Level != OK {
				all = append(all, f.along(p.From, p.To))
			}
		}
	}
	if all == nil {
		all = append(all, fine("loss", "%d of %d datagrams were lost", lost, sent), fine("round-trip", "medians of %s to %s",
			units.Time(float64(medians[0])), units.Time(float64(medians[len(medians)-1]))))
	}
	return all
}

// judgeOffsets looks for offsets that cannot be true together: those of a path there
// and back, and those of two paths that make a third. In the time that measuring took,
// clocks may have drifted.
func judgeOffsets(hosts []Host, paths []Path, took time.Duration) []Finding {
	const do = "a clock was set or slewed during the test: wait until the time services have settled, and look again"
	type offset struct{ ahead, bound float64 }
	known := make(map[[2]string]offset) // from and to
	widest := 0.0
	for _, p := range paths {
		if p.ContradictionNS > 0 {
			return []Finding{fine("clock-offsets", "a clock of %s or %s was set by at least %s while they were compared",
				p.From, p.To, units.Time(float64(p.ContradictionNS))).raise(true, Problem, do).along(p.From, p.To)}
		}
		if p.OffsetNS != nil && p.BoundNS != nil {
			known[[2]string{p.From, p.To}] = offset{float64(*p.OffsetNS), float64(*p.BoundNS)}
			widest = max(widest, float64(*p.BoundNS))
		}
	}
	if len(known) == 0 {
		return nil
	}
	f := fine("clock-offsets", "agree with one another; known to within %s, or better", units.Time(widest))
	excess, drift := 0.0, took.Seconds()*float64(clock.MaxDrift)
	for _, a := range hosts {
		known[[2]string{a.Name, a.Name}] = offset{}
		for _, b := range hosts {
			there, ok := known[[2]string{a.Name, b.Name}]
			for _, c := range hosts {
				onwards, ok2 := known[[2]string{b.Name, c.Name}]
				whole, ok3 := known[[2]string{a.Name, c.Name}]
				apart, allowed := math.Abs(there.ahead+onwards.ahead-whole.ahead), there.bound+onwards.bound+whole.bound+drift
				if by := apart - allowed; ok && ok2 && ok3 && by > excess {
					excess = by
					f = fine("clock-offsets", "the offset of %s to %s and that by way of %s differ by %s, and their bounds allow %s",
						a.Name, c.Name, b.Name, units.Time(apart), units.Time(allowed)).raise(true, Problem, do)
				}
			}
		}
	}
	return []Finding{f}
}
