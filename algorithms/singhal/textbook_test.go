package singhal

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/testkit"
)

type sites = []dme.NodeID

func wantSets(t *testing.T, net *conformance.Net, i dme.NodeID, request, inform sites) {
	t.Helper()
	s := at(net, i)
	var waits sites
	for _, r := range s.inform {
		waits = append(waits, r.Node)
	}
	if r := slices.Collect(s.r.All()); !slices.Equal(r, request) || !slices.Equal(waits, inform) {
		t.Errorf("R_%d = %v, I_%d = %v, want %v and %v", i, r, i, waits, request, inform)
	}
}

func wantInside(t *testing.T, net *conformance.Net, want ...dme.NodeID) {
	t.Helper()
	if err := net.Err(); err != nil || !slices.Equal(net.Inside(), want) {
		t.Fatalf("%v inside, want %v; %v", net.Inside(), want, err)
	}
}

func wantOnTheWay(t *testing.T, net *conformance.Net, from, to dme.NodeID, kinds ...dme.Kind) {
	t.Helper()
	var got []dme.Kind
	for _, m := range net.InFlight(from, to) {
		got = append(got, m.Kind)
	}
	if !slices.Equal(got, kinds) {
		t.Errorf("from S_%d to S_%d: kinds %v on the way, want %v", from, to, got, kinds)
	}
}

// Section 9.5.2, the example: S_2 and S_3 of five want to enter concurrently.
// "S_3 sends a request message to sites in its Request set – {S_1, S_2}, and S_2
// sends a request message to the only site in its Request set – {S_1}."
func concurrently(t *testing.T, clockOf2 uint64) *conformance.Net {
	t.Helper()
	net := conformance.Make(t, Algorithm(), 5, nil)
	at(net, 2).c = clockOf2
	net.Request(3)
	net.Request(2)
	wantOnTheWay(t, net, 3, 1, kindRequest)
	wantOnTheWay(t, net, 3, 2, kindRequest)
	wantOnTheWay(t, net, 2, 1, kindRequest)
	wantOnTheWay(t, net, 2, 3)
	return net
}

func TestExampleTimestampOfS3IsSmaller(t *testing.T) {
	net := concurrently(t, 7) // S_2 asks with 8, S_3 with 1
	net.Deliver(3, 2, 0)
	wantOnTheWay(t, net, 2, 3, kindReply, kindRequest)
	wantSets(t, net, 2, sites{1, 3}, nil)
	net.Deliver(3, 1, 0)
	net.Deliver(2, 1, 0)
	wantOnTheWay(t, net, 1, 2, kindReply)
	wantOnTheWay(t, net, 1, 3, kindReply)
	wantSets(t, net, 1, sites{2, 3}, nil)
	net.Deliver(2, 3, 0)
	wantSets(t, net, 3, sites{1}, nil)
	net.Deliver(1, 3, 0)
	wantInside(t, net, 3)

	net.Settle()
	wantSets(t, net, 3, nil, sites{2})
	net.Release(3)
	net.Settle()
	wantInside(t, net, 2)
	net.Release(2)
	wantStaircase(t, net, 2, 3, 1, 4, 5)
}

func TestExampleTimestampOfS3IsLarger(t *testing.T) {
	net := concurrently(t, 0) // both ask with 1
	net.Deliver(3, 2, 0)
	wantSets(t, net, 2, sites{1}, sites{3})
	net.Settle()
	wantInside(t, net, 2)
	net.Release(2)
	wantOnTheWay(t, net, 2, 3, kindReply)
	wantSets(t, net, 2, sites{3}, nil)
	net.Settle()
	wantInside(t, net, 3)
	net.Release(3)
	wantStaircase(t, net, 3, 2, 1, 4, 5)
}

func TestExampleS2ExecutesWhenTheRequestArrives(t *testing.T) {
	net := concurrently(t, 7)
	net.Deliver(2, 1, 0)
	net.Deliver(1, 2, 0)
	wantInside(t, net, 2)
	net.Deliver(3, 2, 0)
	wantSets(t, net, 2, nil, sites{3})
	wantOnTheWay(t, net, 2, 3)
	net.Release(2)
	wantOnTheWay(t, net, 2, 3, kindReply)
	net.Settle()
	wantInside(t, net, 3)
	net.Release(3)
	wantStaircase(t, net, 3, 2, 1, 4, 5)
}

// wantStaircase checks the sites of a system at rest, from right to left.
func wantStaircase(t *testing.T, net *conformance.Net, want ...dme.NodeID) {
	t.Helper()
	got, err := staircase(net)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("from right to left: %v, want %v; %v\n%s", got, want, err, net.States())
	}
}

