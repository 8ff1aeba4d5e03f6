package claims

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"dmebench/dme"
	"dmebench/result"
	"dmebench/workload"
)

// Circumstance is that of a run to which claims may be restricted.
type Circumstance struct {
	Loads       []dme.Load
	Ordered     bool // links keep the order of messages
	EqualDelays bool // every message takes the same time, as far as the options of the run decide
}

// Of returns the circumstance of a run; ordered says whether its network keeps
// the order of messages.
func Of(s result.Spec, ordered bool) Circumstance {
	return Circumstance{Loads: loads(s), Ordered: ordered, EqualDelays: equalDelays(s.Set)}
}

// Covers reports whether a claim speaks of runs under the circumstance, as far
// as its prediction does not say otherwise.
func (c Circumstance) Covers(claim dme.Claim) bool {
	return slices.Contains(c.Loads, claim.Load) && (c.Ordered || !claim.FIFO) && (c.EqualDelays || !claim.EqualDelays)
}

// Isolated reports whether there is one request at a time.
func (c Circumstance) Isolated() bool {
	return slices.Contains(c.Loads, dme.Light) || slices.Contains(c.Loads, dme.HotSpot)
}

// About returns the claims about a quantity that speak of runs under the
// circumstance: the sharpest kind first, and what is known to be false last.
func (c Circumstance) About(q dme.Quantity, all []dme.Claim) []dme.Claim {
	var about []dme.Claim
	for _, claim := range all {
		if claim.Quantity == q && c.Covers(claim) {
			about = append(about, claim)
		}
	}
	kinds := []dme.ClaimKind{dme.Exact, dme.Mean, dme.Asymptotic, dme.UpperBound, dme.LowerBound}
	sharpness := func(c dme.Claim) int {
		rank := 2 * slices.Index(kinds, c.Kind)
		if c.Load == dme.Worst { // a bound of the worst run is the wider one
			rank++
		}
		if c.KnownFalse != "" {
			rank += 2 * len(kinds)
		}
		return rank
	}
	slices.SortStableFunc(about, func(a, b dme.Claim) int { return sharpness(a) - sharpness(b) })
	return about
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// RareRate is the largest rate of requests, of all nodes, in requests per
// second, at which they are isolated: a message can go round all nodes ten times
// between two of them.
func RareRate(nodes int, t, cs time.Duration) float64 {
	return 1 / (10 * (float64(nodes+2)*t.Seconds() + cs.Seconds()))
}

// BusyRate is the rate from which on several requests wait: half of what nodes
// can serve that pass the critical section on in 2T.
func BusyRate(t, cs time.Duration) float64 { return 0.5 / (2*t + cs).Seconds() }

// loads returns the loads that a run makes. Of an open workload only a
// simulation, where T is known beforehand, tells how heavy it is. What is said of
// undisturbed runs is said of none with faults.
func loads(s result.Spec) []dme.Load {
	if len(s.Faults) > 0 {
		return []dme.Load{dme.Faults}
	}
	all := []dme.Load{dme.AnyLoad}
	if readers, err := strconv.ParseFloat(s.Set["readers"], 64); err == nil && readers > 0 {
		all = append(all, dme.Contention) // the other loads are of requests that exclude each other
		if readers == 1 && s.Workload == "burst" {
			all = append(all, dme.Burst) // and where there are no writers nothing waits
		}
		return all
	}
	switch s.Workload {
	case "serial":
		return append(all, dme.Light, dme.Worst)
	case "saturate":
		if think, err := workload.ParseDistribution(s.Set["think"]); err == nil && think.Mean > 0 {
			return all // lighter than the papers' heavy load
		}
		return append(all, dme.Saturated, dme.Contention, dme.Worst)
	case "burst":
		return append(all, dme.Burst, dme.Contention, dme.Worst)
	}
	if s.Transport == result.Sim && s.Workload == "poisson" {
		all = append(all, dme.Open)
	}
	cs, err := workload.ParseDistribution(s.CS)
	t, bad := time.ParseDuration(cmp.Or(s.Set["t"], "1ms"))
	rate := s.TotalRate + s.Rate*float64(s.Nodes)
	switch {
	case s.Transport != result.Sim || err != nil || bad != nil || rate == 0:
	case rate <= RareRate(s.Nodes, t, cs.Mean) && s.Workload == "hotspot":
		return append(all, dme.HotSpot)
	case rate <= RareRate(s.Nodes, t, cs.Mean):
		return append(all, dme.Light)
	case rate >= BusyRate(t, cs.Mean):
		return append(all, dme.Contention)
	}
	return all
}

// equalDelays reports whether nothing makes one message slower than another.
func equalDelays(set map[string]string) bool {
	for _, scatters := range []string{"jitter", "loss", "reorder", "bandwidth", "links", "partition"} {
		if !slices.Contains([]string{"", "0", "0s", "none"}, set[scatters]) {
			return false
		}
	}
	_, err := time.ParseDuration(set["delay"])
	return err == nil || set["delay"] == "" || set["delay"] == "constant"
}
