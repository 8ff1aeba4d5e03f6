//go:build !linux

package clock

import (
	"errors"

	"golang.org/x/sys/unix"
)

// others reads the clocks beside the monotonic one. Where the system has no
// other than the wall clock, a suspension shows as a step of that.
func others() (hardware, running, wall int64) {
	now := monotonic()
	return now, now, read(unix.CLOCK_REALTIME)
}

// Disciplined is not known on this system.
func Disciplined() (Discipline, error) { return Discipline{}, errors.ErrUnsupported }
