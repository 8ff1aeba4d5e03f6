package sharedpage

import (
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/internal/entrylog"
)

// What a process has logged is there for others, and for the process that comes
// after it.
func TestLogsOutliveTheirProcess(t *testing.T) {
	p, err := Create(Room{Nodes: 3, Records: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	q, err := Open(dup(t, p.File()), 3)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	entry := func(id dme.NodeID, k int64) entrylog.Entry {
		return entrylog.Entry{Node: id, Intended: k, Exited: k + 1, Sent: uint64(k)}
	}
	var want []entrylog.Entry
	for _, from := range []int64{0, 2} {
		m, ok := q.Log(2)
		if !ok {
			t.Fatal("no log")
		}
		log := entrylog.NewLogIn(m)
		for k := from; k < from+2; k++ {
			log.Add(entry(2, k))
			want = append(want, entry(2, k))
		}
	}
	for id := dme.NodeID(1); id <= 3; id++ {
		m, _ := p.Log(id)
		if got := m.Entries(); (id == 2) != slices.Equal(got, want) {
			t.Errorf("node %d: %+v", id, got)
		}
	}
	m, _ := q.Log(3)
	log := entrylog.NewLogIn(m)
	for k := range int64(7) {
		log.Add(entry(3, k))
	}
	if log.Len() != 5 || log.Dropped() != 2 {
		t.Errorf("%d entries kept, %d dropped; there is room for 5", log.Len(), log.Dropped())
	}
	q.Entered(1, 77)
	if p.LastEntered(1) != 77 || p.LastEntered(2) != 0 {
		t.Errorf("entered at %d and %d", p.LastEntered(1), p.LastEntered(2))
	}
}

func TestNoLogsUnlessAskedFor(t *testing.T) {
	if _, ok := newPage(t, 2).Log(1); ok {
		t.Error("there is a log")
	}
}
