package doctor

import (
	"time"

	"golang.org/x/sys/unix"
)

// readClock asks the kernel how its clock is kept.
func readClock() clockReading {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	return clockReading{
		refused: err, synchronized: state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0,
		estimated: time.Duration(t.Esterror) * time.Microsecond, most: time.Duration(t.Maxerror) * time.Microsecond,
	}
}
