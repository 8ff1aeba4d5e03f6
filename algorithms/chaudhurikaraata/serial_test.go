package chaudhurikaraata

import (
	"math/rand/v2"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/testkit"
)

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
