package nats

import (
	"sync/atomic"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
)

// How the transport compares with the client library alone between processes,
// «dmebench ping --transport nats» measures.

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

// What sending itself takes is reused: only the client library allocates, for
// what it receives.
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
		allocs := testing.AllocsPerRun(5000, func() {
			if err := tr.Send(1, 2, body); err != nil {
				t.Fatal(err)
			}
			tr.Flush()
		})
		// What else runs in this process may allocate now and then.
		if allocs >= 1 {
			t.Errorf("own %v: %v allocations for a frame sent", own, allocs)
		}
	}
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
