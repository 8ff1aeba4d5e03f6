package sim

import (
	"time"

	"dmebench/algorithms"
)

// timer is one setting of a node's timer.
type timer struct {
	node algorithms.NodeID
	id   algorithms.TimerID
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

func timerKey(node algorithms.NodeID, id algorithms.TimerID) uint64 {
	return uint64(node)<<8 | uint64(id)
}

func (t *timers) set(node algorithms.NodeID, id algorithms.TimerID) (slot uint32) {
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

func (t *timers) cancel(node algorithms.NodeID, id algorithms.TimerID) {
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
func (s *simulation) SetTimer(id algorithms.NodeID, t algorithms.TimerID, delay time.Duration) {
	s.schedule(timeout, s.now+max(0, int64(delay)), s.timers.set(id, t))
}

// CancelTimer implements [host.World].
func (s *simulation) CancelTimer(id algorithms.NodeID, t algorithms.TimerID) {
	s.timers.cancel(id, t)
}
