// Package servers runs the servers of a lock service, each as a process of its own beneath the
// coordinator, and does to them what faults ask for.
//
// A server ends with the process that started it, however that ends, and what it kept is then
// removed. The program that starts servers is the one that serves: its main calls [Main] first.
package servers

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"dmebench/dme"
	"dmebench/lock"
)

// System is a lock service whose servers are processes of the run. [System.Lock] decides
// what its lock.System launches and starts.
type System struct {
	lock.System

	// Serve is one server, in a process of its own. It calls s.Ready once clients are
	// answered, and returns when ctx ends or the server does; then nothing of it is left
	// but what lies in s.Dir.
	Serve func(ctx context.Context, s Server) error

	// Connect opens the service for one process. It waits until the service answers.
	Connect func(ctx context.Context, c Config) (Service, error)
}

// Lock returns what dmebench is to know of the system.
func (s *System) Lock() *lock.System {
	l := s.System
	l.Options = append(slices.Clip(l.Options), site)
	l.Launch = s.launch
	l.Start = func(ctx context.Context, c lock.Config) (lock.Service, error) {
		return s.Connect(ctx, Config{Config: c})
	}
	return &l
}

// Server is what a server is started with.
type Server struct {
	Options dme.Options
	Index   int     // of the server, from 0
	All     []Ports // of all servers, by index
	Dir     string  // where it may keep what it has to; the same when it is started again
	Ready   func()
}

// Ports says where a server listens, as HOST:PORT.
type Ports struct {
	Client string // for clients
	Peer   string // for the other servers
	Reach  string // where the other servers reach it: Peer, or a relay that delays what passes
	Admin  string // for its metrics
}

// Config is what a service is opened with.
type Config struct {
	lock.Config
	All []Ports // of the servers, for Status, which passes no relay; nil in a worker
}

// Service is a lock service whose servers can be asked how they are.
type Service interface {
	lock.Service
	Status(ctx context.Context) (lock.Status, error)
}

// The option that says where servers are, in a run whose links have a delay.
const (
	siteOption = "site"
	ownSite    = "own"
)

var site = dme.Choice(siteOption,
	"where the servers are: among the nodes, so that every link is as long, or on a site of their own, with short links between them",
	"nodes", ownSite)

// Patience bounds how long servers may take from their start until they answer clients.
const Patience = 30 * time.Second

// leaseOption is how long a service holds the lock of a client that it does not hear of.
const leaseOption = "lease"

// LeaseOption returns the option by which the length of a lease is set.
func LeaseOption(fallback string) dme.Option {
	return dme.Option{
		Name: leaseOption, Default: fallback, Forms: []string{"DURATION"},
		Help: "after how long the lock is taken from a client that is not heard of",
		Valid: func(s string) error {
			if d, err := dme.ParseDuration(s); err != nil || d <= 0 {
				return fmt.Errorf("not a duration above 0, such as %s", fallback)
			}
			return nil
		},
	}
}

// Lease returns the value of the option.
func Lease(o dme.Options) time.Duration {
	d, err := dme.ParseDuration(o.Get(leaseOption))
	if err != nil {
		panic("servers: the option was not checked: " + err.Error())
	}
	return d
}

// countOption is how many servers a run has.
const countOption = "servers"

// CountOption returns the option by which their number is chosen, the default first.
func CountOption(help string, numbers ...string) dme.Option {
	return dme.Choice(countOption, help, numbers...)
}

// Count returns the value of the option.
func Count(o dme.Options) int {
	n, err := strconv.Atoi(o.Get(countOption))
	if err != nil {
		panic("servers: the option was not checked: " + err.Error())
	}
	return n
}
