package chaudhurikaraata

import "dmebench/dme"

// node is node (i,j,k). What procedures P1 to P4 do at i = j = 0 is the
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

	// privileged reports whether the token of the planes is in this one.
	privileged() bool
	tokenColour() colour
	// waits names whom the corner waits for.
	waits() []dme.Wait
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
func (n *node) HasToken() bool { return n.corner != nil && n.corner.privileged() }

// Waits names the corner, or at a corner whom it waits for itself.
func (n *node) Waits() []dme.Wait {
	switch {
	case n.corner != nil:
		return n.corner.waits()
	case n.waiting:
		return []dme.Wait{{For: n.cornerOf(n.planeOf(n.self)), What: "PERMIT"}}
	}
	return nil
}
