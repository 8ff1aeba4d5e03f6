package sim

import (
	"time"

	"dmebench/dme"
)

// timer is one setting of a node's timer.
type timer struct {
	node dme.NodeID
	id   dme.TimerID
	live bool // neither cancelled nor set again
}

// timers holds what is set. A timer that is cancelled stays on the agenda and
// is passed over when its time comes.
type timers struct {
	slots[timer]
	armed map[timer]uint32 // the slot of each that is live
}

func (t *timers) set(node dme.NodeID, id dme.TimerID) (slot uint32) {
	t.cancel(node, id)
	slot, x := t.take()
	*x = timer{node: node, id: id, live: true}
	if t.armed == nil {
		t.armed = make(map[timer]uint32)
	}
	t.armed[*x] = slot
	return slot
}

func (t *timers) cancel(node dme.NodeID, id dme.TimerID) {
	key := timer{node: node, id: id, live: true}
	if slot, ok := t.armed[key]; ok {
		t.at(slot).live = false
		delete(t.armed, key)
	}
}

// fire takes the timer out; ok is false where it must not fire.
func (t *timers) fire(slot uint32) (fired timer, ok bool) {
	fired = *t.at(slot)
	t.release(slot)
	if fired.live {
		delete(t.armed, fired)
	}
	return fired, fired.live
}

// SetTimer implements [noderun.World].
func (s *simulation) SetTimer(id dme.NodeID, t dme.TimerID, delay time.Duration) {
	s.schedule(timeout, s.now+max(0, int64(delay)), s.timers.set(id, t))
}

// CancelTimer implements [noderun.World].
func (s *simulation) CancelTimer(id dme.NodeID, t dme.TimerID) {
	s.timers.cancel(id, t)
}
