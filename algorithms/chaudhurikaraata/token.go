package chaudhurikaraata

import (
	"fmt"

	"dmebench/dme"
)

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
	granted dme.NodeID // who is permitted while the token is YELLOW
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

// turn changes the colour. It panics where Fig. 3 has no such transition: a RED
// token becomes GREEN before it permits anything, and a YELLOW one before it
// leaves.
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

func (t *token) tokenColour() colour { return t.colour }

func (t *token) privileged() bool { return t.colour != red }

// awaits names who is permitted in the plane, or where the plane is not
// privileged and has asked for the token the corner on whose side that is; None
// where that is not known.
func (t *token) awaits(asked bool, side dme.NodeID) []dme.Wait {
	switch {
	case t.colour == yellow && t.granted != t.home.self:
		return []dme.Wait{{For: t.granted, What: "RELEASE"}}
	case t.colour == red && asked:
		return []dme.Wait{{For: side, What: "PERMIT"}}
	}
	return nil
}
