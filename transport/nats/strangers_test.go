package nats

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
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
	stranger, err := b.connect("stranger", new(wire), func(error) {})
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
		transporttest.NoLeaks(t)
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
					b = forger.close(header{from: 2, to: 1, number: 1}.append(forger.start(nil, aFrame)), aFrame)
				}
				if err := stranger.Publish(subject, b); err != nil {
					t.Fatal(err)
				}
			}
		}
		stranger.Flush()
		want := uint64(each * len(subjects))
		transporttest.Eventually(t, "all to be refused", func() bool { return refused(all[0]) == want })
		mustSend(t, all[1], 2, 1, "genuine")
		if f := transporttest.Next(t, "the genuine frame", es[0].Frames); f != "2>1 genuine" {
			t.Errorf("delivered %q", f)
		}
		if err := all[0].Flush(); err != nil {
			t.Error(err)
		}
	}
}

// On a broker that others use, whoever sees a frame can neither repeat it, nor
// alter it, nor pass it to somebody else.
func TestFramesOnASharedBrokerCannotBeForged(t *testing.T) {
	transporttest.NoLeaks(t)
	all, es, stranger := pairOf(t, false)
	seen := make(chan *natsgo.Msg, 10)
	if _, err := stranger.ChanSubscribe("dmebench.>", seen); err != nil {
		t.Fatal(err)
	}
	stranger.Flush()
	mustSend(t, all[0], 1, 2, "pay 1")
	m := transporttest.Next(t, "a frame to be seen", seen)
	transporttest.Next(t, "the frame", es[1].Frames)

	stranger.Publish(m.Subject, m.Data)
	stranger.Flush()
	transporttest.Eventually(t, "the repeated frame", func() bool { return all[1].Counters().Duplicates == 1 })
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
	transporttest.Eventually(t, "all to be refused", func() bool { return refused(all[1]) == altered+1 && refused(all[0]) == 2 })
	if len(es[0].Frames)+len(es[1].Frames)+len(es[0].Downs)+len(es[1].Downs) > 0 {
		t.Error("something of it was delivered")
	}
}

// Nor can the sequencer be made to pass on what is not the run's.
func TestStrangersAtTheSequencer(t *testing.T) {
	transporttest.NoLeaks(t)
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
	stranger, err := b.connect("stranger", new(wire), func(error) {})
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
	m := transporttest.Next(t, "a frame to be seen", seen)
	stranger.Publish(s.prefix+relay+toAll, m.Data) // for one node, passed off as a broadcast
	stranger.Publish(s.prefix+relay+toAll, []byte("garbage"))
	stranger.Flush()
	transporttest.Eventually(t, "both to be refused", func() bool { return s.Refused() == 2 })
	if err := all[0].Broadcast(1, []byte("two")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1>2 one", "1>2 two"} {
		if f := transporttest.Next(t, "a frame", e.Frames); f != want {
			t.Errorf("%q, want %q", f, want)
		}
	}
	// A broadcast that is repeated takes a number of its own, and is dropped by
	// everybody alike.
	transporttest.Next(t, "garbage to be seen", seen)
	transporttest.Next(t, "garbage to be seen", seen)
	stranger.Publish(s.prefix+relay+toAll, transporttest.Next(t, "a broadcast to be seen", seen).Data)
	stranger.Flush()
	transporttest.Eventually(t, "the repetition", func() bool { return all[1].Counters().Duplicates == 1 })
	if err := all[0].Broadcast(1, []byte("three")); err != nil {
		t.Fatal(err)
	}
	if f := transporttest.Next(t, "a frame", e.Frames); f != "1>2 three" {
		t.Errorf("%q", f)
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
		r := peers.Reader{Rest: b}
		if !h.decode(&r) {
			return
		}
		if again := append(h.append(nil), r.Rest...); string(again) != string(b) {
			t.Fatalf("%x decodes to %+v and encodes to %x", b, h, again)
		}
	})
}

