package witness

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"dmebench/dme"
	"dmebench/internal/record"
	"dmebench/internal/runtime/noderun"
)

func newPage(t *testing.T, nodes int) *Page {
	t.Helper()
	p, err := CreatePage(Room{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestWitnessCatchesAnOverlap(t *testing.T) {
	p := newPage(t, 3)
	if got := p.Enter(1, false); got != 1 {
		t.Errorf("first entry has order %d", got)
	}
	if got := p.Enter(2, false); got != 2 {
		t.Errorf("second entry has order %d", got)
	}
	n, first := p.Violations()
	if n != 1 || first != "node 2 entered while node 1 was inside" {
		t.Errorf("violations: %d, %q", n, first)
	}
	p.Exit(2, false) // the intruder leaves: node 1 is still inside
	p.Enter(3, false)
	if n, _ := p.Violations(); n != 2 {
		t.Errorf("after the intruder left, %d violations; want 2: node 1 was still inside", n)
	}
	p.Exit(1, false)
	p.Enter(3, false)
	if n, _ := p.Violations(); n != 2 {
		t.Errorf("a lawful entry was counted as a violation")
	}
}

func TestReadersShareAndExcludeWriters(t *testing.T) {
	p := newPage(t, 4)
	p.Enter(1, true)
	p.Enter(2, true)
	if n, _ := p.Violations(); n != 0 {
		t.Fatal("two readers are no violation")
	}
	p.Enter(3, false)
	if n, first := p.Violations(); n != 1 || !strings.Contains(first, "2 readers") {
		t.Errorf("violations: %d, %q", n, first)
	}
	p.Exit(3, false)
	p.Exit(1, true)
	p.Exit(2, true)
	p.Enter(4, false)
	p.Enter(1, true)
	if n, first := p.Violations(); n != 2 {
		t.Errorf("a reader beside a writer: %d violations, %q", n, first)
	}
}

// Two mappings stand for two processes.
func TestMappingsShareWitnessAndCounters(t *testing.T) {
	p := newPage(t, 8)
	q, err := OpenPage(dup(t, p.File()), 8)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	q.Counters(8).Bytes.Store(42)
	if got := p.Nodes()[7].Bytes.Load(); got != 42 {
		t.Errorf("the other mapping reads %d", got)
	}

	// Racing entries: those that found the section free plus the violations
	// are all of them, and every entry has an order of its own.
	const rounds = 20000
	seen := make([]bool, 2*rounds+1)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, page := range []*Page{p, q} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			id := dme.NodeID(i + 1)
			orders := make([]uint64, 0, rounds)
			for range rounds {
				orders = append(orders, page.Enter(id, false))
				page.Exit(id, false)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, o := range orders {
				if seen[o] {
					t.Errorf("order %d was given twice", o)
				}
				seen[o] = true
			}
		}()
	}
	wg.Wait()
	if inside := p.header.occupant.Load(); inside != 0 {
		t.Errorf("after all have left, %d is inside", inside)
	}
}

func TestOpenRefusesWhatIsNoPage(t *testing.T) {
	p := newPage(t, 4)
	if q, err := OpenPage(dup(t, p.File()), 5); err == nil {
		q.Close()
		t.Error("a page for 4 nodes was taken for one of 5")
	}
	p.header.magic.Store(1)
	if q, err := OpenPage(dup(t, p.File()), 4); err == nil {
		q.Close()
		t.Error("another layout was accepted")
	}
}

func BenchmarkEnterLeave(b *testing.B) {
	p, err := CreatePage(Room{Nodes: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for b.Loop() {
		p.Enter(1, false)
		p.Exit(1, false)
	}
}

func TestWhoIsToStay(t *testing.T) {
	p := newPage(t, 4)
	if p.Stays(p.Enter(1, false)) {
		t.Error("nobody was asked to stay")
	}
	p.Exit(1, false)
	p.Hold(3)
	if p.Held() != dme.None {
		t.Error("held before anybody came")
	}
	for id := dme.NodeID(2); id <= 4; id++ {
		stays := p.Stays(p.Enter(id, false))
		if stays != (id == 3) {
			t.Errorf("node %d, which makes entry %d, stays: %v", id, id, stays)
		}
		if stays {
			p.Stay(id)
		}
		p.Exit(id, false)
	}
	if id := p.Held(); id != 3 {
		t.Errorf("held: %d", id)
	}
	// The entry that was meant is over: the next one counts.
	p.Hold(2)
	if !p.Stays(p.Enter(4, false)) {
		t.Error("who comes after the entry that was meant does not stay")
	}
}

func TestTheDeadFreeTheCriticalSection(t *testing.T) {
	p := newPage(t, 3)
	activity := func(id dme.NodeID, a noderun.Activity) { p.Counters(id).Activity.Store(uint64(a)) }
	violations := func(want uint64, when string) {
		t.Helper()
		if n, _ := p.Violations(); n != want {
			t.Errorf("%d violations %s, want %d", n, when, want)
		}
	}
	activity(2, noderun.Inside)
	p.Counters(2).Timers.Store(2)
	p.Counters(2).Pending.Store(3)
	p.Enter(2, false)
	p.Remove(2)
	if c := p.Counters(2); c.Timers.Load() != 0 || c.Pending.Load() != 0 || noderun.Activity(c.Activity.Load()) != noderun.Down {
		t.Error("a dead node still counts")
	}
	p.Enter(1, false)
	activity(3, noderun.Requesting)
	p.Remove(3) // another's death does not free it
	violations(0, "after deaths")
	p.Enter(2, false)
	violations(1, "while node 1 was inside")
	p.Exit(1, false)

	// A reader leaves the others inside.
	p.Enter(1, true)
	p.Enter(3, true)
	activity(1, noderun.Inside)
	p.Remove(1)
	p.Enter(2, false)
	violations(2, "while a reader is still inside")
	activity(3, noderun.Inside)
	p.Remove(3)
	p.Enter(1, false)
	violations(2, "after the last reader died")
}

// What a process has logged is there for others, and for the process that comes
// after it.
func TestLogsOutliveTheirProcess(t *testing.T) {
	p, err := CreatePage(Room{Nodes: 3, Records: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	q, err := OpenPage(dup(t, p.File()), 3)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	entry := func(id dme.NodeID, k int64) record.Entry {
		return record.Entry{Node: id, Intended: k, Exited: k + 1, Sent: uint64(k)}
	}
	var want []record.Entry
	for _, from := range []int64{0, 2} {
		m, ok := q.Log(2)
		if !ok {
			t.Fatal("no log")
		}
		log := record.NewLogIn(m)
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
	log := record.NewLogIn(m)
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

// What a worker counts in its mapping of the page is read in the coordinator's, and
// nothing lies over anything else.
func TestWaits(t *testing.T) {
	const nodes = 3
	for _, records := range []int{0, 4} {
		p, err := CreatePage(Room{Nodes: nodes, Records: records, Watched: true})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		q, err := OpenPage(dup(t, p.File()), nodes)
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
			record.NewLogIn(m).Add(record.Entry{Node: 1, Sent: 5})
			other, _ := p.Log(1)
			if e := other.Entries(); len(e) != 1 || e[0].Sent != 5 {
				t.Errorf("the log holds %+v", e)
			}
		}
		if got := p.Counters(nodes).Pending.Load(); got != 7 {
			t.Errorf("the last counter is %d", got)
		}
	}
}

// dup is what inheriting a descriptor gives a worker.
func dup(t *testing.T, f *os.File) *os.File {
	t.Helper()
	fd, err := unix.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	g := os.NewFile(uintptr(fd), "inherited")
	t.Cleanup(func() { g.Close() })
	return g
}
