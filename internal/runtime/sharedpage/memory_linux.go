package sharedpage

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// anonymous returns a file of the given size that lives in memory alone. It keeps
// that size: any process of the same user can open it, and whoever touches memory
// that was cut off is ended by SIGBUS.
func anonymous(size int) (*os.File, error) {
	fd, err := unix.MemfdCreate("dmebench", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "shared page")
	if err := f.Truncate(int64(size)); err != nil {
		f.Close()
		return nil, err
	}
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		f.Close()
		return nil, fmt.Errorf("seal its size: %w", err)
	}
	return f, nil
}
