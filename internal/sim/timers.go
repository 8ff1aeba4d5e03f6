package sim

import (
	"time"

	"dmebench/dme"
)

// timer is one setting of a node's timer.
type timer struct {
	node dme.NodeID
	id   dme.TimerID
	live bool // neither cancelled nor set anew
}

// timers holds what is set. A timer that is cancelled stays on the agenda and
// is passed over when its time comes.
type timers struct {
	slots []timer
	free  []uint32
	armed map[uint64]uint32 // node and id -> slot
	live  int
}

func timerKey(node dme.NodeID, id dme.TimerID) uint64 {
	return uint64(node)<<8 | uint64(id)
}

func (t *timers) set(node dme.NodeID, id dme.TimerID) (slot uint32) {
	t.cancel(node, id)
	if len(t.free) == 0 {
		t.slots = append(t.slots, timer{})
		t.free = append(t.free, uint32(len(t.slots)-1))
	}
	slot = t.free[len(t.free)-1]
	t.free = t.free[:len(t.free)-1]
	t.slots[slot] = timer{node: node, id: id, live: true}
	if t.armed == nil {
		t.armed = make(map[uint64]uint32)
	}
	t.armed[timerKey(node, id)] = slot
	t.live++
	return slot
}

func (t *timers) cancel(node dme.NodeID, id dme.TimerID) {
	if slot, ok := t.armed[timerKey(node, id)]; ok {
		t.slots[slot].live = false
		delete(t.armed, timerKey(node, id))
		t.live--
	}
}

// fire takes the timer out; ok is false where it must not fire.
func (t *timers) fire(slot uint32) (fired timer, ok bool) {
	fired = t.slots[slot]
	t.free = append(t.free, slot)
	if fired.live {
		t.cancel(fired.node, fired.id)
	}
	return fired, fired.live
}

// SetTimer implements [host.World].
func (s *simulation) SetTimer(id dme.NodeID, t dme.TimerID, delay time.Duration) {
	s.schedule(timeout, s.now+max(0, int64(delay)), s.timers.set(id, t))
}

// CancelTimer implements [host.World].
func (s *simulation) CancelTimer(id dme.NodeID, t dme.TimerID) {
	s.timers.cancel(id, t)
}
