package commandline

import (
	"fmt"
	"math"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/result"
)

// crossing says how well the times of a run that cross hosts are known.
type crossing struct {
	bound int64 // on the error of an instant of any host, ns; 0 of a run on one clock
	set   bool  // a clock was set: nothing that crosses hosts is known
}

func crossingOf(r *result.Result) (c crossing) {
	for _, h := range r.Hosts {
		if h.Clock != nil {
			c.bound = max(c.bound, h.Clock.BoundNS)
			c.set = c.set || h.Clock.SetNS > 0
		}
	}
	return c
}

// time writes a time from an instant on the coordinator's clock to one on a host's.
func (c crossing) time(x int64) string {
	if c.bound == 0 {
		return ns(x).String()
	}
	return plusMinus(x, c.bound)
}

// plusMinus writes a time to as many digits as its bound makes sense of.
func plusMinus(x, bound int64) string {
	unit := time.Duration(1)
	for unit*100 <= time.Duration(bound) {
		unit *= 10
	}
	return fmt.Sprintf("%v ± %v", time.Duration(x).Round(unit), ns(bound))
}

// syncDelay writes the synchronization delays of a run; empty where there is nothing
// to say.
func syncDelay(r *result.Result) string {
	q := r.SyncDelay
	switch {
	case r.SyncDelayBound == nil:
		return describeQuantiles(q)
	case q == nil:
		return fmt.Sprintf("not told: it is known to ± %v only", ns(*r.SyncDelayBound))
	}
	return fmt.Sprintf("p50 %v  p90 %v  p99 %v, each ± %v  max %v", ns(q.P50), ns(q.P90), ns(q.P99), ns(*r.SyncDelayBound), ns(q.Max))
}

// describeHost says what was on a host, and how its clock compares.
func describeHost(h *result.Host) string {
	var nodes []dme.NodeID
	for _, id := range h.Nodes {
		nodes = append(nodes, dme.NodeID(id))
	}
	slices.Sort(nodes)
	what := "no nodes"
	switch len(nodes) {
	case 0:
	case 1:
		what = "node " + dme.FormatNodes(nodes)
	default:
		what = "nodes " + dme.FormatNodes(nodes)
	}
	text := fmt.Sprintf("%s at %s: %s", h.Name, h.Address, what)
	switch c := h.Clock; {
	case c == nil:
	case c.SetNS > 0:
		text += fmt.Sprintf("; clock %s ahead at the start, and was set by %v or more", plusMinus(c.OffsetNS, c.BoundNS), ns(c.SetNS))
	default:
		drift := math.Round(10*c.DriftPPM)/10 + 0 // no negative zero
		text += fmt.Sprintf("; clock %s ahead, drift %.1f ± %.1f ppm", plusMinus(c.OffsetNS, c.BoundNS), drift, c.DriftBound)
	}
	return text
}

// describeLinks sums up the ways between hosts; empty where there are none.
func describeLinks(links []result.HostLink) string {
	var shortest, longest int64
	var sent, lost, control int
	for _, l := range links {
		sent, lost = sent+l.Sent, lost+l.Lost
		if l.RTTMedian > 0 {
			if shortest == 0 || l.RTTMedian < shortest {
				shortest = l.RTTMedian
			}
			longest = max(longest, l.RTTMedian)
		}
		if l.By != "udp" {
			control++
		}
	}
	if len(links) == 0 {
		return ""
	}
	text := fmt.Sprintf("%d, round trips %v to %v in the median, %d of %d datagrams lost", len(links), ns(shortest), ns(longest), lost, sent)
	if control > 0 {
		text += fmt.Sprintf("; no datagram passes on %d of them", control)
	}
	return text
}
