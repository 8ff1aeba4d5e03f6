package lockserver

import (
	"context"
	"net"

	"dmebench/dme"
)

// Unmetered is a [lock.Meter] that counts nothing.
type Unmetered struct{}

func (Unmetered) Sent(dme.Kind)     {}
func (Unmetered) Received(dme.Kind) {}

func (Unmetered) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, address)
}
