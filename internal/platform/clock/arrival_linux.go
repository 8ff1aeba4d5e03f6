package clock

import (
	"net"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel notes when a datagram arrives, so that the time until this process has a core and
// reads it is not part of its way. It notes the time of day: the monotonic clock plus a difference
// that changes only when the time of day is set. Arrivals are computed with the difference at the
// reading.

type arrivals struct {
	now  func() int64 // the host's clock
	oob  [128]byte
	last int64 // the difference at the last reading
	wide int64 // what it may be wrong by
	set  int64 // when it changed; an arrival before that cannot use it
}

// tightest is how well the difference must be known to be used, in ns.
const tightest = 50_000 // ns

// newArrivals asks the kernel to note arrivals.
func newArrivals(conn *net.UDPConn, now func() int64) *arrivals {
	if raw, err := conn.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) })
	}
	return &arrivals{now: now} // the first reading finds another difference, and begins
}

// difference returns by how much the time of day is ahead of the host's clock, what
// that may be wrong by, and when it was read.
func (a *arrivals) difference() (at, ahead, wrong int64) {
	before := a.now()
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME, &ts); err != nil {
		return before, 0, 1 << 62 // no difference: every arrival is when it is read
	}
	at = a.now()
	return at, ts.Nano() - before - (at-before)/2, (at-before)/2 + 1
}

// of returns when the datagram arrived that was just read, with n bytes of what the
// kernel says of it.
func (a *arrivals) of(n int) int64 {
	at, ahead, wrong := a.difference()
	if wrong > tightest {
		return at
	}
	changed := ahead - a.last
	if max(changed, -changed) > wrong+a.wide {
		a.set = at
	}
	a.last, a.wide = ahead, wrong
	noted, ok := timestamp(a.oob[:n])
	if !ok {
		return at
	}
	if arrived := noted - ahead + wrong; arrived > a.set && arrived < at {
		return arrived
	}
	return at
}

func timestamp(oob []byte) (int64, bool) {
	all, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return 0, false
	}
	for _, m := range all {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPNS &&
			len(m.Data) >= int(unsafe.Sizeof(unix.Timespec{})) {
			return (*unix.Timespec)(unsafe.Pointer(&m.Data[0])).Nano(), true
		}
	}
	return 0, false
}
