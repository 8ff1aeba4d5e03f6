package chaudhurikaraata

import (
	"slices"

	"dmebench/dme"
)

// repairedCorner is node (0,0,k) with the repairs CR1 to CR6.
type repairedCorner struct {
	token
	repair repair

	own   []dme.NodeID   // OWN: nodes of the plane that wait, the oldest first
	pl    []planeRequest // PL: planes that wait for the token, each once, the oldest first
	asked bool           // ASKED: a REQUEST for the token is outstanding
	batch int            // that many of OWN were there when the token arrived (CR3)

	// Repair numbered.
	asks   uint64   // number of this corner's last REQUEST
	served []uint64 // by plane: number of the last REQUEST that brought it the token; nil without the token

	// Repair directed: the neighbouring corner on whose side the token is, or
	// left when it was last here; None in plane 0 until it has left.
	side dme.NodeID
}

// planeRequest is an entry of PL.
type planeRequest struct {
	corner dme.NodeID // which stands for its plane
	number uint64     // of its REQUEST; 0 but with repair numbered
}

func newRepairedCorner(t token) *repairedCorner {
	n := t.home
	c := &repairedCorner{token: t, repair: n.repair}
	switch k := n.planeOf(n.self); { // plane 0 has the token at the beginning
	case c.repair == numbered && k == 0:
		c.served = make([]uint64, n.planes())
	case c.repair == directed && k > 0:
		c.side = n.cornerOf(k - 1)
	}
	return c
}

func (c *repairedCorner) request(x dme.NodeID, out *dme.Outbox) {
	c.own = append(c.own, x)
	switch c.colour {
	case green:
		c.next(out)
	case red:
		c.ask(out)
	}
}

func (c *repairedCorner) release(out *dme.Outbox) {
	c.token.release()
	c.next(out)
}

// next decides what a GREEN token does: it serves who waited when it arrived,
// then other planes, then who came since; or it rests.
func (c *repairedCorner) next(out *dme.Outbox) {
	c.dropOutdated()
	switch {
	case c.batch > 0: // CR3
		c.batch--
		c.serveOwn(out)
	case len(c.pl) > 0:
		c.leave(out)
	case len(c.own) > 0:
		c.serveOwn(out)
	}
}

func (c *repairedCorner) serveOwn(out *dme.Outbox) {
	x := c.own[0]
	c.own = slices.Delete(c.own, 0, 1)
	c.grantNode(x, out)
}

// leave gives the token to the plane that has waited longest.
func (c *repairedCorner) leave(out *dme.Outbox) {
	z := c.pl[0].corner
	c.pl = slices.Delete(c.pl, 0, 1)
	c.grantPlane(z, c.served, out)
	c.served = nil
	if c.repair == directed {
		c.side = z
	}
	if len(c.own) > 0 || c.repair == directed && len(c.pl) > 0 { // CR4
		c.ask(out)
	}
}

// ask sends the REQUEST for the token, unless one is outstanding (CR2).
func (c *repairedCorner) ask(out *dme.Outbox) {
	if c.asked {
		return
	}
	c.asked = true
	switch c.repair {
	case numbered:
		c.asks++
		c.flood(c.asks, out)
	case suppressed:
		c.flood(0, out)
	case directed:
		out.Send(c.side, dme.Message{Kind: kindRequest, Node: c.home.self})
	}
}

func (c *repairedCorner) planeRequest(m *dme.Message, out *dme.Outbox) {
	c.enqueue(m.Node, m.Num)
	switch {
	case c.repair == directed:
		if c.colour == red {
			c.ask(out)
		}
	case c.repair == suppressed && c.colour == green:
		// Granted at once: nobody else need hear of it.
	default:
		c.forward(m.Node, m.Num, out)
	}
	if c.colour == green {
		c.next(out)
	}
}

// enqueue puts a plane into PL, where it keeps its place if it is there already.
func (c *repairedCorner) enqueue(z dme.NodeID, number uint64) {
	if i := c.indexInPL(z); i >= 0 {
		c.pl[i].number = max(c.pl[i].number, number)
		return
	}
	c.pl = append(c.pl, planeRequest{corner: z, number: number})
}

func (c *repairedCorner) indexInPL(z dme.NodeID) int {
	return slices.IndexFunc(c.pl, func(p planeRequest) bool { return p.corner == z })
}

// permit receives the token, or passes it on.
func (c *repairedCorner) permit(m *dme.Message, out *dme.Outbox) {
	if z := m.Node; z != c.home.self {
		if i := c.indexInPL(z); i >= 0 { // CR5
			c.pl = slices.Delete(c.pl, i, i+1)
		}
		c.pass(z, m.Vec, out)
		return
	}
	c.turn(green)
	c.asked = false // CR2
	c.batch = len(c.own)
	if c.repair == numbered {
		c.served = m.Vec
		c.served[c.home.planeOf(c.home.self)] = c.asks
	}
	c.next(out)
}

// dropOutdated drops the REQUESTs whose planes have had the token since.
func (c *repairedCorner) dropOutdated() {
	if c.repair != numbered {
		return
	}
	c.pl = slices.DeleteFunc(c.pl, func(p planeRequest) bool {
		return p.number <= c.served[c.home.planeOf(p.corner)]
	})
}

func (c *repairedCorner) queueLength() int { return len(c.own) + len(c.pl) }

func (c *repairedCorner) waits() []dme.Wait { return c.awaits(c.asked, c.side) }
