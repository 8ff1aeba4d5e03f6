package sharedpage

import (
	"testing"

	"dmebench/dme"
	"dmebench/internal/noderun"
)

func TestWhoIsToStay(t *testing.T) {
	p := newPage(t, 4)
	if p.Stays(1, p.Enter(1, false)) {
		t.Error("nobody was asked to stay")
	}
	p.Leave(1, false)
	p.Hold(3)
	if _, _, ok := p.Held(); ok {
		t.Error("held before anybody came")
	}
	for id := dme.NodeID(2); id <= 4; id++ {
		if got := p.Stays(id, p.Enter(id, false)); got != (id == 3) {
			t.Errorf("node %d, which makes entry %d, stays: %v", id, id, got)
		}
		p.Leave(id, false)
	}
	if id, order, ok := p.Held(); id != 3 || order != 3 || !ok {
		t.Errorf("held: %d, %d, %v", id, order, ok)
	}
	// The entry that was meant is over: the next one counts.
	p.Hold(2)
	if !p.Stays(4, p.Enter(4, false)) {
		t.Error("who comes after the entry that was meant does not stay")
	}
}

func TestTheDeadFreeTheCriticalSection(t *testing.T) {
	p := newPage(t, 3)
	activity := func(id dme.NodeID, a noderun.Activity) { p.Counters(id).Activity.Store(uint64(a)) }

	activity(2, noderun.Inside)
	p.Counters(2).Timers.Store(2)
	p.Counters(2).Pending.Store(3)
	p.Enter(2, false)
	if r := p.Bury(2); !r.Inside || r.Activity != noderun.Inside {
		t.Errorf("left behind: %+v", r)
	}
	if c := p.Counters(2); c.Timers.Load() != 0 || c.Pending.Load() != 0 || noderun.Activity(c.Activity.Load()) != noderun.Down {
		t.Error("a dead node still counts")
	}
	p.Enter(1, false)

	// Another's death does not free it.
	activity(3, noderun.Requesting)
	if r := p.Bury(3); r.Inside || r.Activity != noderun.Requesting {
		t.Errorf("left behind: %+v", r)
	}
	if n, _ := p.Violations(); n != 0 {
		t.Errorf("%d violations", n)
	}
	p.Enter(2, false)
	if n, _ := p.Violations(); n != 1 {
		t.Errorf("%d violations while node 1 was inside", n)
	}
	p.Leave(1, false)

	// A reader leaves the others inside.
	p.Enter(1, true)
	p.Enter(3, true)
	activity(1, noderun.Inside)
	if r := p.Bury(1); !r.Inside {
		t.Errorf("left behind: %+v", r)
	}
	p.Enter(2, false)
	if n, _ := p.Violations(); n != 2 {
		t.Errorf("%d violations; a reader is still inside", n)
	}
	activity(3, noderun.Inside)
	p.Bury(3)
	p.Enter(1, false)
	if n, _ := p.Violations(); n != 2 {
		t.Errorf("%d violations after the last reader died", n)
	}
}
