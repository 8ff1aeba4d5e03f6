package rawio

import (
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Conn is a TCP connection that is read and written by quick calls. Unlike other
// connections, it takes one Read at a time, and one Write. Neither allocates.
type Conn struct {
	*net.TCPConn
	raw syscall.RawConn
	in  half
	out half
}

// half is one direction: what the call under way works on.
type half struct {
	calls   Calls
	attempt func(fd uintptr) bool // bound once: a method value taken for each call would be an allocation
	b       []byte
	n       int
	err     error
}

func NewConn(conn *net.TCPConn) (*Conn, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &Conn{TCPConn: conn, raw: raw}
	c.in.attempt, c.out.attempt = c.in.read, c.out.write
	return c, nil
}

func (c *Conn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	c.in.b = b
	err := c.raw.Read(c.in.attempt)
	c.in.b = nil
	switch {
	case err != nil:
		return 0, err
	case c.in.err != nil:
		return 0, os.NewSyscallError("read", c.in.err)
	case c.in.n == 0:
		return 0, io.EOF
	}
	return c.in.n, nil
}

func (c *Conn) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	c.out.b, c.out.n = b, 0
	err := c.raw.Write(c.out.attempt)
	c.out.b = nil
	if err == nil && c.out.err != nil {
		err = os.NewSyscallError("write", c.out.err)
	}
	return c.out.n, err
}

func (h *half) read(fd uintptr) bool {
	h.n, h.err = h.calls.Receive(fd, h.b)
	return h.err != unix.EAGAIN
}

func (h *half) write(fd uintptr) bool {
	for h.n < len(h.b) {
		n, err := h.calls.Send(fd, h.b[h.n:])
		h.n += n
		if err == unix.EAGAIN {
			return false
		}
		if h.err = err; err != nil {
			break
		}
	}
	return true
}
