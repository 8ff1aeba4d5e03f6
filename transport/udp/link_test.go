package udp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"dmebench/internal/testkit"
	"dmebench/transport/peers"
	"dmebench/transport/transporttest"
)

// virtual is one direction of a link in virtual time: the real sender and
// receiver, and a network between that loses, repeats and reorders.
type virtual struct {
	r       *rand.Rand
	out     sender
	in      receiver
	order   order
	now     instant
	flights []flight
	loss    float64
	arrived []uint64 // what was delivered
	sizes   []int
}

// flight is something that is on its way.
type flight struct {
	at      instant
	segment *segment        // forth
	ack     acknowledgement // or back
}

func (v *virtual) launch(f flight) {
	for copies := 1 + v.r.IntN(10)/9; copies > 0; copies-- {
		if v.r.Float64() >= v.loss {
			f.at = v.now + 1 + time.Duration(v.r.IntN(3000))*time.Microsecond
			v.flights = append(v.flights, f)
		}
	}
}

func (v *virtual) transmit() {
	for o := v.out.next(); o != nil; o = v.out.next() {
		s := &segment{kind: o.kind, number: o.number, body: bytes.Clone(o.body)}
		s.urgent = v.out.transmitted(o, v.now)
		v.launch(flight{segment: s})
	}
}

func (v *virtual) acknowledge() { v.launch(flight{ack: v.in.acknowledge(nil, v.now)}) }

// step lets the next thing happen; false where nothing ever will.
func (v *virtual) step(t *testing.T) bool {
	next, which := instant(never), -1
	for i, f := range v.flights {
		if f.at < next {
			next, which = f.at, i
		}
	}
	for _, at := range []instant{v.out.timeout, v.in.due} {
		if at > 0 && at < next {
			next, which = at, -1
		}
	}
	if next == never {
		return false
	}
	v.now = max(v.now, next)
	switch {
	case which >= 0:
		f := v.flights[which]
		v.flights = append(v.flights[:which], v.flights[which+1:]...)
		v.land(t, f)
	case v.out.timeout > 0 && v.out.timeout <= v.now:
		v.out.expire(v.now)
		v.transmit()
	default:
		v.acknowledge()
	}
	v.check(t)
	return true
}

