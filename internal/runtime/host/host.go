// Package host is a host of a run as the run's coordinator sees it: where worker processes are
// started and ended, where what they count can be read although they die, where a witness sees
// which node is in the critical section, and whose clock their times are on.
//
// A run has one or several hosts. [Local] is this one; others are agents' (package agent). The
// coordinator leads all runs in the same way: a run on this host alone is one with a single, local
// host.
package host

import (
	"context"
	"errors"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/platform/launch"
	"dmebench/internal/record"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/noderun"
	"dmebench/runs"
)

// Host is where some of the nodes of a run live. Its methods may be called from
// several goroutines, after Open has returned. One whose host cannot be reached any
// more returns an error that wraps [ErrLost] and names the host.
type Host interface {
	// Open makes the host ready for its part of a run.
	Open(ctx context.Context, p Part) (About, error)

	// Start starts a worker process.
	Start(ctx context.Context, w Worker) (launch.Process, error)

	// Read notes what the nodes of this host have counted; readings[i] is node
	// i+1's, and those of nodes elsewhere stay as they are. Everything that is
	// read is read between the call and its return.
	Read(ctx context.Context, readings []Reading) error

	// Witness says what the host's witness of mutual exclusion has seen. It sees the
	// nodes of its own host alone. With waits it adds how long they have waited so
	// far, all together, in a run that is watched.
	Witness(ctx context.Context, waits bool) (Witness, error)

	// Hold asks the node that makes the entry of that place among those of this host,
	// or the first after it, to stay inside; 0 asks none any more. The witness sees
	// which one does.
	Hold(ctx context.Context, order uint64) error

	// Remove takes a node whose process does nothing any more out of the counters and
	// out of the critical section, and says what it leaves behind.
	Remove(ctx context.Context, id dme.NodeID) (control.Left, error)

	// Report says at the end of a run what its nodes have counted and recorded, and
	// how busy the host was.
	Report(ctx context.Context) (Report, error)

	// Close ends what is left of the run on this host: its processes are killed.
	Close() error
}

// About is what a run needs to know of a host that takes part in it.
type About struct {
	Name   string          // tells the host from the others, in errors and results
	Listen string          // HOST:PORT for the transports of its workers, as the other hosts reach it; port 0 for any that is free
	Clock  *clock.Relation // compares the host's clock with the coordinator's; nil if it is the same one
}

// Part is what a host is to do in a run.
type Part struct {
	Nodes   int          `json:"nodes"`             // of the whole run
	Local   []dme.NodeID `json:"local"`             // the nodes on this host
	Workers int          `json:"workers"`           // processes that host them
	Records int          `json:"records,omitempty"` // of a node's log that is to outlive its process; 0 if none is
	Watched bool         `json:"watched,omitempty"` // the live line shows how long nodes wait
}

// Worker says which worker process to start.
type Worker struct {
	Boot       control.Boot // its broker is named by the host that starts it, if it is not
	Name       string       // for errors: "worker 3"
	GOMAXPROCS int          // 0 for the host's own choice
}

// Reading is what a run is led by: how much a node has done, and where it stands.
type Reading struct {
	Sent     uint64           `json:"s,omitempty"` // messages, one for each receiver
	Handled  uint64           `json:"h,omitempty"` // messages, after what their handlers sent
	Requests uint64           `json:"r,omitempty"` // calls of Request
	Entries  uint64           `json:"e,omitempty"` // calls of Release
	Timers   uint64           `json:"t,omitempty"` // armed
	Pending  uint64           `json:"p,omitempty"` // requests that the local process has still to make; 1 stands for some
	Activity noderun.Activity `json:"a,omitempty"`
}

// Witness is what the witness of a host has seen.
type Witness struct {
	Entries    uint64              `json:"entries"` // so far, those included that have not ended
	Violations uint64              `json:"violations"`
	First      string              `json:"first,omitempty"` // describes the first violation
	Held       dme.NodeID          `json:"held,omitempty"`  // stays inside because it was asked to
	Waits      *noderun.WaitCounts `json:"waits,omitempty"` // nil if not requested
	Resource   record.Resource     `json:"resource"`        // in memory
}

// Report is what is left of a run on a host.
type Report struct {
	Host  runs.Host    `json:"host"`
	Nodes []NodeReport `json:"nodes"` // the nodes on this host, in ascending order
}

// NodeReport is what is left of a node.
type NodeReport struct {
	control.Left
	Log []byte `json:"log,omitempty"` // its records in their binary form, if they outlive its process
}

// ErrLost is wrapped by the errors of a host that cannot be reached any more.
var ErrLost = errors.New("it cannot be reached any more")

// LostError says which host cannot be reached any more, and why.
type LostError struct {
	Host  string
	Why   error
	Ended bool // its workers have, as the host itself has said
}

func (e *LostError) Error() string {
	return "host " + e.Host + ": " + ErrLost.Error() + ": " + e.Why.Error()
}

func (e *LostError) Unwrap() []error { return []error{ErrLost, e.Why} }

// Surveyor is a Host that measures the ways to the others by itself, and compares
// their clocks with its own, by datagrams between their ports.
type Surveyor interface {
	// Port opens the host's port for the run, which all hosts that know the key
	// believe, and says where it is. It is closed with the host.
	Port(ctx context.Context, key []byte) (clock.Peer, error)

	// Probe makes count exchanges with each peer, one after the other. paths[k] is
	// what came of those with peers[k]; a peer that did not answer at all is in
	// failures, by its name, with the reason.
	Probe(ctx context.Context, peers []clock.Peer, count int) (paths []clock.Path, failures map[string]string, err error)

	// Follow exchanges with each peer at each interval until the run is over, or until it is called
	// with others.
	Follow(ctx context.Context, peers []clock.Peer, interval time.Duration) error

	// Paths returns, by the name of the peer, what came of those exchanges since
	// it was last asked.
	Paths(ctx context.Context) (map[string]clock.Path, error)
}
