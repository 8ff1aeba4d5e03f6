package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
	"dmebench/lock"
	"dmebench/runs"
	"dmebench/workload/fault"
)

// openLocks starts the servers of a lock service, on this host: their clients are not
// started before they answer.
func (c *coordinator) openLocks(ctx context.Context) (err error) {
	p, ok := c.job.System.(*lock.Prepared)
	if !ok {
		return nil
	}
	delay := c.job.Links().All.Delay.Mean
	switch {
	case c.opt.Hosts != nil:
		return fmt.Errorf("%s: lock services are measured on one host; leave --agents out", p.Name)
	case p.Launch == nil && delay > 0:
		return fmt.Errorf("%s: its servers were there before the run, which cannot make the ways to them longer; leave delay out", p.Name)
	case p.Launch == nil:
		return nil
	}
	cut := slices.ContainsFunc(c.job.Faults, func(f fault.Fault) bool { return f.Kind == fault.Partition && f.OfServers() })
	if c.servers, err = p.Launch(ctx, p.Options, delay, cut); err != nil {
		err = fmt.Errorf("%s: %w", p.Name, err)
	}
	return err
}

// observeService returns what the servers report of the run; nil if it measures an algorithm.
func (c *coordinator) observeService(ctx context.Context, nodes []noderun.Counts) *runs.Service {
	p, ok := c.job.System.(*lock.Prepared)
	if !ok {
		return nil
	}
	s := lock.Status{Settings: map[string]string{}, Untold: "the servers were there before the run"}
	if c.servers != nil {
		s = c.servers.Status(ctx)
	}
	r := &runs.Service{Servers: p.Servers(), Settings: s.Settings, Between: s.Between, Untold: s.Untold}
	for i := range nodes {
		r.ClientBytes += nodes[i].Bytes
	}
	return r
}

// The servers are numbered after the nodes, for faults.

func (c *coordinator) serverOf(id dme.NodeID) (server int, ok bool) {
	server = int(id) - c.job.Spec.Nodes - 1
	return server, server >= 0
}

// strikeServers does to servers what is done to the processes of nodes. That one is back
// is over once it answers.
func (i *injector) strikeServers(k int, ids []dme.NodeID) (at int64, err error) {
	var servers []int
	for _, id := range ids {
		server, _ := i.c.serverOf(id)
		servers = append(servers, server)
	}
	kind, cluster := i.c.job.Faults[k].Kind, i.c.servers
	if kind == fault.Kill || kind == fault.Pause { // one that is killed stands still first: it answers nothing more
		err = cluster.Strike(i.ctx, fault.Pause, servers)
	}
	at, failed := i.record(k, ids)
	if err = errors.Join(err, failed); err == nil && kind != fault.Pause {
		err = cluster.Strike(i.ctx, kind, servers)
	}
	return at, err
}
