package ping

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dmebench/internal/platform/clock"
)

// A message is as long as it was asked for. It begins with its kind; numbers
// follow at fixed places.
const (
	numberAt  = 8  // when a ping was sent; what a progress report counts
	arrivedAt = 16 // when a ping arrived; the serial number of a last message
)

// The kinds of messages.
const (
	data     = iota + 1 // of a stream
	last                // the end of a stream, which is to be answered
	progress            // how much of the stream has arrived
	token
	ping
	pong
)

func newMessage(kind byte, size int) []byte {
	m := make([]byte, size)
	m[0] = kind
	return m
}

func number(m []byte, at int) uint64        { return binary.LittleEndian.Uint64(m[at:]) }
func setNumber(m []byte, at int, to uint64) { binary.LittleEndian.PutUint64(m[at:], to) }

type peer struct {
	order *order
	end   endpoint
	clock *clock.Clock
	next  int // the next process in the ring

	stopped chan error // nil if all is done

	// Of a round trip and a ring, at the first process.
	over  atomic.Bool   // what comes back is taken out
	back  chan struct{} // something was taken out
	laps  atomic.Int64
	trips *hdrhistogram.Histogram // ns, there and back
	ways  *hdrhistogram.Histogram // ns, there

	// Of a stream, at the first process.
	window   uint64        // messages that may be under way
	arrived  atomic.Uint64 // at the second process, as far as known
	answered atomic.Uint64 // serial number of the last message that has been answered
	news     chan struct{} // one of these has changed
	serial   uint64

	// At the second process.
	taken      uint64 // messages of streams
	unreported uint64 // of these, since the last report
	reply      []byte
}

const (
	// patience is for messages that do come back; longer than any stall of a
	// busy machine.
	patience = 10 * time.Second

	longest = time.Minute // the most a histogram holds
	digits  = 3
)

func newPeer(o *order) (*peer, error) {
	p := &peer{
		order: o, clock: clock.New(), next: (o.Index + 1) % o.Processes, stopped: make(chan error, 1),
		back: make(chan struct{}, MaxTokens), news: make(chan struct{}, 1), reply: newMessage(0, o.Size),
	}
	if o.Index == 0 {
		p.trips = hdrhistogram.New(1, int64(longest), digits)
		p.ways = hdrhistogram.New(1, int64(longest), digits)
	}
	var err error
	open := bareSides[o.Network]
	if o.Side == Ours {
		open = openTransport
	}
	if p.end, err = open(o, p.receive); err != nil {
		return nil, err
	}
	p.window = window(o.Size, p.end.lossy())
	return p, nil
}

// stop ends the process, for the first reason given.
func (p *peer) stop(err error) {
	select {
	case p.stopped <- err:
	default:
	}
}

func (p *peer) send(to int, m []byte) {
	if err := p.end.send(to, m); err != nil {
		p.stop(err)
	}
}

func (p *peer) receive(m []byte) {
	if len(m) != p.order.Size {
		return // of a stranger
	}
	switch m[0] {
	case data:
		p.taken++
		if p.unreported++; p.unreported == p.window/reports {
			p.unreported = 0
			p.report(0)
		}
	case last:
		p.report(number(m, arrivedAt))
	case token:
		if p.order.Index != 0 || p.goesOn() {
			p.send(p.next, m)
		}
	case ping:
		now := p.clock.Now()
		copy(p.reply, m)
		p.reply[0] = pong
		setNumber(p.reply, arrivedAt, uint64(now))
		p.send(0, p.reply)
	case pong:
		p.returned(m)
	case progress:
		p.arrived.Store(number(m, numberAt))
		if serial := number(m, arrivedAt); serial != 0 {
			p.answered.Store(serial)
		}
		select {
		case p.news <- struct{}{}:
		default:
		}
	}
}

func (p *peer) measure(t *Task) (Values, error) {
	switch t.Test {
	case RoundTrip:
		return p.roundTrips(t.Stretch)
	case Ring:
		return p.ring(t.Tokens, t.Stretch)
	case Stream:
		return p.stream(t.Stretch)
	}
	return nil, fmt.Errorf("unknown test %q; are all processes of one build?", t.Test)
}

func (p *peer) goesOn() bool {
	p.laps.Add(1)
	if p.over.Load() {
		p.back <- struct{}{}
		return false
	}
	return true
}

func (p *peer) ring(tokens int, d time.Duration) (Values, error) {
	p.over.Store(false)
	p.laps.Store(0)
	m := newMessage(token, p.order.Size)
	begin := time.Now()
	for range tokens {
		if err := p.end.send(p.next, m); err != nil {
			return nil, err
		}
	}
	if err := p.letRun(d, tokens); err != nil {
		return nil, err
	}
	hops := float64(p.laps.Load()) * float64(p.order.Processes)
	return Values{Hops: hops, HopRate: hops / time.Since(begin).Seconds()}, nil
}

// letRun lets what was begun go on for that long, and waits until it has been taken out.
func (p *peer) letRun(d time.Duration, messages int) error {
	if err := p.end.flush(); err != nil {
		return err
	}
	time.Sleep(d)
	p.over.Store(true)
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for range messages {
		select {
		case <-p.back:
		case <-timeout.C:
			return fmt.Errorf("a message that goes around has not come back within %v", patience)
		}
	}
	return nil
}

func (p *peer) roundTrips(d time.Duration) (Values, error) {
	p.over.Store(false)
	p.trips.Reset()
	p.ways.Reset()
	m := newMessage(ping, p.order.Size)
	setNumber(m, numberAt, uint64(p.clock.Now()))
	if err := p.end.send(1, m); err != nil {
		return nil, err
	}
	if err := p.letRun(d, 1); err != nil {
		return nil, err
	}
	return Values{
		Trips:        float64(p.trips.TotalCount()),
		RoundTripP50: float64(p.trips.ValueAtQuantile(50)), RoundTripP99: float64(p.trips.ValueAtQuantile(99)),
		OneWayP50: float64(p.ways.ValueAtQuantile(50)), OneWayP99: float64(p.ways.ValueAtQuantile(99)),
	}, nil
}

func (p *peer) returned(m []byte) {
	now := p.clock.Now()
	sent, there := int64(number(m, numberAt)), int64(number(m, arrivedAt))
	record(p.trips, now-sent)
	record(p.ways, there-sent)
	if p.over.Load() {
		p.back <- struct{}{}
		return
	}
	p.reply[0] = ping
	setNumber(p.reply, numberAt, uint64(p.clock.Now()))
	p.send(1, p.reply)
}

// record notes a time, which can be shorter than the clocks of two processes are apart.
func record(h *hdrhistogram.Histogram, ns int64) {
	_ = h.RecordValue(min(max(ns, 1), int64(longest)))
}
