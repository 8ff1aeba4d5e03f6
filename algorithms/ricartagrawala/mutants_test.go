package ricartagrawala

import (
	"testing"

	"dmebench/dme/conformance"
)

func TestConformance(t *testing.T) { conformance.Test(t, Algorithm()) }

// TestMutantsAreCaught shows that TestConformance can fail: it must, for every
// rule taken out. That a REPLY names its request is redundant where links are
// reliable, and tested by hand.
func TestMutantsAreCaught(t *testing.T) {
	const (
		file   = "ricartagrawala.go"
		unsafe = "are in the critical section"
		stall  = "and nothing moves"
	)
	conformance.TestMutants(t, "^TestConformance$",
		conformance.Mutant{Name: "no deferral", File: file, Caught: unsafe,
			Old: "return n.requestingCriticalSection && n.ourRequest().Precedes(r)", New: "return false"},
		conformance.Mutant{Name: "no order among equal numbers", File: file, Caught: stall,
			Old: "n.ourRequest().Precedes(r)", New: "n.ourSequenceNumber <= r.Clock"},
		conformance.Mutant{Name: "replies received do not count", File: file, Caught: stall,
			Old: "\tn.awaitingReply.Remove(from)\n", New: ""},
		conformance.Mutant{Name: "numbers of others do not count", File: file, Caught: "entries out of timestamp order",
			Old: "max(n.highestSequenceNumber, r.Clock)", New: "n.highestSequenceNumber"},
		conformance.Mutant{Name: "own numbers do not count", File: file, Caught: "claim bypass upper bound",
			Old: "\tn.highestSequenceNumber = n.ourSequenceNumber\n", New: ""},
		conformance.Mutant{Name: "a deferred REPLY is lost", File: file, Caught: stall,
			Old: "\tn.replyDeferred = slices.Insert(n.replyDeferred, at, r)\n", New: "\t_ = slices.Insert(n.replyDeferred, at, r)\n"},
	)
}
