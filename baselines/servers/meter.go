package servers

import (
	"context"
	"net"

	"dmebench/dme"
	"dmebench/lock"
)

// Meter counts what a client exchanges with servers, with the bytes of connections that it dials.
type Meter struct{ lock.Meter }

// MeterOf returns what counts for the client of a node; of node None it counts nothing.
func (c *Config) MeterOf(node dme.NodeID) Meter {
	if node == dme.None {
		return Meter{nothing{}}
	}
	return Meter{c.Meter(node)}
}

// Dial dials as [net.Dialer.DialContext] does.
func (m Meter) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return counted{c, m}, nil
}

type counted struct {
	net.Conn
	meter lock.Meter
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.meter.Bytes(n)
	return n, err
}

func (c counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.meter.Bytes(n)
	return n, err
}

type nothing struct{}

func (nothing) Message(dme.Kind) {}
func (nothing) Bytes(int)        {}