// Section 9.5: the initial state. "The cardinality of R_i decreases in a
// stepwise manner from left to right."
func TestInitialStaircase(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 5, nil)
	wantStaircase(t, net, 1, 2, 3, 4, 5)
	for i := dme.NodeID(1); i <= 5; i++ {
		if got, want := net.Setting.RequestSet(i), append(slices.Collect(at(net, i).r.All()), i); !slices.Equal(got, want) {
			t.Errorf("request set of S_%d: %v, want %v", i, got, want)
		}
	}
}

// Exercise 9.8: "the staircase configuration among sites is preserved when two
// or more sites request the CS concurrently and have executed the CSs". Rounds
// of random sites, each of which asks at some time; a fast site may be done
// before a slow one's REQUEST arrives.
func TestExercise98(t *testing.T) {
	seeds := uint64(200)
	if testkit.Full() {
		seeds *= 20
	}
	for seed := range seeds {
		for _, n := range []int{2, 3, 4, 5, 8} {
			if err := rounds(seed, n, 5); err != nil {
				t.Fatalf("%d sites, seed %d: %v", n, seed, err)
			}
		}
	}
}

func rounds(seed uint64, n, times int) error {
	rng := rand.New(rand.NewPCG(seed, 98))
	net, err := conformance.New(Algorithm(), n, nil)
	if err != nil {
		return err
	}
	for range times {
		ask := rng.Perm(n)[:2+rng.IntN(n-1)]
		atOnce := rng.IntN(2) == 0
		for k := 0; k < len(ask) || len(net.Inside()) > 0 || deliverAny(net, rng); {
			for k < len(ask) && (atOnce || rng.IntN(2*n) == 0) {
				net.Request(dme.NodeID(ask[k] + 1))
				k++
			}
			for _, i := range net.Inside() {
				if rng.IntN(4) == 0 {
					net.Release(i)
					break
				}
			}
			deliverAny(net, rng)
			if err := net.Err(); err != nil {
				return err
			}
		}
		if err := judge(net); err != nil {
			return fmt.Errorf("%v asked: %w\n%s", ask, err, net.States())
		}
	}
	return nil
}

// judge examines a system at rest: the staircase, no message refused, one REPLY
// for each REQUEST, at most n−1 REQUESTs for each entry.
func judge(net *conformance.Net) error {
	if net.Refused() > 0 {
		return fmt.Errorf("%d messages are refused", net.Refused())
	}
	requests, replies := net.SentOf(kindRequest), net.SentOf(kindReply)
	if most := uint64(len(net.Entries) * (net.Setting.Nodes - 1)); requests != replies || requests > most {
		return fmt.Errorf("%d REQUEST and %d REPLY messages for %d entries", requests, replies, len(net.Entries))
	}
	_, err := staircase(net)
	return err
}

// staircase returns the sites of a system at rest from right to left, in the
// order of |R_i|. It says why they are not a staircase where one of them does
// not ask exactly those to its right, or where another site than the one at the
// right end was in its critical section last.
func staircase(net *conformance.Net) (order []dme.NodeID, err error) {
	order = make([]dme.NodeID, net.Setting.Nodes)
	for i := 1; i <= len(order); i++ {
		s := at(net, dme.NodeID(i))
		if step := s.r.Len(); len(s.inform) > 0 || step >= len(order) || order[step] != dme.None {
			return nil, fmt.Errorf("not a staircase: site %d", i)
		} else {
			order[step] = s.i
		}
	}
	for k, i := range order {
		for _, right := range order[:k] {
			if !at(net, i).r.Has(right) {
				return nil, fmt.Errorf("not a staircase: site %d does not ask site %d", i, right)
			}
		}
	}
	if n := len(net.Entries); n > 0 && net.Entries[n-1].Node != order[0] {
		return nil, fmt.Errorf("site %d was in its critical section last, site %d stands at the right end", net.Entries[n-1].Node, order[0])
	}
	return order, nil
}

func at(net *conformance.Net, i dme.NodeID) *site {
	return net.Host(i).Node().(*site)
}

// deliverAny delivers any message, and reports whether there was one: links need
// not keep order.
func deliverAny(net *conformance.Net, rng *rand.Rand) bool {
	flying := net.Flying()
	if len(flying) == 0 {
		return false
	}
	k := rng.IntN(len(flying))
	behind := 0
	for _, f := range flying[:k] {
		if f.From == flying[k].From && f.To == flying[k].To {
			behind++
		}
	}
	net.Deliver(flying[k].From, flying[k].To, behind)
	return true
}
