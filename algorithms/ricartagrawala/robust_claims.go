package ricartagrawala

import (
	"slices"

	"dmebench/dme"
)

func robustClaims() []dme.Claim {
	const failures = "TR-869, section 7.4"
	// Where a critical section outlasts the estimate, nodes ask ARE_YOU_THERE.
	estimated := func(s dme.Setting) bool { return s.E <= s.System.(*robustSystem).csBound }
	twoEach := dme.Claim{
		Quantity: dme.MessagesPerCS, Formula: "2(N−1), while no node fails",
		Load: dme.Light, Kind: dme.Exact, Source: "TR-869, sections 4 and 7",
	}
	saturated := twoEach
	saturated.Load = dme.Saturated
	return slices.Concat(
		dme.SafeAndLive("TR-869, sections 3, 7 and 8"), dme.HandOver(1, dme.Mean, "TR-869, section 5.4, case A"),
		[]dme.Claim{
			twoEach.Where(estimated),
			saturated.Where(estimated),
			{
				Quantity: dme.KindPerCS("REQUEST"), Formula: "N−1, while no node fails",
				Load: dme.AnyLoad, Kind: dme.Exact, Source: "TR-869, sections 4 and 7",
			},
			dme.InOrder("0: entries in timestamp order", "TR-869, section 2.4"),
			{
				Quantity: dme.Violations, Formula: "0, whichever nodes fail and return, within the bound",
				Load: dme.Faults, Kind: dme.Exact, Source: failures,
			},
			{
				Quantity: dme.Unserved, Formula: "0: a failure does not stop the others",
				Load: dme.Faults, Kind: dme.Exact, Source: failures,
			},
			{
				Quantity: DetectionTime, Formula: "two periods: 2B + E, then 2B",
				Load: dme.Faults, Kind: dme.UpperBound, Source: failures + ", footnotes 4 and 5",
				Predict: func(s dme.Setting) (float64, bool) {
					sys, ok := s.System.(*robustSystem)
					return (2*legs*sys.bound + sys.csBound).Seconds(), ok && s.Nodes >= 2
				},
			},
			{
				Quantity: FalseSuspicion, Formula: "0: there is no limit on the duration of a critical section",
				Load: dme.Worst, Kind: dme.Exact, Source: failures,
			},
		}, synchronizedClaims())
}

// Quantities of section 7.4.
var (
	// DetectionTime is from the last REPLY that a node receives until it goes on
	// without the node that has failed; in seconds.
	DetectionTime = dme.Quantity{ID: "detection-time", Name: "time to detect a failure"}
	// FalseSuspicion counts nodes that are alive and declared failed, while
	// messages keep the bound.
	FalseSuspicion = dme.Quantity{ID: "false-suspicion", Name: "nodes declared failed that are alive"}
)
