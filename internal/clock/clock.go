// Package clock reads one time that all processes of a host share, at the cost
// of Go's own monotonic clock.
//
// The kernel's CLOCK_MONOTONIC is the same for every process of a host, but
// reading it through golang.org/x/sys is a real system call, several times
// dearer than time.Since. A [Clock] is time.Since with an offset to
// CLOCK_MONOTONIC that is found once.
package clock

import (
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

// Now returns the host's monotonic time in nanoseconds.
func (c *Clock) Now() int64 { return c.offset + int64(time.Since(c.base)) }

// Error bounds how far Now is from the kernel's clock, and so how far the
// clocks of two processes of a host are apart: the sum of theirs.
func (c *Clock) Error() time.Duration { return c.error }

func monotonic() int64 { return read(unix.CLOCK_MONOTONIC) }

func read(clock int32) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(clock, &ts); err != nil {
		// The call cannot fail with clocks that every supported system has.
		panic("clock: " + err.Error())
	}
	return ts.Nano()
}
