package chaudhurikaraata

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/testkit"
	"dmebench/internal/testkit/suite"
)

// The messages that are refused arrive in a 2×2×3 mesh: nodes 1 to 4 are in plane 0, 5 to 8
// in plane 1, 9 to 12 in plane 2; the corners are 1, 5 and 9. Node 2 is (0,1,0), 3 is
// (1,0,0), 4 is (1,1,0).
func TestAlgorithm(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(*node) }
	corner := func(n *conformance.Net, id dme.NodeID) *repairedCorner { return at(n, id).corner.(*repairedCorner) }
	var breaches []conformance.Breach
	breach := func(invariant, says string, fault func(n *conformance.Net)) {
		breaches = append(breaches, conformance.Breach{
			Invariant: invariant, Nodes: 8, Set: map[string]string{optMesh: "2x2x2"}, Fault: fault, Says: says,
		})
	}
	breach("I1", "2 planes are privileged, those of nodes [1 5]", func(n *conformance.Net) { at(n, 5).corner.itsToken().colour = green })
	breach("I2", "the tokens of nodes [1] are GREEN and those of nodes [5] YELLOW", func(n *conformance.Net) {
		at(n, 5).corner.itsToken().colour = yellow
	})
	breach("one privilege", "0 planes are privileged, and 0 PERMITs", func(n *conformance.Net) { at(n, 1).corner.itsToken().colour = red })
	breach("one privilege", "1 planes are privileged, and 1 PERMITs", func(n *conformance.Net) {
		n.Request(5)
		n.Deliver(5, 1, 0)
		at(n, 5).corner.itsToken().colour = green
	})
	breach("A1", "node 1 is in its critical section; the token of its plane is GREEN, for node 0", func(n *conformance.Net) {
		n.Request(1)
		at(n, 1).corner.itsToken().release()
	})
	breach("A1", "node 7 is idle, and its mutex true", func(n *conformance.Net) { at(n, 7).mutex = true })
	breach("queues of corners", "(CR4)", func(n *conformance.Net) { corner(n, 5).own = []dme.NodeID{7} })
	breach("queues of corners", "(CR2)", func(n *conformance.Net) { corner(n, 1).asked = true })
	breach("queues of corners", "rests", func(n *conformance.Net) { corner(n, 1).own = []dme.NodeID{2} })
	breach("queues of corners", "OWN is", func(n *conformance.Net) {
		c := corner(n, 5)
		c.asked, c.own = true, []dme.NodeID{2}
	})
	breach("queues of corners", "PL is", func(n *conformance.Net) { corner(n, 5).pl = []planeRequest{{corner: 2}} })
	request := func(x dme.NodeID) dme.Message { return dme.Message{Kind: kindRequest, Node: x} }
	permit := func(x dme.NodeID) dme.Message { return dme.Message{Kind: kindPermit, Node: x} }
	release := func(x dme.NodeID) dme.Message { return dme.Message{Kind: kindRelease, Node: x} }
	waiting := func(r repair) func() *conformance.Net {
		return func() *conformance.Net {
			net := newNet(t, 12, "2x2x3", r)
			net.Request(2)
			net.Request(6)
			net.Settle() // 2 is inside, 5 has asked 1 for the token
			return net
		}
	}
	refusals := []suite.Refusals{
		{
			Start: waiting(numbered),
			Messages: []suite.Refused{
				{From: 2, To: 1, Series: []dme.Message{request(0)}, Says: "no node of the mesh"},
				{From: 2, To: 1, Series: []dme.Message{request(13)}, Says: "no node of the mesh"},
				{From: 2, To: 1, Series: []dme.Message{request(3)}, Says: "off its route"},
				{From: 4, To: 2, Series: []dme.Message{request(2)}, Says: "off its route"},
				{From: 2, To: 1, Series: []dme.Message{release(4)}, Says: "not permitted"},
				{From: 3, To: 1, Series: []dme.Message{release(3)}, Says: "not permitted"},
				{From: 6, To: 5, Series: []dme.Message{request(6)}, Says: "asked already"},
				{From: 1, To: 2, Series: []dme.Message{permit(2)}, Says: "without a request"},
				{From: 4, To: 2, Series: []dme.Message{permit(2)}, Says: "not from the side"},
				{From: 1, To: 3, Series: []dme.Message{permit(4)}, Says: "off its route"},
				{From: 2, To: 1, Series: []dme.Message{permit(2)}, Says: "not from the side"},
				{From: 1, To: 2, Series: []dme.Message{request(5)}, Says: "without a token"},
				{From: 9, To: 1, Series: []dme.Message{request(9)}, Says: "not from a neighbouring plane"},
				{From: 2, To: 1, Series: []dme.Message{request(5)}, Says: "not from a neighbouring plane"},
				{From: 5, To: 1, Series: []dme.Message{release(5)}, Says: "RELEASE of a corner"},
				{From: 1, To: 5, Series: []dme.Message{request(9)}, Says: "wrong side"},
				{From: 1, To: 5, Series: []dme.Message{request(5)}, Says: "wrong side"},
				{From: 1, To: 5, Series: []dme.Message{permit(1)}, Says: "wrong side"},
				{From: 5, To: 1, Series: []dme.Message{permit(1)}, Says: "second token"},
				{From: 5, To: 1, Series: []dme.Message{request(9)}, Says: "without a number"},
				{From: 1, To: 5, Series: []dme.Message{permit(5)}, Says: "without the numbers"},
				{From: 5, To: 9, Series: []dme.Message{{Kind: kindPermit, Node: 9, Vec: make([]uint64, 3)}}, Says: "did not ask"},
			},
		},
		{
			Start: waiting(directed),
			Messages: []suite.Refused{
				{From: 5, To: 9, Series: []dme.Message{permit(9)}, Says: "did not ask"},
				{From: 1, To: 5, Series: []dme.Message{permit(9)}, Says: "did not ask"},
				{From: 5, To: 1, Series: []dme.Message{request(9)}, Says: "must not ask"},
				{From: 5, To: 1, Series: []dme.Message{request(5)}, Says: "must not ask"},
			},
		},
	}
	suite.Run(t,
		suite.Suite{Algorithm: Algorithm(), Breaches: breaches, Refusals: refusals},
		suite.Suite{Algorithm: AsPublished()},
	)
}