func (v *virtual) land(t *testing.T, f flight) {
	if f.segment == nil {
		if err := v.out.acknowledge(&f.ack, v.now); err != nil {
			t.Fatal(err)
		}
		v.transmit()
		return
	}
	s := f.segment
	fresh, err := v.in.note(s.number, s.urgent, v.now)
	if err != nil {
		t.Fatal(err)
	}
	if fresh {
		err := v.order.arrive(arrival{s.number, s.kind, s.body}, func(f peers.Frame) {
			v.arrived = append(v.arrived, binary.BigEndian.Uint64(f.Body))
			v.sizes = append(v.sizes, len(f.Body))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if v.in.now {
		v.acknowledge()
	}
}

// check compares the accounts of the sender with what they are accounts of.
func (v *virtual) check(t *testing.T) {
	var inFlight, missing, queued int
	for i, o := range v.out.queue[v.out.head:] {
		if o.number != v.out.base+uint64(i) {
			t.Fatalf("segment %d lies where %d should", o.number, v.out.base+uint64(i))
		}
		if (o.state == waiting) != (v.out.head+i >= v.out.fresh) {
			t.Fatalf("segment %d is in state %d at place %d of %d", o.number, o.state, i, v.out.fresh-v.out.head)
		}
		queued += o.bytes()
		switch o.state {
		case flying:
			inFlight += o.bytes()
		case lost:
			missing++
		}
	}
	if inFlight != v.out.flying || missing != v.out.lost || queued != v.out.queued {
		t.Fatalf("in flight %d, lost %d, queued %d; the accounts say %d, %d, %d",
			inFlight, missing, queued, v.out.flying, v.out.lost, v.out.queued)
	}
	if v.out.underWay() != (v.out.timeout > 0) {
		t.Fatalf("segments under way: %v, timer at %v", v.out.underWay(), v.out.timeout)
	}
	if v.out.flying > v.out.window+v.out.body+accountedSegment {
		t.Fatalf("%d bytes in flight", v.out.flying)
	}
}

// Whatever the network does short of silence, every frame arrives once, and in
// order where that is promised.
func TestLinkOverABadNetwork(t *testing.T) {
	seeds := 60
	if testkit.Full() {
		seeds = 5000
	}
	for seed := range uint64(seeds) {
		for _, l := range []Layer{Reliable, FIFO} {
			t.Run(fmt.Sprintf("%s-%d", l, seed), func(t *testing.T) { runVirtual(t, seed, l) })
		}
	}
}

func runVirtual(t *testing.T, seed uint64, l Layer) {
	bounds := patient(transporttest.Knobs{})
	v := &virtual{
		r: rand.New(rand.NewPCG(seed, 1)), out: newSender(300, &bounds), in: receiver{delay: bounds.ackDelay}, order: newOrder(l),
	}
	v.loss = float64(seed%5) * 0.1
	frames := 1 + v.r.IntN(3000)
	var sizes []int
	for len(sizes) < frames {
		for range min(1+v.r.IntN(200), frames-len(sizes)) {
			size := 8 + v.r.IntN(40)
			if v.r.IntN(50) == 0 {
				size = 300 + v.r.IntN(5000) // in parts
			}
			b := make([]byte, size)
			binary.BigEndian.PutUint64(b, uint64(len(sizes)))
			if !v.out.push(1, 2, b) {
				t.Fatal("the backlog is full")
			}
			sizes = append(sizes, size)
		}
		v.transmit()
		for range v.r.IntN(50) {
			v.step(t)
		}
	}
	for steps := 0; v.step(t); steps++ {
		if steps > 1_000_000 {
			t.Fatalf("does not come to an end: %+v", v.out)
		}
	}
	if len(v.arrived) != frames || !v.out.empty() {
		t.Fatalf("%d of %d frames have arrived; %d bytes are still queued", len(v.arrived), frames, v.out.queued)
	}
	seen := make([]bool, frames)
	for i, number := range v.arrived {
		if seen[number] {
			t.Fatalf("frame %d arrives twice", number)
		}
		seen[number] = true
		if l == FIFO && number != uint64(i) {
			t.Fatalf("frame %d arrives where %d is due", number, i)
		}
		if v.sizes[i] != sizes[number] {
			t.Fatalf("frame %d has %d bytes instead of %d", number, v.sizes[i], sizes[number])
		}
	}
	if v.loss == 0 && v.now > 0 && v.out.again > v.out.sent/2 {
		t.Errorf("without a loss, %d of %d transmissions were repetitions", v.out.again, v.out.sent)
	}
	if v.loss > 0 && frames > 1000 && v.out.again == 0 {
		t.Error("nothing was sent again although much was lost")
	}
}

// Sent in order over a network that keeps it and loses nothing, nothing is ever
// sent twice.
func TestNoRetransmissionWithoutLoss(t *testing.T) {
	l := patient(transporttest.Knobs{})
	l.ackDelay = 20 * time.Millisecond
	out, in := newSender(300, &l), receiver{delay: l.ackDelay}
	now := instant(1)
	for range 20_000 {
		if !out.push(1, 2, make([]byte, 40)) {
			t.Fatal("the backlog is full")
		}
		o := out.next()
		if o == nil {
			t.Fatal("the window is closed")
		}
		urgent := out.transmitted(o, now)
		now += 300 * time.Microsecond
		if _, err := in.note(o.number, urgent, now); err != nil {
			t.Fatal(err)
		}
		if in.now || in.due <= now {
			a := in.acknowledge(nil, now)
			now += 100 * time.Microsecond
			if err := out.acknowledge(&a, now); err != nil {
				t.Fatal(err)
			}
		}
		if out.timeout > 0 && out.timeout <= now {
			t.Fatalf("timeout at %v, now %v: %+v", out.timeout, now, out.rtt)
		}
	}
	if out.again != 0 || out.sent != 20_000 {
		t.Errorf("%d transmissions, %d of them again", out.sent, out.again)
	}
}

// The receiver's account against a plain one.
func TestReceiverAgainstASet(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 2))
		in := receiver{delay: time.Millisecond}
		seen := make(map[uint64]bool)
		next := uint64(0)
		for range 3000 {
			number := next + uint64(r.IntN(windowSegments+100))
			if r.IntN(2) == 0 {
				number = next + uint64(r.IntN(4))
			}
			number -= min(number, uint64(r.IntN(3)))
			fresh, err := in.note(number, false, 1)
			if beyond := number >= next+windowSegments; beyond != (err != nil) || !beyond && fresh == seen[number] {
				t.Fatalf("segment %d with %d due: fresh %v, %v", number, next, fresh, err)
			}
			if err == nil {
				seen[number] = true
			}
			for seen[next] {
				next++
			}
			a := in.acknowledge(nil, 2)
			if a.next != next {
				t.Fatalf("all below %d acknowledged, have all below %d", a.next, next)
			}
			for i := range uint64(8 * len(a.bits)) {
				if got := a.bits[i/8]&(1<<(i%8)) != 0; got != seen[next+1+i] {
					t.Fatalf("segment %d acknowledged: %v", next+1+i, got)
				}
			}
		}
	}
}

// RFC 6298, section 2.
func TestRTT(t *testing.T) {
	const ms = time.Millisecond
	e := rtt{ackDelay: 20 * ms}
	// (2.1) Until a measurement has been made, the timeout is a constant.
	if e.timeout() != firstTimeout {
		t.Errorf("%v before a sample", e.timeout())
	}
	// (2.2) "SRTT <- R, RTTVAR <- R/2, RTO <- SRTT + max (G, K*RTTVAR)"
	e.sample(40 * ms)
	if e.smoothed != 40*ms || e.variation != 20*ms || e.timeout() != 40*ms+4*20*ms+20*ms {
		t.Errorf("%+v, %v after one sample", e, e.timeout())
	}
	// (2.3) "RTTVAR <- (1 - beta) * RTTVAR + beta * |SRTT - R'|",
	// "SRTT <- (1 - alpha) * SRTT + alpha * R'", alpha=1/8, beta=1/4
	e.sample(80 * ms)
	if e.variation != 25*ms || e.smoothed != 45*ms {
		t.Errorf("%+v after two samples", e)
	}
	// (5.5) "RTO <- RTO * 2", up to a bound.
	before := e.timeout()
	e.backOff()
	if e.timeout() != 2*before {
		t.Errorf("%v after %v", e.timeout(), before)
	}
	for range 100 {
		e.backOff()
	}
	if e.timeout() != maxTimeout {
		t.Errorf("%v after many timeouts", e.timeout())
	}
	// Karn: the backoff lasts until there is a sample.
	for range 100 {
		e.sample(100 * time.Microsecond)
	}
	if got := e.timeout(); got < 20*ms || got > 40*ms {
		t.Errorf("%v on a fast link, whose receiver may wait for 20ms", got)
	}
}
