package maekawa

import (
	"slices"
	"testing"

	"dmebench/dme"
)

// figure1c is Figure 1(c) of the paper: request sets of 13 nodes, K=4.
var figure1c = [][]dme.NodeID{
	{1, 2, 3, 4}, {2, 5, 8, 11}, {3, 6, 8, 13}, {4, 6, 10, 11}, {1, 5, 6, 7}, {2, 6, 9, 12}, {2, 7, 10, 13},
	{1, 8, 9, 10}, {3, 7, 9, 11}, {3, 5, 10, 12}, {1, 11, 12, 13}, {4, 7, 8, 12}, {4, 5, 9, 13},
}

// stage is a network that is driven message by message.
type stage struct {
	*network
	t *testing.T
}

// carry delivers the oldest message from one node to another, which must be of
// the kind given.
func (s stage) carry(from dme.NodeID, kind dme.Kind, to ...dme.NodeID) {
	s.t.Helper()
	for _, id := range to {
		link := s.links[int(from-1)*s.nodes+int(id-1)]
		if len(link) == 0 || link[0].Kind != kind {
			s.t.Fatalf("no %s from %d to %d, but %v", s.algorithm.KindName(kind), from, id, link)
		}
		s.deliver(from, id, 0)
	}
	if s.fault != "" {
		s.t.Fatal(s.fault)
	}
}

// circularLocking leads to Figure 2a: nodes 7, 8 and 11 ask with the sequence
// number 1, and each waits for the next (section 5, steps (1) to (4)).
func circularLocking(t *testing.T) stage {
	t.Helper()
	s := stage{newNetwork(listed(figure1c, nil)), t}
	// (1) The REQUEST to node 1 is still on its way.
	s.request(11)
	s.carry(11, kindRequest, 12, 13)
	// (2) The REQUEST to node 13 is still on its way.
	s.request(7)
	s.carry(7, kindRequest, 2, 10)
	// (3) Node 10 has been locked by the preceding REQUEST of node 7.
	s.request(8)
	s.carry(8, kindRequest, 1, 9, 10)
	s.carry(10, kindFailed, 8)
	// (4) Node 1 returns FAILED to node 11, node 13 inquires at it.
	s.carry(11, kindRequest, 1)
	s.carry(7, kindRequest, 13)
	s.carry(1, kindFailed, 11)

	s.carry(12, kindLocked, 11)
	s.carry(13, kindLocked, 11)
	s.carry(2, kindLocked, 7)
	s.carry(10, kindLocked, 7)
	s.carry(1, kindLocked, 8)
	s.carry(9, kindLocked, 8)
	s.carry(13, kindInquire, 11)
	if len(s.entered) > 0 || len(s.busy) != 1 {
		t.Fatalf("entered %v, %d links busy; want a circle, and a RELINQUISH on its way", s.entered, len(s.busy))
	}
	return s
}

func TestExampleOfSection5(t *testing.T) {
	s := circularLocking(t)
	// Figure 2b: node 11 knows that it cannot enter.
	s.carry(11, kindRelinquish, 13)
	s.carry(13, kindLocked, 7)
	s.mustHaveEntered(7)
	// "This will cause node 8 to successfully lock all its members."
	s.exit(7)
	s.carry(7, kindRelease, 2, 10, 13)
	s.carry(13, kindLocked, 11)
	s.carry(10, kindLocked, 8)
	s.mustHaveEntered(7, 8)
	// "Finally node 11."
	s.exit(8)
	s.carry(8, kindRelease, 1, 9, 10)
	s.carry(1, kindLocked, 11)
	s.mustHaveEntered(7, 8, 11)
	s.exit(11)
	s.carry(11, kindRelease, 1, 12, 13)
	s.mustBeSilent()
}

// TestVariationOfSection5: "a REQUEST from node 3 has arrived at node 13 after
// the INQUIRE message was sent but before the RELINQUISH message".
func TestVariationOfSection5(t *testing.T) {
	s := circularLocking(t)
	s.request(3)
	s.carry(3, kindRequest, 6, 13)
	// Not in the paper: node 7, which caused the INQUIRE, learns that it has
	// been passed (repair R1).
	s.carry(13, kindFailed, 7)
	s.carry(11, kindRelinquish, 13)
	s.carry(13, kindLocked, 3)
	s.carry(6, kindLocked, 3)
	// "Node 3 will then succeed in locking all its members when node 8
	// relinquishes itself to node 3."
	s.carry(3, kindRequest, 8)
	s.carry(8, kindLocked, 3)
	s.mustHaveEntered(3)
	s.exit(3)
	s.carry(3, kindRelease, 6, 8, 13)
	s.carry(13, kindLocked, 7)
	s.mustHaveEntered(3, 7)
	s.exit(7)
	s.carry(7, kindRelease, 2, 10, 13)
	s.carry(10, kindLocked, 8)
	s.mustHaveEntered(3, 7, 8)
	s.exit(8)
	s.carry(8, kindRelease, 1, 9, 10)
	s.carry(1, kindLocked, 11)
	s.carry(13, kindLocked, 11)
	s.mustHaveEntered(3, 7, 8, 11)
	s.exit(11)
	s.carry(11, kindRelease, 1, 12, 13)
	s.mustBeSilent()
}

func (s stage) mustHaveEntered(want ...dme.NodeID) {
	s.t.Helper()
	if !slices.Equal(s.entered, want) {
		s.t.Fatalf("entered %v, want %v\n%s", s.entered, want, s.describe())
	}
}

func (s stage) mustBeSilent() {
	s.t.Helper()
	if len(s.busy) > 0 {
		s.t.Fatalf("%d links are not empty", len(s.busy))
	}
}

// TestColdBurstsOnFigure1b: without repair R1 the nodes 2, 3, 4 and 5 of Figure
// 1(b) can wait for each other for ever, if they ask at once.
func TestColdBurstsOnFigure1b(t *testing.T) {
	sys := listed([][]dme.NodeID{
		{1, 2, 3}, {2, 4, 6}, {3, 5, 6}, {1, 4, 5}, {2, 5, 7}, {1, 6, 7}, {3, 4, 7},
	}, nil)
	for seed := range uint64(500) {
		w := newNetwork(sys)
		s := schedule{seed: seed, rounds: 1, burst: true, only: []dme.NodeID{2, 3, 4, 5}}
		if s.run(w); w.fault != "" {
			t.Fatalf("seed %d: %s\n%s", seed, w.fault, w.describe())
		}
	}
}
