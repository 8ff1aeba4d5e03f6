package coordinator

import (
	"context"

	"dmebench/dme"
	"dmebench/internal/control"
	"dmebench/workload/fault"
)

// tell gives a command to all workers that are there; to one that stands still it
// is given once that goes on.
func (c *coordinator) tell(ctx context.Context, command control.Command) error {
	c.mu.Lock()
	for _, p := range c.places {
		if p.state == paused {
			p.missed = append(p.missed, command)
		}
	}
	c.mu.Unlock()
	_, err := c.all(ctx, command)
	return err
}

// catchUp tells a worker that goes on what it has missed. It takes part as before.
func (c *coordinator) catchUp(ctx context.Context, w int, as presence) error {
	c.mu.Lock()
	missed := c.places[w].missed
	c.places[w].missed = nil
	c.places[w].become(as)
	c.mu.Unlock()
	for _, command := range missed {
		if _, err := c.call(ctx, w, command); err != nil {
			return err
		}
	}
	return nil
}

// revive brings nodes into the running system, by processes of their own: for the
// first time, or again.
func (i *injector) revive(k int, nodes []dme.NodeID) (at int64, err error) {
	if at, err = i.record(k, nodes); err != nil {
		return at, err
	}
	for _, id := range nodes {
		if err := i.admit(i.ctx, i.c.workerOf(id), i.c.job.Faults[k].What == fault.Join); err != nil {
			return at, err
		}
	}
	return at, nil
}

// admit starts a worker and has the others take it in. Its nodes begin once all
// know that it is there: what it says first reaches them.
func (i *injector) admit(ctx context.Context, w int, joins bool) error {
	c := i.c
	if c.isLost(w) {
		c.warn("%s cannot be started: its host is lost", c.name(w))
		return nil
	}
	if err := c.startWorker(ctx, w); err != nil {
		return err
	}
	limited, cancel := c.bounded(ctx)
	defer cancel()
	if err := c.awaitWorker(limited, w); err != nil {
		return err
	}
	a := c.assignment(w)
	a.Joins = joins
	r, err := c.call(ctx, w, control.Command{Op: control.OpAssign, Assign: a})
	if err != nil {
		return err
	}
	c.listens(w, r.Addr)
	for _, k := range i.cuts {
		if _, err := c.call(ctx, w, control.Command{Op: control.OpCut, Cut: k, Sides: c.job.Faults[k].Sides}); err != nil {
			return err
		}
	}
	if _, err := c.call(ctx, w, control.Command{Op: control.OpConnect, Book: c.book()}); err != nil {
		return err
	}
	if err := c.tell(ctx, control.Command{Op: control.OpUp, Nodes: a.Local, Addr: r.Addr, Life: a.Incarnation}); err != nil {
		return err
	}
	if _, err := c.call(ctx, w, control.Command{Op: control.OpBegin, At: c.there(w, c.start)}); err != nil {
		return err
	}
	c.setState(w, present)
	return nil
}
