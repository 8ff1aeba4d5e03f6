package doctor

import (
	"time"

	"golang.org/x/sys/unix"

	"dmebench/internal/environment"
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

// fileSystem says how many bytes a folder has for this user, and what becomes of
// results on a file system that is no disk of this host.
func fileSystem(folder string) (free uint64, fate string) {
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) != nil {
		return environment.Unlimited, ""
	}
	switch uint32(s.Type) {
	case unix.TMPFS_MAGIC, unix.RAMFS_MAGIC:
		fate = "results there are gone when the host restarts: choose a folder on a disk"
	case unix.OVERLAYFS_SUPER_MAGIC:
		fate = "results there are gone with the container: mount a volume"
	}
	return s.Bavail * uint64(s.Bsize), fate
}
