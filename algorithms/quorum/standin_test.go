package quorum

import (
	"slices"
	"testing"

	"dmebench/dme"
)

// The stand-in of each missing point is the first node that adds the least to the sum of
// the squares of the loads, counted anew for each node that could be taken.
func TestStandInsAreTheBest(t *testing.T) {
	tried := 0
	for n := 4; n <= 40; n++ {
		family, err := plane(Config{Nodes: n})
		if err != nil {
			t.Fatal(err)
		}
		tr, ok := family.(truncated)
		if !ok {
			continue // a perfect plane
		}
		squares := func(k int, standIn dme.NodeID) (sum int) {
			loads := make([]int, n+1)
			for id := dme.NodeID(1); int(id) <= n; id++ {
				members := map[dme.NodeID]bool{}
				for _, point := range tr.lines.appendSet(nil, id) {
					switch missing := int(point) - n - 1; {
					case missing < 0:
						members[point] = true
					case missing < k:
						members[tr.standIn[missing]] = true
					case missing == k:
						members[standIn] = true
					}
				}
				for member := range members {
					loads[member]++
				}
			}
			for _, load := range loads {
				sum += load * load
			}
			return sum
		}
		for k, got := range tr.standIn {
			best, least := dme.None, 0
			for id := dme.NodeID(1); int(id) <= n; id++ {
				if sum := squares(k, id); best == dme.None || sum < least {
					best, least = id, sum
				}
			}
			if got != best {
				t.Errorf("%d nodes: node %d stands in for point %d, want node %d", n, got, n+1+k, best)
			}
			tried++
		}
	}
	if tried < 100 {
		t.Errorf("only %d stand-ins were looked at", tried)
	}
}

// The order of a plane is the least that has room.
func TestOrdersOfPlanes(t *testing.T) {
	want := map[int]int{}
	at := 2
	for _, k := range []int{1, 2, 3, 4, 5, 7, 8, 9, 11} { // 6 and 10 are no powers of primes
		for ; at <= k*k+k+1; at++ {
			want[at] = k
		}
	}
	for n, k := range want {
		if got := planeOrder(n); got != k {
			t.Errorf("%d nodes: order %d, want %d", n, got, k)
		}
	}
}

// Where the sequence of a field of a prime is 0 is found by counting modulo the prime.
func TestZerosOfASequence(t *testing.T) {
	found := 0
	for _, q := range []int{2, 3, 5} {
		f := newField(q)
		for k := range q * q * q {
			a, b, c := k%q, k/q%q, k/q/q
			if c == 0 {
				continue
			}
			s := []int{0, 0, 1}
			var want []int
			for at := range q*q + q + 1 {
				if s[at] == 0 {
					want = append(want, at)
				}
				s = append(s, (a*s[at+2]+b*s[at+1]+c*s[at])%q)
			}
			if len(want) != q+1 {
				want = nil
			} else {
				found++
			}
			if got := f.zeros(a, b, c); !slices.Equal(got, want) || (got == nil) != (want == nil) {
				t.Errorf("q=%d: s(k+3) = %d·s(k+2) + %d·s(k+1) + %d·s(k) is 0 at %v, want %v", q, a, b, c, got, want)
			}
		}
	}
	if found < 3 {
		t.Errorf("only %d sequences have as many zeros as a line has points", found)
	}
}
