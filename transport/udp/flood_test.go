package udp

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
	"dmebench/transport/transporttest"
)

// strangers are datagrams of those who do not know the run's key, by what they
// try.
func strangers(r *rand.Rand) map[string]func() []byte {
	key := transporttest.NewKey()
	forger := newSealer(&key, 2, 1<<32|77)
	return map[string]func() []byte{
		"noise": func() []byte {
			b := make([]byte, r.IntN(200))
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			return b
		},
		"another run's": func() []byte {
			return forger.finish(peers.AppendFrame(forger.begin(nil, 1), 2, 1, []byte("forged")))
		},
		"ever new incarnations": func() []byte {
			b := peers.AppendFrame(forger.begin(nil, 1), 2, 1, []byte("forged"))
			binary.BigEndian.PutUint64(b[epochAt:], r.Uint64())
			return append(b, make([]byte, tagSize)...)
		},
		"from no node of the run": func() []byte {
			b := forger.begin(nil, 1)
			binary.BigEndian.PutUint32(b[1:], 3+r.Uint32N(1<<20))
			return forger.finish(b)
		},
	}
}

// listener is the half of the raw layer of node 1 that takes datagrams, and its
// peer's means of making them.
func listener(key transport.Key, handler collector) (*raw, *sealer) {
	c := transport.Config{Key: key, Nodes: 2, Local: []dme.NodeID{1}, Incarnation: 1}
	top, err := peers.NewTopology[way]("udp", transport.AddressBook{"one", "two"}, &c)
	if err != nil {
		panic(err) // the book is right
	}
	return &raw{config: c, top: top, handler: handler, out: new(outbox)}, newSealer(&key, 2, 1<<32|99)
}

// Whatever strangers send, and however much of it, nothing of it stays: not a
// byte for every hundred datagrams, and what was known of the peers is what it
// was.
func TestAFloodLeavesNothingBehind(t *testing.T) {
	const flood = 50_000
	var frames []peers.Frame
	r, peer := listener(transporttest.NewKey(), collector{&frames})
	genuine := func() { r.datagramArrived(peer.finish(peers.AppendFrame(peer.begin(nil, 1), 2, 1, []byte("genuine")))) }
	genuine()
	known := r.top.At(1).State
	source := strangers(rand.New(rand.NewPCG(3, 4)))
	before := heapInUse()
	for name, next := range source {
		refused := r.refused.Load()
		for range flood / len(source) {
			r.datagramArrived(next())
		}
		if got := r.refused.Load() - refused; got != uint64(flood/len(source)) {
			t.Errorf("%s: %d of %d refused", name, got, flood/len(source))
		}
	}
	if grown := heapInUse() - before; grown > flood/100+64<<10 { // what else this process does takes some
		t.Errorf("the heap has grown by %d bytes after %d datagrams", grown, flood)
	}
	if r.top.At(1).State != known || r.top.At(0).State.seal != nil {
		t.Error("strangers have changed what is known of the peers")
	}
	genuine()
	if len(frames) != 2 {
		t.Errorf("%d frames delivered, 2 of them genuine", len(frames))
	}
}

func heapInUse() int {
	runtime.GC()
	runtime.GC() // what the first one found to be finalized
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// BenchmarkRefusal is what a datagram of a stranger costs who receives it, and,
// to compare, one of a peer.
func BenchmarkRefusal(b *testing.B) {
	for name, next := range strangers(rand.New(rand.NewPCG(5, 6))) {
		b.Run(name, func(b *testing.B) {
			r, peer := listener(transporttest.NewKey(), collector{new([]peers.Frame)})
			r.datagramArrived(peer.finish(peer.begin(nil, 1)))
			datagrams := make([][]byte, 1024)
			for i := range datagrams {
				datagrams[i] = next()
			}
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				r.datagramArrived(datagrams[n%len(datagrams)])
				n++
			}
			if got := r.refused.Load(); got < uint64(n) {
				b.Errorf("%d of %d were refused", got, n)
			}
		})
	}
	b.Run("a peer's", func(b *testing.B) {
		r, peer := listener(transporttest.NewKey(), collector{new([]peers.Frame)})
		datagram := peer.finish(peer.begin(nil, 1))
		b.ReportAllocs()
		for b.Loop() {
			r.datagramArrived(datagram)
		}
	})
}
