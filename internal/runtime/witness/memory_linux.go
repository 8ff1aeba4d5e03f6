package witness

import (
	"os"

	"golang.org/x/sys/unix"
)

// anonymous returns a file of the given size that lives in memory alone.
func anonymous(size int) (*os.File, error) {
	fd, err := unix.MemfdCreate("dmebench", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "shared page")
	if err := f.Truncate(int64(size)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
