package coordinator

import (
	"maps"

	"dmebench/transport/nats"
)

// dataPlane is what the frames of a brokered network pass. It is apart from the
// control plane's broker: neither waits for the other's connections and queues.
type dataPlane struct {
	broker    *nats.Broker // nil where the network has none
	control   bool         // it is the control plane's, which each worker knows by itself
	server    *nats.Server // the run's own; nil where the broker is elsewhere
	sequencer *nats.Sequencer
}

// openData starts the run's own server, or sees whether the broker elsewhere can
// be used.
func (c *coordinator) openData() error {
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
		c.data.control = true
	default:
		s, err := nats.StartServer(len(c.places))
		if err != nil {
			return err
		}
		c.data.server, b, what = s, s.Broker(), "embedded in the coordinator"
	}
	b.Sequenced = c.job.Needs.SequencedBroadcast
	c.data.broker = &b
	if c.opt.Environment != nil {
		c.opt.Environment = maps.Clone(c.opt.Environment)
		c.opt.Environment["broker"] = what
	}
	return nil
}

// sequence starts what puts broadcasts into one order, where the algorithm needs
// that.
func (c *coordinator) sequence() (err error) {
	if c.data.broker == nil || !c.data.broker.Sequenced {
		return nil
	}
	c.data.sequencer, err = nats.StartSequencer(c.key, *c.data.broker, func(err error) {
		c.fail(&failure{what: err.Error()})
	})
	return err
}

// forWorkers is the broker as a worker is told of it.
func (d *dataPlane) forWorkers() *nats.Broker {
	if d.control {
		return &nats.Broker{Sequenced: d.broker.Sequenced}
	}
	return d.broker
}

// refused returns how many messages of strangers the sequencer has refused.
func (d *dataPlane) refused() uint64 {
	if d.sequencer == nil {
		return 0
	}
	return d.sequencer.Refused()
}

// strangers returns how many connections the run's own servers have refused, or are
// about to: those of the run are there while it is collected.
func (c *coordinator) strangers() (n uint64) {
	for _, s := range []*nats.Server{c.broker, c.data.server} {
		if s != nil {
			n += s.Strangers()
		}
	}
	return n
}

// close frees everything. The workers have ended.
func (d *dataPlane) close() {
	if d.sequencer != nil {
		d.sequencer.Close()
	}
	if d.server != nil {
		d.server.Close()
	}
}
