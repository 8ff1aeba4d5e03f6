package record

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/dme"
)

func random(rng *rand.Rand) Entry {
	x := func() int64 {
		switch rng.IntN(6) {
		case 0:
			return int64(rng.Uint64()) // anything
		case 1:
			return []int64{0, 1, -1, math.MaxInt64, math.MinInt64}[rng.IntN(5)]
		}
		return rng.Int64N(1e12)
	}
	return Entry{
		Node: dme.NodeID(rng.Uint32()), Shared: rng.IntN(2) == 0,
		Intended: x(), Arrived: x(), Requested: x(), Entered: x(), Exited: x(),
		Clock: uint64(x()), Order: uint64(x()), Sent: uint64(x()),
	}
}

func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range 500 {
		entries := make([]Entry, k%20)
		for i := range entries {
			entries[i] = random(rng)
		}
		kept := []Entry{{Node: 77}}
		got, err := Decode(kept, Append([]byte("ab"), entries)[2:])
		if err != nil {
			t.Fatalf("%v of %+v", err, entries)
		}
		if !slices.Equal(got[1:], entries) || got[0] != kept[0] {
			t.Fatalf("got %+v, want %+v", got, entries)
		}
	}
}

func TestCompact(t *testing.T) {
	var entries []Entry
	for k := range int64(1000) {
		at := k * 50000
		entries = append(entries, Entry{
			Node: 3, Intended: at, Arrived: at, Requested: at, Entered: at + 20000, Exited: at + 30000,
			Clock: uint64(k), Order: uint64(k), Sent: uint64(14 * k),
		})
	}
	if size := len(Append(nil, entries)); size > 20*len(entries) {
		t.Errorf("%d bytes for %d entries", size, len(entries))
	}
}

func TestMalformed(t *testing.T) {
	whole := Append(nil, []Entry{{Node: 1, Entered: 300}, {Node: 2, Shared: true, Sent: 500}})
	for n := range whole {
		if got, err := Decode(nil, whole[:n]); err == nil {
			t.Errorf("%d of %d bytes pass for %+v", n, len(whole), got)
		}
	}
	for _, b := range [][]byte{
		append(slices.Clone(whole), 0),                                  // something follows
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0}, // more entries than bytes
		{1, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, // a node beyond 32 bits
	} {
		if got, err := Decode(nil, b); err == nil {
			t.Errorf("%v passes for %+v", b, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	for k := range 5 {
		entries := make([]Entry, k)
		for i := range entries {
			entries[i] = random(rng)
		}
		f.Add(Append(nil, entries))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, err := Decode(nil, b)
		if len(entries) > len(b) {
			t.Fatalf("%d entries out of %d bytes", len(entries), len(b))
		}
		if err != nil {
			return
		}
		again, err := Decode(nil, Append(nil, entries))
		if err != nil || !slices.Equal(again, entries) {
			t.Fatalf("%+v does not survive: %+v, %v", entries, again, err)
		}
	})
}

func TestLog(t *testing.T) {
	for _, x := range []struct{ limit, add, chunks int }{
		{0, 3, 0}, {1, 1, 1}, {10, 25, 1}, {ChunkEntries, ChunkEntries, 1}, {3 * ChunkEntries, 2*ChunkEntries + 1, 3},
		{ChunkEntries + 5, 3 * ChunkEntries, 2},
	} {
		l := NewLog(x.limit)
		var first *Entry
		for k := range x.add {
			l.Add(Entry{Sent: uint64(k)})
			if k == 0 && x.limit > 0 {
				first = &l.Chunks()[0][0]
			}
		}
		kept := min(x.limit, x.add)
		if l.Len() != kept || l.Dropped() != uint64(x.add-kept) || len(l.Chunks()) != x.chunks {
			t.Errorf("%+v: kept %d in %d chunks, dropped %d", x, l.Len(), len(l.Chunks()), l.Dropped())
		}
		for k, e := range slices.Concat(l.Chunks()...) {
			if e.Sent != uint64(k) {
				t.Fatalf("%+v: entry %d is the %d-th", x, k, e.Sent)
			}
		}
		if first != nil && first != &l.Chunks()[0][0] {
			t.Errorf("%+v: the first entry has moved", x)
		}
	}
}

func TestLogDoesNotAllocatePerEntry(t *testing.T) {
	l := NewLog(1 << 20)
	l.Add(Entry{})
	if n := testing.AllocsPerRun(ChunkEntries-10, func() { l.Add(Entry{}) }); n > 0 {
		t.Errorf("%v allocations per entry", n)
	}
}

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
