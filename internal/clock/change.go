package clock

import (
	"math"
	"time"
)

// Reading is what the kernel's clocks said at one instant, in nanoseconds.
type Reading struct {
	monotonic int64 // the clock that everything is measured with
	hardware  int64 // runs as the hardware does: what slews the monotonic clock leaves it alone
	running   int64 // as the monotonic clock, and counts the time for which the machine was suspended
	wall      int64
	error     int64 // bound on how far apart they were read
}

// Read reads them, within a few microseconds of one another unless the process
// is interrupted each time.
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

// Change is what became of the clocks of a host between two readings, as far as
// they can tell: the suspension of a virtual machine of which its kernel is not
// told is seen by no clock of that machine.
type Change struct {
	Elapsed   time.Duration `json:"elapsed_ns"`   // by the monotonic clock
	Suspended time.Duration `json:"suspended_ns"` // for which the machine was, which Elapsed leaves out
	Stepped   time.Duration `json:"stepped_ns"`   // by which the wall clock was set forward
	Slewed    time.Duration `json:"slewed_ns"`    // by which the monotonic clock was sped up, within Elapsed
	Error     time.Duration `json:"error_ns"`     // bound on the error of each
}

// Until returns what changed up to a later reading on the same host.
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
