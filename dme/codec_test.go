package dme

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"runtime"
	"testing"

	"pgregory.net/rapid"
)

func anyMessage(t *rapid.T) Message {
	number := rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64Range(0, 300), rapid.Uint64())
	node := rapid.OneOf(rapid.Just(NodeID(0)), rapid.Map(rapid.Uint32(), func(x uint32) NodeID { return NodeID(x) }))
	stamp := rapid.Custom(func(t *rapid.T) Stamp {
		return Stamp{Clock: number.Draw(t, "clock"), Node: node.Draw(t, "node")}
	})
	m := Message{
		Kind: Kind(rapid.Uint8().Draw(t, "kind")), Flags: rapid.Uint8Range(0, 3).Draw(t, "flags"),
		Node: node.Draw(t, "of"), Clock: number.Draw(t, "number"), Num: number.Draw(t, "second number"),
		Req: stamp.Draw(t, "req"), Done: stamp.Draw(t, "done"),
	}
	if v := rapid.SliceOfN(number, 0, 40).Draw(t, "vec"); len(v) > 0 {
		m.Vec = v
	}
	return m
}

func TestMessageRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyMessage(t)
		before := rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "before")
		b := AppendMessage(bytes.Clone(before), &m)
		if !bytes.HasPrefix(b, before) {
			t.Fatal("what stood before the message has changed")
		}
		b = b[len(before):]
		if len(b) != MessageSize(&m) {
			t.Fatalf("%d bytes, MessageSize says %d", len(b), MessageSize(&m))
		}
		var got Message
		if err := DecodeMessage(b, &got, nil); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, m) {
			t.Fatalf("%+v became %+v", m, got)
		}
		if short := rapid.IntRange(0, len(b)-1).Draw(t, "cut"); DecodeMessage(b[:short], &got, nil) == nil {
			t.Fatalf("%d of %d bytes decode", short, len(b))
		}
		if DecodeMessage(append(b, 0), &got, nil) == nil {
			t.Fatal("a message with a byte behind it decodes")
		}
	})
}

// There is one encoding of each message: what decodes is what was encoded.
func FuzzDecodeMessage(f *testing.F) {
	for _, m := range []Message{
		{},
		{Kind: 1, Clock: 300},
		{Kind: 2, Flags: 1, Node: 7, Clock: 1, Num: 2, Req: Stamp{3, 4}, Done: Stamp{5, 6}, Vec: []uint64{0, 1, math.MaxUint64}},
	} {
		f.Add(AppendMessage(nil, &m))
	}
	f.Add([]byte{1, hasClock, 0x80, 0x00}) // a longer form of zero
	f.Add([]byte{1, hasVec, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, b []byte) {
		var m Message
		if err := DecodeMessage(b, &m, nil); err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("%v is not ErrMalformed", err)
			}
			return
		}
		if again := AppendMessage(nil, &m); !bytes.Equal(again, b) {
			t.Fatalf("%x decodes to %+v, which encodes to %x", b, m, again)
		}
		if MessageSize(&m) != len(b) {
			t.Fatalf("MessageSize says %d of %d bytes", MessageSize(&m), len(b))
		}
	})
}

func TestMalformed(t *testing.T) {
	for name, b := range map[string][]byte{
		"nothing":                     {},
		"one byte":                    {1},
		"unknown field":               {1, hasUnknown},
		"field missing":               {1, hasClock},
		"flags missing":               {1, hasFlags},
		"flags that are zero":         {1, hasFlags, 0},
		"number that is zero":         {1, hasClock, 0},
		"node that is zero":           {1, hasNode, 0},
		"stamp that is zero":          {1, hasReq, 0, 0},
		"vector that is empty":        {1, hasVec, 0},
		"longer form of a number":     {1, hasClock, 0x81, 0x00},
		"number of more than 64 bits": {1, hasClock, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02},
		"node of more than 32 bits":   {1, hasNode, 0xff, 0xff, 0xff, 0xff, 0x1f},
		"vector longer than the rest": {1, hasVec, 3, 1, 1},
		"half a stamp":                {1, hasReq, 5},
		"bytes left over":             {1, 0, 0},
	} {
		var m Message
		if err := DecodeMessage(b, &m, nil); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A hostile length takes no more memory than its frame could fill.
func TestDecodeMemoryIsBounded(t *testing.T) {
	const rest = 4096
	hostile := func(n uint64) []byte {
		b := binary.AppendUvarint([]byte{1, hasVec}, n)
		return append(b, bytes.Repeat([]byte{0x80}, rest)...) // a number without an end
	}
	for _, n := range []uint64{rest, rest + 1, MaxVec, MaxVec + 1, 1 << 40, math.MaxUint64} {
		b := hostile(n)
		var m Message
		const runs = 50
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			if DecodeMessage(b, &m, nil) == nil {
				t.Fatal("it decodes")
			}
		}
		runtime.ReadMemStats(&after)
		// Rounding up to a size class and the error's own memory come on top.
		got, limit := (after.TotalAlloc-before.TotalAlloc)/runs, uint64(8*len(b)+8192)
		if got > limit {
			t.Errorf("length %d: %d bytes allocated for a frame of %d", n, got, len(b))
		}
	}
}

func token() Message {
	m := Message{Kind: 2, Clock: 1000, Req: Stamp{77, 3}, Vec: make([]uint64, 64)}
	for i := range m.Vec {
		m.Vec[i] = uint64(i * 100)
	}
	return m
}

func TestCodecDoesNotAllocate(t *testing.T) {
	m, got := token(), Message{}
	b := make([]byte, 0, MessageSize(&m))
	vec := make([]uint64, 0, len(m.Vec))
	if n := testing.AllocsPerRun(100, func() {
		b = AppendMessage(b[:0], &m)
		if DecodeMessage(b, &got, vec) != nil {
			t.Fatal("it does not decode")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAppendMessage(b *testing.B) {
	small, large := Message{Kind: 1, Clock: 12345}, token()
	for name, m := range map[string]*Message{"request": &small, "token": &large} {
		b.Run(name, func(b *testing.B) {
			buf := make([]byte, 0, MessageSize(m))
			b.SetBytes(int64(MessageSize(m)))
			b.ReportAllocs()
			for b.Loop() {
				buf = AppendMessage(buf[:0], m)
			}
		})
	}
}

func BenchmarkDecodeMessage(b *testing.B) {
	small, large := Message{Kind: 1, Clock: 12345}, token()
	for name, m := range map[string]*Message{"request": &small, "token": &large} {
		b.Run(name, func(b *testing.B) {
			wire := AppendMessage(nil, m)
			vec := make([]uint64, 0, len(m.Vec))
			var got Message
			b.SetBytes(int64(len(wire)))
			b.ReportAllocs()
			for b.Loop() {
				if err := DecodeMessage(wire, &got, vec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
