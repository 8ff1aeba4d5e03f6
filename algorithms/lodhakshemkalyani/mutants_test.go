package lodhakshemkalyani

import (
	"testing"

	"dmebench/dme/conformance"
)

// mutant is the algorithm with one repair, or one rule of the text, taken out.
type mutant struct {
	name   string
	edits  [][2]string // of lodhakshemkalyani.go: what stands there, and what instead
	caught string      // the fault that the search is to find
}

var mutants = []mutant{
	{"L1", [][2]string{{"if p.done.Precedes(r) { // L1", "if true {"}}, conformance.Stalled},
	{"L2: done is not sent", [][2]string{{"Clock: p.mySequenceNumber, Done: p.done}", "Clock: p.mySequenceNumber}"}}, conformance.Stalled},
	{"L2: done is not heard", [][2]string{
		{"\tp.hear(satisfied)                                                       // L2\n", ""},
	}, conformance.Stalled},
	{"L3: a FLUSH sets RV", [][2]string{
		{"p.receiveFlush(m.Done, out)", "p.rv.Add(from)\np.receiveFlush(m.Done, out)"},
	}, conformance.Unsafe},
	{"L4", [][2]string{{"\tp.highestSequenceNumberSeen = p.mySequenceNumber ", "\t_ = p.mySequenceNumber "}}, conformance.Stalled},
	{"(4b)", [][2]string{{"\tp.hear(satisfied)     // (4b)\n", ""}}, conformance.Stalled},
	{"(5a): a FLUSH to the last candidate", [][2]string{{"p.lrq[1].Node", "p.lrq[len(p.lrq)-1].Node"}}, conformance.Stalled},
	{"(3bii): a second REQUEST is answered at once", [][2]string{{"p.deferred.Insert(r)", "p.reply(r, out)"}}, conformance.Unsafe},
}

// TestMutantsAreCaught shows that TestRandomSchedules can fail: it must, for
// every mutant.
func TestMutantsAreCaught(t *testing.T) {
	for _, m := range mutants {
		conformance.TestMutants(t, "^TestRandomSchedules$", conformance.Mutant{
			Name: m.name, File: "lodhakshemkalyani.go", Old: m.edits[0][0], New: m.edits[0][1], More: m.edits[1:],
			Args: []string{"-fault=" + m.caught}, Caught: m.caught,
		})
	}
}
