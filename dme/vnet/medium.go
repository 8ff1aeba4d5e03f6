package vnet

// mayArrive reports whether the i-th message on a link may be the next that its
// receiver sees.
func (m *Model) mayArrive(s state, link, i int) bool {
	if i >= s.length(link) || i > 0 && !m.Unordered {
		return false
	}
	return !m.Sequenced || m.audible(s, link, i)
}

// audible reports whether a message, if it is a broadcast, is what its receiver
// may hear next: the sender's first, with the first place that the node has not
// heard or, where it has heard all that have one, without a place.
func (m *Model) audible(s state, link, i int) bool {
	p := s.passage(link, i)
	if !p.broadcast {
		return true
	}
	for earlier := range i {
		if s.passage(link, earlier).broadcast {
			return false
		}
	}
	least := int32(0)
	for from := range m.IDs() {
		other := m.link(from, p.To)
		for k := range s.length(other) {
			if place := s.passage(other, k).place; place > 0 && (least == 0 || place < least) {
				least = place
			}
		}
	}
	return p.place == least
}

// heard gives a broadcast that a node has just heard first its place, and takes
// the place away once everybody has heard it.
func (m *Model) heard(s state, p passage) {
	last, remains := int32(0), false
	for _, x := range s.arriving() {
		link := m.link(x.From, x.Node)
		for k := range s.length(link) {
			place := s.passage(link, k).place
			last = max(last, place)
			remains = remains || place == p.place
		}
	}
	switch {
	case p.place == 0:
		for to := range m.IDs() {
			done := to == p.To
			s.rewrite(p.From, to, func(q *passage) bool {
				if done || !q.broadcast || q.place > 0 {
					return false
				}
				q.place, done = last+1, true
				return true
			})
		}
	case !remains:
		rewriteAll(s, func(q *passage) bool {
			if q.place <= p.place {
				return false
			}
			q.place--
			return true
		})
	}
}
