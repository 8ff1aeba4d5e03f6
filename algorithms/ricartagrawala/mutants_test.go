package ricartagrawala

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

func all() []*dme.Algorithm {
	return []*dme.Algorithm{
		Algorithm(), Implicit(), Broadcast(), Ring(), Bounded(), Priority(), ReadersWriters(), BoundedAsPublished(),
		Robust(), RobustAsPublished(),
	}
}

func TestConformance(t *testing.T) {
	for _, a := range all() {
		t.Run(a.Name, func(t *testing.T) { conformance.Test(t, a) })
	}
}

// TestMutantsAreCaught shows that the tests can fail: they must, for every rule
// taken out. That a REPLY names its request is redundant where links are
// reliable, and tested by hand.
func TestMutantsAreCaught(t *testing.T) {
	const (
		residues = ">= uint64(s.nodes)"
		bothRead = "n.reading && who == byReader"
	)
	for test, mutants := range map[string][]conformance.Mutant{
		"^TestConformance$/^ricart-agrawala$": {
			{Name: "no deferral", File: "ricartagrawala.go", Caught: conformance.Unsafe,
				Old: "return n.requestingCriticalSection && n.ourRequest().Precedes(r)", New: "return false"},
			{Name: "no order among equal numbers", File: "ricartagrawala.go", Caught: conformance.Stalled,
				Old: "n.ourRequest().Precedes(r)", New: "n.ourSequenceNumber <= r.Clock"},
			{Name: "replies received do not count", File: "ricartagrawala.go", Caught: "one answer: ",
				Old: "\tn.awaitingReply.Remove(from)\n", New: ""},
			{Name: "numbers of others do not count", File: "ricartagrawala.go", Caught: "entries out of timestamp order",
				Old: "max(n.highestSequenceNumber, r.Clock)", New: "n.highestSequenceNumber"},
			{Name: "own numbers do not count", File: "ricartagrawala.go", Caught: "claim bypass upper bound",
				Old: "\tn.highestSequenceNumber = number\n", New: ""},
			{Name: "a deferred REPLY is lost", File: "ricartagrawala.go", Caught: "one answer: ",
				Old: "added := n.replyDeferred.Add(r)", New: "added := !n.replyDeferred.Has(r.Node)"},
		},
		"^TestConformance$/^ricart-agrawala-implicit$": {
			{Name: "no bound", File: "implicit.go", Caught: "ricart-agrawala-implicit: on 2 nodes",
				Old: "Reliable: true, BoundedDelay: true", New: "Reliable: true"},
			{Name: "one leg", File: "implicit.go", Caught: conformance.Unsafe,
				Old: "const legs = 2", New: "const legs = 1"},
			{Name: "REPLY before its DEFERRED is lost", File: "balance.go", Caught: conformance.Stalled,
				Old: "\t\tb.repliedFirst.Add(j) // the news of its deferral is still to come\n", New: ""},
			{Name: "no DEFERRED", File: "implicit.go", Caught: "REPLY that is not awaited",
				Old: "\t\tout.Send(r.Node, dme.Message{Kind: kindDeferred, Clock: r.Clock})\n", New: ""},
		},
		"^(TestConformance|TestReplyIsForTheListed)$/^ricart-agrawala-broadcast$": {
			{Name: "a broadcast REPLY is everybody's", File: "broadcast.go", Caught: "node 2 takes it for its own",
				Old: "if number, listed := recipient(m.Vec, n.me); listed {\n\t\t\tn.receiveReply(from, number, out)\n\t\t}",
				New: "if n.awaitingReply.Has(from) {\n\t\t\tn.receiveReply(from, n.ourSequenceNumber, out)\n\t\t}"},
			{Name: "the old entry stays until its REPLY is heard", File: "sequenced.go", Caught: "ricart-agrawala-broadcast: on",
				Old: "\tl.waiting.Remove(l.me)\n\tout", New: "\tout"},
			{Name: "a request's place is that of its sending", File: "sequenced.go", Caught: conformance.Unsafe,
				Old: "\tout.Broadcast(dme.Message{Kind: kindRequest})\n}\n",
				New: "\tout.Broadcast(dme.Message{Kind: kindRequest})\n\tl.hear(l.me)\n\tl.enterIfFirst(out)\n}\n"},
		},
		"^TestConformance$/^ricart-agrawala-ring$": {
			{Name: "the count is then set", File: "ring.go", Caught: conformance.Stalled,
				Old: "n.owed.deferred(dme.NodeID(by))", New: "n.owed.deferredBy.Add(dme.NodeID(by))"},
			{Name: "no note", File: "ring.go", Caught: "REPLY that is not awaited",
				Old: "\t\tm.Vec = append(m.Vec, uint64(n.me)) // 'DEFERRED by node me'\n", New: ""},
			{Name: "an echo that never waits", File: "ring.go", Caught: conformance.Unsafe,
				Old: "\tif n.defers(m.Req) {\n\t\tn.keep(m.Req, out)\n\t\treturn\n\t}\n\tn.pass(m.Req, nil, out)",
				New: "\tn.pass(m.Req, nil, out)"},
		},
		"^TestConformance$/^ricart-agrawala-bounded$": {
			{Name: "own numbers do not count", File: "ricartagrawala.go", Caught: conformance.Unsafe,
				Old: "\tn.highestSequenceNumber = number\n", New: ""},
			{Name: "residues are compared as numbers", File: "bounded.go", Caught: "ricart-agrawala-bounded: on",
				Old: residues, New: ">= s.modulus"},
			{Name: "the difference may be N", File: "bounded.go", Caught: "ricart-agrawala-bounded: on",
				Old: residues, New: "> uint64(s.nodes)"},
		},
		"^TestAskingAfterReplyingIsBehind$": {
			{Name: "increments from 0", File: "priority.go", Caught: "[2 1] are in the critical section",
				Old: "n.highestSequenceNumber + n.increments.of(n.me, n.requests)",
				New: "max(1, n.highestSequenceNumber+n.increments.of(n.me, n.requests)-1)"},
		},
		"^TestConformance$/^ricart-agrawala-priority$": {
			{Name: "what is drawn is not saved", File: "ricartagrawala.go", Caught: "ricart-agrawala-priority: on",
				Old: "\tv.ClockWhile(n.requestingCriticalSection, dme.None, \"Our_Sequence_Number\", &n.ourSequenceNumber)\n", New: ""},
		},
		"^TestConformance$/^readers-writers$": {
			{Name: "readers do not defer writers either", File: "readers.go", Caught: conformance.Unsafe,
				Old: bothRead, New: "n.reading"},
			{Name: "the REQUEST does not say who asks", File: "readers.go", Caught: conformance.Unsafe,
				Old: "Flags: who}", New: "Flags: byReader}"},
		},
		"^TestReadersShare$": {
			{Name: "nobody shares", File: "readers.go", Caught: conformance.Unsafe + ", want [1 2 3 4]",
				Old: bothRead, New: "false"},
		},
	} {
		conformance.TestMutants(t, test, mutants...)
	}
}
