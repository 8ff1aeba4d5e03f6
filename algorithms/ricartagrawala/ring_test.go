package ricartagrawala

import (
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// The REQUEST goes round without a pause, so that after the last deferral it
// takes one message until its node enters; an echo has still to come home.
func TestNotesSaveTheWayHome(t *testing.T) {
	const nodes = 8
	for form, want := range map[string]int{"echo": nodes - 1, "notes": 1} {
		net := conformance.Make(t, Ring(), nodes, map[string]string{"form": form})
		net.Request(2)
		net.Settle() // node 2 is inside
		net.Request(1)
		net.Settle()
		net.WantInside(t, 2)
		net.Release(2)
		steps := 0
		for len(net.Inside()) == 0 && net.DeliverOldest() {
			steps++
		}
		if steps != want || !slices.Equal(net.Inside(), []dme.NodeID{1}) {
			t.Errorf("%s: %d messages from exit to entry, want %d\n%s", form, steps, want, net.States())
		}
	}
}

// A REPLY is home before the REQUEST that it answers.
func TestReplyBeforeTheRequestIsHome(t *testing.T) {
	net := conformance.Make(t, Ring(), 3, map[string]string{"form": "notes"})
	net.Request(1)
	net.Settle() // node 1 is inside
	net.Request(2)
	net.Deliver(2, 3, 0)
	net.Deliver(3, 1, 0) // node 1 notes its deferral
	note := net.InFlight(1, 2)
	if len(note) != 1 || !slices.Equal(note[0].Vec, []uint64{1}) {
		t.Fatalf("on its way home: %+v, want the note of node 1", note)
	}
	net.Release(1)
	net.Deliver(1, 2, 1) // the REPLY
	if len(net.Inside()) != 0 {
		t.Fatal("node 2 has entered before its REQUEST was home")
	}
	net.Deliver(1, 2, 0)
	if !slices.Equal(net.Inside(), []dme.NodeID{2}) || net.Err() != nil || net.Refused() != 0 {
		t.Errorf("node 2 has all it needs and waits; %v\n%s", net.Err(), net.States())
	}
}

func TestRingPeers(t *testing.T) {
	for form, linked := range map[string]bool{"echo": true, "notes": false} {
		sys, err := Ring().New(5, 1, map[string]string{"form": form})
		if err != nil {
			t.Fatal(err)
		}
		two, five := Ring().Peers(sys, 2), Ring().Peers(sys, 5)
		if linked != (two != nil) || linked && (!slices.Equal(two, []dme.NodeID{3}) || !slices.Equal(five, []dme.NodeID{1})) {
			t.Errorf("%s: node 2 sends to %v, node 5 to %v", form, two, five)
		}
	}
}

// While a REQUEST goes round nobody knows where it is; with notes on it, one that is home
// names those whose REPLY it lacks.
func TestRingWaits(t *testing.T) {
	away := dme.Wait{For: dme.None, What: "REQUEST, which is kept on its way round"}
	for form, home := range map[string]dme.Wait{"echo": away, "notes": {For: 1, What: "REPLY"}} {
		net := conformance.Make(t, Ring(), 3, map[string]string{"form": form})
		wants := func(id dme.NodeID, want ...dme.Wait) {
			t.Helper()
			if got := net.Algorithm.Waits(net.Host(id).Node()); !slices.Equal(got, want) {
				t.Errorf("%s: node %d waits for %v, want %v", form, id, got, want)
			}
		}
		wants(1)
		net.Request(1)
		wants(1, away)
		net.Settle() // node 1 is inside
		wants(1)
		net.Request(2)
		net.Deliver(2, 3, 0)
		wants(2, away)
		net.Settle()
		wants(2, home)
		net.Release(1)
		net.Settle() // node 2 is inside
		wants(2)
	}
}

// mute is a ring in which nodes keep for good what they have deferred.
type mute struct{ dme.System }

type muteNode struct{ dme.Node }

func (s mute) Node(id dme.NodeID) dme.Node { return muteNode{s.System.Node(id)} }

func (muteNode) Release(*dme.Outbox) {}

// Where node 1 never enters, nothing is measured.
func TestLastLapThatDoesNotEnd(t *testing.T) {
	for _, form := range []string{"echo", "notes"} {
		s := conformance.Make(t, Ring(), 4, map[string]string{"form": form}).Setting
		if got, ok := lastLap(s); !ok || got <= 0 {
			t.Errorf("%s: %v, %v", form, got, ok)
		}
		s.System = mute{s.System}
		if got, ok := lastLap(s); ok {
			t.Errorf("%s: %v rounds until nobody enters", form, got)
		}
	}
}
