package peers

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// userTimeout makes the connection fail when data has waited for so long. Without it, that
// takes a quarter of an hour of retransmissions.
func userTimeout(conn *net.TCPConn, d time.Duration) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds()))
	})
	if err != nil {
		return err
	}
	return failed
}

// SegmentsSent counts what this side of a connection has sent; 0 where it is closed.
func SegmentsSent(conn *net.TCPConn) (n uint64) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			n = uint64(info.Segs_out)
		}
	})
	return n
}
