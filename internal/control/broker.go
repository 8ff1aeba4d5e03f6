// Package control is the control plane of a run: how the coordinator directs
// its workers and hears from them. It speaks NATS, and is the only package that
// does so for control.
//
// A [Leader] (the coordinator) calls workers and waits for their answers, for a
// bounded time, and names those who stay silent. A [Member] (a worker) joins,
// answers, and reports what goes wrong. The messages are JSON, but for records,
// which are binary. Nothing of the algorithms under test passes here.
package control

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// startTimeout bounds how long the embedded server may take to accept
// connections, and a connection to be made.
const startTimeout = 10 * time.Second

// Broker is an embedded NATS server with a token of its own.
type Broker struct {
	server *server.Server
	token  string
}

// DefaultListen is where a broker listens by default: on this host only, on a
// port that is free.
const DefaultListen = "127.0.0.1:0"

// StartBroker starts a broker that listens at HOST:PORT, and gives it a token
// without which nobody can connect.
func StartBroker(listen, token string) (*Broker, error) {
	if listen == "" {
		listen = DefaultListen
	}
	// Bound once beforehand: the server itself reports a port in use only to a
	// log, and would wait for it.
	probe, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, listenError(listen, err)
	}
	address := probe.Addr().(*net.TCPAddr)
	probe.Close()
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, listenError(listen, err)
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "dmebench", Host: host, Port: address.Port, Authorization: token,
		NoLog: true, NoSigs: true, MaxPayload: maxPayload, DontListen: false,
	})
	if err != nil {
		return nil, fmt.Errorf("control: broker: %w", err)
	}
	go s.Start()
	if !s.ReadyForConnections(startTimeout) {
		s.Shutdown()
		return nil, fmt.Errorf("control: broker: not ready at %s within %v", listen, startTimeout)
	}
	return &Broker{server: s, token: token}, nil
}

// ErrListen is wrapped by the error of a broker that cannot listen where told.
var ErrListen = errors.New("control: cannot listen")

func listenError(listen string, err error) error {
	advice := "want HOST:PORT"
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		advice = "the port is in use; choose another one, or 0 for any"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		advice = "this host has no such address"
	case errors.Is(err, os.ErrPermission):
		advice = "choose a port above 1023"
	}
	return fmt.Errorf("%w at %s: %v; %s", ErrListen, strconv.Quote(listen), err, advice)
}

// URL returns where the broker is reached.
func (b *Broker) URL() string { return b.server.ClientURL() }

// Token returns the secret that lets a client connect.
func (b *Broker) Token() string { return b.token }

// Close stops the broker.
func (b *Broker) Close() {
	b.server.Shutdown()
	b.server.WaitForShutdown()
}
