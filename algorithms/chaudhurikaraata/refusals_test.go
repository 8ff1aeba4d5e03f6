package chaudhurikaraata

import (
	"strings"
	"testing"

	"dmebench/dme"
)

// The nodes of a 2×2×3 mesh: 1 to 4 in plane 0, 5 to 8 in plane 1, 9 to 12 in
// plane 2; the corners are 1, 5 and 9. Node 2 is (0,1,0), 3 is (1,0,0), 4 is
// (1,1,0).
func TestRefusals(t *testing.T) {
	request := func(x dme.NodeID) dme.Message { return dme.Message{Kind: kindRequest, Node: x} }
	permit := func(x dme.NodeID) dme.Message { return dme.Message{Kind: kindPermit, Node: x} }
	release := func(x dme.NodeID) dme.Message { return dme.Message{Kind: kindRelease, Node: x} }
	for _, c := range []struct {
		repair   repair
		from, to dme.NodeID
		m        dme.Message
		want     string
	}{
		{numbered, 2, 1, request(0), "no node of the mesh"},
		{numbered, 2, 1, request(13), "no node of the mesh"},
		{numbered, 2, 1, request(3), "off its route"},
		{numbered, 4, 2, request(2), "off its route"},
		{numbered, 2, 1, release(4), "not permitted"},
		{numbered, 3, 1, release(3), "not permitted"},
		{numbered, 6, 5, request(6), "asked already"},
		{numbered, 1, 2, permit(2), "without a request"},
		{numbered, 4, 2, permit(2), "not from the side"},
		{numbered, 1, 3, permit(4), "off its route"},
		{numbered, 2, 1, permit(2), "not from the side"},
		{numbered, 1, 2, request(5), "without a token"},
		{numbered, 9, 1, request(9), "not from a neighbouring plane"},
		{numbered, 2, 1, request(5), "not from a neighbouring plane"},
		{numbered, 5, 1, release(5), "RELEASE of a corner"},
		{numbered, 1, 5, request(9), "wrong side"},
		{numbered, 1, 5, request(5), "wrong side"},
		{numbered, 1, 5, permit(1), "wrong side"},
		{numbered, 5, 1, permit(1), "second token"},
		{numbered, 5, 1, request(9), "without a number"},
		{numbered, 1, 5, permit(5), "without the numbers"},
		{numbered, 5, 9, dme.Message{Kind: kindPermit, Node: 9, Vec: make([]uint64, 3)}, "did not ask"},
		{directed, 5, 9, permit(9), "did not ask"},
		{directed, 1, 5, permit(9), "did not ask"},
		{directed, 5, 1, request(9), "must not ask"},
		{directed, 5, 1, request(5), "must not ask"},
	} {
		net := newNet(t, 12, "2x2x3", c.repair)
		net.Request(2)
		net.Request(6)
		net.Settle() // 2 is inside, 5 has asked 1 for the token
		before := dme.DescribeState(net.Host(c.to).Node())
		net.Host(c.to).Receive(c.from, &c.m)
		if got := net.Refusal(); net.Refused() != 1 || !strings.Contains(got, c.want) {
			t.Errorf("%s, %+v from %d to %d: refusal %q, want %q", c.repair, c.m, c.from, c.to, got, c.want)
		}
		if after := dme.DescribeState(net.Host(c.to).Node()); after != before {
			t.Errorf("%s, %+v from %d to %d: the state became %s", c.repair, c.m, c.from, c.to, after)
		}
	}
}

// A report shows nodes as the paper's triples.
func TestStateShowsTriples(t *testing.T) {
	net := newNet(t, 12, "2x2x3", numbered)
	for _, id := range []dme.NodeID{2, 4, 3, 12} {
		net.Request(id)
		net.Settle()
	}
	for id, want := range map[dme.NodeID]string{
		1:  "mutex(0,0,0)=false waiting=false token(0,0,0):YELLOW=2 granted=2 OWN(1,1,0)=4 OWN(1,0,0)=3 PL(0,0,2)=9 number=1 ASKED=false",
		2:  "mutex(0,1,0)=true",
		12: "mutex(1,1,2)=false waiting=true",
		9:  "token(0,0,2):RED=0 granted=- OWN(1,1,2)=12 ASKED=true",
	} {
		if got := dme.DescribeState(net.Host(id).Node()); !strings.Contains(got, want) {
			t.Errorf("node %d: %s, want %s", id, got, want)
		}
	}
	published := newPublished(t, 8, "2x2x2")
	published.Request(1)
	published.Request(3)
	published.Settle()
	if got := dme.DescribeState(published.Host(1).Node()); !strings.Contains(got, "Q(1,0,0)=3") {
		t.Errorf("as published: %s", got)
	}
}

func TestPeersAreTheLinksUsed(t *testing.T) {
	// Fig. 1: the middle corner of the 27 nodes has four neighbours, a node in
	// the last row one.
	sys := newSystem([]int{3, 3, 3}, 27, numbered)
	for id, want := range map[dme.NodeID]int{1: 3, 10: 4, 19: 3, 11: 3, 12: 2, 13: 2, 16: 1, 18: 1} {
		if got := sys.Peers(id); len(got) != want {
			t.Errorf("node %s has the neighbours %v, want %d", sys.triple(id), got, want)
		}
	}
}
