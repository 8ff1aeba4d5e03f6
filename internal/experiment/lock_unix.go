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
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, unwritable(root, err)
	}
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
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
	fmt.Fprintf(f, "%-11d\n", os.Getpid())
	return func() { f.Close() }, nil
}
