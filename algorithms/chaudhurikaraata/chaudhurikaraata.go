package chaudhurikaraata

import (
	"fmt"
	"slices"

	"dmebench/dme"
)

// node is node (i,j,k). The parts of procedures P1 to P4 at i = j = 0 are the
// corner's; the rest is here.
type node struct {
	*system
	self   dme.NodeID
	corner corner // nil but at (0,0,k)
	label  string // how State names mutex

	waiting bool // asked, and mutex is not yet TRUE
	mutex   bool // permitted, until the critical section is completed
}

// corner is the part of node (0,0,k) that the other nodes do not have.
type corner interface {
	// request is a REQUEST of a node of the plane, the corner itself included.
	request(x dme.NodeID, out *dme.Outbox)
	// planeRequest is a REQUEST of another corner.
	planeRequest(m *dme.Message, out *dme.Outbox)
	// permit is a PERMIT to this corner or, passing, to another one.
	permit(m *dme.Message, out *dme.Outbox)
	// release ends the critical section of the permitted node of the plane.
	release(out *dme.Outbox)

	// impossible says why no other corner can have sent m, nor x asked or left.
	impossible(m *dme.Message) string

	state(v *dme.Visitor)
	queueLength() int
	// waits returns what the corner waits for.
	waits() []dme.Wait

	itsToken() *token
}

// Request is the first half of procedure P1.
func (n *node) Request(out *dme.Outbox) {
	n.waiting = true
	n.request(n.self, out)
}

// enter ends the wait of procedure P1.
func (n *node) enter(out *dme.Outbox) {
	n.waiting = false
	n.mutex = true
	out.Enter(dme.Stamp{})
}

// Release is the second half of procedure P1.
func (n *node) Release(out *dme.Outbox) {
	n.mutex = false
	n.release(n.self, out)
}

func (n *node) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if reason := n.impossible(from, &m); reason != "" {
		out.Refuse(reason)
		return
	}
	switch m.Kind {
	case kindRequest:
		n.receiveRequest(&m, out)
	case kindPermit:
		n.receivePermit(&m, out)
	case kindRelease:
		n.release(m.Node, out)
	}
}

// receiveRequest is procedure P2.
func (n *node) receiveRequest(m *dme.Message, out *dme.Outbox) {
	if n.isCorner(m.Node) {
		n.corner.planeRequest(m, out)
		return
	}
	n.request(m.Node, out)
}

// request sends the REQUEST of a node of the plane on to the corner.
func (n *node) request(x dme.NodeID, out *dme.Outbox) {
	if n.corner != nil {
		n.corner.request(x, out)
		return
	}
	n.relay(n.inward(n.self), kindRequest, x, out)
}

// receivePermit is procedure P3.
func (n *node) receivePermit(m *dme.Message, out *dme.Outbox) {
	switch {
	case n.corner != nil:
		n.corner.permit(m, out)
	case m.Node == n.self:
		n.enter(out)
	default:
		n.relay(n.outward(n.self, m.Node), kindPermit, m.Node, out)
	}
}

// release sends the RELEASE of a node of the plane on to the corner: procedure P4.
func (n *node) release(x dme.NodeID, out *dme.Outbox) {
	if n.corner != nil {
		n.corner.release(out)
		return
	}
	n.relay(n.inward(n.self), kindRelease, x, out)
}

// relay sends a message that speaks of x one hop further within the plane.
func (n *node) relay(to dme.NodeID, kind dme.Kind, x dme.NodeID, out *dme.Outbox) {
	out.Send(to, dme.Message{Kind: kind, Node: x})
}

// QueueLength returns the number of REQUESTs that wait at a corner.
func (n *node) QueueLength() int {
	if n.corner == nil {
		return 0
	}
	return n.corner.queueLength()
}

// HasToken reports whether this is the corner of the privileged plane.
func (n *node) HasToken() bool { return n.corner != nil && n.corner.itsToken().colour != red }

// Waits names the corner or, at a corner, what the corner itself waits for.
func (n *node) Waits() []dme.Wait {
	if n.corner != nil {
		return n.corner.waits()
	}
	return dme.WaitIf(n.waiting, "PERMIT", n.cornerOf(n.planeOf(n.self)))
}

// colour is the state of a token.
type colour uint64

const (
	red    colour = iota // the plane is not privileged
	green                // privileged; no node of the plane is permitted
	yellow               // privileged; a node of the plane is permitted
)

