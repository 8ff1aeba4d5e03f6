package chaudhurikaraata

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/conformance"
	"dmebench/internal/testkit"
)

// cube returns a system with m³ nodes.
func cube(t *testing.T, m int, r repair) *conformance.Net { return newNet(t, m*m*m, "auto", r) }

// predicted returns the prediction of a claim of a for the net.
func predicted(t *testing.T, net *conformance.Net, q claim.Quantity, formula string) float64 {
	t.Helper()
	for _, c := range claim.Of(net.Algorithm) {
		if c.Quantity == q && c.Formula == formula {
			value, ok := c.Prediction(net.Setting)
			if !ok {
				t.Fatalf("%s %q does not apply", q, formula)
			}
			return value
		}
	}
	t.Fatalf("no claim %s %q", q, formula)
	return 0
}

// Section 2: 13(n^(1/3)−1) links are right for the drawn mesh of 27 nodes, and
// for a single node, only. Section 4: no node is more than 2(n^(1/3)−1) hops from
// its corner.
func TestLinksAndDistances(t *testing.T) {
	for m := 1; m <= 8; m++ {
		net := cube(t, m, numbered)
		sys := meshOfNet(net)
		used := links(sys)
		if used != m*m*m-1 {
			t.Errorf("m=%d: %d links, want a spanning tree", m, used)
		}
		if claimed := predicted(t, net, LinksUsed, "13(m−1)"); (float64(used) == claimed) != (m == 1 || m == 3) {
			t.Errorf("m=%d: %d links, claimed %v", m, used, claimed)
		}
		far := 0
		for id := dme.NodeID(1); int(id) <= sys.nodes; id++ {
			far = max(far, sys.distance(id))
		}
		if claimed := predicted(t, net, Distance, "2(m−1); p+q−2"); float64(far) != claimed {
			t.Errorf("m=%d: %d hops, claimed %v", m, far, claimed)
		}
		if hops, ok := longestRoutes(net.Setting); !ok || hops != float64(3*far) {
			t.Errorf("m=%d: REQUEST, PERMIT and RELEASE go %v hops, to a corner %d hops away", m, hops, far)
		}
	}
}

// Section 4 and theorem 3: node (i,j,k) of the privileged plane needs 3(i+j)
// messages, all m² of them 3m²(m−1); a change of plane adds up to 2(m−1).
func TestCostInsideThePrivilegedPlane(t *testing.T) {
	for _, r := range []repair{numbered, directed} {
		for m := 2; m <= 4; m++ {
			net := cube(t, m, r)
			sys := meshOfNet(net)
			for k := range m {
				total := uint64(0)
				for id := sys.cornerOf(k); id < sys.cornerOf(k)+dme.NodeID(sys.plane); id++ {
					got, err := net.Serve(id)
					if err != nil {
						t.Fatal(err)
					}
					if sys.isCorner(id) && k > 0 {
						if claimed := predicted(t, net, PlaneChange, "2(m−1); 2(r−1)"); float64(got) > claimed {
							t.Errorf("%s, m=%d: %d messages to change the plane, claimed %v", r, m, got, claimed)
						}
						continue // only now the plane is privileged
					}
					if want := 3 * (sys.coordinate(id, 0) + sys.coordinate(id, 1)); got != uint64(want) {
						t.Errorf("%s, m=%d: node %s took %d messages, want %d", r, m, sys.triple(id), got, want)
					}
					total += got
				}
				if total != uint64(3*m*m*(m-1)) {
					t.Errorf("%s, m=%d: a plane took %d messages, want %d", r, m, total, 3*m*m*(m-1))
				}
			}
		}
	}
}

