package raring

import (
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

func newNet(t *testing.T, form string, nodes int) *conformance.Net {
	t.Helper()
	net, err := conformance.New(Algorithm(), nodes, map[string]string{"form": form})
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// An isolated request takes N messages in either form: once round the ring.
func TestIsolatedRequests(t *testing.T) {
	for _, nodes := range []int{1, 2, 3, 8, 13} {
		for _, form := range []string{"echo", "notes"} {
			want := nodes
			if nodes == 1 {
				want = 0
			}
			net := newNet(t, form, nodes)
			for i := range nodes {
				if messages, err := net.Serve(dme.NodeID(i + 1)); err != nil || int(messages) != want {
					t.Errorf("%s, N=%d: %d messages, want %d; %v", form, nodes, messages, want, err)
				}
			}
		}
	}
}

// All ask at once, and are served in the order of their numbers: N messages
// each where a deferred REQUEST waits, one more for each note where it goes on.
func TestBurst(t *testing.T) {
	const nodes = 8
	for form, want := range map[string]uint64{"echo": nodes * nodes, "notes": nodes*nodes + nodes*(nodes-1)/2} {
		net := newNet(t, form, nodes)
		for i := range nodes {
			net.Request(dme.NodeID(i + 1))
		}
		for i := dme.NodeID(1); i <= nodes; i++ {
			net.Settle()
			if !slices.Equal(net.Inside(), []dme.NodeID{i}) {
				t.Fatalf("%s: %v are in the critical section, want node %d\n%s", form, net.Inside(), i, net.States())
			}
			net.Release(i)
		}
		if net.Sent() != want || net.Err() != nil {
			t.Errorf("%s: %d messages, want %d; %v", form, net.Sent(), want, net.Err())
		}
	}
}

// The REQUEST goes round without a pause, so that after the last deferral it
// takes one message until its node enters; an echo has still to come home.
func TestNotesSaveTheWayHome(t *testing.T) {
	const nodes = 8
	for form, want := range map[string]int{"echo": nodes - 1, "notes": 1} {
		net := newNet(t, form, nodes)
		net.Request(2)
		net.Settle() // node 2 is inside
		net.Request(1)
		net.Settle()
		if !slices.Equal(net.Inside(), []dme.NodeID{2}) {
			t.Fatal(net.States())
		}
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
	net := newNet(t, "notes", 3)
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

func TestPeers(t *testing.T) {
	for form, linked := range map[string]bool{"echo": true, "notes": false} {
		sys, err := Algorithm().New(5, 1, map[string]string{"form": form})
		if err != nil {
			t.Fatal(err)
		}
		l, ok := sys.(dme.Linked)
		if ok != linked {
			t.Fatalf("%s: says whom it sends to: %v", form, ok)
		}
		if ok && (!slices.Equal(l.Peers(2), []dme.NodeID{3}) || !slices.Equal(l.Peers(5), []dme.NodeID{1})) {
			t.Errorf("node 2 sends to %v, node 5 to %v", l.Peers(2), l.Peers(5))
		}
	}
}

func TestRefusals(t *testing.T) {
	request := func(number uint64, node dme.NodeID, notes ...uint64) dme.Message {
		return dme.Message{Kind: kindRequest, Req: dme.Stamp{Clock: number, Node: node}, Vec: notes}
	}
	reply := func(number uint64) dme.Message {
		return dme.Message{Kind: kindReply, Clock: number}
	}
	for _, c := range []struct {
		name, form string
		from       dme.NodeID
		msgs       []dme.Message // the last is refused
	}{
		{"not by the predecessor", "echo", 3, []dme.Message{request(5, 3)}},
		{"no number", "echo", 1, []dme.Message{request(0, 1)}},
		{"no node", "echo", 1, []dme.Message{request(5, 9)}},
		{"an earlier one of its own", "echo", 1, []dme.Message{request(1, 2)}},
		{"deferred twice", "echo", 1, []dme.Message{request(5, 4), request(5, 4)}},
		{"home twice", "echo", 1, []dme.Message{request(2, 2), request(2, 2)}},
		{"REPLY", "echo", 1, []dme.Message{reply(2)}},
		{"home twice", "notes", 1, []dme.Message{request(2, 2, 3), request(2, 2, 3)}},
		{"note by nobody", "notes", 1, []dme.Message{request(2, 2, 9)}},
		{"note by itself", "notes", 1, []dme.Message{request(2, 2, 2)}},
		{"notes against the ring", "notes", 1, []dme.Message{request(2, 2, 4, 3)}},
		{"note by one who comes later", "notes", 1, []dme.Message{request(5, 4, 3)}},
		{"REPLY to an earlier request", "notes", 3, []dme.Message{reply(1)}},
		{"REPLY twice", "notes", 3, []dme.Message{reply(2), reply(2)}},
	} {
		net := newNet(t, c.form, 4)
		if _, err := net.Serve(2); err != nil {
			t.Fatal(err)
		}
		net.Request(2) // with number 2
		for i, m := range c.msgs {
			net.Host(2).Receive(c.from, &m)
			want := uint64(0)
			if i == len(c.msgs)-1 {
				want = 1
			}
			if net.Refused() != want {
				t.Errorf("%s, %s: %d refused after message %d", c.form, c.name, net.Refused(), i+1)
			}
		}
	}
}

func TestMutants(t *testing.T) {
	conformance.TestMutants(t, "^TestConformance$",
		conformance.Mutant{
			Name: "the count is then set", File: "notes.go",
			Old:    "if j := dme.NodeID(by); n.repliedFirst.Has(j) {\n\t\t\tn.repliedFirst.Remove(j)\n\t\t} else {\n\t\t\tn.deferredBy.Add(j)\n\t\t}",
			New:    "n.deferredBy.Add(dme.NodeID(by))",
			Caught: "nothing moves",
		},
		conformance.Mutant{
			Name: "no note", File: "notes.go",
			Old: "\t\tm.Vec = append(m.Vec, uint64(n.me)) // «DEFERRED by node me»\n", New: "",
			Caught: "REPLY that is not awaited",
		},
		conformance.Mutant{
			Name: "an echo that never waits", File: "echo.go",
			Old: "\tif n.defers(m.Req) {", New: "\tif false {",
			Caught: "are in the critical section",
		},
	)
}
