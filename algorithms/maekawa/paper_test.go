package maekawa

import (
	"testing"

	"dmebench/dme"
)

// figure1c is Figure 1(c) of the paper: request sets of 13 nodes, K=4. (The example
// of section 5 is played on them by testdata/section-5.txt and its variation.)
var figure1c = [][]dme.NodeID{
	{1, 2, 3, 4}, {2, 5, 8, 11}, {3, 6, 8, 13}, {4, 6, 10, 11}, {1, 5, 6, 7}, {2, 6, 9, 12}, {2, 7, 10, 13},
	{1, 8, 9, 10}, {3, 7, 9, 11}, {3, 5, 10, 12}, {1, 11, 12, 13}, {4, 7, 8, 12}, {4, 5, 9, 13},
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