func TestMutants(t *testing.T) { suite.Mutants(t) }

// A report shows nodes as the paper's triples.
func TestStateShowsTriples(t *testing.T) {
	net := newNet(t, 12, "2x2x3", numbered)
	for _, id := range []dme.NodeID{2, 4, 3, 12} {
		net.Request(id)
		net.Settle()
	}
	for id, want := range map[dme.NodeID]string{
		1:  "mutex(0,0,0)=false waiting=false token(0,0,0):YELLOW=2 granted=2 OWN(1,1,0)=4 OWN(1,0,0)=3 PL(0,0,2)=9 number=1 ASKED=false",
		2:  "mutex(0,1,0)=true",
		12: "mutex(1,1,2)=false waiting=true",
		9:  "token(0,0,2):RED=0 granted=- OWN(1,1,2)=12 ASKED=true",
	} {
		if got := dme.DescribeState(net.Host(id).Node()); !strings.Contains(got, want) {
			t.Errorf("node %d: %s, want %s", id, got, want)
		}
	}
	published := newPublished(t, 8, "2x2x2")
	published.Request(1)
	published.Request(3)
	published.Settle()
	if got := dme.DescribeState(published.Host(1).Node()); !strings.Contains(got, "Q(1,0,0)=3") {
		t.Errorf("as published: %s", got)
	}
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

func newPublished(t *testing.T, nodes int, mesh string) *conformance.Net {
	t.Helper()
	return conformance.Make(t, AsPublished(), nodes, map[string]string{optMesh: mesh})
}

func queueOf(net *conformance.Net, corner dme.NodeID) []dme.NodeID {
	return net.Host(corner).Node().(*node).corner.(*publishedCorner).q
}

// The printed algorithm stops on a 1×1×3 mesh after two isolated requests: the
// token goes from (0,0,2), where a node waits, to (0,0,1), whose outdated REQUEST
// is older, and nobody asks for it again.
func TestPublishedStalls(t *testing.T) {
	net := newPublished(t, 3, meshAuto)
	if _, err := net.Serve(2); err != nil {
		t.Fatal(err)
	}
	if q := queueOf(net, 3); !slices.Equal(q, []dme.NodeID{2}) {
		t.Errorf("Q of (0,0,2) is %v, want the outdated REQUEST of (0,0,1)", q)
	}
	net.Request(3)
	net.Settle()
	waiting, resting := net.Host(3).Node().(*node), net.Host(2).Node().(*node).corner.itsToken()
	if len(net.Inside()) > 0 || !waiting.waiting || resting.colour != green || !slices.Equal(queueOf(net, 3), []dme.NodeID{3}) {
		t.Errorf("it does not stall\n%s", net.States())
	}
	if err := net.Err(); err != nil {
		t.Error(err)
	}
	// The repaired algorithm serves the same requests.
	for _, r := range repairs {
		net := newNet(t, 3, "1x1x3", r)
		for _, id := range []dme.NodeID{2, 3, 1, 3, 2} {
			if _, err := net.Serve(id); err != nil {
				t.Errorf("%s: %v", r, err)
			}
		}
	}
}

// Copies of REQUESTs stay in planes that no PERMIT passes: theorem 4(ii) fails.
func TestPublishedQueuesGrow(t *testing.T) {
	net := newPublished(t, 3, meshAuto)
	for range 50 {
		for _, id := range []dme.NodeID{2, 1} {
			if _, err := net.Serve(id); err != nil {
				t.Fatal(err)
			}
		}
	}
	if q := queueOf(net, 3); len(q) != 100 {
		t.Errorf("%d REQUESTs wait at (0,0,2), where nobody has asked, want 100; claimed at most %d", len(q), 1*1+3)
	}
}

// The default mesh has few planes where nodes are few. A line of corners, and
// planes that are lines, have as many as there can be.
func TestConformanceOnLongMeshes(t *testing.T) {
	if !testkit.Long() {
		t.Skip("needs DMEBENCH_TESTS=long")
	}
	for _, plane := range []int{1, 2} {
		t.Run(fmt.Sprintf("planes of %d", plane), func(t *testing.T) {
			a := Algorithm()
			a.ValidNodes = nil
			a.Options, a.Searched = a.Options[1:2], nil // the repairs
			a.Prepare = func(c dme.Config) (dme.System, error) {
				sizes := []int{1, plane, (c.Nodes + plane - 1) / plane}
				return newSystem(sizes, c.Nodes, repair(c.Options.Get(optRepair))), nil
			}
			conformance.Test(t, a)
		})
	}
}

// every calls f for every mesh of up to nodes nodes that has sides of up to 4,
// complete or not.
func everyMesh(nodes int, f func(m *mesh)) {
	var grow func(sizes []int)
	grow = func(sizes []int) {
		if len(sizes) >= 2 {
			for n := 1; n <= nodes; n++ {
				if checkSizes(sizes, n) == nil {
					m := newMesh(slices.Clone(sizes), n)
					f(&m)
				}
			}
		}
		if len(sizes) < 4 {
			for size := 1; size <= 4; size++ {
				grow(append(sizes, size))
			}
		}
	}
	grow(nil)
}

// Every node of every mesh has all of its route: also where the last plane is
// incomplete, each hop towards the corner leads to a smaller number in the plane.
func TestRoutes(t *testing.T) {
	meshes := 0
	everyMesh(40, func(m *mesh) {
		meshes++
		for id := dme.NodeID(1); int(id) <= m.nodes; id++ {
			corner := m.cornerOf(m.planeOf(id))
			hops := 0
			for at := id; at != corner; hops++ {
				next := m.inward(at)
				if next >= at || m.planeOf(next) != m.planeOf(id) || m.distance(next) != m.distance(at)-1 {
					t.Fatalf("%v of %d: from %d inward to %d", m.sizes, m.nodes, at, next)
				}
				if !slices.Contains(m.neighbours(at), next) || !slices.Contains(m.neighbours(next), at) {
					t.Fatalf("%v of %d: %d and %d are not neighbours", m.sizes, m.nodes, at, next)
				}
				at = next
			}
			if hops != m.distance(id) || m.inward(corner) != dme.None || m.outward(id, id) != dme.None {
				t.Fatalf("%v of %d: %d hops from %d to its corner", m.sizes, m.nodes, hops, id)
			}
		}
		if links(m) != m.nodes-1 {
			t.Fatalf("%v of %d: %d links do not make a spanning tree", m.sizes, m.nodes, links(m))
		}
	})
	if meshes < 1000 {
		t.Errorf("%d meshes only", meshes)
	}
}

// A node off the route to a target knows no next hop for it.
func TestOffTheRoute(t *testing.T) {
	everyMesh(30, func(m *mesh) {
		for target := dme.NodeID(1); int(target) <= m.nodes; target++ {
			route := []dme.NodeID{}
			for at := target; at != dme.None; at = m.inward(at) {
				route = append(route, at)
			}
			for id := dme.NodeID(1); int(id) <= m.nodes; id++ {
				want := dme.None
				if i := slices.Index(route, id); i > 0 {
					want = route[i-1]
				}
				if got := m.outward(id, target); got != want {
					t.Fatalf("%v of %d: outward from %d for %d is %d, want %d", m.sizes, m.nodes, id, target, got, want)
				}
			}
		}
	})
}

func TestTriples(t *testing.T) {
	m := newMesh([]int{2, 3, 4}, 24)
	seen := map[string]bool{}
	for k := range 4 {
		for i := range 2 {
			for j := range 3 {
				id := dme.NodeID(k*6 + i*3 + j + 1)
				for l, want := range []int{i, j, k} {
					if got := m.coordinate(id, l); got != want {
						t.Errorf("node %d: coordinate %d is %d, want %d", id, l, got, want)
					}
				}
				seen[m.triple(id)] = true
			}
		}
	}
	if len(seen) != 24 || !seen["(1,2,3)"] {
		t.Errorf("triples %v", seen)
	}
	// Section 2.2: to (x−1,y,k) while x ≠ 0, then to (0,y−1,k); P3 the other way round.
	at := dme.NodeID(3*6 + 1*3 + 2 + 1)
	for _, want := range []string{"(0,2,3)", "(0,1,3)", "(0,0,3)"} {
		if at = m.inward(at); m.triple(at) != want {
			t.Errorf("inward to %s, want %s", m.triple(at), want)
		}
	}
	if got := m.triple(m.beyond(13, 19)) + m.triple(m.beyond(13, 7)) + m.triple(m.across(13, 24)); got != "(0,0,1)(0,0,3)(0,0,3)" {
		t.Errorf("from (0,0,2) to %s", got)
	}
	if m.beyond(1, 7) != dme.None || m.beyond(19, 1) != dme.None {
		t.Error("a hop leaves the mesh (CR6)")
	}
}

func TestSizes(t *testing.T) {
	for n, want := range map[int][]int{
		1: {1, 1, 1}, 2: {2, 2, 1}, 5: {2, 2, 2}, 8: {2, 2, 2}, 9: {3, 3, 1}, 27: {3, 3, 3}, 28: {4, 4, 2}, 1000: {10, 10, 10},
	} {
		if got := cubic(n, 3); !slices.Equal(got, want) {
			t.Errorf("%d nodes: %v, want %v", n, got, want)
		}
	}
	for n := 1; n < 300; n++ {
		for d := 2; d <= 4; d++ {
			if err := checkSizes(cubic(n, d), n); err != nil {
				t.Errorf("%d nodes, %d dimensions: %v", n, d, err)
			}
		}
		sys, err := AsPublished().New(n, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := sys.(*system).planes(); n >= 2 && got < 2 {
			t.Errorf("as published, %d nodes: %v is one plane", n, sys.(*system).sizes)
		}
	}
}

func TestMeshesThatDoNotFit(t *testing.T) {
	for _, x := range []struct {
		n    int
		set  map[string]string
		want string
	}{
		{8, map[string]string{optMesh: "2x2"}, "has 2 dimensions, not 3"},
		{8, map[string]string{optMesh: "2x2x3"}, "is for 9 to 12 nodes, not 8"},
		{8, map[string]string{optMesh: "2x2x1"}, "is for 1 to 4 nodes, not 8"},
		{8, map[string]string{optMesh: "2x2x2x2"}, "has 4 dimensions"},
		{8, map[string]string{optMesh: "8"}, "2 to 4 sizes"},
		{8, map[string]string{optMesh: "0x2x2"}, `"0" is not a size`},
		{8, map[string]string{optMesh: "2x2x"}, `"" is not a size`},
		{8, map[string]string{optMesh: "2x99999x2"}, `"99999" is not a size`},
		{8, map[string]string{optDimensions: "5"}, "want 2|3|4"},
		{8, map[string]string{optRepair: "none"}, "numbered|suppressed|directed"},
	} {
		_, err := Algorithm().New(x.n, 1, x.set)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %v, want %q", x.set, err, x.want)
		}
	}
	if _, err := AsPublished().New(4, 1, map[string]string{optMesh: "2x2"}); err == nil {
		t.Error("as published: a mesh of two dimensions")
	}
	for mesh, d := range map[string]string{"4x2": "2", "2x2x2": "3", "1x2x2x2": "4"} {
		if _, err := Algorithm().New(8, 1, map[string]string{optMesh: mesh, optDimensions: d}); err != nil {
			t.Error(err)
		}
	}
}
