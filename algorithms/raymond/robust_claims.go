package raymond

import "dmebench/dme"

// robustClaims are those about the algorithm without failures, and those about
// failures.
func robustClaims() []dme.Claim {
	var all []dme.Claim
	for _, c := range treeClaims() {
		if c.Quantity == dme.MessagesPerCS && c.Load == dme.Light && c.Kind == dme.Mean {
			// INITIALIZE is counted with all messages, and belongs to no entry.
			all = append(all, dme.KindsPerCS(halved(c), "REQUEST", "PRIVILEGE")...)
			continue
		}
		all = append(all, c)
	}
	const source = "textbook, section 9.12.7"
	return append(append(all, initClaim(nil)), []dme.Claim{
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

// halved returns the claim about one half of the messages: on each edge that a
// request crosses there is a REQUEST and a PRIVILEGE.
func halved(c dme.Claim) dme.Claim {
	c.Formula = "half of " + c.Formula
	predict := c.Predict
	c.Predict = func(s dme.Setting) (float64, bool) {
		value, ok := predict(s)
		return value / 2, ok
	}
	return c
}
