package udp

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
	"dmebench/transport/transporttest"
)

var segments = []segment{
	{kind: whole, from: 1, to: 2, number: 300, body: []byte("frames")},
	{kind: whole, urgent: true, from: 1, to: 2, number: 1 << 40, body: []byte{0},
		ack: acknowledgement{next: 1 << 33, delay: 1234 * time.Microsecond, bits: []byte{1, 0, 255}}},
	{kind: part, from: 1, to: 2, number: 9, body: []byte("part")},
	{kind: farewell, from: 1, to: 2, number: 5},
	{kind: ack, from: 1, to: 2, ack: acknowledgement{next: 5, bits: bytes.Repeat([]byte{7}, maxBits)}},
	{kind: whole, urgent: true, from: 1<<32 - 1, to: 1<<32 - 1, number: 4},
}

// A goroutine that sends may read the clock, and another one take a segment
// before the first goes on: the acknowledgement that it then sends must be one.
func TestAnAcknowledgementThatIsOlderThanWhatItIsFor(t *testing.T) {
	in := receiver{delay: time.Millisecond}
	if _, err := in.note(0, false, 10*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	sent := segment{kind: ack, from: 1, to: 2, ack: in.acknowledge(nil, 9*time.Millisecond)}
	var got segment
	if err := decodeSegment(appendSegment(nil, &sent), &got); err != nil || got.ack.next != 1 || got.ack.delay != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func equal(a, b *segment) bool {
	x, y := *a, *b
	for _, s := range []*segment{&x, &y} {
		s.body, s.ack.bits = append([]byte{}, s.body...), append([]byte{}, s.ack.bits...)
	}
	return reflect.DeepEqual(x, y)
}

// FuzzSegment reads anything: what is accepted has one meaning, and what is said
// of its sizes holds.
func FuzzSegment(f *testing.F) {
	for _, s := range segments {
		f.Add(appendSegment(nil, &s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var s, again segment
		if decodeSegment(b, &s) != nil {
			return
		}
		w := appendSegment(nil, &s)
		if err := decodeSegment(w, &again); err != nil || !equal(&s, &again) || len(w)-len(s.body) > segmentRoom {
			t.Fatalf("%+v is written in %d bytes and read as %+v, %v", s, len(w), again, err)
		}
		// Whatever it says of arrivals, those who take it keep their bounds.
		l := patient(transporttest.Knobs{})
		out, in := newSender(1000, &l), receiver{delay: l.ackDelay}
		for range 3 {
			out.push(1, 2, []byte("x"))
			out.transmitted(out.next(), 1)
		}
		_ = out.acknowledge(&s.ack, 2)
		if out.flying < 0 || out.queued < 0 || out.lost < 0 || out.head > out.fresh || out.fresh > len(out.queue) {
			t.Fatalf("%+v leaves %+v", s, out)
		}
		if s.kind.numbered() {
			if fresh, err := in.note(s.number, s.urgent, 1); fresh && err == nil {
				for _, l := range []Layer{Reliable, FIFO} {
					o := newOrder(l)
					_ = o.arrive(arrival{s.number, s.kind, s.body}, func(peers.Frame) {})
				}
			}
		}
	})
}

// FuzzDatagram lets a process take anything for a datagram.
func FuzzDatagram(f *testing.F) {
	key := transporttest.NewKey()
	_, genuine := listener(key, collector{})
	f.Add([]byte{}, false)
	f.Add(peers.AppendFrame(nil, 2, 1, []byte("hello")), true)
	f.Add(peers.AppendFrame(peers.AppendFrame(nil, 2, 1, nil), 1, 2, nil), true)
	f.Add(genuine.finish(genuine.begin(nil, 1)), false)
	f.Fuzz(func(t *testing.T, b []byte, sealed bool) {
		var frames []peers.Frame
		r, _ := listener(key, collector{&frames})
		if sealed { // by a peer that knows the key and sends what it likes
			b = genuine.finish(append(genuine.begin(nil, 1), b...))
		}
		r.datagramArrived(b)
		bytesDelivered := 0
		for _, got := range frames {
			if bytesDelivered += len(got.Body); bytesDelivered > len(b) {
				t.Fatalf("%d bytes of %d are delivered", bytesDelivered, len(b))
			}
			if got.From != 2 || got.To != 1 {
				t.Fatalf("a frame from %d to %d is delivered to process 1 by process 2", got.From, got.To)
			}
		}
		if len(frames) > 0 && !sealed && !bytes.HasPrefix(b[nodeAt:], genuine.header[nodeAt:numberAt]) {
			t.Fatal("frames of a stranger are delivered")
		}
	})
}

type collector struct{ frames *[]peers.Frame }

func (c collector) Frame(from, to dme.NodeID, b []byte) {
	*c.frames = append(*c.frames, peers.Frame{From: from, To: to, Body: bytes.Clone(b)})
}
func (c collector) Down(dme.NodeID, error) {}

func TestEveryBitOfADatagramIsAuthenticated(t *testing.T) {
	key, other := transporttest.NewKey(), transporttest.NewKey()
	s := newSealer(&key, 3, 12345)
	b := s.finish(append(s.begin(nil, 1), "content"...))
	opened := func(b []byte, key *transport.Key) string {
		d, err := readDatagram(b)
		if err != nil {
			return ""
		}
		body, _ := d.open(newSeal(key, d.node, d.from))
		return string(body)
	}
	if got := opened(b, &key); got != "content" {
		t.Fatalf("%q", got)
	}
	for i := range len(b) * 8 {
		altered := bytes.Clone(b)
		altered[i/8] ^= 1 << (i % 8)
		if opened(altered, &key) != "" {
			t.Errorf("bit %d can be changed", i)
		}
	}
	if opened(b, &other) != "" {
		t.Error("another run's key opens it")
	}
	if again := s.finish(append(s.begin(nil, 1), "content"...)); bytes.Equal(again[numberAt:], b[numberAt:]) {
		t.Error("two datagrams have one number")
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
	r := &raw{config: c, handler: handler, out: new(outbox)}
	if err := r.Begin(top); err != nil {
		panic(err) // it is the first
	}
	return r, newSealer(&key, 2, 1)
}

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
		p := &r.Top().At(1).State
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
		body := peers.AppendFrame(nil, 2, 1, make([]byte, transport.MaxFrame))[:60<<10]
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
