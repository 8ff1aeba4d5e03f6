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
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/host"
	"dmebench/runs"
	"dmebench/transport/nats"
)

func (c *coordinator) openHosts(ctx context.Context) error {
	c.hosts = c.opt.Hosts
	if c.hosts == nil {
		c.hosts = []host.Host{new(host.Local)}
	}
	parts := make([]host.Part, len(c.hosts))
	for w, p := range c.places {
		p.host = w % len(c.hosts)
		if c.opt.Place != nil {
			p.host = c.opt.Place[w]
		}
		parts[p.host].Local = append(parts[p.host].Local, p.nodes...)
		parts[p.host].Workers++
	}
	c.lost = make([]atomic.Bool, len(c.hosts))
	c.tolerant = c.several() && len(c.hosts) > 1 && c.job.ToleratesLoss()
	records := 0
	if len(c.job.Faults) > 0 || c.tolerant {
		records = c.logLimit() // what a node has recorded outlives it
	}
	nodes := c.job.Spec.Nodes
	c.looked = make([]host.Reading, nodes)
	c.about = make([]host.About, len(c.hosts))
	return c.onHosts(func(k int, h host.Host) (err error) {
		part := &parts[k]
		part.Nodes, part.Records, part.Watched = nodes, records, c.opt.Progress != nil
		c.about[k], err = h.Open(ctx, *part)
		return err
	})
}

// atOnce does something for 0 to n−1 at the same time, and returns what has failed.
func atOnce(n int, do func(k int) error) error {
	if n == 1 {
		return do(0)
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for k := range n {
		wg.Go(func() { errs[k] = do(k) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (c *coordinator) onHosts(do func(k int, h host.Host) error) error {
	return atOnce(len(c.hosts), func(k int) error {
		if len(c.hosts) > 1 && c.lost[k].Load() {
			return nil
		}
		return do(k, c.hosts[k])
	})
}

// several reports whether the nodes are on several hosts, or on another one.
func (c *coordinator) several() bool { return c.opt.Control != nil }

func (c *coordinator) hostOf(worker int) host.Host { return c.hosts[c.places[worker].host] }

func (c *coordinator) aboutHostOf(worker int) host.About { return c.about[c.places[worker].host] }

// there returns what the clock of a worker's host shows at an instant.
func (c *coordinator) there(worker int, at int64) int64 { return c.aboutHostOf(worker).Clock.There(at) }

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
			if c.about[p.host].Name == lost.Host {
				f.nodes = append(f.nodes, p.nodes...)
			}
		}
		f.what += fmt.Sprintf("; nodes %s live there", dme.FormatNodes(f.nodes))
	}
	return f
}

// witness asks what the witnesses of all hosts have seen; that of a lost one is empty.
func (c *coordinator) witness(ctx context.Context, waits bool) ([]host.Witness, error) {
	all := make([]host.Witness, len(c.hosts))
	err := c.onHosts(func(k int, h host.Host) (err error) {
		all[k], err = h.Witness(ctx, waits)
		return c.orGoOn(k, err)
	})
	return all, c.lostHost(err)
}

func (c *coordinator) entered(ctx context.Context) (sum uint64, err error) {
	all, err := c.witness(ctx, false)
	for _, w := range all {
		sum += w.Entries
	}
	return sum, err
}

// hold asks the node that makes the entry of that place, or the first after it, to stay inside; 0
// withdraws that. If there are several hosts, none knows the order of all entries: the first after
// the call stays.
func (c *coordinator) hold(ctx context.Context, order uint64) error {
	if len(c.hosts) > 1 {
		order = min(order, 1)
	}
	return c.lostHost(c.onHosts(func(k int, h host.Host) error { return c.orGoOn(k, h.Hold(ctx, order)) }))
}

// stays returns which node was asked to stay inside and does; dme.None for none.
func (c *coordinator) stays(ctx context.Context) (dme.NodeID, error) {
	all, err := c.witness(ctx, false)
	for _, w := range all {
		if w.Held != dme.None {
			return w.Held, nil
		}
	}
	return dme.None, err
}

func (c *coordinator) remove(ctx context.Context, id dme.NodeID) (control.Left, error) {
	r, err := c.hostOf(c.workerOf(id)).Remove(ctx, id)
	return r, c.lostHost(err)
}

// lastLook bounds how long the hosts are asked what they saw of a run that is over.
const lastLook = 5 * time.Second

// afterwards is a context for questions to hosts once a run is over, for whatever reason.
func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), lastLook)
}

func (c *coordinator) reports(ctx context.Context) ([]host.Report, error) {
	all := make([]host.Report, len(c.hosts))
	err := c.onHosts(func(k int, h host.Host) (err error) {
		all[k], err = h.Report(ctx)
		return c.orGoOn(k, err)
	})
	return all, c.lostHost(err)
}

// left returns what is left of each node. Of those whose hosts are lost it is what their
// workers have handed over.
func (c *coordinator) left(reports []host.Report) []host.NodeReport {
	all := make([]host.NodeReport, c.job.Spec.Nodes)
	for _, r := range reports {
		for _, n := range r.Nodes {
			all[n.Node-1] = n
		}
	}
	for _, id := range c.nodesLost() {
		all[id-1] = host.NodeReport{Left: c.faults.leftOf(id)}
	}
	return all
}

// describeHosts says where the nodes were, if that is not this host alone.
func (c *coordinator) describeHosts(reports []host.Report, o *measure.Observation) {
	if !c.several() {
		return
	}
	o.Hosts = make([]measure.Host, len(c.hosts))
	for k, about := range c.about {
		address, _, _ := net.SplitHostPort(about.Listen)
		o.Hosts[k] = measure.Host{Host: runs.Host{Name: about.Name, Address: address}, Relation: about.Clock}
		if r := reports[k].Host; r.Name != "" { // of one that is lost more is not known
			o.Hosts[k].Host = r
		}
	}
	for _, p := range c.places {
		for _, id := range p.nodes {
			o.Hosts[p.host].Nodes = append(o.Hosts[p.host].Nodes, int(id))
		}
	}
}
