package coordinator

import (
	"context"
	"errors"
	"time"

	"dmebench/dme"
	"dmebench/internal/control"
	"dmebench/internal/host"
	"dmebench/internal/measure"
	"dmebench/internal/noderun"
	"dmebench/workload/fault"
)

// What is here lets a run go on where a host is lost and the algorithm is made for
// nodes that crash: those of the host are taken for crashed, once the host's agent has
// ended its workers for want of a sign of this coordinator. A node is then not taken
// for crashed while it is in the critical section.

// hostTimeout is how long it takes at most until a host is known to be lost that nobody
// reaches: others may notice before that one of its nodes is not reached.
const hostTimeout = 15 * time.Second

// orGoOn is called with the error of what was asked of a host. Where the host is lost,
// and the run goes on without it, there is none.
func (c *coordinator) orGoOn(ctx context.Context, k int, err error) error {
	if err == nil || !c.goesOn.Load() || !errors.Is(err, host.ErrLost) {
		return err
	}
	c.lose(ctx, k, err)
	return nil
}

// lose takes the nodes of a host for crashed, and has the others told, once.
func (c *coordinator) lose(ctx context.Context, k int, why error) {
	if c.lost[k].Swap(true) {
		return
	}
	at := c.clock.Now()
	var nodes []dme.NodeID
	c.mu.Lock()
	for _, p := range c.places {
		if p.host == k && p.state.expected() {
			p.become(gone)
			nodes = append(nodes, p.nodes...)
		}
	}
	c.mu.Unlock()
	c.warn("%v Its nodes %s are taken for crashed %v after the start, and what they have counted and recorded is lost with it",
		why, dme.FormatNodes(nodes), time.Duration(at-c.start).Round(time.Millisecond))
	i := c.faults
	i.mu.Lock()
	defer i.mu.Unlock()
	i.strikes = append(i.strikes, measure.Strike{
		Fault: fault.Fault{What: fault.Kill, Nodes: nodes, At: time.Duration(at - c.start).Round(time.Millisecond)}, At: at, Nodes: nodes,
	})
	i.order = append(i.order, -1) // none that was asked for
	i.tellings++
	i.telling.Go(func() {
		err := c.tell(ctx, control.Command{Op: control.OpDown, Nodes: nodes})
		i.mu.Lock()
		i.tellings--
		i.mu.Unlock()
		if err != nil {
			c.fail(err)
		}
	})
}

// lostWith returns the failure of a worker's host, where the worker is lost because that
// cannot be reached any more, with all its nodes. A host that can answers at once.
func (c *coordinator) lostWith(worker int) error {
	if !c.several() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), hostTimeout)
	defer cancel()
	if _, err := c.hostOf(worker).Witness(ctx); errors.Is(err, host.ErrLost) {
		return c.lostHost(err)
	}
	return nil
}

// nodesLost returns the nodes of hosts that are lost.
func (c *coordinator) nodesLost() []dme.NodeID {
	var all []dme.NodeID
	for _, p := range c.places {
		if c.lost[p.host].Load() {
			all = append(all, p.nodes...)
		}
	}
	return all
}

// freeze says of nodes on hosts that are lost that they are down: they count no more.
func (c *coordinator) freeze(readings []host.Reading) {
	if !c.tolerant {
		return
	}
	for _, id := range c.nodesLost() {
		r := &readings[id-1]
		r.Activity, r.Timers, r.Pending = noderun.Down, 0, 0
	}
}
