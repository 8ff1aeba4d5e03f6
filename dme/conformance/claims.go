package conformance

import (
	"fmt"

	"dmebench/dme"
	"dmebench/dme/claim"
)

// checkClaims judges, on a schedule that has ended, those claims that are made
// for every run and speak of no time, and what gauges measure for the worst.
func (s *schedule) checkClaims() error {
	figures := s.network.Figures()
	for _, c := range claim.Of(s.Algorithm) {
		figure, gauged := figures[c.Quantity.ID]
		if c.KnownFalse != "" || c.FIFO && s.network.Unordered || c.Load != claim.AnyLoad && (c.Load != claim.Worst || !gauged) {
			continue
		}
		want, ok := c.Prediction(s.Setting)
		if !ok {
			continue
		}
		got, ok := s.measure(c.Quantity)
		if gauged {
			got, ok = figure, true
		}
		if !ok {
			continue
		}
		if agrees, judged := c.Kind.Agrees(want, got, got); judged && !agrees {
			return fmt.Errorf("claim %s %s %q (%s): %v, not %v\n%s", c.Quantity, c.Kind, c.Formula, c.Source, got, want, s.States())
		}
	}
	return nil
}

// overtaking says how often a node may be overtaken.
func (n *Net) overtaking() claim.Overtaking {
	return claim.OvertakingBound(claim.Of(n.Algorithm), n.Setting, !n.network.Unordered)
}

// starved returns an error where a request was overtaken more often than it may be,
// though the messages about it were not held up for that long.
func (n *Net) starved() error {
	bound := n.overtaking()
	for _, e := range n.Entries {
		if e.Bypass > bound.Most(n.trip) {
			return fmt.Errorf("node %d starves: %d entries of others between its request and its entry (%s), "+
				"and none of the messages was on its way for more than %d entries\n%s",
				e.Node, e.Bypass, bound.Describe(n.trip), n.trip, n.States())
		}
	}
	return nil
}

func (s *schedule) measure(q claim.Quantity) (value float64, ok bool) {
	switch q {
	case claim.MessagesPerCS:
		return float64(s.Sent()) / float64(len(s.Entries)), len(s.Entries) > 0
	case claim.TransmissionsPerCS:
		return float64(s.Transmissions()) / float64(len(s.Entries)), len(s.Entries) > 0
	case claim.QueueLength:
		return float64(s.network.Counts(dme.None).LongestQueue), true
	case claim.MessageLength:
		return float64(s.network.Counts(dme.None).LongestMessage), true
	case claim.Bypass:
		for _, e := range s.Entries {
			value = max(value, float64(e.Bypass))
		}
		return value, true
	case claim.BypassByOne:
		for _, e := range s.Entries {
			value = max(value, float64(e.ByOne))
		}
		return value, true
	case claim.NumberRange:
		return s.numberRange(), true
	case claim.EntryOrder:
		var last dme.Stamp
		for _, e := range s.Entries {
			if e.Stamp.IsZero() {
				continue
			}
			if e.Stamp.Precedes(last) {
				value++
			} else {
				last = e.Stamp
			}
		}
		return value, true
	}
	for i, name := range s.Algorithm.Kinds {
		if q == claim.KindPerCS(name) {
			return float64(s.SentOf(dme.Kind(i+1))) / float64(len(s.Entries)), len(s.Entries) > 0
		}
	}
	return 0, false
}

// numberRange returns the largest difference of the numbers of two requests
// that were pending together. Requests without a number do not count.
func (s *schedule) numberRange() float64 {
	var largest uint64
	for k, late := range s.Entries {
		for _, early := range s.Entries[late.asked:k] {
			if a, b := early.Stamp.Clock, late.Stamp.Clock; a > 0 && b > 0 {
				largest = max(largest, max(a, b)-min(a, b))
			}
		}
	}
	return float64(largest)
}
