package chaudhurikaraata

import (
	"slices"

	"dmebench/dme"
)

// publishedCorner is node (0,0,k) as printed, without the repairs CR1 to CR5.
// delete takes one element out of Q, the oldest of several.
type publishedCorner struct {
	token
	q []dme.NodeID // Q: nodes of the plane and corners of other planes
}

// request is P1 at the corner, and P2 for a REQUEST of the plane.
func (c *publishedCorner) request(x dme.NodeID, out *dme.Outbox) {
	c.q = append(c.q, x)
	if c.colour == red {
		c.flood(0, out)
	}
	c.next(out)
}

// planeRequest is P2 for a REQUEST of another plane.
func (c *publishedCorner) planeRequest(m *dme.Message, out *dme.Outbox) {
	c.q = append(c.q, m.Node)
	c.forward(m.Node, 0, out)
	c.next(out)
}

// permit is P3.
func (c *publishedCorner) permit(m *dme.Message, out *dme.Outbox) {
	if z := m.Node; z != c.home.self {
		if i := slices.Index(c.q, z); i >= 0 {
			c.q = slices.Delete(c.q, i, i+1)
		}
		c.pass(z, nil, out)
		return
	}
	c.turn(green)
	c.next(out)
}

// release is P1 at the corner, and P4.
func (c *publishedCorner) release(out *dme.Outbox) {
	c.token.release()
	c.next(out)
}

// next grants permission to the head of Q if the token is GREEN.
func (c *publishedCorner) next(out *dme.Outbox) {
	if c.colour != green || len(c.q) == 0 {
		return
	}
	x := c.q[0]
	c.q = slices.Delete(c.q, 0, 1)
	if c.home.planeOf(x) == c.home.planeOf(c.home.self) {
		c.grantNode(x, out)
	} else {
		c.grantPlane(x, nil, out)
	}
}

func (c *publishedCorner) queueLength() int { return len(c.q) }

func (c *publishedCorner) waits() []dme.Wait { return c.awaits(len(c.q) > 0, dme.None) }
