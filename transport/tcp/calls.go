package tcp

import (
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Sockets here do not block: a call takes what is there, or gives what there is
// room for, and returns. Made in the ordinary way, it nevertheless tells Go's
// scheduler that a thread may block. Where all of the process was idle until the
// message came, as it mostly is in a run, that wakes the scheduler's monitor
// thread, which looks after a thread that does not block and falls asleep again:
// for every message. In a ring it took a third of all processor time
// (docs/performance.md). So calls are made without telling, where the system
// allows it.
//
// The monitor is needed where goroutines never pause: it interrupts them, and
// polls the network for the others. So some calls are ordinary, and wake it.
const (
	// quickCalls is how many calls in a row are made without telling.
	quickCalls = 255

	// quickSize is the largest call in bytes that is made without telling: it
	// keeps its processor from the scheduler, and so must be short.
	quickSize = 64 << 10
)

// calls makes the calls of one direction of a connection, one at a time.
type calls struct{ quick int }

func (c *calls) mayBeQuick(size int) bool {
	if c.quick == quickCalls || size > quickSize {
		c.quick = 0
		return false
	}
	c.quick++
	return true
}

func (c *calls) read(fd int, b []byte) (int, error) {
	if c.mayBeQuick(len(b)) {
		return quickRead(fd, b)
	}
	return unix.Read(fd, b)
}

func (c *calls) write(fd int, b []byte) (int, error) {
	if c.mayBeQuick(len(b)) {
		return quickWrite(fd, b)
	}
	return unix.Write(fd, b)
}

// reader is the reading end of a connection.
type reader struct {
	raw   syscall.RawConn
	calls calls
	retry func(fd uintptr) bool

	// Of the call of Read under way.
	b   []byte
	n   int
	err error
}

func newReader(conn *net.TCPConn) (*reader, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	r := &reader{raw: raw}
	// Bound once: a method value taken for each read would be an allocation.
	r.retry = r.attempt
	return r, nil
}

// Read reads what is there, and waits until something is.
func (r *reader) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	r.b = b
	if err := r.raw.Read(r.retry); err != nil {
		return 0, err
	}
	switch {
	case r.err != nil:
		return 0, os.NewSyscallError("read", r.err)
	case r.n == 0:
		return 0, io.EOF
	}
	return r.n, nil
}

// attempt is one read call. It is called by RawConn, which waits for the socket
// when attempt returns false.
func (r *reader) attempt(fd uintptr) bool {
	r.n, r.err = r.calls.read(int(fd), r.b)
	for r.err == unix.EINTR {
		r.n, r.err = r.calls.read(int(fd), r.b)
	}
	return r.err != unix.EAGAIN
}
