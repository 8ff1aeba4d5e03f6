package peers

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// control calls f with the descriptor of a connection, unless that is closed.
func control(conn *net.TCPConn, f func(fd int)) {
	if raw, err := conn.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { f(int(fd)) })
	}
}

// userTimeout makes the connection fail when data has waited for that long. Without it, that
// takes a quarter of an hour of retransmissions.
func userTimeout(conn *net.TCPConn, d time.Duration) (err error) {
	control(conn, func(fd int) {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds()))
	})
	return err
}

// SegmentsSent counts what this side of a connection has sent; 0 if it is closed.
func SegmentsSent(conn *net.TCPConn) (n uint64) {
	control(conn, func(fd int) {
		if info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			n = uint64(info.Segs_out)
		}
	})
	return n
}
