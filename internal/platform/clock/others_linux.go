package clock

import "golang.org/x/sys/unix"

// others reads the clocks beside the monotonic one.
func others() (hardware, running, wall int64) {
	return read(unix.CLOCK_MONOTONIC_RAW), read(unix.CLOCK_BOOTTIME), read(unix.CLOCK_REALTIME)
}
