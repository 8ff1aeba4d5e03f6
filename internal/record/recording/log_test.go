package recording

import (
	"bytes"
	"math"
	"slices"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// Everything that is recorded comes back, over the borders of chunks.
func TestLogRoundTrip(t *testing.T) {
	now := int64(-5)
	l := NewLog(func() int64 { return now }, 1<<20)
	long := dme.Message{Kind: 2, Clock: 7, Vec: slices.Repeat([]uint64{math.MaxUint64}, 10_000)} // longer than a chunk
	want := []noderun.Event{
		{Kind: dme.Start}, {Kind: dme.Request}, {Kind: dme.RequestShared}, {Kind: dme.Exit},
		{Kind: dme.Receive, Peer: 3, Msg: &dme.Message{Kind: 1, Clock: 9}}, {Kind: dme.Hear, Peer: 1, Msg: &dme.Message{Kind: 1}},
		{Kind: dme.Timeout, Timer: 4}, {Kind: dme.Stop}, {Kind: dme.Crash}, {Kind: dme.Restart},
		{Kind: dme.Join}, {Kind: dme.Depart}, {Kind: dme.PeerDown, Peer: 2}, {Kind: dme.PeerUp, Peer: 1 << 20},
		{Kind: dme.Send, Peer: 2, Msg: &long}, {Kind: dme.Enter, Stamp: dme.Stamp{Clock: 1 << 50, Node: 9}},
		{Kind: dme.SetTimer, Timer: 255, Delay: time.Hour}, {Kind: dme.Refuse, Reason: "not now"}, {Kind: dme.Left},
	}
	const rounds = 500
	for round := range rounds {
		for _, h := range want {
			now += int64(round)
			l.Observe(dme.NodeID(round+1), h)
		}
	}
	if len(l.Chunks()) < 3 {
		t.Fatalf("%d chunks: nothing crosses a border", len(l.Chunks()))
	}
	k, at := 0, int64(-5)
	for _, chunk := range l.Chunks() {
		for r, err := range Decode(chunk) {
			if err != nil {
				t.Fatal(err)
			}
			h := want[k%len(want)]
			at += int64(k / len(want))
			if h.Msg != nil {
				if !bytes.Equal(r.Body, dme.AppendMessage(nil, h.Msg)) {
					t.Fatalf("record %d: another message", k)
				}
				if m, err := r.Message(); err != nil || m.Kind != h.Msg.Kind || !slices.Equal(m.Vec, h.Msg.Vec) {
					t.Fatalf("record %d: %v, %v", k, m.Kind, err)
				}
				h.Msg = nil
			}
			if r.Event != h || r.At != at || int(r.Node) != k/len(want)+1 {
				t.Fatalf("record %d: %+v, want %+v at %d", k, r, h, at)
			}
			k++
		}
	}
	if k != rounds*len(want) {
		t.Errorf("%d records, want %d", k, rounds*len(want))
	}
}

func TestBoundOfALog(t *testing.T) {
	now := int64(0)
	l := NewLog(func() int64 { now++; return now }, 10)
	for range 25 {
		l.Observe(1, noderun.Event{Kind: dme.Request})
	}
	if dropped, until := l.Dropped(); dropped != 15 || until != 11 {
		t.Errorf("%d dropped from %d on, want 15 from 11 on", dropped, until)
	}
	var k Kept
	k.Add(nil, 0, math.MaxInt64)
	if k.Until != math.MaxInt64 {
		t.Errorf("nothing was dropped, but it ends at %d", k.Until)
	}
	k.Add(l.Chunks(), 15, 11)
	k.Add(nil, 1, 30)
	if k.Dropped != 16 || k.Until != 11 || len(k.Streams) != 3 {
		t.Errorf("%+v", k)
	}
}

// What no log has written is an error, wherever it ends, and never a panic.
func FuzzDecode(f *testing.F) {
	l := NewLog(func() int64 { return 1 << 40 }, 100)
	l.Observe(1, noderun.Event{Kind: dme.Receive, Peer: 2, Msg: &dme.Message{Kind: 1, Vec: []uint64{1, 2}}})
	l.Observe(1, noderun.Event{Kind: dme.Refuse, Reason: "no"})
	l.Observe(1, noderun.Event{Kind: dme.SetTimer, Timer: 1, Delay: 9})
	f.Add([]byte(l.Chunks()[0]))
	for cut := range l.Chunks()[0] {
		f.Add([]byte(l.Chunks()[0][:cut]))
	}
	f.Add([]byte{0})
	f.Add([]byte{200, 1, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		records := 0
		for r, err := range Decode(b) {
			if err != nil {
				return
			}
			if records++; records > len(b) || len(r.Body) > len(b) {
				t.Fatal("more than there is")
			}
		}
	})
}

// Recording costs no allocation per event but for chunks.
func TestAllocations(t *testing.T) {
	l := NewLog(func() int64 { return 1 }, math.MaxInt)
	m := &dme.Message{Kind: 1, Clock: 100}
	if n := testing.AllocsPerRun(20_000, func() {
		l.Observe(1, noderun.Event{Kind: dme.Send, Peer: 2, Msg: m})
	}); n > 0 {
		t.Errorf("%v allocations for each event", n)
	}
}

func BenchmarkObserve(b *testing.B) {
	l := NewLog(func() int64 { return 1 }, math.MaxInt)
	m := &dme.Message{Kind: 1, Clock: 100}
	for i := 0; b.Loop(); i++ {
		if i%(1<<20) == 0 {
			l = NewLog(l.now, math.MaxInt)
		}
		l.Observe(1, noderun.Event{Kind: dme.Send, Peer: 2, Msg: m})
	}
}
