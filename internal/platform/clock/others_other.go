//go:build !linux

package clock

import (
	"errors"

	"golang.org/x/sys/unix"
)

// others knows no other clock than the wall's: a suspension shows as a step of that.
func others() (hardware, running, wall int64) {
	now := monotonic()
	return now, now, read(unix.CLOCK_REALTIME)
}

func Disciplined() (Discipline, error) { return Discipline{}, errors.ErrUnsupported }
