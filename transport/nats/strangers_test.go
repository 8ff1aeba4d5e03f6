package nats

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
	"dmebench/transport/transporttest"
)

// pairOf opens a run of two processes with a node each, and a connection of
// somebody who is let in by the broker and knows everything but the run's key.
func pairOf(t *testing.T, own bool) (all []*Transport, es [2]*transporttest.Events, stranger *natsgo.Conn) {
	b := startServer(t).Broker()
	b.Own = own
	all = mesh(t, b, defaultLimits(2), 2, 1, func(p int) transport.Handler {
		es[p] = transporttest.NewEvents()
		return es[p]
	})
	stranger, err := b.connect("stranger", new(wire), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stranger.Close)
	return all, es, stranger
}

func refused(tr *Transport) uint64 { return tr.Counters().RefusedFrames }

// Garbage on every subject of a run is refused and counted, and disturbs nobody.
func TestStrangersOnTheBroker(t *testing.T) {
	for _, own := range []bool{true, false} {
		noLeaks(t)
		all, es, stranger := pairOf(t, own)
		r := rand.New(rand.NewPCG(3, 4))
		key := transporttest.NewKey()
		forger := newSeal(&key, own)
		const each = 100
		subjects := []string{all[0].Addr() + ".1", all[0].prefix + toAll, all[0].prefix + ".k.w1", all[0].prefix + ".bye"}
		for i := range each {
			for _, subject := range subjects {
				b := make([]byte, r.IntN(60))
				for j := range b {
					b[j] = byte(r.Uint32())
				}
				if i%2 == 0 { // well-formed, under another key
					b = header{from: 2, to: 1, number: 1}.append(forger.start(nil))
					forger.close(b, aFrame)
				}
				if err := stranger.Publish(subject, b); err != nil {
					t.Fatal(err)
				}
			}
		}
		stranger.Flush()
		want := uint64(each * len(subjects))
		eventually(t, "all to be refused", func() bool { return refused(all[0]) == want })
		mustSend(t, all[1], 2, 1, "genuine")
		if f := next(t, "the genuine frame", es[0].Frames); f != "2>1 genuine" {
			t.Errorf("delivered %q", f)
		}
		if err := all[0].Flush(); err != nil {
			t.Error(err)
		}
	}
}

// A flood of messages without the run's key is refused to the last one, and the
// run's own frames pass all the while.
func TestFloodOfStrangers(t *testing.T) {
	noLeaks(t)
	all, es, stranger := pairOf(t, false)
	const flood, genuine = 30_000, 100
	key := transporttest.NewKey()
	forger := newSeal(&key, false)
	b := append(header{from: 2, to: 1, number: 1}.append(forger.start(nil)), "forged"...)
	forger.close(b, aFrame)
	for i := range flood {
		if err := stranger.Publish(all[0].Addr()+".1", b); err != nil {
			t.Fatal(err)
		}
		if i%(flood/genuine) == 0 {
			mustSend(t, all[1], 2, 1, "genuine")
		}
	}
	stranger.Flush()
	eventually(t, "all to be refused", func() bool { return refused(all[0]) == flood })
	for range genuine {
		if f := next(t, "a genuine frame", es[0].Frames); f != "2>1 genuine" {
			t.Errorf("delivered %q", f)
		}
	}
	if len(es[0].Frames)+len(es[0].Downs) > 0 {
		t.Error("more than that was delivered, or a node is down")
	}
}

// BenchmarkRefusal is what a message of a stranger costs who receives it, behind
// the client library.
func BenchmarkRefusal(b *testing.B) {
	for _, own := range []bool{true, false} {
		b.Run(map[bool]string{true: "own", false: "shared"}[own], func(b *testing.B) {
			tr := &Transport{config: config(1, 2), inSeal: newSeal(&testKey, own)}
			m := &natsgo.Msg{Data: append(header{from: 2, to: 1, number: 1}.append(make([]byte, macSize)), "forged"...)}
			top := &topology{Topology: new(peers.Topology[peer])}
			b.ReportAllocs()
			for b.Loop() {
				tr.arrived(top, m)
			}
		})
	}
}

// On a broker that others use, whoever sees a frame can neither repeat it, nor
// alter it, nor pass it to somebody else.
func TestFramesOnASharedBrokerCannotBeForged(t *testing.T) {
	noLeaks(t)
	all, es, stranger := pairOf(t, false)
	seen := make(chan *natsgo.Msg, 10)
	if _, err := stranger.ChanSubscribe("dmebench.>", seen); err != nil {
		t.Fatal(err)
	}
	stranger.Flush()
	mustSend(t, all[0], 1, 2, "pay 1")
	m := next(t, "a frame to be seen", seen)
	next(t, "the frame", es[1].Frames)

	stranger.Publish(m.Subject, m.Data)
	stranger.Flush()
	eventually(t, "the repeated frame", func() bool { return all[1].Counters().Duplicates == 1 })
	var altered uint64
	for i := range m.Data {
		b := append([]byte(nil), m.Data...)
		b[i] ^= 1
		stranger.Publish(m.Subject, b)
		altered++
	}
	stranger.Publish(all[0].Addr()+".1", m.Data)
	stranger.Publish(all[0].prefix+toAll, m.Data)
	stranger.Flush()
	eventually(t, "all to be refused", func() bool { return refused(all[1]) == altered+1 && refused(all[0]) == 2 })
	if len(es[0].Frames)+len(es[1].Frames)+len(es[0].Downs)+len(es[1].Downs) > 0 {
		t.Error("something of it was delivered")
	}
}

