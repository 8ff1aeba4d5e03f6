package nats

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"dmebench/transport"
)

// Server is a broker of a run's own, in this process. It listens on this host's
// loopback, at a port that is free, and lets in who has its token.
type Server struct {
	server *server.Server
	token  string
}

const (
	serverHost    = "127.0.0.1"
	serverTimeout = 10 * time.Second

	// spareConns is how many connections a server takes beside those that it
	// was started for: the sequencer's, and strangers on their way out.
	spareConns = 16

	// serverPending bounds what waits in the server for one connection, in
	// bytes. Clients read all the time, whatever their handlers do, so it fills
	// only where one gets no processor for long: the server then ends its
	// connection and the run fails.
	serverPending = 4 * transport.MaxBacklog
)

// StartServer starts a broker for so many connections.
func StartServer(conns int) (*Server, error) {
	b := make([]byte, 16)
	rand.Read(b) // never fails: it ends the program where there is no randomness
	token := hex.EncodeToString(b)
	s, err := server.NewServer(&server.Options{
		ServerName: "dmebench-data", Host: serverHost, Port: server.RANDOM_PORT, Authorization: token,
		MaxConn: conns + spareConns, MaxPayload: transport.MaxFrame + maxOverhead, MaxPending: serverPending,
		NoLog: true, NoSigs: true, NoSystemAccount: true,
		// Pings between processes of one host tell nothing; see Broker.connect.
		PingInterval: 24 * time.Hour, DisableShortFirstPing: true,
	})
	if err != nil {
		return nil, fmt.Errorf("nats: server: %w", err)
	}
	go s.Start()
	if !s.ReadyForConnections(serverTimeout) {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, errors.New("nats: server: cannot listen on " + serverHost + "; does this host have a loopback interface?")
	}
	return &Server{server: s, token: token}, nil
}

// Broker says how to reach the server.
func (s *Server) Broker() Broker {
	return Broker{URL: s.server.ClientURL(), Token: s.token, Own: true}
}

// Close stops the server; whoever is connected loses the connection.
func (s *Server) Close() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
}
