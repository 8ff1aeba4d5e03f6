package peers

import (
	"errors"
	"net"
	"time"
)

// silence is for how long data may wait for a peer's acknowledgement before its host is
// taken for dead.
const silence = 10 * time.Second

// NoticeSilence makes a connection fail when the host of its peer has vanished: when data
// waits for ten seconds and patience, or when probes are not answered. On the loopback that
// cannot happen, and the probes of a full mesh would disturb what is measured.
func NoticeSilence(conn *net.TCPConn, patience time.Duration) error {
	remote, ok := conn.RemoteAddr().(*net.TCPAddr)
	probe := net.KeepAliveConfig{
		Enable: ok && !remote.IP.IsLoopback(),
		Idle:   5 * time.Second, Interval: 2 * time.Second, Count: 3,
	}
	return errors.Join(conn.SetKeepAliveConfig(probe), userTimeout(conn, silence+patience))
}
