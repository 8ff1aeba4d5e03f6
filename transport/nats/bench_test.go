package nats

import (
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
)

// How the transport compares with the client library alone between processes,
// 'dmebench ping --transport nats' measures.

// BenchmarkSend sends frames to a transport that takes them.
func BenchmarkSend(b *testing.B) {
	for _, own := range []bool{true, false} {
		b.Run(map[bool]string{true: "own", false: "shared"}[own], func(b *testing.B) {
			sender, received := sendAndCount(b, own)
			body := make([]byte, 32)
			var sent uint64
			b.ReportAllocs()
			for b.Loop() {
				if err := sender.Send(1, 2, body); err != nil {
					b.Fatal(err)
				}
				if sent++; sent%256 == 0 {
					for sent-received.Load() > 1<<14 {
						time.Sleep(50 * time.Microsecond)
					}
				}
			}
		})
	}
}

// What sending takes is reused. The server in this process and the client
// library's reader allocate for what they receive, as often as they are woken.
// So only allocations below Send and Flush are counted, by their stacks.
func TestSendAllocatesNothing(t *testing.T) {
	for _, own := range []bool{true, false} {
		s := startServer(t)
		b := s.Broker()
		b.Own = own
		// Nobody is there who could receive: the address is of another process.
		tr, err := Listen(config(1, 2), b)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		if err := tr.Start(transport.AddressBook{tr.Addr(), tr.prefix + ".w2"}, handler{}); err != nil {
			t.Fatal(err)
		}
		body := make([]byte, 32)
		send := func(frames int) {
			for range frames {
				if err := tr.Send(1, 2, body); err != nil {
					t.Fatal(err)
				}
				tr.Flush()
			}
		}
		const frames = 5000
		send(frames) // fills what is reused
		if allocs := allocationsBelow(t, func() { send(frames) }, "(*Transport).Send", "(*Transport).Flush"); allocs > frames/100 {
			t.Errorf("own %v: %d allocations for %d frames sent", own, allocs, frames)
		}
	}
}

// allocationsBelow returns how often f allocates in functions of this package
// with these names, or in what they call.
func allocationsBelow(t *testing.T, f func(), functions ...string) int64 {
	t.Helper()
	count := func() (allocations int64) {
		// The profile lags behind by up to two collections.
		runtime.GC()
		runtime.GC()
		records := make([]runtime.MemProfileRecord, 1<<14)
		n, ok := runtime.MemProfile(records, true)
		if !ok {
			t.Fatalf("the profile has %d records", n)
		}
		for _, r := range records[:n] {
			frames := runtime.CallersFrames(r.Stack())
			for more := true; more; {
				var frame runtime.Frame
				frame, more = frames.Next()
				name, own := strings.CutPrefix(frame.Function, "dmebench/transport/nats.")
				if own && slices.Contains(functions, name) {
					allocations += r.AllocObjects
					break
				}
			}
		}
		return allocations
	}
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	defer func() { runtime.MemProfileRate = rate }()
	before := count()
	f()
	return count() - before
}

// sendAndCount returns a transport, and what another one counts.
func sendAndCount(tb testing.TB, own bool) (sender *Transport, received *atomic.Uint64) {
	b := startServer(tb).Broker()
	b.Own = own
	received = new(atomic.Uint64)
	all := mesh(tb, b, defaultLimits(2), 2, 1, func(int) transport.Handler {
		return handler{frame: func(_, _ dme.NodeID, _ []byte) { received.Add(1) }}
	})
	return all[0], received
}
