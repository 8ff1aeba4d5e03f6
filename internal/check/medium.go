package check

import (
	"slices"

	"dmebench/dme"
)

// transit is what a link knows about a message beside its content.
type transit struct {
	copy bool // it has arrived once

	// On a sequenced medium a broadcast is on its way to every node, its sender
	// too. Its place among all is open until the first node hears it, and the
	// same for all the others then: 1 is the first that somebody has still to
	// hear, 0 stands for none yet.
	broadcast bool
	place     int
}

// audible reports whether a broadcast, the first on its link, is what the node
// may hear next: the first that has a place and that the node has not heard or,
// where it has heard them all, any.
func (s *system) audible(l *letter, to dme.NodeID) bool {
	var least leastPlace
	for from := range s.ids() {
		q := s.links[s.linkOf(from, to)].queue
		for i := range q {
			least.add(q[i].place)
		}
	}
	return l.place == int(least)
}

// leastPlace is the least of several places, 0 where there is none.
type leastPlace int

func (l *leastPlace) add(place int) {
	if place > 0 && (*l == 0 || place < int(*l)) {
		*l = leastPlace(place)
	}
}

// heard gives a broadcast that a node has just heard first its place, and takes
// the place away once everybody has heard it.
func (s *system) heard(l *letter, from, by dme.NodeID) {
	if l.place > 0 {
		remains := false
		s.eachLetter(func(other *letter) { remains = remains || other.place == l.place })
		if !remains {
			s.eachLetter(func(other *letter) { other.transit = other.without(l.place) })
		}
		return
	}
	last := 0
	s.eachLetter(func(other *letter) { last = max(last, other.place) })
	for to := range s.ids() {
		q := s.links[s.linkOf(from, to)].queue
		if i := slices.IndexFunc(q, func(l letter) bool { return l.unplaced() }); to != by {
			q[i].place = last + 1
		}
	}
}

// unplaced reports whether the message is a broadcast that nobody has heard.
func (t transit) unplaced() bool { return t.broadcast && t.place == 0 }

// without returns t when a place that is before it is there no more.
func (t transit) without(place int) transit {
	if t.place > place {
		t.place--
	}
	return t
}

// What follows is the same in vectors.

func (x *expander) audible(v []uint32, p *parcel) bool {
	var least leastPlace
	for from := range x.ids() {
		for _, other := range x.components.queues.at(v[x.placeOf(from, p.to)]).parcels {
			least.add(x.components.parcels.at(other).place)
		}
	}
	return p.place == int(least)
}

// heard changes the places in next, which no longer holds the broadcast.
func (x *expander) heard(p *parcel) {
	last, remains := 0, false
	for at := x.Nodes; at < x.width-1; at++ {
		for _, other := range x.components.queues.at(x.next[at]).parcels {
			place := x.components.parcels.at(other).place
			last = max(last, place)
			remains = remains || place == p.place
		}
	}
	switch {
	case p.place == 0:
		for to := range x.ids() {
			if to == p.to {
				continue
			}
			done := false
			x.repack(x.placeOf(p.from, to), func(t transit) transit {
				if !done && t.unplaced() {
					t.place, done = last+1, true
				}
				return t
			})
		}
	case !remains:
		for at := x.Nodes; at < x.width-1; at++ {
			x.repack(at, func(t transit) transit { return t.without(p.place) })
		}
	}
}

// repack changes what a link of next knows about its messages, in order.
func (x *expander) repack(at int, change func(transit) transit) {
	if x.next[at] == 0 {
		return
	}
	c := x.components
	b := append(x.parcels[:0], c.queues.at(x.next[at]).parcels...)
	for i, id := range b {
		p := c.parcels.at(id)
		if t := change(p.transit); t != p.transit {
			b[i], x.key = c.parcelOf(x.key, p.from, p.to, []byte(p.body), t, p.marks)
		}
	}
	x.parcels = b
	var to uint32
	to, x.key = c.queueOf(x.key, b)
	x.setQueue(at, to)
}

func (x *expander) placeOf(from, to dme.NodeID) int {
	return int(x.at[int(from-1)*x.Nodes+int(to-1)])
}
