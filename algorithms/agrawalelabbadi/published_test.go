package agrawalelabbadi

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/runtime/noderun"
)

// TestPublishedIsUnsafe: three nodes, six steps. Node 2 asks with a more
// preceding request than node 3's, which the root has granted, and takes the
// head of the queue from it.
func TestPublishedIsUnsafe(t *testing.T) {
	steps := func(net *conformance.Net) {
		net.Request(3)
		net.Request(2)
		net.Deliver(3, 1, 0) // Request
		net.Deliver(1, 3, 0) // Reply: node 3 enters
		net.Deliver(2, 1, 0) // Request
		if len(net.InFlight(1, 2)) > 0 {
			net.Deliver(1, 2, 0) // Reply: node 2 enters
		}
	}
	net := conformance.Make(t, AsPublished(), 3, nil)
	steps(net)
	if in := net.Inside(); !slices.Equal(in, []dme.NodeID{3, 2}) {
		t.Errorf("%v inside, want 3 and 2\n%s", in, net.States())
	}
	repaired := newNet(t, 3, "self")
	steps(repaired)
	if in := repaired.Inside(); !slices.Equal(in, []dme.NodeID{3}) {
		t.Errorf("repaired: %v inside, want node 3\n%s", in, repaired.States())
	}
}

// TestPublishedIsCaught: a random search finds the same, with either path.
func TestPublishedIsCaught(t *testing.T) {
	for _, path := range []string{"self", "random"} {
		err := conformance.Search(AsPublished(), 3, map[string]string{optPath: path}, 50)
		if err == nil || !strings.Contains(err.Error(), conformance.Unsafe) {
			t.Errorf("path=%s: found %v", path, err)
		}
	}
}

// Garbage changes nothing about it: what cannot be is refused or ignored, and
// never panics.
func TestPublishedSurvivesGarbage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		net := conformance.Make(t, AsPublished(), 7, nil)
		for range 100 {
			from, to := dme.NodeID(rng.IntN(9)), dme.NodeID(1+rng.IntN(7))
			m := dme.Message{Kind: dme.Kind(1 + rng.IntN(5)), Clock: rng.Uint64N(5)}
			if rng.IntN(9) == 0 && net.Host(to).Activity() == noderun.Idle {
				net.Host(to).Request()
			}
			net.Host(to).Receive(from, &m)
		}
	}
}

// Step 6, to the letter: the newcomer that takes the head of the queue is sent a
// Reply, and the one that had it an Inquire.
func TestPublishedAsksForThePermissionBack(t *testing.T) {
	net := conformance.Make(t, AsPublished(), 3, nil)
	net.Request(3)
	net.Request(2)
	net.Deliver(3, 1, 0)
	if sent := net.SentOf(kindInquire); sent != 0 {
		t.Errorf("%d Inquires before anybody takes the head of a queue", sent)
	}
	net.Deliver(2, 1, 0)
	for to, want := range map[dme.NodeID]dme.Kind{3: kindInquire, 2: kindReply} {
		on := net.InFlight(1, to)
		if len(on) == 0 || on[len(on)-1].Kind != want {
			t.Errorf("to node %d: %v; want kind %d last", to, on, want)
		}
	}
}
