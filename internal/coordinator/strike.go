package coordinator

import (
	"context"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/internal/control"
	"dmebench/internal/measure"
	"dmebench/internal/noderun"
	"dmebench/workload/fault"
)

// strike does to nodes what a fault says.
func (i *injector) strike(ctx context.Context, k int, nodes []dme.NodeID) error {
	i.begun[k] = true
	f := i.c.job.Faults[k]
	if f.What == fault.Partition {
		return i.cut(ctx, k)
	}
	var hit, not []dme.NodeID
	for _, id := range nodes {
		if possible(f.What, i.c.stateOf(i.c.workerOf(id))) {
			hit = append(hit, id)
		} else {
			not = append(not, id)
		}
	}
	if len(hit) == 0 || len(not) > 0 {
		i.c.warn("fault %q could not be done to %s: %s", f, whom(not), impossible(f.What))
	}
	if len(hit) == 0 {
		return nil
	}
	i.struck[k] = hit
	switch f.What {
	case fault.Kill:
		return i.kill(ctx, k, hit)
	case fault.Pause:
		return i.pause(ctx, k, hit)
	case fault.Leave:
		return i.leave(ctx, k, hit)
	}
	return i.revive(ctx, k, hit)
}

func whom(nodes []dme.NodeID) string {
	if len(nodes) == 0 {
		return "anybody"
	}
	return "node " + dme.FormatNodes(nodes)
}

// possible reports whether something can be done to a worker in that state.
func possible(what fault.Kind, p presence) bool {
	switch what {
	case fault.Restart, fault.Join:
		return p == gone || p == absent
	case fault.Kill:
		return p == present || p == paused || p == leaving
	}
	return p == present
}

func impossible(what fault.Kind) string {
	switch what {
	case fault.Restart, fault.Join:
		return "it was there"
	case fault.Kill:
		return "it was not there"
	}
	return "it was not there, or stood still"
}

// record notes what was done, and who waited then.
func (i *injector) record(ctx context.Context, k int, at int64, nodes []dme.NodeID) error {
	if err := i.c.read(ctx, i.readings); err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.strikes = append(i.strikes, measure.Strike{Fault: i.c.job.Faults[k], At: at, Nodes: nodes})
	i.order = append(i.order, k)
	for n, r := range i.readings {
		id := dme.NodeID(n + 1)
		if r.Activity == noderun.Requesting && i.asked[id].requests != r.Requests {
			i.asked[id] = asked{r.Requests, at}
		}
	}
	return nil
}

// over notes that a fault has ended.
func (i *injector) over(k int, at int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.strikes[slices.Index(i.order, k)].Ended = at
}

// kill ends the processes of nodes at once. They are stopped first: from then on
// they do nothing, and the critical section is free of them, before anybody can
// notice that they are gone.
func (i *injector) kill(ctx context.Context, k int, nodes []dme.NodeID) error {
	c := i.c
	for _, id := range nodes {
		if err := c.process(c.workerOf(id)).Pause(); err != nil {
			return i.diedBefore(ctx, id, err)
		}
	}
	at := c.clock.Now()
	if err := i.record(ctx, k, at, nodes); err != nil {
		return err
	}
	i.returns(k, at)
	for _, id := range nodes {
		c.setState(c.workerOf(id), gone)
		if err := i.lose(ctx, id, at); err != nil {
			return err
		}
	}
	for _, id := range nodes {
		// It is not waited for: where cores are scarce it takes long until a process
		// has ended that will never do anything again.
		c.process(c.workerOf(id)).Kill()
	}
	return c.tell(ctx, control.Command{Op: control.OpDown, Nodes: nodes})
}

// returns arranges the restarts that count from a kill.
func (i *injector) returns(k int, at int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, r := range i.restart[k] {
		i.timed = append(i.timed, moment{at: at + int64(i.c.job.Faults[r].At), fault: r})
	}
}

// lose takes a node out of the counters, and notes the request that ends with it.
func (i *injector) lose(ctx context.Context, id dme.NodeID, at int64) error {
	r, err := i.c.bury(ctx, id)
	if err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if r.Activity == noderun.Requesting || r.Activity == noderun.Inside {
		lost := i.pending(id, r)
		lost.Requested, lost.Ended = min(lost.Requested, at), at
		i.abandoned = append(i.abandoned, lost)
	}
	return nil
}

