// Package control is the control plane of a run: how the coordinator directs its workers and hears
// from them. It speaks NATS, and is the only package that does so for control.
//
// A [Leader] (the coordinator) calls workers and waits for their answers, for a bounded time, and
// names those that stay silent. A [Member] (a worker) joins, answers, and reports what goes wrong.
// The messages are JSON, but for records, which are binary. Nothing of the algorithms under test
// passes here.
package control

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"golang.org/x/sys/unix"

	"dmebench/transport"
	"dmebench/transport/nats"
)

// startTimeout bounds how long the embedded server may take to accept
// connections, and a connection to be made.
const startTimeout = 10 * time.Second

// DefaultListen is where a broker listens by default: on this host only, on a
// port that is free.
const DefaultListen = "127.0.0.1:0"

// StartBroker starts a broker for that many workers, which listens at HOST:PORT. HOST is
// of this host's loopback: nothing encrypts what passes, the run's key included.
func StartBroker(listen string, workers int) (*nats.Server, error) {
	address, err := bind(cmp.Or(listen, DefaultListen), false)
	if err != nil {
		return nil, err
	}
	return nats.Embed(workers+1, &server.Options{
		ServerName: "dmebench", Host: address.IP.String(), Port: address.Port, MaxPayload: maxPayload,
	})
}

// bind binds the address once, before the server does, which reports a port in use only to
// a log and would wait for it. It returns the address as the server takes it: a free port is
// for the server to choose, since another process may take one that is chosen before. What
// is not encrypted is of this host's loopback.
func bind(listen string, encrypted bool) (*net.TCPAddr, error) {
	address, err := net.ResolveTCPAddr("tcp", listen)
	if err != nil {
		return nil, listenError(listen, err)
	}
	if !encrypted && !address.IP.IsLoopback() {
		return nil, listenError(listen, errExposed)
	}
	l, err := net.ListenTCP("tcp", address)
	if err != nil {
		return nil, listenError(listen, err)
	}
	l.Close()
	address.Port = cmp.Or(address.Port, server.RANDOM_PORT)
	return address, nil
}

// ErrListen is wrapped by the error of a broker that cannot listen where told.
var ErrListen = errors.New("control: cannot listen")

var errExposed = errors.New("other hosts could connect, and nothing there is encrypted")

func listenError(listen string, err error) error {
	advice := "want HOST:PORT"
	switch {
	case errors.Is(err, errExposed):
		advice = "all workers run on this host: choose an address of its loopback, such as " + DefaultListen
	case errors.Is(err, syscall.EADDRINUSE):
		advice = "the port is in use; choose another one, or 0 for any"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		advice = "this host has no such address"
	case errors.Is(err, os.ErrPermission):
		advice = "choose a port above 1023"
	}
	return fmt.Errorf("%w at %s: %v; %s", ErrListen, strconv.Quote(listen), err, advice)
}

// Standing is a broker that outlives runs, for agents and coordinators on other hosts.
type Standing struct {
	Listen string // HOST:PORT
	Token  string // lets clients in
	Store  string // folder of what is to survive the broker

	// Certificate is the server's; nil leaves connections plain, on the loopback alone.
	Certificate *tls.Certificate
}

// Bounds of a standing broker.
const (
	mostClients    = 8192                 // connections that have shown the token: workers, agents, coordinators
	clientsShare   = 2                    // of this process's descriptors: one in this many is for them
	tlsTimeout     = 2 * time.Second      // for a connection to become encrypted
	memoryStore    = 256 << 20            // bytes of streams in memory
	fileStore      = 16 << 30             // bytes of streams in files
	standingBuffer = transport.MaxBacklog // bytes that wait for one connection
	natsOverhead   = 1 << 10              // bytes around a frame of the largest size
)

// Start starts the broker, with JetStream. Its errors say what to do; one that cannot
// listen wraps [ErrListen].
func (b Standing) Start() (*nats.Server, error) {
	address, err := bind(b.Listen, b.Certificate != nil)
	if err != nil {
		return nil, err
	}
	host := server.DEFAULT_HOST // all interfaces
	if len(address.IP) > 0 {
		host = address.IP.String()
	}
	if err := os.MkdirAll(b.Store, 0o700); err != nil {
		return nil, err
	}
	o := &server.Options{
		ServerName: "dmebench-broker", Host: host, Port: address.Port, Authorization: b.Token,
		MaxPayload: transport.MaxFrame + natsOverhead, MaxPending: standingBuffer,
		JetStream: true, StoreDir: filepath.Clean(b.Store), JetStreamMaxMemory: memoryStore, JetStreamMaxStore: fileStore,
	}
	if b.Certificate != nil {
		o.TLS, o.TLSTimeout = true, tlsTimeout.Seconds()
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{*b.Certificate}}
	}
	return nats.Embed(clients(), o)
}

func clients() int {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) != nil {
		return mostClients
	}
	return int(min(uint64(r.Cur)/clientsShare, mostClients))
}
