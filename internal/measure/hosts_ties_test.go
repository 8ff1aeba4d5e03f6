package measure

import (
	"math/rand/v2"
	"testing"

	"dmebench/dme"
	"dmebench/internal/entrylog"
	"dmebench/result"
)

// Two instants of a fast clock may be one of the reference's: entries of one host are
// judged in the order of its own clock.
func TestInstantsThatTheReferenceCannotTellApart(t *testing.T) {
	b := onHosts(rand.New(rand.NewPCG(57, 58)), []ahead{{0, 400}, {}}, 4, 100e6, 1e6, 10, false)
	at, relation := int64(1e6), b.hosts[0].Relation
	same := func() bool {
		x, _ := relation.Here(at)
		y, _ := relation.Here(at + 1)
		return x == y
	}
	for ; !same(); at++ {
		if at > 2e6 {
			t.Fatal("the example is wrong: all instants differ")
		}
	}
	for _, first := range []dme.NodeID{1, 3} { // both on the first host
		o := b.observe(t, result.Spec{Nodes: 4, Requests: 2, Warmup: "0"}, nil)
		o.Entries = []entrylog.Entry{entry(first, 0, at, at+1), entry(4-first, 0, at+1, at+1)}
		if s := Result(o).Safety; s.Violations != 0 {
			t.Errorf("node %d first: %+v", first, s)
		}
	}
}