// Where requesters are drawn uniformly, the means over all pairs of the last one
// and the next are what is claimed for light load.
func TestLightMeans(t *testing.T) {
	for r, formula := range map[repair]string{
		numbered: "3(i+j), and r−1+|k−k'| for a change of plane: mean for uniformly drawn requesters",
		directed: "3(i+j) + 2|k−k'|: mean for uniformly drawn requesters",
	} {
		for _, nodes := range []int{1, 5, 8, 13, 20} { // 5, 13 and 20 leave the last plane incomplete
			net := newNet(t, nodes, "auto", r)
			var total uint64
			for last := dme.NodeID(1); int(last) <= nodes; last++ {
				for id := dme.NodeID(1); int(id) <= nodes; id++ {
					if _, err := net.Serve(last); err != nil {
						t.Fatal(err)
					}
					got, err := net.Serve(id)
					if err != nil {
						t.Fatal(err)
					}
					total += got
				}
			}
			mean := float64(total) / float64(nodes*nodes)
			if claimed := predicted(t, net, claim.MessagesPerCS, formula); math.Abs(mean-claimed) > 1e-9 {
				t.Errorf("%s, %d nodes: mean %v, claimed %v", r, nodes, mean, claimed)
			}
		}
	}
}

// Theorem 3: heavy demand. Critical sections are long here: everything that was
// sent arrives before a node leaves.
func TestSaturatedCost(t *testing.T) {
	for _, r := range repairs {
		for m := 2; m <= 4; m++ {
			net := cube(t, m, r)
			sys := meshOfNet(net)
			for id := dme.NodeID(1); int(id) <= sys.nodes; id++ {
				net.Request(id)
			}
			visit, plane := 0, -1
			entry := func() {
				net.Settle()
				id := net.Inside()[0]
				if k := sys.planeOf(id); k != plane {
					claimed := predicted(t, net, EntriesPerVisit, "m²; pq")
					if plane >= 0 && len(net.Entries) > 2*sys.nodes && float64(visit) != claimed {
						t.Errorf("%s, m=%d: %d entries while plane %d was privileged, claimed %v", r, m, visit, plane, claimed)
					}
					visit, plane = 0, k
				}
				visit++
				net.Release(id)
				net.Request(id)
			}
			for range 2 * sys.nodes {
				entry()
			}
			before := net.Sent()
			const rounds = 12
			for range rounds * sys.nodes {
				entry()
			}
			perCS := float64(net.Sent()-before) / float64(rounds*sys.nodes)
			if r != suppressed {
				x := float64(m)
				if bound := (3*x*x*(x-1) + 2*(x-1)) / (x * x); perCS > bound { // on two planes, too, of which it is not claimed
					t.Errorf("%s, m=%d: %.3f messages per entry, claimed at most %.3f", r, m, perCS, bound)
				}
			}
			about, bound := predicted(t, net, claim.MessagesPerCS, "≅ 3(m−1)"), predicted(t, net, claim.MessagesPerCS, "3m")
			if perCS < about || perCS > bound {
				t.Errorf("%s, m=%d: %.3f messages per entry, claimed from %v to %v", r, m, perCS, about, bound)
			}
			if err := net.Err(); err != nil {
				t.Error(err)
			}
			t.Logf("%s, m=%d: %.3f messages per entry, 3(m−1) = %v", r, m, perCS, about)
		}
	}
}

// Theorem 4(i): the messages that occur are more than 3 log m + 1 bits can tell
// apart, and not more than 3 log m + 2 bits can, but for the token's numbers.
func TestMessageLength(t *testing.T) {
	for _, r := range repairs {
		net := cube(t, 2, r)
		sys := meshOfNet(net)
		seen := map[string]bool{}
		settle := func() {
			for {
				for id := dme.NodeID(1); int(id) <= sys.nodes; id++ {
					for _, peer := range sys.neighbours(id) {
						for _, m := range net.InFlight(id, peer) {
							seen[string(dme.AppendMessage(nil, &m))] = true
						}
					}
				}
				if !net.DeliverOldest() {
					return
				}
			}
		}
		for round := range dme.NodeID(4 * sys.nodes) {
			id := 1 + (round*3)%dme.NodeID(sys.nodes) // every node, from both planes
			net.Request(id)
			settle()
			net.Release(id)
			settle()
		}
		bits := math.Log2(float64(len(seen)))
		short := predicted(t, cube(t, 2, directed), MessageBits, "3 log m + 1")
		formula := "3 log m + 2 = O(log n)"
		if r == numbered {
			formula += ", repair=numbered"
		}
		long := predicted(t, net, MessageBits, formula)
		if bits <= short || (bits <= long) != (r != numbered) {
			t.Errorf("%s: %d different messages are %.2f bits; claimed %v and %v", r, len(seen), bits, short, long)
		}
	}
}

