package chaudhurikaraata

import "dmebench/dme"

// State names the variables, with the node's coordinates.
func (n *node) State(v *dme.Visitor) {
	v.Bool(n.label, &n.mutex)
	v.Bool("waiting", &n.waiting)
	if n.corner != nil {
		n.corner.state(v)
	}
}

func (t *token) state(v *dme.Visitor) {
	c := uint64(t.colour)
	v.Uint(t.labels[t.colour], &c)
	t.colour = colour(c % 3) // whatever foreign bytes say
	v.Node("granted", &t.granted)
}

func (c *repairedCorner) state(v *dme.Visitor) {
	c.token.state(v)
	c.home.showNodes(v, &c.own)
	c.showPL(v)
	v.Bool("ASKED", &c.asked)
	v.Int("batch", &c.batch)
	switch c.repair {
	case numbered:
		v.Clock("asks", &c.asks)
		v.ClocksOf(dme.None, "served", &c.served)
		if len(c.served) == 0 {
			c.served = nil // as a loaded state leaves it
		}
	case directed:
		v.Node("side", &c.side)
	}
}

func (c *publishedCorner) state(v *dme.Visitor) {
	c.token.state(v)
	c.home.showNodes(v, &c.q)
}

// showNodes shows a queue of nodes: each element's name is its coordinates.
func (s *system) showNodes(v *dme.Visitor, q *[]dme.NodeID) {
	*q = resize(*q, v.Len(len(*q)))
	for i := range *q {
		x := &(*q)[i]
		v.Node(label(s.queued, int(*x)), x)
	}
}

func (c *repairedCorner) showPL(v *dme.Visitor) {
	c.pl = resize(c.pl, v.Len(len(c.pl)))
	for i := range c.pl {
		p := &c.pl[i]
		v.Node(label(c.home.planed, c.home.planeOf(p.corner)), &p.corner)
		if c.repair == numbered {
			v.Clock("number", &p.number)
		}
	}
}

// resize returns s with n elements, new ones zero, for a state that is loaded.
func resize[T any](s []T, n int) []T {
	if n <= len(s) {
		return s[:n]
	}
	return append(s, make([]T, n-len(s))...)
}

// label returns a name from the table. While a state is loaded, what is to be
// named is not there yet.
func label(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return ""
	}
	return names[i]
}
