package coordinator

import (
	"time"

	"golang.org/x/sys/unix"
)

// wait sleeps for well under a millisecond where that is asked: the Go runtime's
// own timers do not when the process is idle.
func wait(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil) // woken early by a signal, the caller just looks sooner
}