// Every claim that is known to be false is shown to be: by TestLinksAndDistances,
// TestSuppressedPassesTheBound and TestMessageLength; those that compare it with
// others, by runs of the simulator.
func TestKnownFalse(t *testing.T) {
	var quantities []claim.Quantity
	for _, c := range claim.Of(Algorithm()) {
		if c.KnownFalse != "" {
			quantities = append(quantities, c.Quantity)
		}
	}
	want := []claim.Quantity{
		claim.MessagesPerCS, claim.MessagesPerCS, claim.WorkSpread, claim.MessagesPerCS, claim.MessagesPerCS, LinksUsed, MessageBits, MessageBits,
	}
	if !slices.Equal(quantities, want) {
		t.Errorf("known false: %v, want %v", quantities, want)
	}
}

// Of a mesh of one plane, as the default one of four nodes is, nothing is said that speaks
// of several: it could not be otherwise.
func TestNothingIsClaimedOfOnePlane(t *testing.T) {
	for _, q := range []claim.Quantity{PlaneChange, PrivilegedPlanes, GreenAndYellow, Unprivileged} {
		for nodes, want := range map[int]bool{1: false, 3: false, 4: false, 5: true, 8: true} {
			net := newNet(t, nodes, "auto", numbered)
			for _, c := range claim.Of(net.Algorithm) {
				if c.Quantity != q {
					continue
				}
				if _, made := c.Prediction(net.Setting); made != want || want != (meshOfNet(net).planes() > 1) {
					t.Errorf("%s, on %d nodes in %d planes: claimed %v", c.Formula, nodes, meshOfNet(net).planes(), made)
				}
			}
		}
	}
}

func newNet(t testing.TB, nodes int, mesh string, r repair) *conformance.Net {
	t.Helper()
	return conformance.Make(t, Algorithm(), nodes, map[string]string{optMesh: mesh, optRepair: string(r)})
}

func meshOfNet(net *conformance.Net) *mesh { return &net.Setting.System.(*system).mesh }

// serially lets nodes ask one after the other, drawn by seed, and calls judge
// with the cost of each and with the node that entered before it.
func serially(t *testing.T, net *conformance.Net, seed uint64, requests int, judge func(last, id dme.NodeID, messages uint64)) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	last := dme.NodeID(1)
	for range requests {
		id := dme.NodeID(1 + rng.IntN(net.Setting.Nodes))
		messages, err := net.Serve(id)
		if err != nil {
			t.Fatal(err)
		}
		judge(last, id, messages)
		last = id
	}
}

// serialCost is what an isolated request costs with the token in the plane of
// last: each of REQUEST, PERMIT and RELEASE in the plane, and a change of plane.
func serialCost(m *mesh, r repair, last, id dme.NodeID) uint64 {
	change := m.planeOf(id) - m.planeOf(last)
	if change < 0 {
		change = -change
	}
	switch {
	case change == 0:
		return uint64(3 * m.distance(id))
	case r == numbered: // a REQUEST to each other plane
		return uint64(3*m.distance(id) + m.planes() - 1 + change)
	}
	return uint64(3*m.distance(id) + 2*change)
}

