//go:build !linux

package tcp

import (
	"net"
	"time"
)

// setUserTimeout does nothing where the system has no such timeout.
func setUserTimeout(*net.TCPConn, time.Duration) error { return nil }
