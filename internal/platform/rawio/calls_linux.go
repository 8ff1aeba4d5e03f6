//go:build !race

package rawio

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const available = true

// Calls that are made without telling the scheduler. Those for sockets spare what read and write
// do for files.
func quickRead(fd int, b []byte) (int, error)    { return call(unix.SYS_READ, fd, b, 0) }
func quickReceive(fd int, b []byte) (int, error) { return call(unix.SYS_RECVFROM, fd, b, 0) }
func quickSend(fd int, b []byte) (int, error)    { return call(unix.SYS_SENDTO, fd, b, unix.MSG_NOSIGNAL) }

func call(trap uintptr, fd int, b []byte, flags uintptr) (int, error) {
	n, _, errno := unix.RawSyscall6(trap, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), flags, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
