package coordinator

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"

	"dmebench/dme"
	"dmebench/internal/record"
	"dmebench/internal/record/measure"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/runtime/witness"
	"dmebench/lock"
	"dmebench/runs"
	"dmebench/transport"
	"dmebench/transport/nats"
	"dmebench/workload/fault"
)

// storeBytes bounds what the server of a run of its own keeps in memory for the
// shared resource.
const storeBytes = 16 << 20

// sharedResource is what critical sections share, if they share something.
type sharedResource struct {
	bucket *witness.Bucket // nil if they do not
	broker *nats.Broker    // where it is; nil for the server of the control plane
}

// openControl starts a server for the control plane, if there is none elsewhere.
func (c *coordinator) openControl(context.Context) (err error) {
	if c.opt.Control != nil {
		return nil
	}
	connections := len(c.places)
	if c.job.Spec.Resource == record.InNATS && c.opt.Broker == nil {
		connections *= 2 // the resource is there, too
	}
	c.broker, err = control.StartBroker(c.job.Spec.Listen, connections)
	return err
}

func (c *coordinator) openResource(ctx context.Context) (err error) {
	switch {
	case c.job.Spec.Resource == record.InMemory && c.opt.Hosts != nil:
		return errors.New("resource memory is of one host; choose --resource nats for several")
	case c.job.Spec.Resource != record.InNATS:
		return nil
	}
	at := c.control()
	if c.shared.broker = c.opt.Broker; c.shared.broker != nil {
		at = *c.shared.broker
	} else if c.broker != nil {
		if err := c.broker.EnableJetStream(storeBytes); err != nil {
			return err
		}
	}
	c.shared.bucket, err = witness.CreateBucket(ctx, at, rand.Text())
	return err
}

func (r *sharedResource) observe(ctx context.Context, o *measure.Observation) (err error) {
	if r.bucket != nil {
		o.Resource, err = r.bucket.State(ctx)
	}
	return err
}

// remove removes the resource once everything is known of the run: nodes that are still
// inside have used it until then.
func (r *sharedResource) remove() error {
	if r.bucket == nil {
		return nil
	}
	ctx, cancel := afterwards(context.Background())
	defer cancel()
	err := r.bucket.Remove(ctx)
	r.bucket = nil
	return err
}

// dataPlane is what the frames of a brokered network pass. It is apart from the
// control plane's broker: neither waits for the other's connections and queues.
type dataPlane struct {
	broker     *nats.Broker // nil if the network has none
	forWorkers *nats.Broker // the broker for workers; the control plane's is known to each
	server     *nats.Server // the run's own; nil if the broker is elsewhere
	sequencer  *nats.Sequencer
}

// openData starts the run's own server, or sees whether the broker elsewhere can
// be used.
func (c *coordinator) openData(context.Context) error {
	if !c.job.Network.Brokered {
		return nil
	}
	var b nats.Broker
	what := "elsewhere"
	switch {
	case c.opt.Broker != nil:
		b = *c.opt.Broker
		if err := b.Check(); err != nil {
			return err
		}
	case c.opt.Control != nil:
		b, what = *c.opt.Control, "of the control plane"
	default:
		s, err := nats.StartServer(len(c.places))
		if err != nil {
			return err
		}
		c.data.server, b, what = s, s.Broker(), "embedded in the coordinator"
	}
	b.Sequenced = c.job.Needs.SequencedBroadcast
	c.data.broker, c.data.forWorkers = &b, &b
	if c.opt.Broker == nil && c.opt.Control != nil {
		c.data.forWorkers = &nats.Broker{Sequenced: b.Sequenced}
	}
	if c.opt.Environment != nil {
		c.opt.Environment = maps.Clone(c.opt.Environment)
		c.opt.Environment["broker"] = what
	}
	return nil
}

// addStrangers counts what the run's own servers have refused, or are about to: the
// connections of the run are there while it is collected.
func (c *coordinator) addStrangers(to *transport.Counters) {
	if c.data.sequencer != nil {
		to.RefusedFrames += c.data.sequencer.Refused()
	}
	for _, s := range []*nats.Server{c.broker, c.data.server} {
		if s != nil {
			to.RefusedConns += s.Strangers()
		}
	}
}

func (d *dataPlane) close() {
	if d.sequencer != nil {
		d.sequencer.Close()
	}
	if d.server != nil {
		d.server.Close()
	}
}

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
		return fmt.Errorf("%s: its servers were there before the run, which cannot make the paths to them longer; leave delay out", p.Name)
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