func TestSealsOfAnotherKindOrKeyDoNotFit(t *testing.T) {
	other := transporttest.NewKey()
	for _, own := range []bool{true, false} {
		s := newSeal(&testKey, own)
		opened := func(s *seal, what kind, cut int) bool {
			b := s.close(append(newSeal(&testKey, own).start(nil, aFrame), "content"...), aFrame)
			if s.aead != nil {
				b = newSeal(&testKey, own).close([]byte("content"), aFrame)
			}
			c, ok := s.open(b[:len(b)-cut], what)
			return ok && (cut > 0 || string(c) == "content")
		}
		if !opened(s, aFrame, 0) || opened(s, anOrder, 0) || opened(newSeal(&other, own), aFrame, 0) {
			t.Errorf("own %v: opened as something else, or by another key, or not at all", own)
		}
		for cut := 1; cut < 15; cut++ {
			if opened(s, aFrame, cut) && (!own || cut > 7) {
				t.Errorf("own %v: without its last %d bytes it passes", own, cut)
			}
		}
	}
}

// FuzzMessage lets a process take whatever the broker brings: for one of its
// nodes, as a broadcast with its place in the one order, as a report of progress
// and as a goodbye; sealed with the run's key, as a peer could, or not. What a
// stranger sends is refused; what is delivered is for a node here, and no longer
// than what has come.
func FuzzMessage(f *testing.F) {
	const (
		unicast = iota
		broadcast
		sequenced
		progress
		goodbye
		ways
	)
	f.Add(append(header{from: 2, to: 1, number: 1}.append(nil), "body"...), byte(unicast), true, true)
	f.Add(append(header{from: 2, number: 1}.append(nil), "body"...), byte(broadcast), true, false)
	f.Add(append(header{from: 2, number: 1}.append(nil), "body"...), byte(sequenced), true, true)
	f.Add(binary.AppendUvarint([]byte{2, 1}, 1<<40), byte(progress), true, false)
	f.Add([]byte{2, 1, 0}, byte(goodbye), true, true)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff}, byte(unicast), false, true)
	f.Fuzz(func(t *testing.T, b []byte, way byte, sealed, own bool) {
		way %= ways
		c := config(1, 2)
		tr := &Transport{
			config: c, limits: defaultLimits(2), prefix: prefix(&c.Key, own), seal: newSeal(&c.Key, own),
			alls: new(natsgo.Subscription), byes: new(natsgo.Subscription),
		}
		tr.broker.Own, tr.broker.Sequenced = own, way == sequenced
		tr.leaving, tr.leave = context.WithCancel(t.Context())
		defer tr.leave()
		top, err := peers.NewTopology[peer]("nats", transport.AddressBook{tr.Addr(), tr.prefix + "." + processName(2, 1)}, &tr.config)
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.locate(top); err != nil {
			t.Fatal(err)
		}
		delivered := 0
		tr.handler = handler{frame: func(from, to dme.NodeID, body []byte) {
			delivered++
			if from != 1 && from != 2 || to != 1 || len(body) > len(b) {
				t.Fatalf("a frame of %d bytes from %d to %d is delivered, out of %d bytes", len(body), from, to, len(b))
			}
		}}
		m := &natsgo.Msg{Data: b}
		what := map[byte]kind{unicast: aFrame, broadcast: aFrame, sequenced: anOrder, progress: aProgress, goodbye: aGoodbye}[way]
		if sealed {
			content := tr.seal.start(nil, what)
			if way == sequenced {
				content = binary.AppendUvarint(content, 1)
			}
			m.Data = tr.seal.close(append(content, b...), what)
		}
		switch way {
		case unicast:
			tr.arrived(top, m)
		case broadcast, sequenced:
			m.Sub = tr.alls
			tr.arrived(top, m)
		case progress:
			tr.hear(m)
		case goodbye:
			m.Sub = tr.byes
			tr.hear(m)
		}
		if !sealed && (delivered > 0 || tr.refused.Load() != 1 || top.Of(2).State.out.left.Load() || top.Of(2).State.out.handled.Load() > 0) {
			t.Fatalf("%x of a stranger is taken", b)
		}
	})
}
