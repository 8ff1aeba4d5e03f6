package clock

import (
	"net"
	"net/netip"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What a datagram waits until it is read is not part of its way: neither a busy host
// that is asked nor one that asks makes the bound any looser.
func TestArrivalsAreTheKernels(t *testing.T) {
	b := portAt(t, "b", key, 0)
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.MustParseAddrPort(b.Address())))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// The kernel begins a while after it is asked to; the first are told by when they
	// are read.
	exact, giveUp := 0, time.Now().Add(20*time.Second)
	for number := uint64(1); exact < 20; number++ {
		b.mu.Lock() // an answer, which the port looks up, keeps it busy
		busy := datagram{Kind: isAnswer}.sealed(key, "b")
		for _, datagram := range [][]byte{busy, datagram{Kind: isQuestion, Session: number / 400, Number: number}.sealed(key, "b")} {
			if _, err := conn.Write(datagram); err != nil {
				t.Fatal(err)
			}
		}
		sent := b.now() // the second is in the kernel's queue
		b.mu.Unlock()
		answer := make([]byte, length)
		if _, err := conn.Read(answer); err != nil {
			t.Fatal(err)
		}
		d, ok := open(answer)
		if !ok || !fits(key, answer, "b") {
			t.Fatalf("%x", answer)
		}
		slack := 2 * b.wrong
		if d.Received <= sent+slack {
			exact++
		} else if exact > 0 && d.Answered-d.Received > 1e6 || time.Now().After(giveUp) {
			t.Fatalf("a question that had arrived by %d is said to have arrived at %d and was answered at %d", sent, d.Received, d.Answered)
		}
		if d.Answered < sent-slack {
			t.Errorf("a question that arrived at %d was answered at %d", sent, d.Answered)
		}
	}
}

// Where the time of day is set, the arrivals before that are told by when they were
// read: an arrival is never told too early.
func TestArrivalsWhereTheTimeOfDayIsSet(t *testing.T) {
	c := New()
	var shift int64        // of the host's clock, against the time of day
	var before, last int64 // its last two readings
	a := &arrivals{now: func() int64 {
		before, last = last, c.Now()+shift
		return last
	}}
	// arrived returns how long before it is read a datagram is said to have arrived
	// that the kernel noted a while ago.
	arrived := func(ago int64) int64 {
		for {
			var ts unix.Timespec
			if err := unix.ClockGettime(unix.CLOCK_REALTIME, &ts); err != nil {
				t.Fatal(err)
			}
			got := a.of(copy(a.oob[:], controlMessage(unix.NsecToTimespec(ts.Nano()-ago))))
			if (last-before)/2 < tightest { // else it was interrupted as it read the clocks
				return last - got
			}
		}
	}
	if got := arrived(1e6); got > 1e6/2 {
		t.Errorf("the first arrived %d ago: nothing is known of the time before it was read", got)
	}
	began := a.now()
	for a.now() < began+20e6 { // the clock must have gone on for as long as arrivals are ago
	}
	if got := arrived(10e6); got < 10e6-1e5 {
		t.Errorf("arrived %d ago, want 10 ms", got)
	}
	shift -= 7e9 // the time of day is set forward
	if got := arrived(10e6); got > 5e6 {
		t.Errorf("arrived %d ago, though the time of day was set since", got)
	}
	if got := a.now() - a.of(0); got > 5e6 {
		t.Errorf("without a note arrived %d ago", got)
	}
}

func controlMessage(ts unix.Timespec) []byte {
	size := int(unsafe.Sizeof(ts))
	b := make([]byte, unix.CmsgSpace(size))
	h := (*unix.Cmsghdr)(unsafe.Pointer(&b[0]))
	h.Level, h.Type = unix.SOL_SOCKET, unix.SCM_TIMESTAMPNS
	h.SetLen(unix.CmsgLen(size))
	*(*unix.Timespec)(unsafe.Pointer(&b[unix.CmsgLen(0)])) = ts
	return b
}
