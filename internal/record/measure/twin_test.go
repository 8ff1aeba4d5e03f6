package measure

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/internal/record"
)

// The functions below say what a measure is, without any cleverness.

func handoversTwin(t *timeline) (delays []int64) {
	for k := range t.len() - 1 {
		next := t.entered(k + 1)
		// The readers who are inside together with the k-th entry, if it is one.
		last := t.entered(k)
		if last.Shared {
			for j := k - 1; j >= 0 && t.entered(j).Shared; j-- {
				if e := t.entered(j); e.Exited >= last.Exited {
					last = e
				}
			}
			if next.Shared && next.Entered < last.Exited {
				continue
			}
		}
		for j := k + 1; j < t.len(); j++ {
			if e := t.entered(j); e.Node != last.Node && e.Requested < last.Exited {
				delays = append(delays, next.Entered-last.Exited)
				break
			}
		}
	}
	return delays
}

func bypassTwin(t *timeline) (most uint64) {
	for k, i := range t.byEntry {
		var n uint64
		for _, j := range t.byEntry[:k] {
			if t.e[j].Entered > t.e[i].Requested && t.e[j].Node != t.e[i].Node {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

func bypassByOneTwin(t *timeline) (most uint64) {
	for k, i := range t.byEntry {
		by := map[dme.NodeID]uint64{}
		for _, j := range t.byEntry[:k] {
			if e := t.e[j]; e.Entered > t.e[i].Requested && e.Node != t.e[i].Node {
				by[e.Node]++
				most = max(most, by[e.Node])
			}
		}
	}
	return most
}

func overlapsTwin(t *timeline) (n uint64) {
	for k, i := range t.byEntry {
		e := t.e[i]
		if slices.ContainsFunc(t.byEntry[:k], func(j int32) bool {
			return t.e[j].Exited > e.Entered && !(t.e[j].Shared && e.Shared)
		}) {
			n++
		}
	}
	return n
}

func outOfOrderTwin(t *timeline) (n uint64) {
	for k := range t.len() {
		e := t.entered(k)
		for j := range k {
			x := t.entered(j)
			a, b := dme.Stamp{Clock: e.Clock, Node: e.Node}, dme.Stamp{Clock: x.Clock, Node: x.Node}
			if e.Clock > 0 && x.Clock > 0 && a.Precedes(b) {
				n++
				break
			}
		}
	}
	return n
}

func longestRunTwin(t *timeline) (longest uint64) {
	for k := range t.len() {
		for j := k; j < t.len() && t.entered(j).Node == t.entered(k).Node; j++ {
			longest = max(longest, uint64(j-k+1))
		}
	}
	return longest
}

// history makes entries as nodes make them: each node's one after the other,
// those of different nodes perhaps at the same time, on a clock so coarse that
// equal times are common. In a safe history nobody overlaps.
func history(rng *rand.Rand, safe bool) []record.Entry {
	nodes := 1 + rng.IntN(5)
	free := make([]int64, nodes) // when the node may ask again
	var entries []record.Entry
	var freed int64
	for range rng.IntN(40) {
		i := rng.IntN(nodes)
		e := record.Entry{Node: dme.NodeID(i + 1), Clock: rng.Uint64N(6), Shared: !safe && rng.IntN(3) == 0}
		e.Requested = free[i] + rng.Int64N(4)
		e.Entered = e.Requested + rng.Int64N(12)
		if safe {
			e.Entered = max(e.Entered, freed+rng.Int64N(3))
		}
		e.Exited = e.Entered + rng.Int64N(5)
		freed, free[i] = e.Exited, e.Exited
		entries = append(entries, e)
	}
	if rng.IntN(2) == 0 { // a witness saw the order
		slices.SortStableFunc(entries, func(a, b record.Entry) int { return cmp.Compare(a.Entered, b.Entered) })
		for k := range entries {
			entries[k].Order = uint64(k + 1)
		}
	}
	rng.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	return entries
}

func TestTwins(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	var handovers, bypassed, overlapping, disordered int
	for k := range 5000 {
		tl := newTimeline(history(rng, k%2 == 0), nil, false)
		got, want := tl.handovers(nil).delays, handoversTwin(tl)
		if !slices.Equal(got, want) {
			t.Fatalf("handovers %v, want %v of %+v", got, want, tl.e)
		}
		handovers += len(got)
		byAll, byOne := tl.maxBypass()
		for _, x := range []struct {
			name      string
			got, want uint64
			seen      *int
		}{
			{"max bypass", byAll, bypassTwin(tl), &bypassed},
			{"max bypass by one", byOne, bypassByOneTwin(tl), new(int)},
			{"overlaps", tl.overlaps(), overlapsTwin(tl), &overlapping},
			{"out of order", tl.outOfOrder(), outOfOrderTwin(tl), &disordered},
			{"longest run", tl.longestRun(), longestRunTwin(tl), new(int)},
		} {
			if x.got != x.want {
				t.Fatalf("%s: %d, want %d of %+v", x.name, x.got, x.want, tl.e)
			}
			if x.got > 0 {
				*x.seen++
			}
		}
		if k%2 == 0 {
			if n := tl.overlaps(); n > 0 {
				t.Fatalf("%d overlaps in a safe history %+v", n, tl.e)
			}
			for _, d := range got {
				if d < 0 {
					t.Fatalf("a delay of %d in a safe history %+v", d, tl.e)
				}
			}
		}
	}
	if min(handovers, bypassed, overlapping, disordered) < 500 {
		t.Errorf("the histories are too tame: %d %d %d %d", handovers, bypassed, overlapping, disordered)
	}
}

// Records may be wrong: a node that seems to have asked before it left waits for nobody
// else all the same, and hand-overs are what their definition says of any records.
func TestHandoversOfWildRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	for range 3000 {
		var entries []record.Entry
		for range rng.IntN(9) {
			at := rng.Int64N(20)
			e := entry(dme.NodeID(1+rng.IntN(3)), at-rng.Int64N(15), at, at+rng.Int64N(6))
			e.Shared = rng.IntN(3) == 0
			entries = append(entries, e)
		}
		tl := newTimeline(entries, nil, false)
		if got, want := tl.handovers(nil).delays, handoversTwin(tl); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v of %+v", got, want, entries)
		}
	}
}
