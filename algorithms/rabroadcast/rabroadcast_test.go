package rabroadcast

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

// Isolated requests take N transmissions, one of them the REQUEST; with a
// sequenced medium 2.
func TestIsolatedRequests(t *testing.T) {
	for _, nodes := range []int{1, 2, 3, 8, 13} {
		for form, transmissions := range map[string]int{"listed": nodes, "sequenced": 2} {
			if nodes == 1 {
				transmissions = 0
			}
			net := newNet(t, form, nodes)
			for i := range nodes {
				before := net.Transmissions()
				messages, err := net.Serve(dme.NodeID(i + 1))
				if err != nil {
					t.Fatal(err)
				}
				if sent := net.Transmissions() - before; int(messages) != 2*(nodes-1) || int(sent) != transmissions {
					t.Errorf("%s, N=%d: %d messages in %d transmissions, want %d in %d",
						form, nodes, messages, sent, 2*(nodes-1), transmissions)
				}
			}
		}
	}
}

// The audience of a REPLY grows with contention: under saturation one answers
// all others, and an entry takes 2 transmissions.
func TestSaturation(t *testing.T) {
	const nodes, warmUp, rounds = 8, 2, 10
	for _, form := range []string{"listed", "sequenced"} {
		net := newNet(t, form, nodes)
		for i := range nodes {
			net.Request(dme.NodeID(i + 1))
		}
		var before uint64
		for k := range (warmUp + rounds) * nodes {
			net.Settle()
			in := net.Inside()
			if len(in) != 1 {
				t.Fatalf("%s: %v are in the critical section\n%s", form, in, net.States())
			}
			if k == warmUp*nodes {
				before = net.Transmissions()
			}
			i := in[0]
			net.Release(i)
			net.Request(i)
		}
		net.Settle()
		if per := float64(net.Transmissions()-before) / (rounds * nodes); per != 2 || net.Err() != nil {
			t.Errorf("%s: %v transmissions per entry, want 2; %v", form, per, net.Err())
		}
	}
}

// The example of footnote 2: node 1 leaves and broadcasts the REPLY that it owes
// node 3. Node 2, whose REQUEST has not arrived there, must not think that it
// applies to it: what node 1 does next does not depend on node 2's REQUEST.
func TestReplyIsForTheListed(t *testing.T) {
	net := newNet(t, "listed", 3)
	net.Request(1)
	net.Deliver(1, 2, 0)
	net.Deliver(1, 3, 0)
	net.Deliver(2, 1, 0)
	net.Deliver(3, 1, 0)
	if !slices.Equal(net.Inside(), []dme.NodeID{1}) {
		t.Fatal(net.States())
	}
	net.Request(3)
	net.Deliver(3, 1, 0) // deferred
	net.Request(2)       // with number 2, like node 3
	net.Deliver(2, 3, 0) // node 3 replies: node 2 wins the tie
	net.Deliver(3, 2, 1)
	net.Release(1)
	reply := net.InFlight(1, 2)
	if len(reply) != 1 || !slices.Equal(reply[0].Vec, []uint64{3, 2}) {
		t.Fatalf("node 1 broadcasts %+v, want a REPLY to request 2 of node 3", reply)
	}
	net.Deliver(1, 2, 0)
	if len(net.Inside()) != 0 {
		t.Fatalf("node 2 takes it for its own\n%s", net.States())
	}
	net.Request(1)
	net.Settle()
	if !slices.Equal(net.Inside(), []dme.NodeID{2}) || net.Err() != nil || net.Refused() != 0 {
		t.Errorf("%v are in the critical section, want node 2; %v\n%s", net.Inside(), net.Err(), net.States())
	}
}

