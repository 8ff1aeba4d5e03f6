package ricartagrawala

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// burst lets all nodes ask before any hears of another, and returns the order in
// which they enter.
func burst(t *testing.T, net *conformance.Net) []dme.NodeID {
	t.Helper()
	first := len(net.Entries)
	for i := 1; i <= net.Setting.Nodes; i++ {
		net.Request(dme.NodeID(i))
	}
	for range net.Setting.Nodes {
		net.Settle()
		net.Release(net.Inside()[0])
	}
	net.Settle()
	if err := net.Err(); err != nil {
		t.Fatal(err)
	}
	var order []dme.NodeID
	for _, e := range net.Entries[first:] {
		order = append(order, e.Node)
	}
	return order
}

// Section 6.5, 1: where all choose the same number, node 1 is always first.
// Random increments reduce that, the more, the larger they may be: with D values,
// another node is before node 1 with probability (1 − 1/D)/2.
func TestRandomIncrementsReduceTheBias(t *testing.T) {
	const nodes, bursts = 8, 1000
	for _, most := range []int{1, 8, 1000} {
		net := conformance.Make(t, Priority(), nodes, map[string]string{"most": fmt.Sprint(most)})
		before := 0 // entries before node 1's
		for range bursts {
			before += slices.Index(burst(t, net), 1)
		}
		claims := Priority().Claims
		at := slices.IndexFunc(claims, func(c dme.Claim) bool { return c.Quantity == dme.NumberRange })
		if apart, ok := claims[at].Prediction(net.Setting); !ok || apart != float64((nodes-1)*most) {
			t.Errorf("D=%d: numbers are claimed to be up to %v apart", most, apart)
		}
		want := (nodes - 1) * (1 - 1/float64(most)) / 2
		if mean := float64(before) / bursts; math.Abs(mean-want) > 0.3 {
			t.Errorf("D=%d: %.2f entries on average before node 1's, want %.2f", most, mean, want)
		}
	}
}

// Section 6.5, 2: where requests cross, small increments go first.
func TestSmallIncrementsHavePriority(t *testing.T) {
	const nodes = 8
	net := conformance.Make(t, Priority(), nodes, map[string]string{"increments": "priority", "most": "8"})
	for range 10 {
		order := burst(t, net)
		if !slices.IsSorted(order) {
			t.Fatalf("order %v, want that of the priorities", order)
		}
		// Not by the tie-breaking rule: no two of these numbers are equal.
		last := net.Entries[len(net.Entries)-nodes:]
		for i := range last[1:] {
			if last[i].Stamp.Clock >= last[i+1].Stamp.Clock {
				t.Fatalf("entries %+v", last)
			}
		}
	}
}

// A request that has been heard of is not overtaken, whatever the increment.
func TestNoPriorityOverWhatIsKnown(t *testing.T) {
	net := conformance.Make(t, Priority(), 3, map[string]string{"increments": "priority"})
	net.Request(3)
	net.Deliver(3, 1, 0)
	net.Request(1)
	net.Settle()
	net.WantInside(t, 3)
}

// Node 1 replies to node 2 and then asks itself. It must ask with a larger
// number: with the same one it would win the tie against a node that is inside.
func TestAskingAfterReplyingIsBehind(t *testing.T) {
	net := conformance.Make(t, Priority(), 2, map[string]string{"most": "1"})
	net.Request(2)
	net.Settle()
	net.Request(1)
	net.Settle()
	net.WantInside(t, 2)
}

func TestIncrements(t *testing.T) {
	for _, most := range []uint64{1, 2, 8, largestMost} {
		i := increments{most: most, nodes: 5, seed: 9}
		counts := map[uint64]int{}
		for k := range uint64(800) {
			for id := dme.NodeID(1); id <= 5; id++ {
				d := i.of(id, k)
				if d < 1 || d > most {
					t.Fatalf("an increment of %d, want 1 to %d", d, most)
				}
				if d != i.of(id, k) {
					t.Fatal("drawn twice, two increments")
				}
				counts[d]++
			}
		}
		if most <= 8 {
			for d := uint64(1); d <= most; d++ {
				if fair := 4000 / int(most); counts[d] < fair*8/10 || counts[d] > fair*12/10 {
					t.Errorf("D=%d: %d was drawn %d times of 4000", most, d, counts[d])
				}
			}
		}
	}
	same := 0
	for k := range uint64(100) {
		if (increments{most: 1000, seed: 1}).of(2, k) == (increments{most: 1000, seed: 2}).of(2, k) {
			same++
		}
	}
	if same > 5 {
		t.Errorf("two seeds agree on %d of 100 increments", same)
	}
	for nodes := 1; nodes <= 20; nodes++ {
		i := increments{most: 8, priority: true, nodes: nodes}
		last := uint64(1)
		for id := dme.NodeID(1); int(id) <= nodes; id++ {
			d := i.of(id, 7)
			if d < last || d > 8 {
				t.Errorf("N=%d: node %d has %d, the one before %d", nodes, id, d, last)
			}
			last = d
		}
		if nodes > 1 && last != 8 {
			t.Errorf("N=%d: the last has %d", nodes, last)
		}
	}
}

func TestMost(t *testing.T) {
	for value, ok := range map[string]bool{
		"1": true, "8": true, "1048576": true, "1048577": false, "0": false, "-1": false, "x": false, "": false,
	} {
		if _, err := Priority().Resolve(map[string]string{"most": value}); (err == nil) != ok {
			t.Errorf("most=%s: %v", value, err)
		}
	}
}