func (c colour) String() string { return [...]string{"RED", "GREEN", "YELLOW"}[c] }

// token is the token of a corner, with what both texts do with it.
type token struct {
	home   *node
	labels [3]string // how State names the token, by colour

	colour  colour
	granted dme.NodeID // the permitted node while the token is YELLOW
}

func newToken(home *node) token {
	t := token{home: home}
	for c := red; c <= yellow; c++ {
		t.labels[c] = "token" + home.triple(home.self) + ":" + c.String()
	}
	if home.self == home.cornerOf(0) {
		t.colour = green
	}
	return t
}

// turn changes the colour. It panics if Fig. 3 has no such transition: a RED token becomes GREEN
// before it permits anything, and a YELLOW one before it leaves.
func (t *token) turn(to colour) {
	if (t.colour == green) == (to == green) {
		panic(fmt.Sprintf("chaudhurikaraata: token of node %s turns from %v to %v: %s",
			t.home.triple(t.home.self), t.colour, to, dme.DescribeState(t.home)))
	}
	t.colour = to
}

// grantNode is grant_permission for a node x of the plane.
func (t *token) grantNode(x dme.NodeID, out *dme.Outbox) {
	t.turn(yellow)
	t.granted = x
	if x == t.home.self {
		t.home.enter(out)
		return
	}
	t.home.relay(t.home.outward(t.home.self, x), kindPermit, x, out)
}

// grantPlane is grant_permission for the corner z of another plane. served goes
// with the token.
func (t *token) grantPlane(z dme.NodeID, served []uint64, out *dme.Outbox) {
	t.turn(red)
	t.pass(z, served, out)
}

// pass sends a PERMIT one hop further to the corner z.
func (t *token) pass(z dme.NodeID, served []uint64, out *dme.Outbox) {
	out.Send(t.home.across(t.home.self, z), dme.Message{Kind: kindPermit, Node: z, Vec: served})
}

// release turns the token GREEN: the permitted node has left.
func (t *token) release() {
	t.turn(green)
	t.granted = dme.None
}

// forward sends the REQUEST of another corner on, away from that one.
func (t *token) forward(z dme.NodeID, number uint64, out *dme.Outbox) {
	t.sendRequest(t.home.beyond(t.home.self, z), z, number, out)
}

// flood sends a REQUEST of this corner both ways.
func (t *token) flood(number uint64, out *dme.Outbox) {
	self := t.home.self
	t.sendRequest(t.home.beside(self, false), self, number, out)
	t.sendRequest(t.home.beside(self, true), self, number, out)
}

// sendRequest sends a REQUEST of the corner z to another corner (CR6: not beyond the end
// of the mesh).
func (t *token) sendRequest(to, z dme.NodeID, number uint64, out *dme.Outbox) {
	if to != dme.None {
		out.Send(to, dme.Message{Kind: kindRequest, Node: z, Num: number})
	}
}

func (t *token) itsToken() *token { return t }

// awaits names the permitted node of the plane or, if the plane is not privileged and has asked for
// the token, the corner on the token's side; None if that is not known.
func (t *token) awaits(asked bool, side dme.NodeID) []dme.Wait {
	if t.colour == yellow {
		return dme.WaitIf(t.granted != t.home.self, "RELEASE", t.granted)
	}
	return dme.WaitIf(t.colour == red && asked, "PERMIT", side)
}

// repairedCorner is node (0,0,k) with the repairs CR1 to CR6.
type repairedCorner struct {
	token
	repair repair

	own   []dme.NodeID   // OWN: nodes of the plane that wait, the oldest first
	pl    []planeRequest // PL: planes that wait for the token, each once, the oldest first
	asked bool           // ASKED: a REQUEST for the token is outstanding
	batch int            // size of OWN when the token arrived (CR3)

	// Repair numbered.
	asks   uint64   // number of this corner's last REQUEST
	served []uint64 // by plane: number of the last REQUEST that brought it the token; nil without the token

	// Repair directed: the neighbouring corner on whose side the token is, or
	// left when it was last here; None in plane 0 until it has left.
	side dme.NodeID
}

// planeRequest is an entry of PL.
type planeRequest struct {
	corner dme.NodeID // the node that stands for its plane
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

// next decides what a GREEN token does: it serves the nodes that waited when it arrived, then other
// planes, then the nodes that came since; or it rests.
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
		// Granted at once: no other corner need hear of it.
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
