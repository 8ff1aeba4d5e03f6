// Package clock reads one time that all processes of a host share, at the cost of Go's own
// monotonic clock, and compares the clocks of hosts.
//
// The kernel's CLOCK_MONOTONIC is the same for every process of a host, but reading it is a real
// system call. A [Clock] is time.Since with an offset to it that is found once.
//
// Each host of a run, the coordinator's included, opens a [Port], which answers the questions of
// the others and asks them: by [Port.Probe] before a run and after it, by [Port.Follow] while it
// goes on. The [Path] that comes of it is JSON, so that an agent can hand it to the coordinator,
// where a [Link] takes it. All share a key. Of a datagram nothing is believed that is not sealed
// with the key for the host that it is meant for, nor an answer to no question. The network
// can only lose or delay an exchange, and the bound covers any delay. On Linux a datagram has
// arrived when the kernel has it, so that a busy host makes no bound looser. If no datagram passes
// between two hosts Probe fails; an [Exchange] can be made over another way then, and the bound is
// what that way takes.
package clock

import (
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// Clock tells the host's monotonic time.
type Clock struct {
	base   time.Time
	offset int64         // CLOCK_MONOTONIC at base, ns
	error  time.Duration // bound on the error of offset
}

// New finds the offset to the host's clock by the tightest of several brackets.
func New() *Clock {
	c := &Clock{error: time.Hour}
	for range 32 {
		before := monotonic()
		base := time.Now()
		after := monotonic()
		if width := time.Duration(after - before); width < 2*c.error {
			*c = Clock{base: base, offset: before + (after-before)/2, error: (width + 1) / 2}
		}
	}
	return c
}

// Now is the host's monotonic time in nanoseconds.
func (c *Clock) Now() int64 { return c.offset + int64(time.Since(c.base)) }

// Error bounds how far Now is from the kernel's clock; the clocks of two processes of a host
// are apart by the sum of theirs.
func (c *Clock) Error() time.Duration { return c.error }

// Cost is what it takes to read the time, at best: interruptions are not the clock's.
func Cost() time.Duration {
	const batches, batch = 32, 64
	cost := time.Hour
	for range batches {
		begin := time.Now()
		for range batch {
			_ = time.Now()
		}
		cost = min(cost, time.Since(begin)/batch)
	}
	return cost
}

func monotonic() int64 { return read(unix.CLOCK_MONOTONIC) }

func read(clock int32) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(clock, &ts); err != nil {
		// The call cannot fail with clocks that every supported system has.
		panic("clock: " + err.Error())
	}
	return ts.Nano()
}

// Reading is what the kernel's clocks said at one instant, in nanoseconds.
type Reading struct {
	monotonic int64 // the clock that everything is measured with
	hardware  int64 // runs as the hardware does: what slews the monotonic clock leaves it alone
	running   int64 // as the monotonic clock, and counts the time for which the machine was suspended
	wall      int64
	error     int64 // bound on how far apart they were read
}

// Read reads them, within a few microseconds unless the process is interrupted each time.
func Read() Reading {
	best := Reading{error: math.MaxInt64}
	for range 8 {
		r := Reading{monotonic: monotonic()}
		r.hardware, r.running, r.wall = others()
		r.error = monotonic() - r.monotonic
		if r.error < best.error {
			best = r
		}
	}
	return best
}

// Discipline is how the kernel's wall clock is kept by a time service.
type Discipline struct {
	Synchronized    bool
	Estimated, Most time.Duration // error, as known to the kernel
}

// Change is what became of the clocks of a host between two readings. If a virtual machine is
// suspended without its kernel knowing, no clock of that machine shows it.
type Change struct {
	Elapsed   time.Duration `json:"elapsed_ns"`   // by the monotonic clock
	Suspended time.Duration `json:"suspended_ns"` // for which the machine was, which Elapsed leaves out
	Stepped   time.Duration `json:"stepped_ns"`   // by which the wall clock was set forward
	Slewed    time.Duration `json:"slewed_ns"`    // by which the monotonic clock was sped up, within Elapsed
	Error     time.Duration `json:"error_ns"`     // bound on the error of each
}

// Until is what changed up to a later reading on the same host.
func (r Reading) Until(s Reading) Change {
	elapsed := s.monotonic - r.monotonic
	running := s.running - r.running
	return Change{
		Elapsed:   time.Duration(elapsed),
		Suspended: time.Duration(running - elapsed),
		Stepped:   time.Duration(s.wall - r.wall - running),
		Slewed:    time.Duration(elapsed - (s.hardware - r.hardware)),
		Error:     time.Duration(r.error + s.error),
	}
}
