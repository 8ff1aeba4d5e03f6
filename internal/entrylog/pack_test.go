package entrylog

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/dme"
)

func someEntries(n int) []Entry {
	rng := rand.New(rand.NewPCG(1, 2))
	all := make([]Entry, n)
	for i := range all {
		at := int64(1<<40) + rng.Int64N(1<<30)
		all[i] = Entry{Node: dme.NodeID(1 + rng.IntN(9)), Intended: at, Arrived: at + 1, Requested: at + 2, Entered: at + rng.Int64N(1<<20),
			Exited: at + 1<<21, Clock: rng.Uint64(), Order: uint64(i + 1), Sent: uint64(rng.IntN(100)), Shared: i%3 == 0}
	}
	return all
}

func unpacked(t *testing.T, b []byte) (uint64, []Entry) {
	t.Helper()
	dropped, entries, err := Unpack(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var all []Entry
	for e, err := range entries {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return dropped, all
}

// What is packed comes back in the order of the entries, from the start of the run.
func TestPack(t *testing.T) {
	for _, n := range []int{0, 1, ChunkEntries, 3*ChunkEntries + 7} {
		entries := someEntries(n)
		before := slices.Clone(entries)
		b, err := Pack(entries, 1<<40, 5)
		if err != nil || !slices.Equal(entries, before) {
			t.Fatal(n, err)
		}
		dropped, got := unpacked(t, b)
		if dropped != 5 || len(got) != n {
			t.Fatalf("%d entries and %d dropped, want %d and 5", len(got), dropped, n)
		}
		slices.SortFunc(before, func(a, b Entry) int { return int(a.Entered - b.Entered) })
		for i, e := range got {
			for _, at := range e.times() {
				*at += 1 << 40
			}
			if i > 0 && got[i-1].Entered > got[i].Entered || e.Entered != before[i].Entered ||
				!slices.Contains(before, e) {
				t.Fatalf("entry %d is %+v", i, e)
			}
			if i > 50 {
				break
			}
		}
	}
}

func TestPackIsBounded(t *testing.T) {
	b, err := Pack(make([]Entry, maxPacked+3), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if dropped, all := unpacked(t, b); dropped != 4 || len(all) != maxPacked {
		t.Errorf("%d entries, %d dropped", len(all), dropped)
	}
}

// What is cut off or something else is an error.
func TestUnpackFaults(t *testing.T) {
	b, err := Pack(someEntries(2*ChunkEntries), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{nil, []byte("rubbish"), b[:20], b[:len(b)/2], b[:len(b)-1000]} {
		_, entries, err := Unpack(bytes.NewReader(bad))
		if err == nil {
			for _, e := range entries {
				err = e
			}
		}
		if err == nil {
			t.Errorf("%d of %d bytes are read without an error", len(bad), len(b))
		}
	}
}
