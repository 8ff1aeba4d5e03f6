package sim

import "dmebench/dme"

// pageSlots is how many values a page of slots holds.
const pageSlots = 512

// slots holds values in slots that are used again. Pages never move: a run that
// once had a million messages in flight does not copy them while it grows.
type slots[T any] struct {
	pages []*[pageSlots]T
	free  []uint32
	n     int // in use
}

func (s *slots[T]) at(slot uint32) *T { return &s.pages[slot/pageSlots][slot%pageSlots] }

func (s *slots[T]) take() (slot uint32, x *T) {
	if len(s.free) == 0 {
		base := uint32(len(s.pages) * pageSlots)
		s.pages = append(s.pages, new([pageSlots]T))
		for i := uint32(pageSlots); i > 0; i-- {
			s.free = append(s.free, base+i-1)
		}
	}
	slot = s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	s.n++
	return slot, s.at(slot)
}

func (s *slots[T]) release(slot uint32) {
	s.free = append(s.free, slot)
	s.n--
}

// transit is a message on its way.
type transit struct {
	msg      dme.Message
	from, to dme.NodeID
}

// flight holds the messages that are on their way.
type flight struct{ slots[transit] }

func (f *flight) put(from, to dme.NodeID, m *dme.Message) (slot uint32) {
	slot, x := f.take()
	x.msg, x.from, x.to = *m, from, to
	return slot
}

// release gives the slot back. The vector belongs to the receiver by now.
func (f *flight) release(slot uint32) {
	f.at(slot).msg.Vec = nil
	f.slots.release(slot)
}
