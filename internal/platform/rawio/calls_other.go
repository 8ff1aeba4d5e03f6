//go:build !linux || race

package rawio

import "golang.org/x/sys/unix"

// The race detector takes the ordinary calls as what orders the memory accesses
// of both ends. Other systems have no calls that are safe to make otherwise.
const available = false

func quickRead(fd int, b []byte) (int, error)    { return unix.Read(fd, b) }
func quickReceive(fd int, b []byte) (int, error) { return unix.Read(fd, b) }
func quickSend(fd int, b []byte) (int, error)    { return unix.Write(fd, b) }
