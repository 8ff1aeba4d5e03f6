package lamport

import (
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// Section 9.3: "communication channels deliver messages in FIFO order". Where a
// REPLY overtakes the REQUEST that was sent before it, L1 concludes too much.
func TestReplyThatOvertakesRequest(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 2, nil)
	net.Request(1)
	net.Request(2)
	net.Deliver(2, 1, 0) // S_2's REQUEST is the larger: S_1 enters, and replies behind its own REQUEST
	if !slices.Equal(net.Inside(), []dme.NodeID{1}) {
		t.Fatalf("%v execute, want S_1", net.Inside())
	}
	net.Deliver(1, 2, 1) // the REPLY, to S_2, which has not heard of S_1's request
	if err := net.Err(); err == nil || len(net.Inside()) != 2 {
		t.Errorf("%v execute, want both; %v", net.Inside(), err)
	}
}

// The violation is found by searching, too, and on links that keep order the
// same search finds none.
func TestSearchOnReorderingLinks(t *testing.T) {
	const walks = 150
	for _, a := range both() {
		unsafe := 0
		for seed := range uint64(walks) {
			w := newWalk(t, a, 3, 2, seed, true)
			if err := w.run(nil); err != nil && strings.Contains(err.Error(), "are in the critical section") {
				unsafe++
			}
			w = newWalk(t, a, 3, 2, seed, false)
			if err := w.run(nil); err != nil {
				t.Fatalf("%s, seed %d, links in order: %v", a.Name, seed, err)
			}
		}
		if unsafe == 0 {
			t.Errorf("%s: no violation in %d walks on reordering links", a.Name, walks)
		}
		t.Logf("%s: %d of %d walks on reordering links are unsafe", a.Name, unsafe, walks)
	}
}
