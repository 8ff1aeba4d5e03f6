package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
	"dmebench/lock"
	"dmebench/runs"
	"dmebench/workload/fault"
)

// lockService is the service that the run measures, if that is what it measures.
type lockService struct {
	*lock.Prepared              // nil if the run measures an algorithm
	cluster        lock.Cluster // nil if the run has no servers of its own
	before         lock.Status
	killed         atomic.Bool // a server: what it had counted is lost
}

// statusTime bounds how long servers may take to say how they are.
const statusTime = 30 * time.Second

// openLocks starts the servers of a lock service, on this host: their clients are not
// started before they answer.
func (c *coordinator) openLocks(ctx context.Context) error {
	p, ok := c.job.System.(*lock.Prepared)
	if !ok {
		return nil
	}
	if c.opt.Hosts != nil {
		return fmt.Errorf("%s: lock services are measured on one host; leave --agents out", p.Name)
	}
	delay := c.job.Links().All.Delay.Mean
	if c.locks.Prepared = p; p.Launch == nil {
		if delay > 0 {
			return fmt.Errorf("%s: its servers were there before the run, which cannot make the ways to them longer; leave delay out", p.Name)
		}
		c.locks.before = lock.Status{Settings: map[string]string{}, Untold: "the servers were there before the run"}
		return nil
	}
	links := lock.Links{
		Clients: delay, Servers: delay,
		Cut: slices.ContainsFunc(c.job.Faults, func(f fault.Fault) bool { return f.Kind == fault.Partition && f.OfServers() }),
	}
	if p.Options.Get(lock.SiteOption) == lock.OwnSite {
		links.Servers = 0
	}
	var err error
	if c.locks.cluster, err = p.Launch(ctx, p.Options, links); err == nil {
		limited, cancel := context.WithTimeout(ctx, statusTime)
		defer cancel()
		c.locks.before, err = c.locks.cluster.Status(limited)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	return nil
}

// observe returns what the servers report of the run; nil if it measures an algorithm.
func (l *lockService) observe(ctx context.Context, nodes []noderun.Counts) *runs.Service {
	if l.Prepared == nil {
		return nil
	}
	r := &runs.Service{Servers: l.Servers(), Settings: l.before.Settings, Untold: l.before.Untold}
	for i := range nodes {
		r.ClientBytes += nodes[i].Bytes
	}
	switch {
	case l.before.Between == nil:
		return r
	case l.killed.Load():
		r.Untold = "a server was killed, and what it had counted is lost"
		return r
	}
	after, err := l.cluster.Status(ctx)
	switch {
	case err != nil:
		r.Untold = fmt.Sprintf("the servers do not answer at the end: %v", err)
	case after.Between == nil:
		r.Untold = after.Untold
	default:
		a, b := after.Between, l.before.Between
		r.Between = &runs.Between{Messages: less(a.Messages, b.Messages), Bytes: less(a.Bytes, b.Bytes)}
	}
	return r
}

func less(a, b *uint64) *uint64 {
	if a == nil || b == nil {
		return nil
	}
	n := *a - *b
	return &n
}

func (l *lockService) close() {
	if l.cluster != nil {
		l.cluster.Close()
	}
}

// The servers are numbered after the nodes, for faults.

func (c *coordinator) serverOf(id dme.NodeID) (server int, ok bool) {
	server = int(id) - c.job.Spec.Nodes - 1
	return server, server >= 0
}

// leader returns the server that leads, by its number for faults; none if there is no leader now.
func (l *lockService) leader(ctx context.Context, nodes int) []dme.NodeID {
	s, err := l.cluster.Status(ctx)
	if err != nil || s.Leader < 0 {
		return nil
	}
	return []dme.NodeID{dme.NodeID(nodes + 1 + s.Leader)}
}

// strikeServers does to servers what is done to the processes of nodes. That one is back
// is over once it answers.
func (i *injector) strikeServers(k int, servers []dme.NodeID) (at int64, err error) {
	c := i.c
	kind := c.job.Faults[k].Kind
	var which []int
	for _, id := range servers {
		server, _ := c.serverOf(id)
		which = append(which, server)
		if kind == fault.Kill || kind == fault.Pause { // one that is killed stands still first: it answers nothing more
			err = errors.Join(err, c.locks.cluster.Pause(server))
		}
	}
	at, failed := i.record(k, servers)
	if err = errors.Join(err, failed); err != nil {
		return at, err
	}
	switch kind {
	case fault.Kill:
		c.locks.killed.Store(true)
		for _, server := range which {
			c.locks.cluster.Kill(server)
		}
	case fault.Partition:
		for _, server := range which {
			c.locks.cluster.Cut(server, true)
		}
	case fault.Restart:
		err = c.locks.cluster.Restart(i.ctx, which)
	}
	return at, err
}
