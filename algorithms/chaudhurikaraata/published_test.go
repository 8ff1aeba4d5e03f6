package chaudhurikaraata

import (
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

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
	waiting, resting := net.Host(3).Node().(*node), net.Host(2).Node().(*node)
	if len(net.Inside()) > 0 || !waiting.waiting || tokenOf(resting).colour != green || !slices.Equal(queueOf(net, 3), []dme.NodeID{3}) {
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

// The search of TestEverySchedule finds the fault in the printed text, and finds
// it safe: what it reports is a stall, never a broken invariant.
func TestSearchCatchesPublished(t *testing.T) {
	for _, x := range []struct {
		sizes []int
		left  []int
	}{
		{[]int{1, 1, 3}, []int{0, 1, 1}},
		{[]int{1, 1, 3}, []int{1, 1, 1}},
		{[]int{1, 2, 2}, []int{0, 2, 2, 2}},
		{[]int{2, 2, 2}, []int{0, 1, 0, 1, 0, 1}},
	} {
		m := newModel(newSystem(x.sizes, len(x.left), asPrinted), false, x.left...)
		err := m.explore()
		if err == nil || !strings.Contains(err.Error(), "stalled: ") {
			t.Errorf("mesh %v, requests %v: %v", x.sizes, x.left, err)
		}
		m = newModel(newSystem(x.sizes, len(x.left), asPrinted), false, x.left...)
		m.stallsAllowed = true
		if err := m.explore(); err != nil || m.stalls == 0 {
			t.Errorf("mesh %v, requests %v: %d stalls, %v", x.sizes, x.left, m.stalls, err)
		}
		t.Logf("mesh %v, requests %v: %d of %d states are stalls", x.sizes, x.left, m.stalls, len(m.done))
	}
}

// Two planes of one node each are the only ones that it always serves.
func TestPublishedServesTwoNodes(t *testing.T) {
	if err := newModel(newSystem([]int{1, 1, 2}, 2, asPrinted), false, 3, 3).explore(); err != nil {
		t.Error(err)
	}
}

// Random schedules catch it on the meshes that it has by default.
func TestRandomSchedulesCatchPublished(t *testing.T) {
	for _, nodes := range []int{3, 5, 8} {
		caught := 0
		const schedules = 40
		for seed := range uint64(schedules) {
			if err := randomly(AsPublished(), nodes, nil, seed, 2); err != nil {
				if !strings.Contains(err.Error(), conformance.Stalled) {
					t.Fatalf("N=%d: %v", nodes, err)
				}
				caught++
			}
		}
		if caught == 0 {
			t.Errorf("N=%d: %d schedules, none stalls", nodes, schedules)
		}
		t.Logf("N=%d: %d of %d schedules stall", nodes, caught, schedules)
	}
}
