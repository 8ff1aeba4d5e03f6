package coordinator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"dmebench/dme"
	"dmebench/internal/record/measure"
	"dmebench/internal/runtime/host"
	"dmebench/internal/runtime/noderun"
	"dmebench/runs"
	"dmebench/transport/nats"
)

// openHosts says which worker is on which host, and makes the hosts ready.
func (c *coordinator) openHosts(ctx context.Context) error {
	c.hosts = c.opt.Hosts
	if c.hosts == nil {
		c.hosts = []host.Host{new(host.Local)}
	}
	local := make([][]dme.NodeID, len(c.hosts))
	for w, p := range c.places {
		p.host = w % len(c.hosts)
		if c.opt.Place != nil {
			p.host = c.opt.Place[w]
		}
		local[p.host] = append(local[p.host], p.nodes...)
	}
	c.lost = make([]atomic.Bool, len(c.hosts))
	c.tolerant = c.several() && len(c.hosts) > 1 && c.job.BearsLoss()
	part := host.Part{Nodes: c.job.Spec.Nodes, Watched: c.opt.Progress != nil}
	if len(c.job.Faults) > 0 || c.tolerant {
		part.Records = c.logLimit() // what a node has recorded outlives it
	}
	c.looked = make([]host.Reading, part.Nodes)
	return c.onHosts(func(k int, h host.Host) error {
		mine := part
		mine.Local = local[k]
		return h.Open(ctx, mine)
	})
}

// onHosts does something on all hosts that are not lost, on several of them at the
// same time.
func (c *coordinator) onHosts(do func(k int, h host.Host) error) error {
	if len(c.hosts) == 1 {
		return do(0, c.hosts[0])
	}
	errs := make([]error, len(c.hosts))
	var wg sync.WaitGroup
	for k, h := range c.hosts {
		if !c.lost[k].Load() {
			wg.Go(func() { errs[k] = do(k, h) })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// closeHosts ends what is left of the run on all hosts, those that are lost included.
func (c *coordinator) closeHosts() {
	var wg sync.WaitGroup
	for _, h := range c.hosts {
		wg.Go(func() { _ = h.Close() }) // what a host that is lost leaves, it ends by itself
	}
	wg.Wait()
}

// several reports whether the nodes are on several hosts, or on another one.
func (c *coordinator) several() bool { return c.opt.Control != nil }

// hostOf returns the host of a worker.
func (c *coordinator) hostOf(worker int) host.Host { return c.hosts[c.places[worker].host] }

// there returns what the clock of a worker's host shows at an instant.
func (c *coordinator) there(worker int, at int64) int64 { return c.hostOf(worker).Clock().There(at) }

// control returns the broker of the control plane, as this process reaches it.
func (c *coordinator) control() nats.Broker {
	if c.broker != nil {
		return c.broker.Broker()
	}
	return *c.opt.Control
}

// read notes what all nodes have counted. Nodes go on meanwhile, so that this is no
// picture of one instant; see quiet.
func (c *coordinator) read(ctx context.Context, readings []host.Reading) error {
	err := c.onHosts(func(k int, h host.Host) error { return c.orGoOn(k, h.Read(ctx, readings)) })
	c.freeze(readings)
	return c.lostHost(err)
}

// sums adds up what all nodes have counted.
func (c *coordinator) sums(ctx context.Context) (sums, error) {
	if err := c.read(ctx, c.looked); err != nil {
		return sums{}, err
	}
	return sumUp(c.looked), nil
}

// lostHost makes a failure of the run of an error by which a host is lost, and names
// the nodes that lived there.
func (c *coordinator) lostHost(err error) error {
	if err == nil || !errors.Is(err, host.ErrLost) {
		return err
	}
	f := &failure{what: err.Error()}
	var lost *host.LostError
	if errors.As(err, &lost) {
		for _, p := range c.places {
			if c.hosts[p.host].Name() == lost.Host {
				f.nodes = append(f.nodes, p.nodes...)
			}
		}
		f.what += fmt.Sprintf("; nodes %s live there", dme.FormatNodes(f.nodes))
	}
	return f
}

// entered returns how many entries there were on all hosts.
func (c *coordinator) entered(ctx context.Context) (uint64, error) {
	each := make([]uint64, len(c.hosts))
	err := c.onHosts(func(k int, h host.Host) error {
		w, err := h.Witness(ctx)
		each[k] = w.Entries
		return c.orGoOn(k, err)
	})
	sum := uint64(0)
	for _, n := range each {
		sum += n
	}
	return sum, c.lostHost(err)
}

// hold asks whoever makes the entry of that place, or the first after it, to stay
// inside; 0 asks nobody any more. Where there are several hosts, none knows the order
// of all entries: the first after the call stays.
func (c *coordinator) hold(ctx context.Context, order uint64) error {
	if len(c.hosts) > 1 {
		order = min(order, 1)
	}
	return c.lostHost(c.onHosts(func(k int, h host.Host) error { return c.orGoOn(k, h.Hold(ctx, order)) }))
}

// stays returns who was asked to stay inside and does; dme.None for nobody.
func (c *coordinator) stays(ctx context.Context) (dme.NodeID, error) {
	each := make([]dme.NodeID, len(c.hosts))
	err := c.onHosts(func(k int, h host.Host) (err error) {
		each[k], err = h.Held(ctx)
		return c.orGoOn(k, err)
	})
	for _, id := range each {
		if id != dme.None {
			return id, nil
		}
	}
	return dme.None, c.lostHost(err)
}

// bury takes a node out of its host's counters.
func (c *coordinator) bury(ctx context.Context, id dme.NodeID) (host.Remains, error) {
	r, err := c.hostOf(c.workerOf(id)).Bury(ctx, id)
	return r, c.lostHost(err)
}

// lastLook bounds how long the hosts are asked what they saw of a run that is over.
const lastLook = 5 * time.Second

// afterwards is a context for what is asked of hosts once a run is over, in whatever
// way.
func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), lastLook)
}

// counts copies everything that all nodes have counted.
func (c *coordinator) counts(ctx context.Context) ([]noderun.Counts, error) {
	all := make([]noderun.Counts, c.job.Spec.Nodes)
	err := c.onHosts(func(k int, h host.Host) error { return c.orGoOn(k, h.Counts(ctx, all)) })
	for _, id := range c.nodesLost() {
		all[id-1] = c.faults.countsOf(id)
	}
	return all, c.lostHost(err)
}

// describeHosts says where the nodes were, where that is not this host alone.
func (c *coordinator) describeHosts(ctx context.Context, o *measure.Observation) {
	if !c.several() {
		return
	}
	o.Hosts = make([]measure.Host, len(c.hosts))
	for k, h := range c.hosts { // of one that is lost more is not known
		address, _, _ := net.SplitHostPort(h.Listen())
		o.Hosts[k] = measure.Host{Host: runs.Host{Name: h.Name(), Address: address}, Relation: h.Clock()}
	}
	_ = c.onHosts(func(k int, h host.Host) error {
		if report, err := h.Report(ctx); err == nil {
			o.Hosts[k].Host = report
		}
		return nil
	})
	for _, p := range c.places {
		for _, id := range p.nodes {
			o.Hosts[p.host].Nodes = append(o.Hosts[p.host].Nodes, int(id))
		}
	}
}
