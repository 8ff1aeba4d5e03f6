package tcp

import "net"

// packets is how many segments this side of a connection has sent, with those
// that only acknowledge, as far as it was read: it outlives the connection. It is
// guarded by the lock of who has the connection.
type packets uint64

// read returns the number now, or the last one that is known. conn may be nil.
func (p *packets) read(conn *net.TCPConn) uint64 {
	if conn != nil {
		*p = max(*p, packets(segmentsSent(conn)))
	}
	return uint64(*p)
}