// diedBefore returns the error of a process that could not be struck, unless its end
// fails the run by itself.
func (i *injector) diedBefore(ctx context.Context, id dme.NodeID, err error) error {
	select {
	case <-i.c.process(i.c.workerOf(id)).Ended():
		if i.c.lostWith(i.c.workerOf(id)) {
			return nil
		}
		<-ctx.Done() // who watches over it fails the run, with more to say
		return nil
	default:
		return err
	}
}

// pause makes the processes of nodes stand still.
func (i *injector) pause(ctx context.Context, k int, nodes []dme.NodeID) error {
	c, f := i.c, i.c.job.Faults[k]
	for _, id := range nodes {
		c.setState(c.workerOf(id), paused)
		if err := c.process(c.workerOf(id)).Pause(); err != nil {
			return i.diedBefore(ctx, id, err)
		}
	}
	at := c.clock.Now()
	if err := i.record(ctx, k, at, nodes); err != nil {
		return err
	}
	i.ends(k, at, f.Lasts)
	return nil
}

// ends arranges the end of a fault that lasts.
func (i *injector) ends(k int, at int64, lasts time.Duration) {
	if lasts == 0 {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.timed = append(i.timed, moment{at: at + int64(lasts), fault: k, end: true})
}

// finish ends a fault that lasts.
func (i *injector) finish(ctx context.Context, k int) error {
	c := i.c
	if c.job.Faults[k].What == fault.Partition {
		i.cuts = slices.DeleteFunc(i.cuts, func(other int) bool { return other == k })
		i.over(k, c.clock.Now())
		return c.tell(ctx, control.Command{Op: control.OpHeal, Cut: k})
	}
	for _, id := range i.struck[k] {
		w := c.workerOf(id)
		if c.stateOf(w) != paused {
			continue // it was killed meanwhile
		}
		i.over(k, c.clock.Now())
		if err := c.process(w).Resume(); err != nil {
			return i.diedBefore(ctx, id, err)
		}
		// First, for a node that was seized hears of nothing before it is free.
		if _, err := c.call(ctx, w, control.Command{Op: control.OpFree, Nodes: []dme.NodeID{id}}); err != nil {
			return err
		}
		if err := c.catchUp(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// cut lets nothing pass between the sides of a partition.
func (i *injector) cut(ctx context.Context, k int) error {
	c, f := i.c, i.c.job.Faults[k]
	at := c.clock.Now()
	if err := i.record(ctx, k, at, f.Sides[0]); err != nil {
		return err
	}
	i.cuts = append(i.cuts, k)
	i.ends(k, at, f.Lasts)
	return c.tell(ctx, control.Command{Op: control.OpCut, Cut: k, Sides: f.Sides})
}

// leave has nodes leave the system.
func (i *injector) leave(ctx context.Context, k int, nodes []dme.NodeID) error {
	c := i.c
	if err := i.record(ctx, k, c.clock.Now(), nodes); err != nil {
		return err
	}
	i.leaving = append(i.leaving, k)
	for _, id := range nodes {
		w := c.workerOf(id)
		c.setState(w, leaving)
		for _, op := range []control.Op{control.OpFree, control.OpLeave} {
			if _, err := c.call(ctx, w, control.Command{Op: op, Nodes: []dme.NodeID{id}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookForLeavers ends the processes of nodes that have left.
func (i *injector) lookForLeavers(ctx context.Context) error {
	c := i.c
	waiting := i.leaving
	if len(waiting) == 0 {
		return nil
	}
	if err := c.read(ctx, i.readings); err != nil {
		return err
	}
	i.leaving = nil
	for _, k := range waiting {
		all := true
		for _, id := range i.struck[k] {
			w := c.workerOf(id)
			if c.stateOf(w) != leaving {
				continue // it is gone
			}
			if i.readings[id-1].Activity != noderun.Down {
				all = false
				continue
			}
			if err := c.letGo(ctx, w, id); err != nil {
				return err
			}
		}
		if !all {
			i.leaving = append(i.leaving, k)
		}
	}
	return nil
}

// letGo ends the process of a node that has left, and tells the others.
func (c *coordinator) letGo(ctx context.Context, w int, id dme.NodeID) error {
	c.setState(w, gone)
	if _, err := c.bury(ctx, id); err != nil {
		return err
	}
	_, err := c.call(ctx, w, control.Command{Op: control.OpQuit})
	p := c.process(w)
	if err == nil {
		select {
		case <-p.Ended():
		case <-time.After(endTimeout):
		}
	}
	p.Kill()
	<-p.Ended()
	return c.tell(ctx, control.Command{Op: control.OpDown, Nodes: []dme.NodeID{id}})
}
