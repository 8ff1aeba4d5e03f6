package tcp

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"dmebench/transport/peers"
)

// TestUserTimeoutIsSet asks the kernel, on both ends of a connection.
func TestUserTimeoutIsSet(t *testing.T) {
	tr, e, _ := alone(t, defaultLimits())
	write(t, dialAs(t, tr, 3), peers.AppendFrame(nil, 3, 1, []byte("x")))
	next(t, "a frame", e.Frames)
	if err := tr.Send(1, 2, []byte("to ourselves")); err != nil {
		t.Fatal(err)
	}
	tr.Flush()
	next(t, "a frame", e.Frames)
	tr.mu.Lock()
	accepted, link := tr.inbounds[0].conn, tr.links[0]
	tr.mu.Unlock()
	link.mu.Lock()
	dialed := link.conn
	link.mu.Unlock()
	for name, conn := range map[string]*net.TCPConn{"accepted": accepted, "dialed": dialed} {
		raw, err := conn.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		raw.Control(func(fd uintptr) {
			ms, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
			if err != nil || int64(ms) != userTimeout.Milliseconds() {
				t.Errorf("%s: user timeout %d ms, %v; want %v", name, ms, err, userTimeout)
			}
		})
	}
}
