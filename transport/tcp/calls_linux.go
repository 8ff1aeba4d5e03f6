//go:build !race

package tcp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// quickRead is unix.Read without telling Go's scheduler. b is not empty.
func quickRead(fd int, b []byte) (int, error) {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// quickWrite is unix.Write without telling Go's scheduler. b is not empty.
func quickWrite(fd int, b []byte) (int, error) {
	n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
