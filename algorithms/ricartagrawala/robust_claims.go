package ricartagrawala

import (
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
)

func robustClaims() claim.List {
	const failures = "TR-869, section 7.4"
	// If a critical section outlasts the estimate, nodes ask ARE_YOU_THERE. One of random length may.
	estimated := func(s dme.Setting) bool { return s.E <= s.System.(*robustSystem).csBound && s.Variability == 0 }
	twoEach := claim.MessagesPerCS.Is("2(N−1), while no node fails", claim.Light, "TR-869, sections 4 and 7")
	saturated := twoEach
	saturated.Load = claim.Saturated
	return slices.Concat(
		claim.SafeAndLive("TR-869, sections 3, 7 and 8"), oneDelay(),
		claim.List{
			twoEach.Where(estimated),
			saturated.Where(estimated),
			claim.KindPerCS("REQUEST").Is("N−1, while no node fails", claim.AnyLoad, "TR-869, sections 4 and 7"),
			claim.InOrder("0: entries in timestamp order", "TR-869, section 2.4"),
			claim.Violations.Is("0, whichever nodes fail and return, within the bound", claim.Faults, failures),
			claim.Unserved.Is("0: a failure does not stop the others", claim.Faults, failures),
			DetectionTime.AtMost("two periods: 2B + E, then 2B", claim.Faults, failures+", footnotes 4 and 5").
				Predicting(func(s dme.Setting) (float64, bool) {
					sys, ok := s.System.(*robustSystem)
					return (2*legs*sys.bound + sys.csBound).Seconds(), ok && s.Nodes >= 2
				}),
			FalseSuspicion.Is("0: there is no limit on the duration of a critical section", claim.Worst, failures),
		}, synchronizedClaims())
}

// Quantities of section 7.4.
var (
	// DetectionTime is from the last REPLY that a node receives until it goes on
	// without the node that has failed; in seconds.
	DetectionTime = claim.Quantity{ID: "detection-time", Name: "time to detect a failure"}
	// FalseSuspicion counts nodes that are alive and declared failed, while
	// messages keep the bound.
	FalseSuspicion = claim.Quantity{ID: "false-suspicion", Name: "nodes declared failed that are alive"}
)

// Latecomers counts the newcomers whose first request has a number that is not above
// those of all REQUESTs that they would have received, had they always been there.
var Latecomers = claim.Quantity{ID: "latecomers", Name: "newcomers that ask with too low a number"}

func robustGauges() []dme.Gauge {
	return []dme.Gauge{
		{Quantity: FalseSuspicion.ID, Begin: newFalseSuspicions},
		{Quantity: DetectionTime.ID, Begin: newDetection},
		{Quantity: Latecomers.ID, Begin: newLatecomers},
	}
}

// synchronizedClaims lists the ways of section 7.2.3, in the order of the text.
func synchronizedClaims() claim.List {
	var all claim.List
	for _, x := range []struct{ way, says string }{
		{"highest", "the largest Highest_Sequence_Number of all other nodes"},
		{"each", "a REQUEST of each other node"},
		{"rise", "a rise of the numbers by N−1"},
		{"time", "the time in which all can be served"},
		{"fourth", "the fourth REQUEST of one node"},
	} {
		c := Latecomers.Is("0 after "+x.says, claim.Faults, "TR-869, section 7.2.3 and appendix")
		if x.way != "highest" {
			c = c.With("synchronized=" + x.way)
		}
		all = append(all, c)
	}
	return all
}

// newFalseSuspicions counts the news that a node has FAILED which is alive, if any was suspected. A
// node that comes back announces itself so.
func newFalseSuspicions(s dme.Setting) dme.Meter {
	down := collections.MakeNodeSet(s.Nodes)
	suspected, count := false, 0
	return dme.Largest(func(x *dme.Event) (float64, bool) {
		switch {
		case x.Kind == dme.Crash:
			down.Add(x.ID)
		case x.Kind == dme.Restart || x.Kind == dme.Join:
			down.Remove(x.ID)
		case x.Kind == dme.Receive && x.Msg.Kind == kindFailed:
			count += dme.Count(x.Msg.Node != x.Peer && !down.Has(x.Msg.Node))
		case x.Kind == dme.Send && x.Msg.Kind == kindAreYouThere:
			suspected = true
		}
		return float64(count), suspected || count > 0
	})
}

// newDetection measures from the last answer that a node which asks has had until it
// declares another failed: both periods of section 7.4.
func newDetection(s dme.Setting) dme.Meter {
	answered := make([]time.Duration, s.Nodes+1) // by node, from 1
	return dme.Largest(func(x *dme.Event) (float64, bool) {
		n := x.Node.(*robustNode)
		switch {
		case x.Kind == dme.Send && x.Msg.Kind == kindRequest,
			x.Kind == dme.Receive && (x.Msg.Kind == kindReply || x.Msg.Kind == kindYesIAmHere):
			answered[x.ID] = x.At
		case x.Kind == dme.Send && x.Msg.Kind == kindFailed && x.Msg.Node != x.ID && n.requestingCriticalSection && n.admitted:
			return (x.At - answered[x.ID]).Seconds(), true
		}
		return 0, false
	})
}

// latecomers follows newcomers until their first REQUEST. Section 7.2.3: its number must
// be above that of any REQUEST that would have been received by then, had the newcomer
// always been there, whether that REQUEST has been served or still waits. Those are the
// ones that were sent before it came back, and those sent to others and not to it since.
type latecomers struct {
	number  []uint64              // by node, from 1: of its latest REQUEST
	to      []collections.NodeSet // by node, from 1: the receivers of that one
	highest uint64                // of all until now
	missed  []uint64              // by newcomer: the highest that it would have received
	joining collections.NodeSet
	asked   int // by newcomers
	count   int
}

func newLatecomers(s dme.Setting) dme.Meter {
	n := s.Nodes + 1
	m := &latecomers{number: make([]uint64, n), missed: make([]uint64, n), joining: collections.MakeNodeSet(n)}
	for range n {
		m.to = append(m.to, collections.MakeNodeSet(n))
	}
	return m
}

func (m *latecomers) Note(x *dme.Event) {
	switch {
	case x.Kind == dme.Restart || x.Kind == dme.Join:
		m.joining.Add(x.ID)
		m.missed[x.ID] = m.highest
		return
	case x.Kind != dme.Send || x.Msg.Kind != kindRequest:
		return
	case m.number[x.ID] != x.Msg.Clock:
		m.miss(x.ID)
		m.number[x.ID], m.highest = x.Msg.Clock, max(m.highest, x.Msg.Clock)
		m.to[x.ID].Clear()
	}
	m.to[x.ID].Add(x.Peer)
	if m.joining.Has(x.ID) {
		for j := range m.number {
			m.miss(dme.NodeID(j))
		}
		m.joining.Remove(x.ID)
		m.asked++
		if x.Msg.Clock <= m.missed[x.ID] {
			m.count++
		}
	}
}

// miss has the newcomers miss a node's latest REQUEST that it has not sent to them.
func (m *latecomers) miss(from dme.NodeID) {
	for j := range m.joining.All() {
		if j != from && !m.to[from].Has(j) {
			m.missed[j] = max(m.missed[j], m.number[from])
		}
	}
}

func (m *latecomers) Value() (float64, bool) { return float64(m.count), m.asked > 0 }
