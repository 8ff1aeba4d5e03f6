//go:build !linux

package tcp

import (
	"net"
	"time"
)

// setUserTimeout does nothing where the system has no such timeout.
func setUserTimeout(*net.TCPConn, time.Duration) error { return nil }

// segmentsSent is not known where the system does not say.
func segmentsSent(*net.TCPConn) uint64 { return 0 }
