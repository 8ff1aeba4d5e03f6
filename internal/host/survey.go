package host

import (
	"context"
	"time"

	"dmebench/internal/clock/exchange"
)

// Surveyor is a Host that measures the ways to the others by itself, and compares
// their clocks with its own, by datagrams between their ports.
type Surveyor interface {
	Host

	// Port opens the host's port for the run, which all hosts that know the key
	// believe, and says where it is. It is closed with the host.
	Port(ctx context.Context, key []byte) (exchange.Peer, error)

	// Probe makes count exchanges with each peer, one after the other. paths[k] is
	// what came of those with peers[k]; a peer that did not answer at all is in
	// failures, by its name, with the reason.
	Probe(ctx context.Context, peers []exchange.Peer, count int) (paths []exchange.Path, failures map[string]string, err error)

	// Follow exchanges with each peer at each interval until the run is over, or
	// until it is told to follow others.
	Follow(ctx context.Context, peers []exchange.Peer, interval time.Duration) error

	// Paths returns, by the name of the peer, what came of those exchanges since
	// it was last asked.
	Paths(ctx context.Context) (map[string]exchange.Path, error)
}
