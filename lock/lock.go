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
	"time"

	"dmebench/dme"
	"dmebench/runs"
	"dmebench/workload/fault"
)

// System describes a lock service.
type System struct {
	Name     string // as on the command line
	Title    string // as in a plot's legend or a heading
	Citation string // which library and which servers, with where their lock is described

	// Description is a paragraph: how the lock works, what it costs, what it survives.
	Description string

	// Kinds names the messages between clients and servers that a [Meter] counts as 1, 2, …
	Kinds []string

	Options []dme.Option

	// Servers is how many servers Launch starts; nil where that is.
	Servers func(dme.Options) int

	// Lease is after how long the service lets go of a client that it does not hear of; 0 if the
	// end of its connection does that.
	Lease func(dme.Options) time.Duration

	// Fencing reports whether [Client.Lock] returns fencing tokens; nil: it does not.
	Fencing func(dme.Options) bool

	// Available says why the servers cannot be started on this host, with the line that installs
	// what is missing; nil if nothing is.
	Available func(dme.Options) error

	// Launch starts the servers of a run, and returns once they answer clients; nil: a run has none
	// of its own, as if options say at which addresses there is a service already.
	Launch func(ctx context.Context, o dme.Options, l Links) (Cluster, error)

	// Start opens the service for the clients of one process. It waits until the service answers.
	Start func(ctx context.Context, c Config) (Service, error)
}

// Links are those between the processes of a run. The delays are how much longer everything
// takes, one way.
type Links struct {
	Clients time.Duration // between clients and servers
	Servers time.Duration // between servers
	Cut     bool          // servers may be cut off
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
	Servers []string // where clients reach the servers, as HOST:PORT, by index
	Run     string   // names the run: of what a service keeps for several

	Meter func(dme.NodeID) Meter // counts what the client of a node exchanges with servers
}

// Meter counts what a client exchanges with servers: what concerns the application, not what a
// library adds to keep connections open. Its methods may be called by any goroutine.
type Meter interface {
	Sent(kind dme.Kind)     // a message to a server
	Received(kind dme.Kind) // a message from one
	Passed(bytes int)       // by a connection, in either direction
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
