package sharedpage

import (
	"strings"
	"sync"
	"testing"

	"dmebench/dme"
)

func newPage(t *testing.T, nodes int) *Page {
	t.Helper()
	p, err := Create(Room{Nodes: nodes})
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
	p.Leave(2, false) // the intruder leaves: node 1 is still inside
	p.Enter(3, false)
	if n, _ := p.Violations(); n != 2 {
		t.Errorf("after the intruder left, %d violations; want 2: node 1 was still inside", n)
	}
	p.Leave(1, false)
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
	p.Leave(3, false)
	p.Leave(1, true)
	p.Leave(2, true)
	p.Enter(4, false)
	p.Enter(1, true)
	if n, first := p.Violations(); n != 2 {
		t.Errorf("a reader beside a writer: %d violations, %q", n, first)
	}
}

// Two mappings stand for two processes.
func TestMappingsShareWitnessAndCounters(t *testing.T) {
	p := newPage(t, 8)
	q, err := Open(dup(t, p.File()), 8)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	q.Counters(8).SentTotal.Store(42)
	if got := p.Nodes()[7].SentTotal.Load(); got != 42 {
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
				page.Leave(id, false)
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
	if q, err := Open(dup(t, p.File()), 5); err == nil {
		q.Close()
		t.Error("a page for 4 nodes was taken for one of 5")
	}
	p.header.magic.Store(1)
	if q, err := Open(dup(t, p.File()), 4); err == nil {
		q.Close()
		t.Error("another layout was accepted")
	}
}

func BenchmarkEnterLeave(b *testing.B) {
	p, err := Create(Room{Nodes: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for b.Loop() {
		p.Enter(1, false)
		p.Leave(1, false)
	}
}