// Section 4: isolated requests, in many orders, cost what the paper says and
// never more than 8(n^(1/3)−1).
func TestSerialCost(t *testing.T) {
	orders := uint64(12)
	if testkit.Full() {
		orders = 400
	}
	for _, r := range []repair{numbered, directed} {
		for _, x := range []struct {
			nodes int
			mesh  string
			bound float64
		}{
			{27, "auto", 8 * (3 - 1)}, {64, "auto", 8 * (4 - 1)},
			{26, "3x3x3", 16}, {12, "1x1x12", 22}, {20, "2x2x5", 14}, {13, "1x4x4", 15},
		} {
			var worst uint64
			for seed := range orders {
				net := newNet(t, x.nodes, x.mesh, r)
				m := meshOfNet(net)
				serially(t, net, seed, 3*x.nodes, func(last, id dme.NodeID, got uint64) {
					if want := serialCost(m, r, last, id); got != want || float64(got) > x.bound {
						t.Errorf("%s, %s of %d, order %d: node %d after node %d: %d messages, want %d, at most %v",
							r, x.mesh, x.nodes, seed, id, last, got, want, x.bound)
					}
					worst = max(worst, got)
				})
			}
			t.Logf("%s, %s of %d: at most %d messages, bound %v", r, x.mesh, x.nodes, worst, x.bound)
		}
	}
}

// The dimensions that the paper does not have: 3 times the way to the corner,
// and twice the number of the other planes.
func TestSerialCostInOtherDimensions(t *testing.T) {
	for dimensions, x := range map[string]struct {
		nodes int
		bound uint64
	}{"2": {25, 3*4 + 2*4}, "4": {81, 3*3*2 + 2*2}} {
		for _, r := range []repair{numbered, directed} {
			net := conformance.Make(t, Algorithm(), x.nodes, map[string]string{optDimensions: dimensions, optRepair: string(r)})
			var worst uint64
			serially(t, net, 1, 40*x.nodes, func(last, id dme.NodeID, got uint64) {
				if want := serialCost(meshOfNet(net), r, last, id); got != want {
					t.Errorf("%s dimensions, %s: node %d after node %d: %d messages, want %d", dimensions, r, id, last, got, want)
				}
				worst = max(worst, got)
			})
			if worst != x.bound {
				t.Errorf("%s dimensions, %s: the worst entry took %d messages, want %d", dimensions, r, worst, x.bound)
			}
		}
	}
}

// With repair suppressed the bound does not hold: outdated copies of REQUESTs
// move the token. It fails by a few messages only.
func TestSuppressedPassesTheBound(t *testing.T) {
	for _, x := range []struct {
		nodes        int
		mesh         string
		bound, limit uint64
	}{{27, "auto", 16, 20}, {64, "auto", 24, 36}, {12, "1x1x12", 22, 44}} {
		var worst uint64
		for seed := range uint64(12) {
			serially(t, newNet(t, x.nodes, x.mesh, suppressed), seed, 3*x.nodes, func(_, _ dme.NodeID, got uint64) {
				worst = max(worst, got)
			})
		}
		if worst <= x.bound || worst > x.limit {
			t.Errorf("%s of %d: the worst entry took %d messages, want more than %d and at most %d",
				x.mesh, x.nodes, worst, x.bound, x.limit)
		}
		t.Logf("%s of %d: at most %d messages, bound %d", x.mesh, x.nodes, worst, x.bound)
	}
}

// followed is a meter of a mesh of 2×2×2 nodes, with the nodes.
type followed struct {
	t     *testing.T
	sys   *system
	nodes []*node // from 1
	meter dme.Meter
}

func follow(t *testing.T, q claim.Quantity) *followed {
	t.Helper()
	sys := newSystem([]int{2, 2, 2}, 8, numbered)
	f := &followed{t: t, sys: sys, nodes: []*node{nil}}
	for id := dme.NodeID(1); id <= 8; id++ {
		f.nodes = append(f.nodes, sys.Node(id).(*node))
	}
	for _, g := range gauges() {
		if g.Quantity == q.ID {
			f.meter = g.Begin(dme.Setting{Nodes: 8, System: sys})
		}
	}
	return f
}

