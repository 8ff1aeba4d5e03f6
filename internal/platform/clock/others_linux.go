package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

func others() (hardware, running, wall int64) {
	return read(unix.CLOCK_MONOTONIC_RAW), read(unix.CLOCK_BOOTTIME), read(unix.CLOCK_REALTIME)
}

func Disciplined() (Discipline, error) {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	return Discipline{
		Synchronized: state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0,
		Estimated:    time.Duration(t.Esterror) * time.Microsecond,
		Most:         time.Duration(t.Maxerror) * time.Microsecond,
	}, err
}
