package ricartagrawala

import (
	"time"

	"dmebench/dme"
)

// Latecomers counts the newcomers whose first request has a number that is not above
// those of all requests served until then.
var Latecomers = dme.Quantity{ID: "latecomers", Name: "newcomers that ask with too low a number"}

func robustGauges() []dme.Gauge {
	return []dme.Gauge{
		{Quantity: FalseSuspicion, Begin: newFalseSuspicions},
		{Quantity: DetectionTime, Begin: newDetection},
		{Quantity: Latecomers, Begin: newLatecomers},
	}
}

// synchronizedClaims lists the ways of section 7.2.3, in the order of the text.
func synchronizedClaims() []dme.Claim {
	var all []dme.Claim
	for _, x := range []struct{ way, says string }{
		{"highest", "the largest Highest_Sequence_Number of all other nodes"},
		{"each", "a REQUEST of each other node"},
		{"rise", "a rise of the numbers by N−1"},
		{"time", "the time in which all can be served"},
		{"fourth", "the fourth REQUEST of one node"},
	} {
		c := dme.Claim{
			Quantity: Latecomers, Formula: "0 after " + x.says, Load: dme.Faults, Kind: dme.Exact,
			Source: "TR-869, section 7.2.3 and appendix", Predict: dme.Constantly(0),
		}
		if x.way != "highest" {
			c.Set = map[string]string{"synchronized": x.way}
		}
		all = append(all, c)
	}
	return all
}

// falseSuspicions counts what nodes hear of others that have FAILED and are alive. A
// node that comes back says so of itself.
type falseSuspicions struct {
	down  dme.NodeSet
	count int
}

func newFalseSuspicions(s dme.Setting) dme.Meter {
	return &falseSuspicions{down: dme.MakeNodeSet(s.Nodes)}
}

func (m *falseSuspicions) Note(x dme.Moment) {
	switch x.What {
	case dme.HasCrashed:
		m.down.Add(x.ID)
	case dme.HasReturned:
		m.down.Remove(x.ID)
	case dme.HasReceived:
		if about := x.Msg.Node; x.Msg.Kind == kindFailed && about != x.Peer && !m.down.Has(about) {
			m.count++
		}
	}
}

func (m *falseSuspicions) Value() (float64, bool) { return float64(m.count), true }

// detection measures from the last answer that a node which asks has had until it
// declares another failed: both periods of section 7.4.
type detection struct {
	answered []time.Duration // by node, from 1
	longest  time.Duration
	any      bool
}

func newDetection(s dme.Setting) dme.Meter {
	return &detection{answered: make([]time.Duration, s.Nodes+1)}
}

func (m *detection) Note(x dme.Moment) {
	n := x.Node.(*robustNode)
	switch {
	case x.What == dme.HasSent && x.Msg.Kind == kindRequest,
		x.What == dme.HasReceived && (x.Msg.Kind == kindReply || x.Msg.Kind == kindYesIAmHere):
		m.answered[x.ID] = x.At
	case x.What == dme.HasSent && x.Msg.Kind == kindFailed && x.Msg.Node != x.ID && n.requestingCriticalSection && n.admitted:
		m.longest, m.any = max(m.longest, x.At-m.answered[x.ID]), true
	}
}

func (m *detection) Value() (float64, bool) { return m.longest.Seconds(), m.any }

// latecomers follows newcomers until their first REQUEST.
type latecomers struct {
	newcomer []bool // by node, from 1: it has come back, and has not asked since
	served   uint64 // the highest number that has been
	asked    int    // by newcomers
	count    int
}

func newLatecomers(s dme.Setting) dme.Meter { return &latecomers{newcomer: make([]bool, s.Nodes+1)} }

func (m *latecomers) Note(x dme.Moment) {
	switch {
	case x.What == dme.HasReturned:
		m.newcomer[x.ID] = true
	case x.What == dme.HasEntered:
		m.served = max(m.served, x.Node.(*robustNode).ourSequenceNumber)
	case x.What == dme.HasSent && x.Msg.Kind == kindRequest && m.newcomer[x.ID]:
		m.newcomer[x.ID] = false
		m.asked++
		if x.Msg.Clock <= m.served {
			m.count++
		}
	}
}

func (m *latecomers) Value() (float64, bool) { return float64(m.count), m.asked > 0 }