func (f *followed) note(what dme.EventKind, id dme.NodeID) {
	f.meter.Note(&dme.Event{Kind: what, ID: id, Node: f.nodes[id]})
}

func (f *followed) hear(id, from dme.NodeID, m dme.Message) {
	f.meter.Note(&dme.Event{Kind: dme.Receive, ID: id, Node: f.nodes[id], Peer: from, Msg: m})
}

func (f *followed) turn(id dme.NodeID, to colour) {
	f.nodes[id].corner.itsToken().colour = to
	f.note(dme.Start, id)
}

func (f *followed) wants(value float64, ok bool) {
	f.t.Helper()
	if got, known := f.meter.Value(); known != ok || ok && math.Abs(got-value) > 1e-12 {
		f.t.Errorf("%v %v, want %v %v", got, known, value, ok)
	}
}

func TestColoursAreFollowed(t *testing.T) {
	f := follow(t, PrivilegedPlanes)
	f.note(dme.Start, 2)
	f.wants(1, true)
	f.turn(1, yellow)
	f.wants(1, true)
	f.turn(5, green)
	f.wants(2, true)
	f.turn(1, red)
	f.wants(2, true) // the most that there were

	f = follow(t, GreenAndYellow)
	f.turn(1, yellow)
	f.turn(5, yellow)
	f.wants(0, true)
	f.turn(5, green)
	f.turn(5, red)
	f.wants(1, true)

	f = follow(t, Unprivileged)
	f.wants(0, false)
	f.note(dme.Enter, 4) // in plane 0
	f.wants(0, true)
	f.note(dme.Enter, 6) // in plane 1
	f.wants(1, true)
	f.turn(5, green)
	f.note(dme.Enter, 6)
	f.wants(1, true)
}

func TestVisitsAreCounted(t *testing.T) {
	f := follow(t, EntriesPerVisit)
	visit := func(corner dme.NodeID, entering ...dme.NodeID) {
		f.hear(corner, 6-corner, dme.Message{Kind: kindPermit, Node: corner})
		for _, id := range entering {
			f.note(dme.Enter, id)
		}
	}
	f.note(dme.Enter, 1) // before the token moved
	visit(5, 5, 6, 7, 8)
	visit(1, 1, 2, 3, 4)
	f.wants(0, false)
	visit(5, 5, 6, 7, 8)
	visit(1, 1, 2, 3)
	visit(5, 5, 6, 7, 8)
	visit(1, 1, 2, 3, 4)
	f.hear(1, 5, dme.Message{Kind: kindPermit, Node: 2}) // no visit: for a node of the plane
	visit(5, 5, 6, 7)                                    // node 8 asks no more
	f.wants((4+3)/2., true)                              // of the visits from the third until the last of node 8
}

func TestChangesOfPlaneAreCounted(t *testing.T) {
	f := follow(t, PlaneChange)
	f.wants(0, false)
	f.note(dme.Request, 1)
	f.note(dme.Exit, 1)
	f.wants(0, false) // the token stayed where it was
	f.note(dme.Request, 5)
	f.hear(1, 5, dme.Message{Kind: kindRequest, Node: 5})
	f.hear(5, 1, dme.Message{Kind: kindPermit, Node: 5})
	f.hear(5, 6, dme.Message{Kind: kindRequest, Node: 6}) // inside a plane
	f.note(dme.Exit, 5)
	f.wants(2, true)
	f.note(dme.Request, 1)
	f.hear(1, 5, dme.Message{Kind: kindPermit, Node: 1})
	f.note(dme.Exit, 1)
	f.wants(2, true)
	f.note(dme.Request, 1)
	f.note(dme.Request, 2)
	f.wants(0, false) // nobody can say whose a message is
}

func TestMessagesAreToldApart(t *testing.T) {
	f := follow(t, MessageBits)
	f.wants(0, false)
	for range 2 {
		for id := dme.NodeID(1); id <= 4; id++ {
			f.hear(1, 2, dme.Message{Kind: kindRequest, Node: id})
		}
	}
	f.wants(2, true)
}
