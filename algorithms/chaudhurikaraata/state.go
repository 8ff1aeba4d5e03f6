package chaudhurikaraata

import (
	"slices"

	"dmebench/dme"
)

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

// impossible says why no node that keeps to the algorithm can have sent this message, over links
// that keep their guarantees; "" if one can.
func (n *node) impossible(from dme.NodeID, m *dme.Message) string {
	x := m.Node
	if x < 1 || int(x) > n.nodes {
		return "it names no node of the mesh"
	}
	if n.isCorner(x) {
		return n.impossibleAcross(from, m)
	}
	if m.Kind == kindPermit {
		if n.corner != nil || from != n.inward(n.self) {
			return "PERMIT to a node, not from the side of its corner"
		}
		if x == n.self {
			if !n.waiting {
				return "PERMIT without a request"
			}
		} else if n.outward(n.self, x) == dme.None {
			return "PERMIT off its route"
		}
		return ""
	}
	if x == n.self || n.outward(n.self, x) != from {
		return "REQUEST or RELEASE off its route"
	}
	if n.corner != nil {
		return n.corner.impossible(m)
	}
	return ""
}

// impossibleAcross judges a message from plane to plane.
func (n *node) impossibleAcross(from dme.NodeID, m *dme.Message) string {
	if n.corner == nil {
		return "a token's message to a node without a token"
	}
	z := m.Node
	k := n.planeOf(n.self)
	if !n.isCorner(from) || n.planeOf(from) != k-1 && n.planeOf(from) != k+1 {
		return "a token's message, not from a neighbouring plane"
	}
	switch {
	case m.Kind == kindRelease:
		return "RELEASE of a corner"
	case m.Kind == kindRequest && (z == n.self || from != n.across(n.self, z)):
		return "REQUEST of a plane from the wrong side"
	case m.Kind == kindPermit && z != n.self && from == n.across(n.self, z):
		return "PERMIT to a plane from the wrong side"
	}
	return n.corner.impossible(m)
}

// impossible judges what both texts have in common.
func (t *token) impossible(m *dme.Message) string {
	switch m.Kind {
	case kindPermit:
		if t.colour != red {
			return "PERMIT for a second token"
		}
	case kindRelease:
		if t.colour != yellow || t.granted != m.Node {
			return "RELEASE of a node that is not permitted"
		}
	}
	return ""
}

func (c *repairedCorner) impossible(m *dme.Message) string {
	if reason := c.token.impossible(m); reason != "" {
		return reason
	}
	ofPlane := c.home.isCorner(m.Node)
	switch {
	case m.Kind == kindRequest && ofPlane:
		if c.repair == numbered && m.Num == 0 {
			return "REQUEST of a plane without a number"
		}
		if c.repair == directed && (c.home.across(c.home.self, m.Node) != m.Node || c.indexInPL(m.Node) >= 0) {
			return "REQUEST of a plane that must not ask this one now"
		}
	case m.Kind == kindRequest:
		// A node that is still permitted here may ask: its RELEASE is overtaken.
		if slices.Contains(c.own, m.Node) {
			return "REQUEST of a node that has asked already"
		}
	case m.Kind == kindPermit:
		if c.repair == numbered && len(m.Vec) != c.home.planes() {
			return "PERMIT to a plane without the numbers of all planes"
		}
		// Elsewhere an outdated REQUEST may bring the token, and a PERMIT may pass.
		if c.repair == directed && (!c.asked || m.Node != c.home.self) || c.repair == numbered && !c.asked && m.Node == c.home.self {
			return "PERMIT that this corner did not ask for"
		}
	}
	return ""
}
