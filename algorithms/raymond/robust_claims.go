package raymond

import "dmebench/dme"

// robustClaims are those about the algorithm without failures, which a recovery
// that is not needed leaves as they are, and those about failures.
func robustClaims() []dme.Claim {
	const source = "textbook, section 9.12.7"
	return append(claims(), []dme.Claim{
		{
			Quantity: dme.Violations, Formula: "0: there is one privilege, whichever nodes fail",
			Load: dme.Faults, Kind: dme.Exact, Source: source, Predict: dme.Constantly(0),
			Test: "TestRecoveryAtRandom",
		},
		{
			Quantity: dme.Unserved, Formula: "0 once all nodes have restarted: lost information can be reconstructed",
			Load: dme.Faults, Kind: dme.Exact, Source: source, Predict: dme.Constantly(0),
			Test: "TestRecoveryAtRandom",
		},
		{
			Quantity: dme.KindPerKind("ADVISE", "RESTART"), Formula: "1: a message from each immediate neighbour that is up",
			Load: dme.Faults, Kind: dme.UpperBound, Source: source, Predict: dme.AtLeastTwo(1),
			Test: "TestRecoveryAtRandom",
		},
	}...)
}
