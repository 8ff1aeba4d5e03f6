package maekawa

import (
	"testing"

	"dmebench/dme/conformance"
)

// mutant is the algorithm with one repair, or one rule of the paper, taken out.
type mutant struct {
	name     string
	file     string
	old, new string
	caught   string // what the search says
}

const (
	lockTwice  = "one lock: " // the invariant
	unfair     = "overtaken: "
	leftOver   = "not quiescent: "
	inquisitor = "one INQUIRE: "
)

var mutants = []mutant{
	{"R1", "arbiter.go",
		"\tif others && head.Precedes(n.locking) {\n\t\tn.fail(head, out)\n\t}\n", "", conformance.Stalled},
	{"R2 in the critical section, yield=always", "requester.go",
		"if !n.pending() || !n.locked.Has(j) ||", "if !n.pending() && !n.yieldAlways || !n.locked.Has(j) ||", lockTwice},
	{"R2 for the next request", "requester.go",
		"if !n.pending() || !n.locked.Has(j) ||", "if !n.pending() ||", lockTwice},
	{"R2 altogether", "requester.go",
		"if !n.pending() || !n.locked.Has(j) || n.numbered && grant != n.grants[j] {", "if false {", leftOver},
	{"R3 for relinquished members", "requester.go",
		"\t\tn.failed.Add(j)\n\t}\n\tn.send", "\t}\n\tn.send", conformance.Stalled},
	{"R3 for members that lock later", "requester.go",
		"\tn.failed.Remove(j) // R3: j has not failed this node any more\n", "", leftOver},
	{"R4", "requester.go",
		"\t// next FAILED.\n\tn.inquired.Add(j)\n", "\t// next FAILED.\n", conformance.Stalled},
	{"clock on REQUEST only", "node.go",
		"\tn.clock = max(n.clock, m.Clock)\n", "\tif m.Kind == kindRequest {\n\t\tn.clock = max(n.clock, m.Clock)\n\t}\n", unfair},
	{"FAILED compares with the lock only", "arbiter.go",
		"if n.locking.Precedes(r) || others && head.Precedes(r) {", "if n.locking.Precedes(r) {", conformance.Stalled},
	{"several INQUIREs for one lock", "arbiter.go",
		"\tif !n.inquiring {\n", "\tif true {\n", inquisitor},
	{"relock in order of arrival", "arbiter.go",
		"\tn.waiting.Insert(r)\n\tif n.locking", "\tn.waiting = append(n.waiting, r)\n\tif n.locking", conformance.Stalled},
	{"numbered: an INQUIRE before its LOCKED is forgotten", "requester.go",
		"// ask again, so it is kept until that LOCKED arrives.\n\t\tn.inquired.Add(j)\n",
		"// ask again, so it is kept until that LOCKED arrives.\n", conformance.Stalled},
	{"numbered: a late FAILED counts", "requester.go",
		"if n.numbered && (about != n.request || n.locked.Has(j)) {", "if false {", leftOver},
}

// TestMutantsAreCaught shows that TestRandomSchedules can fail: it must, for
// every mutant.
func TestMutantsAreCaught(t *testing.T) {
	var all []conformance.Mutant
	for _, m := range mutants {
		all = append(all, conformance.Mutant{Name: m.name, File: m.file, Old: m.old, New: m.new, Caught: m.caught})
	}
	conformance.TestMutants(t, "^TestRandomSchedules$", all...)
}
