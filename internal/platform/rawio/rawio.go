// Package rawio makes system calls that do not block without waking the monitor of Go's scheduler:
// on sockets, and on a timer that is as precise as the kernel.
//
// An ordinary call tells the scheduler that a thread may block. If all of the process was idle
// until a message came, as the processes of a run mostly are, that wakes the scheduler's monitor
// thread for every message, which took a third of all processor time in a ring of processes
// (docs/performance.md). The monitor is needed if goroutines never pause: it interrupts them, and
// polls the network for the others. So one call in many, and every large one, is an ordinary call.
// On systems other than Linux, and under the race detector, all calls are ordinary.
//
// So the race detector never sees a quick call, which does the same as an ordinary one, but it does
// see everything around it that goroutines share. The quick calls themselves are tested without the
// detector: by this package, by the suites of the transports, which pass every frame through them,
// and by whole runs.
package rawio

import (
	"golang.org/x/sys/unix"
)

const (
	// inARow is how many calls are made in a row without telling the scheduler.
	inARow = 255

	// largest is the size in bytes of the largest call that is made without
	// telling: it keeps its processor from the scheduler, and so must be short.
	largest = 64 << 10
)

// Calls makes the calls of one direction of a socket, one at a time. The zero
// Calls is ready for use.
type Calls struct{ row int }

// Quick reports whether the next call, on that many bytes, is to be made without telling the
// scheduler. A caller that makes the call itself asks before each.
func (c *Calls) Quick(size int) bool {
	if !available || c.row == inARow || size > largest {
		c.row = 0
		return false
	}
	c.row++
	return true
}

// Read reads from any descriptor.
func (c *Calls) Read(fd uintptr, b []byte) (n int, err error) {
	return c.make(quickRead, unix.Read, fd, b)
}

// Receive reads from a socket.
func (c *Calls) Receive(fd uintptr, b []byte) (n int, err error) {
	return c.make(quickReceive, unix.Read, fd, b)
}

// Send writes to a socket.
func (c *Calls) Send(fd uintptr, b []byte) (n int, err error) {
	return c.make(quickSend, unix.Write, fd, b)
}

func (c *Calls) make(quick, ordinary func(int, []byte) (int, error), fd uintptr, b []byte) (n int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		if c.Quick(len(b)) {
			n, err = quick(int(fd), b)
		} else {
			n, err = ordinary(int(fd), b)
		}
		if err != unix.EINTR {
			return max(n, 0), err
		}
	}
}
