package sim

import "dmebench/dme"

// parcel is a message on its way.
type parcel struct {
	msg      dme.Message
	from, to dme.NodeID
}

// pageParcels is how many parcels a page of mail holds.
const pageParcels = 512

// mail holds the messages that are on their way, in slots that are used again.
// Pages never move: a run that once had a million messages in flight does not
// copy them while it grows.
type mail struct {
	pages []*[pageParcels]parcel
	free  []uint32
	n     int // in flight
}

func (m *mail) at(slot uint32) *parcel { return &m.pages[slot/pageParcels][slot%pageParcels] }

func (m *mail) put(from, to dme.NodeID, msg *dme.Message) uint32 {
	if len(m.free) == 0 {
		base := uint32(len(m.pages) * pageParcels)
		m.pages = append(m.pages, new([pageParcels]parcel))
		for i := uint32(pageParcels); i > 0; i-- {
			m.free = append(m.free, base+i-1)
		}
	}
	slot := m.free[len(m.free)-1]
	m.free = m.free[:len(m.free)-1]
	p := m.at(slot)
	p.msg, p.from, p.to = *msg, from, to
	m.n++
	return slot
}

// release gives the slot back. Its vector belongs to the receiver by now.
func (m *mail) release(slot uint32) {
	m.at(slot).msg.Vec = nil
	m.free = append(m.free, slot)
	m.n--
}
