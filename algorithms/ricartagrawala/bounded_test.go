package ricartagrawala

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// withModulus returns the algorithm with a modulus that may be too small.
func withModulus(a *dme.Algorithm, m uint64) *dme.Algorithm {
	a.Options[0].Default = fmt.Sprint(m)
	a.ValidNodes = nil
	return a
}

// M = 2N−1 is enough, and tight: with 2N−2 the search finds a fault.
func TestModulusIsTight(t *testing.T) {
	for _, nodes := range []int{2, 3, 4} {
		enough := smallest(nodes)
		if err := conformance.Search(withModulus(Bounded(), enough), nodes, nil, 400); err != nil {
			t.Errorf("N=%d, M=2N−1: %v", nodes, err)
		}
		if err := conformance.Search(withModulus(Bounded(), enough-1), nodes, nil, 4000); err == nil {
			t.Errorf("N=%d, M=2N−2: no fault found", nodes)
		}
	}
}

// As published it is unsafe for every M: here up to four times the nodes, and
// one that no run comes near.
func TestAsPublishedIsUnsafeForEveryModulus(t *testing.T) {
	for _, nodes := range []int{2, 3} {
		moduli := []uint64{1 << 40}
		for m := smallest(nodes); m <= 4*uint64(nodes); m++ {
			moduli = append(moduli, m)
		}
		for _, m := range moduli {
			if err := conformance.Search(withModulus(BoundedAsPublished(), m), nodes, nil, 4000); err == nil {
				t.Errorf("N=%d, M=%d: no fault found", nodes, m)
			}
		}
	}
}

// The way to it, for any number of nodes and any modulus. Node 1 enters with
// number 1 and forgets it. Nodes 2, 3, …, N ask, each having heard the one
// before, with numbers up to N. Node 1 hears of N first, which differs from its
// Highest_Sequence_Number, 0, by N: it replies, and takes it for an old number.
// When all before node N have been served, node 1 has heard of N−1 at most. It
// asks with N, and has priority over node N, which is inside.
func TestHowAsPublishedFails(t *testing.T) {
	for _, nodes := range []dme.NodeID{2, 3, 5, 8} {
		for _, m := range []uint64{smallest(int(nodes)), 2 * uint64(nodes), 1000} {
			net := conformance.Make(t, BoundedAsPublished(), int(nodes), map[string]string{"modulus": fmt.Sprint(m)})
			if _, err := net.Serve(1); err != nil {
				t.Fatal(err)
			}
			for j := dme.NodeID(2); j <= nodes; j++ {
				net.Request(j)
				for k := j + 1; k <= nodes; k++ {
					net.Deliver(j, k, 0)
				}
			}
			net.Deliver(nodes, 1, 0)
			for j := dme.NodeID(2); j <= nodes; j++ {
				net.Settle()
				if !slices.Equal(net.Inside(), []dme.NodeID{j}) {
					t.Fatalf("N=%d, M=%d: %v are in the critical section, want node %d\n%s", nodes, m, net.Inside(), j, net.States())
				}
				if j < nodes {
					net.Release(j)
				}
			}
			net.Request(1)
			net.Settle()
			want := fmt.Sprintf("are in the critical section: 1 and %d", nodes)
			if err := net.Err(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("N=%d, M=%d: %v\n%s", nodes, m, err, net.States())
			}
		}
	}
}

// The comparison of section 6.4 agrees with that of the whole numbers, for any
// two that are less than N apart; with M = 2N−2 it cannot.
func TestComparison(t *testing.T) {
	for _, nodes := range []int{1, 2, 3, 5, 8} {
		for m := max(1, smallest(nodes)-1); m <= smallest(nodes)+3; m++ {
			s := residues{nodes: nodes, modulus: m}
			agrees := true
			for a := range 5 * m {
				for d := range uint64(nodes) {
					b := a + d
					agrees = agrees && s.less(a%m, b%m) == (a < b) && !s.less(b%m, a%m)
				}
			}
			if agrees != (m >= smallest(nodes)) {
				t.Errorf("N=%d, M=%d: agrees: %v", nodes, m, agrees)
			}
		}
	}
}

// A number fits into log2(2N−1) bits, rounded up, however long the run.
func TestNumbersStaySmall(t *testing.T) {
	const nodes = 5
	net := conformance.Make(t, Bounded(), nodes, nil)
	seen := map[uint64]bool{}
	for k := range 100 {
		if messages, err := net.Serve(dme.NodeID(k%nodes + 1)); err != nil || messages != 2*(nodes-1) {
			t.Fatalf("entry %d: %d messages, %v", k, messages, err)
		}
		for i := dme.NodeID(1); i <= nodes; i++ {
			n := net.Host(i).Node().(*boundedNode)
			seen[n.highestSequenceNumber] = true
		}
	}
	if len(seen) != 2*nodes-1 {
		t.Errorf("%d different numbers, want all %d", len(seen), 2*nodes-1)
	}
	for x := range seen {
		if got, want := bits.Len64(x), bits.Len64(2*nodes-2); got > want {
			t.Errorf("number %d takes %d bits, want at most %d", x, got, want)
		}
	}
}

func TestModulus(t *testing.T) {
	for _, c := range []struct {
		modulus string
		nodes   int
		want    string // what the error says; "" for none
	}{
		{"auto", 5, ""}, {"9", 5, ""}, {"64", 5, ""},
		{"8", 5, "want at least 2N−1 = 9"}, {"0", 1, "not a positive number"}, {"-5", 1, "not a positive number"},
		{"18446744073709551615", 1, "not a positive number"}, {"9223372036854775808", 1, "not a positive number"},
		{"9223372036854775807", 5, ""}, {"1a", 1, "not a positive number"}, {"many", 1, "not a positive number"},
	} {
		for _, a := range []*dme.Algorithm{Bounded(), BoundedAsPublished()} {
			_, err := a.New(c.nodes, 1, map[string]string{"modulus": c.modulus})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: modulus=%s for %d nodes: %v, want %q", a.Name, c.modulus, c.nodes, err, c.want)
			}
		}
	}
}

// Section 6.4: numbers that are at most N−1 apart take 2N−1 residues. With one less, the
// same two residues are N−1 apart both ways round.
func TestSmallestModulus(t *testing.T) {
	for n := 1; n <= 9; n++ {
		if m, ok := smallestAccepted(dme.Setting{Nodes: n}); !ok || m != float64(2*n-1) {
			t.Errorf("N=%d: %v, %v; want %d", n, m, ok, 2*n-1)
		}
		if n > 1 && tellsApart(residues{nodes: n, modulus: uint64(2*n - 2)}) {
			t.Errorf("N=%d: %d residues tell all numbers apart", n, 2*n-2)
		}
	}
}
