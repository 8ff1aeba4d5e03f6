package nats

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"dmebench/transport"
)

// Server is a broker of a run's own, in this process, at a free port of the loopback. It admits
// clients with its token.
type Server struct {
	server *server.Server
	gate   *gate
}

// gate admits clients with the token.
type gate struct {
	token string
	letIn atomic.Uint64
}

func (g *gate) Check(c server.ClientAuthentication) bool {
	ok := subtle.ConstantTimeCompare([]byte(c.GetOpts().Token), []byte(g.token)) == 1
	if ok {
		g.letIn.Add(1)
	}
	return ok
}

const (
	serverHost    = "127.0.0.1"
	serverTimeout = 10 * time.Second

	authTimeout = connectTimeout

	// mostStrangers is how many connections without the token a server holds at most.
	mostStrangers = 4096

	// spareConns is how many connections a run may make beside those that its server
	// was started for: the sequencer's, and of processes that come back.
	spareConns = 16

	// serverPending bounds what waits in the server for one connection, in bytes. It fills only if
	// a client gets no processor for long: the server then ends its connection.
	serverPending = 4 * transport.MaxBacklog
)

// StartServer starts a broker for the given number of connections of the run.
func StartServer(conns int) (*Server, error) {
	return Embed(conns, &server.Options{
		ServerName: "dmebench-data", Host: serverHost, Port: server.RANDOM_PORT,
		MaxPayload: transport.MaxFrame + maxOverhead, MaxPending: serverPending,
		NoSystemAccount: true,
		// Pings between processes of one host show nothing; see Broker.connect.
		PingInterval: 24 * time.Hour, DisableShortFirstPing: true,
	})
}

// Embed starts a server in this process for the given number of connections of the run, with the
// token that o has, else one of its own, and without a log.
func Embed(conns int, o *server.Options) (*Server, error) {
	g := &gate{token: cmp.Or(o.Authorization, rand.Text())}
	o.Authorization, o.CustomClientAuthentication = "", g // nor does the server say the token
	o.NoLog, o.NoSigs = true, true
	o.MaxConn, o.AuthTimeout = conns+spareConns+mostStrangers, authTimeout.Seconds()
	s, err := server.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("nats: server: %w", err)
	}
	go s.Start()
	if !s.ReadyForConnections(serverTimeout) {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("nats: server: cannot listen on %s within %v; does this host have a loopback interface?",
			o.Host, serverTimeout)
	}
	return &Server{server: s, gate: g}, nil
}

func (s *Server) Broker() Broker {
	return Broker{URL: s.server.ClientURL(), Token: s.gate.token, Own: true}
}

// Strangers counts connections that have not shown the token, also those of the run that
// are just being made.
func (s *Server) Strangers() uint64 {
	letIn := s.gate.letIn.Load()
	v, err := s.server.Varz(nil)
	if err != nil {
		return 0 // never fails
	}
	return max(v.TotalConnections, letIn) - letIn
}

func (s *Server) Close() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
}

// leastStore is what the server may keep in files, in bytes: runs keep nothing there, but 0 would
// mean all of the disk.
const leastStore = 1

// EnableJetStream lets the server keep streams and key-value buckets, in memory and of
// at most that many bytes together. It is called once.
func (s *Server) EnableJetStream(memory int64) error {
	// The server wants to see a folder for what it writes down of its streams; of one that is in
	// memory it writes nothing down, and a folder would stay if this process was killed.
	dir, err := os.MkdirTemp("", "dmebench-jetstream-*")
	if err != nil {
		return fmt.Errorf("nats: server: JetStream needs a folder for temporary files: %w", err)
	}
	defer os.RemoveAll(dir)
	err = s.server.EnableJetStream(&server.JetStreamConfig{MaxMemory: memory, MaxStore: leastStore, StoreDir: dir})
	if err != nil {
		return fmt.Errorf("nats: server: JetStream: %w", err)
	}
	return nil
}
