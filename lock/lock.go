// Package lock is the contract between dmebench and a lock service, such as etcd: how its servers
// are started, and how the local process of a node takes and gives back its lock.
//
// A [System] describes a service as a dme.Algorithm describes an algorithm. It is run over real
// networks by the same worker processes, workloads and faults, and watched by the same witness; its
// steps cannot be chosen, so it is not searched, simulated or replayed.
//
// The coordinator starts a [Cluster], does to its servers what faults ask for, and asks for its
// status at the end. Each worker is a process that opens a [Service] with a [Client]
// for each of its nodes:
//
//	coordinator   System.Launch; Cluster.Strike; Status; Close
//	worker        System.Start; Service.Client; Lock and Unlock, until the run is over
package lock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dmebench/dme"
	"dmebench/runs"
	"dmebench/workload/fault"
)

// System describes a lock service.
type System struct {
	// Of the Algorithm a service has a Name, Title, Citation, Description, Options, and Kinds of
	// messages between clients and servers, as a [Meter] counts them; and Fencing, where
	// [Client.Lock] returns fencing tokens. The rest is the same for all.
	dme.Algorithm

	// Servers is how many servers Launch starts; nil if Launch is nil.
	Servers func(dme.Options) int

	// Available says why the servers cannot be started on this host, with the line that installs
	// what is missing; nil if nothing is.
	Available func(dme.Options) error

	// Launch starts the servers of a run, and returns once they answer clients; nil: a run has none
	// of its own, as if options say at which addresses there is a service already. A message over a
	// link takes delay longer, one way; cut says that servers may be cut off.
	Launch func(ctx context.Context, o dme.Options, delay time.Duration, cut bool) (Cluster, error)

	// Start opens the service for the clients of one process. It waits until the service answers.
	Start func(ctx context.Context, c Config) (Service, error)
}

// Described describes the system to everything that lists, runs, measures and ranks
// algorithms. Its nodes are clients.
func (s *System) Described() *dme.Algorithm {
	a := s.Algorithm
	a.Class, a.Needs, a.Survives = dme.Service, dme.Always(dme.Needs{}), dme.SurvivesAny
	a.Peers = func(dme.System, dme.NodeID) []dme.NodeID { return []dme.NodeID{} }
	a.Prepare = func(c dme.Config) (dme.System, error) {
		if s.Available != nil {
			if err := s.Available(c.Options); err != nil {
				return nil, fmt.Errorf("%s cannot run here: %w", s.Name, err)
			}
		}
		return &Prepared{System: s, Options: c.Options}, nil
	}
	return &a
}

// Cluster is the servers of a run, by index from 0. They end with the process that has started
// them, however that ends.
type Cluster interface {
	// Addresses says where clients reach the servers, as HOST:PORT.
	Addresses() []string
	// Watch calls lost if a server ends unexpectedly.
	Watch(lost func(error))
	// Status asks the servers.
	Status(ctx context.Context) Status
	// Down reports whether a server does not run.
	Down(server int) bool

	// Strike does to servers what a fault of that kind does to nodes: Kill, Pause, Restart with what
	// they kept, or Partition from all others. It returns once they are gone, stand still or answer.
	Strike(ctx context.Context, what fault.Kind, servers []int) error
	// Relieve ends what a fault that lasts does to a server.
	Relieve(what fault.Kind, server int)

	// Close ends the servers and removes what they kept.
	Close()
}

// Status is what servers say of themselves.
type Status struct {
	Leader   int               // the index of the leader; -1 if there is none, or it is unknown
	Settings map[string]string // by which they run and figures are to be read: versions, fsync, leases
	Between  *runs.Between     // what they have exchanged since they were launched; nil if that is unknown
	Untold   string            // then: why
}

// Config is what a service is opened with in a process.
type Config struct {
	Options dme.Options
	Servers []string               // where clients reach the servers, as HOST:PORT, by index
	Meter   func(dme.NodeID) Meter // counts what the client of a node exchanges with servers
}

// Meter counts what a client exchanges with servers: what concerns the application, not what a
// library adds to keep connections open. Its methods may be called by any goroutine.
type Meter interface {
	Message(kind dme.Kind) // in either direction
	Bytes(n int)           // of a connection, likewise
}

// Service is a lock service, as one process sees it. There is one lock.
type Service interface {
	// Client returns the client of a node; ctx is for opening it alone.
	Client(ctx context.Context, node dme.NodeID) (Client, error)
	Close() error
}

// Client takes and gives back the lock for one node, one at a time.
type Client interface {
	// Lock returns once the node has the lock. The fencing token is larger than those of all
	// entries before, if the system has such tokens, else 0. After an error the node does not have
	// the lock, and Lock is called again.
	Lock(ctx context.Context) (fencing uint64, err error)
	// Unlock gives the lock back, and returns once that is known or given up. Its error wraps
	// [ErrLost] if the lock had been taken away meanwhile.
	Unlock(ctx context.Context) error
	Close() error
}

// ErrLost says that a node has lost its lock while it had it: its lease was over.
var ErrLost = errors.New("the lock was lost while it was held")

// Prepared is a system with the options of a run.
type Prepared struct {
	*System
	Options dme.Options
}

// Servers returns how many servers the run has of its own, for faults of servers.
func (p *Prepared) Servers() int {
	if p.System.Servers == nil {
		return 0
	}
	return p.System.Servers(p.Options)
}

// Node implements [dme.System].
func (p *Prepared) Node(dme.NodeID) dme.Node { return new(Node) }

// Node stands for the client of a node. The worker that has the client learns what the local
// process wants by the functions, which do not wait.
type Node struct {
	Ask, Leave func()
}

// Request implements [dme.Node], as do the following.
func (n *Node) Request(*dme.Outbox) { n.Ask() }

// Release gives the lock back.
func (n *Node) Release(*dme.Outbox) { n.Leave() }

// Receive refuses everything: clients of a lock service send each other nothing.
func (n *Node) Receive(_ dme.NodeID, _ dme.Message, out *dme.Outbox) {
	out.Refuse("clients of a lock service send each other nothing")
}

// Restart implements [dme.Restarter]: a client that is new knows nothing of the one before.
func (n *Node) Restart(*dme.Outbox) {}

// State has nothing to show.
func (n *Node) State(*dme.Visitor) {}
