package chaudhurikaraata

import (
	"math"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// cube returns a system with m³ nodes.
func cube(t *testing.T, m int, r repair) *conformance.Net { return newNet(t, m*m*m, "auto", r) }

// predicted returns the prediction of a claim of a for the net.
func predicted(t *testing.T, net *conformance.Net, q dme.Quantity, formula string) float64 {
	t.Helper()
	for _, c := range net.Algorithm.Claims {
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
			if claimed := predicted(t, net, dme.MessagesPerCS, formula); math.Abs(mean-claimed) > 1e-9 {
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
			about, bound := predicted(t, net, dme.MessagesPerCS, "≅ 3(m−1)"), predicted(t, net, dme.MessagesPerCS, "3m")
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
	var quantities []dme.Quantity
	for _, c := range Algorithm().Claims {
		if c.KnownFalse != "" {
			quantities = append(quantities, c.Quantity)
		}
	}
	want := []dme.Quantity{
		dme.MessagesPerCS, dme.MessagesPerCS, dme.WorkSpread, dme.MessagesPerCS, dme.MessagesPerCS, LinksUsed, MessageBits, MessageBits,
	}
	if !slices.Equal(quantities, want) {
		t.Errorf("known false: %v, want %v", quantities, want)
	}
}

// Of a mesh of one plane, as the default one of four nodes is, nothing is said that speaks
// of several: it could not be otherwise.
func TestNothingIsClaimedOfOnePlane(t *testing.T) {
	for _, q := range []dme.Quantity{PlaneChange, PrivilegedPlanes, GreenAndYellow, Unprivileged} {
		for nodes, want := range map[int]bool{1: false, 3: false, 4: false, 5: true, 8: true} {
			net := newNet(t, nodes, "auto", numbered)
			for _, c := range net.Algorithm.Claims {
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
