//go:build !linux

package peers

import (
	"net"
	"time"
)

// userTimeout does nothing if the system has no such timeout.
func userTimeout(*net.TCPConn, time.Duration) error { return nil }

// SegmentsSent is not known where the system does not say.
func SegmentsSent(*net.TCPConn) uint64 { return 0 }
