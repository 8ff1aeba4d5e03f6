package control

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"golang.org/x/sys/unix"

	"dmebench/transport"
	"dmebench/transport/nats"
)

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
	clientsShare   = 2                    // of this process's descriptors: one in so many is for them
	tlsTimeout     = 2 * time.Second      // for a connection to become encrypted
	memoryStore    = 256 << 20            // bytes of streams in memory
	fileStore      = 16 << 30             // bytes of streams in files
	standingBuffer = transport.MaxBacklog // bytes that wait for one connection
	natsOverhead   = 1 << 10              // bytes around a frame of the largest size
)

// Start starts the broker, with JetStream. Its errors say what to do; one that cannot
// listen wraps [ErrListen].
func (b Standing) Start() (*nats.Server, error) {
	address, err := net.ResolveTCPAddr("tcp", b.Listen)
	if err != nil {
		return nil, listenError(b.Listen, err)
	}
	if b.Certificate == nil && !address.IP.IsLoopback() {
		return nil, listenError(b.Listen, errExposed)
	}
	if address, err = probe(b.Listen, address); err != nil {
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

// clients is how many connections with the token there may be.
func clients() int {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) != nil {
		return mostClients
	}
	return int(min(uint64(r.Cur)/clientsShare, mostClients))
}
