package chaudhurikaraata

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
)

// snapshot is a state of the whole system, as the invariants see it.
type snapshot struct {
	sys    *system
	nodes  []*node // by node, from 1
	inside []dme.NodeID
	onWay  []dme.Message // all messages that are in flight
}

// tokenOf returns the token of a corner.
func tokenOf(n *node) *token {
	switch c := n.corner.(type) {
	case *repairedCorner:
		return &c.token
	case *publishedCorner:
		return &c.token
	}
	panic("not a corner")
}

// check returns the first invariant that does not hold.
func (s *snapshot) check() error {
	greens, yellows, travelling := 0, 0, 0
	for k := range s.sys.planes() {
		switch tokenOf(s.nodes[s.sys.cornerOf(k)]).colour {
		case green:
			greens++
		case yellow:
			yellows++
		}
	}
	for _, m := range s.onWay {
		if m.Kind == kindPermit && s.sys.isCorner(m.Node) {
			travelling++
		}
	}
	switch {
	case greens+yellows > 1:
		return fmt.Errorf("invariant I1: %d privileged planes", greens+yellows)
	case greens > 0 && yellows > 0:
		return fmt.Errorf("invariant I2: GREEN and YELLOW tokens")
	case greens+yellows+travelling != 1:
		return fmt.Errorf("%d privileged planes and %d PERMITs to planes: the privilege is lost or doubled", greens+yellows, travelling)
	case len(s.inside) > 1:
		return fmt.Errorf("nodes %v are in their critical sections", s.inside)
	}
	for _, x := range s.inside {
		t := tokenOf(s.nodes[s.sys.cornerOf(s.sys.planeOf(x))])
		if t.colour != yellow || t.granted != x {
			return fmt.Errorf("assumption A1: node %d is in its critical section; its plane's token is %v, for %d", x, t.colour, t.granted)
		}
	}
	for id := dme.NodeID(1); int(id) <= s.sys.nodes; id++ {
		n := s.nodes[id]
		if n.mutex != slices.Contains(s.inside, id) {
			return fmt.Errorf("node %d: mutex is %v", id, n.mutex)
		}
		if c, ok := n.corner.(*repairedCorner); ok {
			if err := c.check(); err != nil {
				return fmt.Errorf("node %d: %w", id, err)
			}
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
		return fmt.Errorf("requests wait and nobody has asked for the token (CR4)")
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

// Fig. 3: the transitions of a token. Every change of colour goes through turn.
func TestFigure3(t *testing.T) {
	legal := map[[2]colour]bool{{red, green}: true, {green, yellow}: true, {yellow, green}: true, {green, red}: true}
	for from := red; from <= yellow; from++ {
		for to := red; to <= yellow; to++ {
			tk := newToken(newSystem([]int{1, 1, 1}, 1, numbered).Node(1).(*node))
			tk.colour = from
			refused := func() (fault any) {
				defer func() { fault = recover() }()
				tk.turn(to)
				return nil
			}()
			if (refused == nil) != legal[[2]colour{from, to}] {
				t.Errorf("%v to %v: %v", from, to, refused)
			}
		}
	}
}

// The invariants can be broken: each of these states breaks one.
func TestInvariantsAreNotVacuous(t *testing.T) {
	for want, spoil := range map[string]func(*snapshot){
		"":             func(*snapshot) {},
		"invariant I1": func(s *snapshot) { tokenOf(s.nodes[5]).colour = green },
		"lost":         func(s *snapshot) { tokenOf(s.nodes[1]).colour = red },
		"doubled": func(s *snapshot) {
			s.onWay = append(s.onWay, dme.Message{Kind: kindPermit, Node: 5})
		},
		"assumption A1": func(s *snapshot) { s.inside = append(s.inside, 6); s.nodes[6].mutex = true },
		"critical":      func(s *snapshot) { s.inside = []dme.NodeID{2, 3} },
		"mutex":         func(s *snapshot) { s.nodes[7].mutex = true },
		"CR4":           func(s *snapshot) { s.nodes[5].corner.(*repairedCorner).own = []dme.NodeID{7} },
		"rests":         func(s *snapshot) { s.nodes[1].corner.(*repairedCorner).own = []dme.NodeID{2} },
		"OWN is": func(s *snapshot) {
			c := s.nodes[5].corner.(*repairedCorner)
			c.asked = true
			c.own = []dme.NodeID{2}
		},
		"PL is": func(s *snapshot) { s.nodes[5].corner.(*repairedCorner).pl = []planeRequest{{corner: 2}} },
	} {
		s := snapshot{sys: newSystem([]int{2, 2, 2}, 8, numbered), nodes: make([]*node, 9)}
		for id := range s.nodes[1:] {
			s.nodes[id+1] = s.sys.Node(dme.NodeID(id + 1)).(*node)
		}
		spoil(&s)
		err := s.check()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
