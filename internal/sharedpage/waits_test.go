package sharedpage

import (
	"testing"

	"dmebench/dme"
	"dmebench/internal/entrylog"
	"dmebench/internal/noderun"
)

// What a worker counts in its mapping of the page is read in the coordinator's, and
// nothing lies over anything else.
func TestWaits(t *testing.T) {
	const nodes = 3
	for _, records := range []int{0, 4} {
		p, err := Create(Room{Nodes: nodes, Records: records, Watched: true})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		q, err := Open(dup(t, p.File()), nodes)
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		q.Counters(nodes).Pending.Store(7)
		for range 10 {
			q.Waits(2).Add(1000)
		}
		for id := range p.Nodes() {
			var sum noderun.WaitCounts
			sum.Take(p.Waits(dme.NodeID(id + 1)))
			if _, ok := sum.Quantile(0.5); ok != (id == 1) {
				t.Errorf("%d records: node %d has waited: %v", records, id+1, ok)
			}
		}
		if records > 0 {
			m, _ := q.Log(1)
			entrylog.NewLogIn(m).Add(entrylog.Entry{Node: 1, Sent: 5})
			other, _ := p.Log(1)
			if e := other.Entries(); len(e) != 1 || e[0].Sent != 5 {
				t.Errorf("the log holds %+v", e)
			}
		}
		if got := p.Counters(nodes).Pending.Load(); got != 7 {
			t.Errorf("the last counter is %d", got)
		}
	}
	p, err := Create(Room{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.Waits(1) != nil {
		t.Error("there are histograms though nobody watches")
	}
}
