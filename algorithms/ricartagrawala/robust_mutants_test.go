package ricartagrawala

import (
	"testing"

	"dmebench/dme/conformance"
)

// TestRobustMutantsAreCaught shows that each rule of section 7 is needed.
func TestRobustMutantsAreCaught(t *testing.T) {
	const (
		failure     = "robust_failure.go"
		insertion   = "robust_insertion.go"
		synchronize = "robust_synchronize.go"
		tooEarly    = "before it is synchronised"
	)
	for test, mutants := range map[string][]conformance.Mutant{
		"^TestSynchronized$/^(highest|each|rise|time|fourth)_sponsor$": {
			{Name: "highest: the first that answers is enough", File: synchronize, Caught: tooEarly,
				Old: "\t\tn.answered(from, out)\n\tcase consulting", New: "\t\tn.synchronizedNow(out)\n\tcase consulting"},
			{Name: "each: one is enough", File: synchronize, Caught: tooEarly,
				Old: "\t\tn.answered(from, out)\n\tcase \"rise\"", New: "\t\tn.synchronizedNow(out)\n\tcase \"rise\""},
			{Name: "rise: by nothing", File: synchronize, Caught: tooEarly,
				Old: "n.first+uint64(n.n)-1", New: "n.first"},
			{Name: "time: none", File: synchronize, Caught: tooEarly,
				Old: "\tout.SetTimer(answerDue, n.timeForAll())", New: "\tn.listenedEnough(out)"},
			{Name: "fourth: the first", File: synchronize, Caught: conformance.Unsafe,
				Old: ">= 4", New: ">= 1"},
		},
		"^TestSponsorWaitsForAcknowledgements$": {
			{Name: "the announcement is not acknowledged", File: insertion, Caught: conformance.Unsafe,
				Old: "\tn.await(inserting, out)\n", New: "\tn.awaiting.Clear()\n\tn.welcome(out)\n"},
		},
		"^TestWelcomeOfASponsorThatFailed$": {
			{Name: "the sponsor's list is the whole group", File: insertion, Caught: conformance.Unsafe,
				Old: "\tn.addAll(m.Vec)\n\tout.Send", New: "\tn.group.Clear()\n\tn.addAll(m.Vec)\n\tout.Send"},
		},
		"^TestFoundingWaitsForWhoIsJustAdmitted$": {
			{Name: "who hears of no group once founds one", File: insertion, Caught: conformance.Unsafe,
				Old: "n.silent >= 2", New: "n.silent >= 1"},
		},
		"^TestRestartInterval$": {
			{Name: "no restart interval", File: insertion, Caught: conformance.Unsafe,
				Old: "\tn.await(restarting, out)\n", New: "\tn.seek(out)\n"},
		},
		"^TestLostRequestIsFoundByProbe$": {
			{Name: "who owes no REPLY sends one to ARE_YOU_THERE", File: failure, Caught: conformance.Unsafe,
				Old: "\tif n.deferReply(from, number) {\n\t\tkind", New: "\tif n.replyDeferred.Has(from) {\n\t\tkind"},
		},
		"^TestRobustSurvives$": {
			{Name: "an answer takes one leg", File: failure, Caught: conformance.Unsafe,
				Old: "n.stage, n.legs = s, legs", New: "n.stage, n.legs = s, 1"},
			{Name: "REPLY names no request", File: "robust.go", Caught: conformance.Unsafe,
				Old: "number == n.ourSequenceNumber && (n.stage == asking", New: "(n.stage == asking"},
			{Name: "the REPLY of who has failed is awaited", File: failure, Caught: conformance.Stalled,
				Old: "\tn.answered(j, out)\n}\n\nfunc (n *robustNode) forget", New: "}\n\nfunc (n *robustNode) forget"},
			{Name: "every newcomer founds a group", File: insertion, Caught: conformance.Unsafe,
				Old: "\t\tif !n.hindered {", New: "\t\tif n.silent > 0 {"},
		},
		"^TestRobustInAllSchedules$": {
			{Name: "a newcomer that broadcasts does not wait", File: insertion, Caught: conformance.Unsafe,
				Old: "\tn.await(announcing, out)\n", New: "\tn.announced(out)\n"},
		},
	} {
		conformance.TestMutants(t, test, mutants...)
	}
}
