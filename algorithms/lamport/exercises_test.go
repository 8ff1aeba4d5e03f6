package lamport

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
)

// Exercise 9.2: L1 can hold at several sites at once; it does at S_1 and S_2 in
// figure 9.4. That it is needed is shown by the mutant without it.
func TestExercise92(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 3, nil)
	net.Request(1)
	net.Request(2)
	net.Settle()
	for _, i := range []dme.NodeID{1, 2} {
		if !at(net, i).awaiting.Empty() {
			t.Errorf("L1 does not hold at S_%d", i)
		}
	}
	if !slices.Equal(net.Inside(), []dme.NodeID{1}) {
		t.Errorf("%v execute, want S_1", net.Inside())
	}
}

// Exercise 9.3, first half: S_2 executes while S_3 still has S_1's request at
// the top of its queue, since the RELEASE is on its way.
func TestExercise93(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 3, nil)
	net.Request(1)
	net.Request(2)
	net.Settle()
	net.Release(1)
	net.Deliver(1, 2, 0)
	if !slices.Equal(net.Inside(), []dme.NodeID{2}) {
		t.Fatalf("%v execute, want S_2", net.Inside())
	}
	if top := at(net, 3).requestQueue[0]; top != stamp(1, 1) {
		t.Errorf("the top of S_3's queue is %v, want S_1's request", top)
	}
	if len(net.InFlight(1, 3)) != 1 {
		t.Error("the RELEASE is not on its way to S_3")
	}
}

// Exercise 9.3, second half: when no message is on its way, the executing
// site's request is at the top of every queue. Exercise 9.7: entries are in the
// order of timestamps.
func TestExercises93And97(t *testing.T) {
	for _, a := range both() {
		silent := 0
		look := func(net *conformance.Net, _ *vnet.Event) error {
			if k := len(net.Entries) - 1; k > 0 && net.Entries[k].Stamp.Precedes(net.Entries[k-1].Stamp) {
				return fmt.Errorf("%v entered after %v", net.Entries[k].Stamp, net.Entries[k-1].Stamp)
			}
			if len(net.Flying()) > 0 || len(net.Inside()) == 0 {
				return nil
			}
			silent++
			i := net.Inside()[0]
			for j := dme.NodeID(1); j <= 4; j++ {
				if top := at(net, j).requestQueue[0]; top.Node != i {
					return fmt.Errorf("S_%d executes, nothing is on its way, and the top of S_%d's queue is %v", i, j, top)
				}
			}
			return nil
		}
		for seed := range uint64(200) {
			w := conformance.Walk{Algorithm: a, Nodes: 4, Requests: conformance.Each(3), Load: vnet.Churn, Seed: seed, Look: look}
			if _, err := w.Run(); err != nil {
				t.Fatal(err)
			}
		}
		if silent == 0 {
			t.Errorf("%s: a site never executed while no message was on its way", a.Name)
		}
	}
}

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
			w := conformance.Walk{Algorithm: a, Nodes: 3, Requests: conformance.Each(2), Load: vnet.Churn, Seed: seed, Reorder: true}
			if net, _ := w.Run(); net.Err() != nil && strings.Contains(net.Err().Error(), conformance.Unsafe) {
				unsafe++
			}
			w.Reorder = false
			if _, err := w.Run(); err != nil {
				t.Fatal(err)
			}
		}
		if unsafe == 0 {
			t.Errorf("%s: no violation in %d walks on reordering links", a.Name, walks)
		}
		t.Logf("%s: %d of %d walks on reordering links are unsafe", a.Name, unsafe, walks)
	}
}
