package udp

import (
	"bytes"
	"testing"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
	"dmebench/transport/transporttest"
)

// nowhere is a layer below that takes everything and passes on nothing.
type nowhere struct{ transport.Transport }

func (nowhere) Start(transport.AddressBook, transport.Handler) error { return nil }
func (nowhere) Send(dme.NodeID, dme.NodeID, []byte) error            { return nil }
func (nowhere) Broadcast(dme.NodeID, []byte) error                   { return nil }
func (nowhere) Flush() error                                         { return nil }
func (nowhere) Close() error                                         { return nil }
func (nowhere) Counters() (c transport.Counters)                     { return c }

// FuzzPeer lets a process take a series of segments and broadcasts from a peer
// that knows the run's key and sends what it likes, acknowledgements
// too, while frames wait for that peer: nothing breaks, only the peer's own frames come
// through, none of them longer than what has arrived, and what is kept has its
// bound.
func FuzzPeer(f *testing.F) {
	const toAll = 0x80 // in the length that precedes each: a broadcast
	series := func(all ...segment) (b []byte) {
		for i := range all {
			s := appendSegment(nil, &all[i])
			b = append(append(b, byte(len(s))), s...)
		}
		return b
	}
	greet := peers.AppendFrame(nil, 2, 1, []byte("hello"))
	f.Add(series(segment{kind: whole, from: 1, to: 1, body: greet},
		segment{kind: whole, from: 1, to: 1, number: 2, body: greet},
		segment{kind: whole, from: 1, to: 1, number: 2, body: greet},
		segment{kind: farewell, from: 1, to: 1, number: 1}), true)
	f.Add(series(segment{kind: part, from: 1, to: 1, number: 1, body: greet[4:]},
		segment{kind: part, from: 1, to: 1, number: 0, body: greet[:4]},
		segment{kind: part, from: 1, to: 1, number: 2, body: []byte{0xff, 0xff, 0xff, 3}}), false)
	f.Add(series(segment{kind: ack, from: 1, to: 1, ack: acknowledgement{next: 1, bits: []byte{3}}},
		segment{kind: whole, urgent: true, from: 1, to: 1}), true)
	cast := peers.AppendFrame([]byte{1, 1, 0, 1, 2}, 2, dme.None, []byte("to all"))
	f.Add(append(series(segment{kind: ack, from: 1, to: 1}), append([]byte{toAll | byte(len(cast))}, cast...)...), true)
	f.Fuzz(func(t *testing.T, b []byte, ordered bool) {
		layer := Reliable
		if ordered {
			layer = FIFO
		}
		c := transport.Config{Local: []dme.NodeID{1}, Nodes: 2, Incarnation: 1}
		r := newReliable(nowhere{}, c, Options{Layer: layer}, loopbackDatagram, patient(transporttest.Knobs{}))
		r.caster = nowhere{}
		var got []peers.Frame
		if err := r.Start(transport.AddressBook{"127.0.0.1:1", "127.0.0.1:2"}, collector{&got}); err != nil {
			t.Fatal(err)
		}
		defer func() {
			r.limits.drain = 1 // nobody will ever answer
			r.Close()
		}()
		for range 3 {
			if err := r.Send(1, 2, bytes.Repeat([]byte("x"), 30_000)); err != nil {
				t.Fatal(err)
			}
			if err := r.Broadcast(1, []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		arrived := 0
		for len(b) > 0 {
			n := min(int(b[0]&^toAll), len(b)-1)
			if b[0]&toAll != 0 {
				r.Frame(2, dme.None, b[1:1+n])
			} else {
				r.Frame(2, 1, b[1:1+n])
			}
			b, arrived = b[1+n:], arrived+n
			r.Flush()
		}
		for _, x := range got {
			if x.From != 2 || x.To != 1 {
				t.Fatalf("a frame from %d to %d is delivered to process 1 by process 2", x.From, x.To)
			}
			if len(x.Body) > arrived {
				t.Fatalf("a frame of %d bytes out of %d", len(x.Body), arrived)
			}
		}
		p := &r.top.At(1).State
		held := len(p.order.partial)
		for _, a := range p.order.early {
			held += len(a.body)
		}
		if len(p.order.early) > windowSegments || held > arrived {
			t.Fatalf("%d segments and %d bytes are held back, of %d", len(p.order.early), held, arrived)
		}
		if o := &p.out; o.flying < 0 || o.queued < 0 || o.lost < 0 || o.head > o.fresh || o.fresh > len(o.queue) {
			t.Fatalf("left %+v", o)
		}
	})
}

// A peer that never completes the frame that it sends in parts is refused once that
// exceeds the largest frame; what comes behind is delivered.
func TestPartsHaveABound(t *testing.T) {
	for _, l := range []Layer{Reliable, FIFO} {
		o := newOrder(l)
		body := peers.AppendFrame(nil, 2, 1, make([]byte, transport.MaxFrame))[:MaxDatagram]
		var err error
		number := uint64(0)
		for ; err == nil; number++ {
			if len(o.partial) > peers.MaxHeader+transport.MaxFrame {
				t.Fatal("nothing is ever refused")
			}
			err = o.arrive(arrival{number, part, body}, func(peers.Frame) { t.Error("delivered") })
		}
		delivered := 0
		err = o.arrive(arrival{number, whole, peers.AppendFrame(nil, 2, 1, nil)}, func(peers.Frame) { delivered++ })
		if delivered != 1 || err != nil || o.partial != nil {
			t.Errorf("%s: %d delivered, %v", l, delivered, err)
		}
	}
}
