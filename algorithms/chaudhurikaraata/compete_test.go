package chaudhurikaraata

import (
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/search/check"
)

// newestFirst serves PL last in, first out.
type newestFirst struct{ *repairedCorner }

func (c newestFirst) planeRequest(m *dme.Message, out *dme.Outbox) {
	before := len(c.pl)
	c.repairedCorner.planeRequest(m, out)
	if last := len(c.pl) - 1; last >= before && last > 0 {
		c.pl = slices.Insert(c.pl[:last], 0, c.pl[last])
	}
}

// planesFirst is without CR3: a token that arrives goes on at once where PL is not empty.
type planesFirst struct{ *repairedCorner }

func (c planesFirst) permit(m *dme.Message, out *dme.Outbox) {
	own := c.own
	c.own = nil
	c.repairedCorner.permit(m, out)
	c.own = own
	switch {
	case len(own) == 0 || m.Node != c.home.self:
	case c.colour == red:
		c.ask(out) // CR4
	case c.colour == green:
		c.next(out)
	}
}

// corners is a system with other corners.
type corners struct {
	dme.System
	of func(*repairedCorner) corner
}

func (s corners) Node(id dme.NodeID) dme.Node {
	n := s.System.Node(id).(*node)
	if c, ok := n.corner.(*repairedCorner); ok {
		n.corner = s.of(c)
	}
	return n
}

// competing searches three nodes as 'dmebench check' does by default, and returns what
// is broken, and under which mesh.
func competing(t *testing.T, a *dme.Algorithm) (broken, mesh string) {
	t.Helper()
	for _, set := range check.Settings(a, 3, nil) {
		r, err := check.Random(t.Context(), a, check.Defaults(a, 3, set))
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil {
			return r.Violation.Verdict, set[optMesh]
		}
	}
	return "", ""
}

// Three nodes are planes that compete, where nobody chooses the mesh: what makes a plane
// starve is found.
func TestPlanesCompete(t *testing.T) {
	if broken, mesh := competing(t, Algorithm()); broken != "" {
		t.Fatalf("mesh %s: %s", mesh, broken)
	}
	for name, of := range map[string]func(*repairedCorner) corner{
		"PL last in, first out": func(c *repairedCorner) corner { return newestFirst{c} },
		"without CR3":           func(c *repairedCorner) corner { return planesFirst{c} },
	} {
		a := Algorithm()
		a.Claims, a.Invariants = dme.SafeAndLive(paper+"theorem 1"), nil // the others look into corners
		prepare := a.Prepare
		a.Prepare = func(c dme.Config) (dme.System, error) {
			s, err := prepare(c)
			return corners{s, of}, err
		}
		if broken, mesh := competing(t, a); broken == "" {
			t.Errorf("%s: nothing found", name)
		} else {
			t.Logf("%s, mesh %s: %s", name, mesh, broken)
		}
	}
}

// TestPlanesCompete catches these.
var competingMutants = []conformance.Mutant{
	{
		Name: "PL last in, first out", File: "repaired.go",
		Old: "\tz := c.pl[0].corner\n\tc.pl = slices.Delete(c.pl, 0, 1)",
		New: "\tz := c.pl[len(c.pl)-1].corner\n\tc.pl = c.pl[:len(c.pl)-1]", Caught: "starves",
	},
	{
		Name: "CR3, no batch", File: "repaired.go",
		Old: "\tc.batch = len(c.own)\n",
		New: "", Caught: "starves",
	},
}