// Nor can the sequencer be made to pass on what is not the run's.
func TestStrangersAtTheSequencer(t *testing.T) {
	noLeaks(t)
	b := startServer(t).Broker()
	b.Own, b.Sequenced = false, true
	s, err := StartSequencer(testKey, b, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	e := transporttest.NewEvents()
	all := mesh(t, b, defaultLimits(2), 2, 1, func(p int) transport.Handler {
		if p == 0 {
			return handler{}
		}
		return e
	})
	stranger, err := b.connect("stranger", new(wire), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stranger.Close)
	seen := make(chan *natsgo.Msg, 100)
	if _, err := stranger.ChanSubscribe(s.prefix+relay+".>", seen); err != nil {
		t.Fatal(err)
	}
	stranger.Flush()
	mustSend(t, all[0], 1, 2, "one")
	m := next(t, "a frame to be seen", seen)
	stranger.Publish(s.prefix+relay+toAll, m.Data) // for one node, passed off as a broadcast
	stranger.Publish(s.prefix+relay+toAll, []byte("garbage"))
	stranger.Flush()
	eventually(t, "both to be refused", func() bool { return s.Refused() == 2 })
	if err := all[0].Broadcast(1, []byte("two")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1>2 one", "1>2 two"} {
		if f := next(t, "a frame", e.Frames); f != want {
			t.Errorf("%q, want %q", f, want)
		}
	}
	// A broadcast that is repeated takes a number of its own, and is dropped by
	// everybody alike.
	next(t, "garbage to be seen", seen)
	next(t, "garbage to be seen", seen)
	stranger.Publish(s.prefix+relay+toAll, next(t, "a broadcast to be seen", seen).Data)
	stranger.Flush()
	eventually(t, "the repetition", func() bool { return all[1].Counters().Duplicates == 1 })
	if err := all[0].Broadcast(1, []byte("three")); err != nil {
		t.Fatal(err)
	}
	if f := next(t, "a frame", e.Frames); f != "1>2 three" {
		t.Errorf("%q", f)
	}
}

// Noise on the broker's port disturbs nobody.
func TestNoiseAtTheServer(t *testing.T) {
	noLeaks(t)
	all, es, _ := pairOf(t, true)
	address := strings.TrimPrefix(all[0].broker.URL, "nats://")
	for i := range 40 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "noise %d\r\nPUB %s 1\r\nx\r\n", i, all[0].Addr()+".1")
		io.Copy(io.Discard, conn) // until the server hangs up
		conn.Close()
	}
	mustSend(t, all[1], 2, 1, "genuine")
	next(t, "the genuine frame", es[0].Frames)
	if n := refused(all[0]); n != 0 {
		t.Errorf("%d frames of strangers came through the broker", n)
	}
}

func FuzzHeader(f *testing.F) {
	f.Add(append(header{from: 1, to: 2, number: 300}.append(nil), "body"...))
	f.Add(header{from: 1<<32 - 1, to: dme.None, number: 1<<64 - 1}.append(nil))
	f.Add(header{from: 5, to: 2, number: 7, incarnation: 3}.append(nil))
	f.Add(header{from: 5, to: 2, number: 7, incarnation: 1, welcome: true}.append(nil))
	f.Add([]byte{0x80, 0x00, 1, 2})
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0x1f, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		var h header
		body, ok := h.decode(b)
		if !ok {
			return
		}
		if again := append(h.append(nil), body...); string(again) != string(b) {
			t.Fatalf("%x decodes to %+v and encodes to %x", b, h, again)
		}
	})
}

func TestSealsOfAnotherKindOrKeyDoNotFit(t *testing.T) {
	other := transporttest.NewKey()
	for _, own := range []bool{true, false} {
		s := newSeal(&testKey, own)
		b := append(s.start(nil), "content"...)
		s.close(b, aFrame)
		if c, ok := s.open(b, aFrame); !ok || string(c) != "content" {
			t.Errorf("own %v: %q, %v", own, c, ok)
		}
		if _, ok := s.open(b, anOrder); ok {
			t.Errorf("own %v: a frame passes as an order", own)
		}
		if _, ok := newSeal(&other, own).open(b, aFrame); ok {
			t.Errorf("own %v: another key opens it", own)
		}
		for n := range b {
			if _, ok := s.open(b[:n], aFrame); ok && (!own || n < tagSize) {
				t.Errorf("own %v: the first %d bytes pass", own, n)
			}
		}
	}
}
