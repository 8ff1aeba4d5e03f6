//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package experiment

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// lock keeps other sweeps away from root until release is called or the process
// ends, however it ends. The file itself stays: removing it would let two
// processes lock two files of one name.
func lock(root string) (release func(), err error) {
	path := filepath.Join(root, lockName)
	f, err := openLock(path)
	if err != nil {
		if errors.Is(err, errNoLock) {
			return nil, refuse(CannotWrite, "%s %w; remove it, or choose another folder with --out", path, err)
		}
		return nil, unwritable(root, err)
	}
	if err := flock(f); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(f, 32))
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, refuse(Unavailable,
				"another sweep (process %s) writes to %s; wait for it, end it, or choose another folder with --out",
				strings.TrimSpace(string(holder)), root)
		}
		return nil, refuse(Unavailable, "cannot lock %s: %w; choose a folder on a local disk with --out", path, err)
	}
	// For people only: the lock is not the number. It has one width, so that it covers
	// an earlier one.
	fmt.Fprintf(f, "%-*d\n", holderWidth-1, os.Getpid())
	return func() { f.Close() }, nil
}

// holderWidth is the length of a lock's file in bytes.
const holderWidth = 12

var errNoLock = errors.New("is no lock of a sweep")

// openLock opens the file of a lock, or makes it. In a folder that others can write to, its
// name can have been given to something else, which is neither followed nor
// written to.
func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o644)
	if errors.Is(err, unix.ELOOP) {
		return nil, fmt.Errorf("%w but a symbolic link", errNoLock)
	}
	if err != nil {
		return nil, err
	}
	var s unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &s); err != nil {
		f.Close()
		return nil, os.NewSyscallError("fstat", err)
	}
	if s.Mode&unix.S_IFMT != unix.S_IFREG || s.Nlink > 1 || s.Size > holderWidth {
		f.Close()
		return nil, errNoLock
	}
	return f, nil
}

func flock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
