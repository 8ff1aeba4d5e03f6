package chaudhurikaraata

import (
	"fmt"
	"slices"

	"dmebench/dme"
)

// invariants are those that section 2.1 of the paper states, with what lemma 2
// argues about the privilege between two planes. They hold of the printed text too,
// which is safe.
func invariants() []dme.Invariant {
	const source = "Chaudhuri and Karaata 1998, section 2.1"
	return []dme.Invariant{
		dme.StateInvariant("I1", source+", invariant I1",
			"at most one node has a GREEN or YELLOW token: at most one plane is privileged", onePrivilegedPlane),
		dme.StateInvariant("I2", source+", invariant I2",
			"there are not both GREEN and YELLOW tokens", notBothColours),
		dme.StateInvariant("one privilege", "Chaudhuri and Karaata 1998, section 3, lemma 2",
			"one plane is privileged, or one PERMIT to a corner is on its way", onePrivilege),
		dme.StateInvariant("A1", source+", assumption A1",
			"a node is inside its critical section only if its plane is the privileged one, and its token YELLOW for that node",
			insideThePrivileged),
	}
}

// repairedInvariants are those, and what the repairs say of the queues of a corner.
func repairedInvariants() []dme.Invariant {
	return append(invariants(), dme.StateInvariant("queues of corners", "repairs CR1, CR2 and CR4",
		"a corner that waits has asked for the token, one that has it has not; each node stands in OWN once, each plane in PL once",
		func(v dme.GlobalView) error {
			for id, n := range dme.NodesOf[*node](v) {
				if c, ok := n.corner.(*repairedCorner); ok {
					if err := c.check(); err != nil {
						return dme.Broken([]dme.NodeID{id}, "node %d: %v", id, err)
					}
				}
			}
			return nil
		}))
}

func theSystem(v dme.GlobalView) *system { return v.Setting().System.(*system) }

// tokens returns the token of each plane.
func tokens(v dme.GlobalView) func(func(int, *token) bool) {
	s := theSystem(v)
	return func(yield func(int, *token) bool) {
		for k := range s.planes() {
			if !yield(k, dme.NodeOf[*node](v, s.cornerOf(k)).corner.itsToken()) {
				return
			}
		}
	}
}

// coloursOf counts the tokens that privilege a plane.
func coloursOf(v dme.GlobalView) (greens, yellows int) {
	for _, t := range tokens(v) {
		greens += dme.Count(t.colour == green)
		yellows += dme.Count(t.colour == yellow)
	}
	return greens, yellows
}

// coloured returns the corners whose tokens have one of two colours.
func coloured(v dme.GlobalView, a, b colour) (corners []dme.NodeID) {
	for k, t := range tokens(v) {
		if t.colour == a || t.colour == b {
			corners = append(corners, theSystem(v).cornerOf(k))
		}
	}
	return corners
}

func onePrivilegedPlane(v dme.GlobalView) error {
	greens, yellows := coloursOf(v)
	if greens+yellows <= 1 {
		return nil
	}
	return dme.Broken(coloured(v, green, yellow), "%d planes are privileged, those of nodes %v", greens+yellows, coloured(v, green, yellow))
}

func notBothColours(v dme.GlobalView) error {
	if greens, yellows := coloursOf(v); greens == 0 || yellows == 0 {
		return nil
	}
	return dme.Broken(coloured(v, green, yellow), "the tokens of nodes %v are GREEN and those of nodes %v YELLOW",
		coloured(v, green, green), coloured(v, yellow, yellow))
}

func onePrivilege(v dme.GlobalView) error {
	greens, yellows := coloursOf(v)
	s, travelling := theSystem(v), 0
	for _, f := range v.InFlight() {
		travelling += dme.Count(f.Kind == kindPermit && s.isCorner(f.Node))
	}
	if greens+yellows+travelling == 1 {
		return nil
	}
	return dme.Broken(coloured(v, green, yellow),
		"%d planes are privileged, and %d PERMITs to corners are on their way", greens+yellows, travelling)
}

func insideThePrivileged(v dme.GlobalView) error {
	s := theSystem(v)
	for id, n := range dme.NodesOf[*node](v) {
		inside := v.Activity(id) == dme.Inside
		if n.mutex != inside {
			return dme.Broken([]dme.NodeID{id}, "node %d is %v, and its mutex %v", id, v.Activity(id), n.mutex)
		}
		if !inside {
			continue
		}
		corner := s.cornerOf(s.planeOf(id))
		if t := dme.NodeOf[*node](v, corner).corner.itsToken(); t.colour != yellow || t.granted != id {
			return dme.Broken([]dme.NodeID{id, corner}, "node %d is in its critical section; the token of its plane is %v, for node %d",
				id, t.colour, t.granted)
		}
	}
	return nil
}

// check returns what is wrong with the queues of a repaired corner.
func (c *repairedCorner) check() error {
	sys := c.home.system
	waits := len(c.own) > 0 || c.repair == directed && len(c.pl) > 0
	switch {
	case c.colour == red && waits && !c.asked:
		return fmt.Errorf("requests wait and the token has not been asked for (CR4)")
	case c.colour != red && c.asked:
		return fmt.Errorf("ASKED in the privileged plane (CR2)")
	case c.colour == green && c.queueLength() > 0:
		return fmt.Errorf("a GREEN token rests while %d requests wait", c.queueLength())
	case len(c.own) > sys.plane || len(c.pl) >= sys.planes():
		return fmt.Errorf("%d in OWN and %d in PL", len(c.own), len(c.pl))
	case c.batch > len(c.own) || c.colour == red && c.batch > 0:
		return fmt.Errorf("batch of %d of %d requests, token %v", c.batch, len(c.own), c.colour)
	case c.repair == numbered && (c.colour == red) != (c.served == nil):
		return fmt.Errorf("served is %v, token %v", c.served, c.colour)
	}
	for i, x := range c.own {
		if sys.planeOf(x) != sys.planeOf(c.home.self) || slices.Contains(c.own[:i], x) {
			return fmt.Errorf("OWN is %v", c.own)
		}
	}
	for i, p := range c.pl {
		if !sys.isCorner(p.corner) || p.corner == c.home.self ||
			slices.ContainsFunc(c.pl[:i], func(q planeRequest) bool { return q.corner == p.corner }) {
			return fmt.Errorf("PL is %v (CR1)", c.pl)
		}
	}
	return nil
}