// Section 6.2.1, as a schedule: requests are served in the order in which they
// were transmitted, whoever hears of them first.
func TestMediumDecides(t *testing.T) {
	net := newNet(t, "sequenced", 3)
	net.Request(3)
	net.Request(1)
	net.Deliver(3, 1, 0)
	net.Deliver(1, 1, 0) // node 1 hears its own, behind node 3's
	if len(net.Inside()) != 0 {
		t.Fatalf("node 1 enters behind node 3's back\n%s", net.States())
	}
	net.Deliver(3, 3, 0)
	if !slices.Equal(net.Inside(), []dme.NodeID{3}) {
		t.Fatalf("%v are in the critical section, want node 3\n%s", net.Inside(), net.States())
	}
	net.Release(3)
	net.Request(3) // its old entry is gone
	net.Settle()
	if !slices.Equal(net.Inside(), []dme.NodeID{1}) {
		t.Fatalf("%v are in the critical section, want node 1\n%s", net.Inside(), net.States())
	}
	net.Release(1)
	net.Settle()
	net.Release(3)
	net.Settle()
	var order []uint64
	for _, e := range net.Entries {
		order = append(order, e.Stamp.Clock)
	}
	if !slices.Equal(order, []uint64{1, 2, 3}) || net.Err() != nil || net.Transmissions() != 6 {
		t.Errorf("entries %+v in %d transmissions; %v", net.Entries, net.Transmissions(), net.Err())
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, form string
		msgs       []dme.Message // all from node 2; the last is refused
	}{
		{"REQUEST without a number", "listed", []dme.Message{{Kind: kindRequest}}},
		{"REQUEST twice", "listed", []dme.Message{{Kind: kindRequest, Clock: 9}, {Kind: kindRequest, Clock: 9}}},
		{"REPLY to an earlier request", "listed", []dme.Message{{Kind: kindReply, Clock: 1}}},
		{"REPLY twice, once in a list", "listed", []dme.Message{{Kind: kindReply, Vec: []uint64{3, 7, 1, 2}}, {Kind: kindReply, Clock: 2}}},
		{"a list without numbers", "listed", []dme.Message{{Kind: kindReply, Vec: []uint64{1}}}},
		{"REQUEST twice on the medium", "sequenced", []dme.Message{{Kind: kindRequest}, {Kind: kindRequest}}},
		{"REPLY without a REQUEST", "sequenced", []dme.Message{{Kind: kindReply}}},
	} {
		net := newNet(t, c.form, 3)
		if _, err := net.Serve(1); err != nil {
			t.Fatal(err)
		}
		net.Request(1) // with number 2
		for i, m := range c.msgs {
			net.Host(1).Receive(2, &m)
			want := uint64(0)
			if i == len(c.msgs)-1 {
				want = 1
			}
			if net.Refused() != want {
				t.Errorf("%s: %d refused after message %d", c.name, net.Refused(), i+1)
			}
		}
	}
}

func TestMutants(t *testing.T) {
	conformance.TestMutants(t, "^(TestConformance|TestReplyIsForTheListed)$",
		conformance.Mutant{
			Name: "a broadcast REPLY is everybody's", File: "listed.go",
			Old:    "if number, listed := recipient(m.Vec, n.me); listed {\n\t\t\tn.receiveReply(from, number, out)\n\t\t}",
			New:    "if n.awaitingReply.Has(from) {\n\t\t\tn.receiveReply(from, n.ourSequenceNumber, out)\n\t\t}",
			Caught: "node 2 takes it for its own",
		},
		conformance.Mutant{
			Name: "the old entry stays until its REPLY is heard", File: "sequenced.go",
			Old:    "\tl.waiting = slices.DeleteFunc(l.waiting, func(r dme.Stamp) bool { return r.Node == l.me })\n\tout",
			New:    "\tout",
			Caught: "ricart-agrawala-broadcast: on",
		},
		conformance.Mutant{
			Name: "a request's place is that of its sending", File: "sequenced.go",
			Old:    "\tout.Broadcast(dme.Message{Kind: kindRequest})\n}\n",
			New:    "\tout.Broadcast(dme.Message{Kind: kindRequest})\n\tl.hear(l.me)\n\tl.enterIfFirst(out)\n}\n",
			Caught: "are in the critical section",
		},
	)
}
