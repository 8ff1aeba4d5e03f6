package coordinator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/internal/record"
	"dmebench/internal/record/measure"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/host"
	"dmebench/internal/runtime/noderun"
	"dmebench/workload/fault"
)

func (i *injector) Strike(k int, nodes []dme.NodeID) (at int64, err error) {
	i.occupy()
	if i.c.job.Faults[k].OfServers() {
		return i.strikeServers(k, nodes)
	}
	switch i.c.job.Faults[k].Kind {
	case fault.Partition:
		return i.cut(k, nodes)
	case fault.Kill:
		return i.kill(k, nodes)
	case fault.Pause:
		return i.pause(k, nodes)
	case fault.Leave:
		return i.leave(k, nodes)
	}
	return i.revive(k, nodes)
}

// record notes what was done, and which nodes waited then.
func (i *injector) record(k int, nodes []dme.NodeID) (at int64, err error) {
	at = i.c.clock.Now()
	if err := i.c.read(i.ctx, i.readings); err != nil {
		return at, err
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
	return at, nil
}

// kill ends the processes of nodes at once. They are stopped first: from then on they do nothing,
// and the critical section is free of them, before another node can notice that they are gone.
func (i *injector) kill(k int, nodes []dme.NodeID) (at int64, err error) {
	c := i.c
	for _, id := range nodes {
		if err := c.at(c.workerOf(id)).process.Pause(); err != nil {
			return 0, i.diedBefore(id, err)
		}
	}
	if at, err = i.record(k, nodes); err != nil {
		return at, err
	}
	for _, id := range nodes {
		c.setState(c.workerOf(id), gone)
		if err := i.lose(id, at); err != nil {
			return at, err
		}
	}
	for _, id := range nodes {
		// Without waiting for its end, which takes long if cores are scarce: it is stopped
		// already, and will never do anything again.
		c.at(c.workerOf(id)).kill()
	}
	return at, c.order(i.ctx, control.Command{Op: control.OpDown, Nodes: nodes})
}

// lose takes a node out of the counters, and notes the request that ends with it.
func (i *injector) lose(id dme.NodeID, at int64) error {
	r, err := i.c.remove(i.ctx, id)
	if err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.abandoned = append(i.abandoned, i.pending(r, at)...)
	return nil
}

// diedBefore returns the error of a process that could not be struck, unless its end
// fails the run by itself.
func (i *injector) diedBefore(id dme.NodeID, err error) error {
	select {
	case <-i.c.at(i.c.workerOf(id)).process.Ended():
		if i.c.lostWith(i.c.workerOf(id)) {
			return nil
		}
		<-i.ctx.Done() // watch fails the run, and knows more
		return nil
	default:
		return err
	}
}

func (i *injector) pause(k int, nodes []dme.NodeID) (at int64, err error) {
	c := i.c
	for _, id := range nodes {
		c.setState(c.workerOf(id), paused)
		if err := c.at(c.workerOf(id)).process.Pause(); err != nil {
			return 0, i.diedBefore(id, err)
		}
	}
	return i.record(k, nodes)
}

func (i *injector) End(k int, nodes []dme.NodeID) error {
	c := i.c
	i.occupy()
	i.mu.Lock()
	i.strikes[slices.Index(i.order, k)].Ended = c.clock.Now()
	i.mu.Unlock()
	if f := c.job.Faults[k]; f.Kind == fault.Partition && !f.OfServers() {
		i.cuts = slices.DeleteFunc(i.cuts, func(other int) bool { return other == k })
		return c.order(i.ctx, control.Command{Op: control.OpHeal, Cut: k})
	}
	for _, id := range nodes {
		if server, ok := c.serverOf(id); ok {
			c.servers.Relieve(c.job.Faults[k].Kind, server)
			continue
		}
		w := c.workerOf(id)
		if c.at(w).state != paused {
			continue // its host was lost
		}
		if err := c.at(w).process.Resume(); err != nil {
			return i.diedBefore(id, err)
		}
		// First: a node that was seized hears of nothing until it is free.
		if err := c.instruct(i.ctx, control.OpFree, id); err != nil {
			return err
		}
		as := present
		if i.director.Leaving(id) {
			as = leaving
		}
		if err := c.catchUp(i.ctx, w, as); err != nil {
			return err
		}
	}
	return nil
}

func (i *injector) cut(k int, nodes []dme.NodeID) (at int64, err error) {
	if at, err = i.record(k, nodes); err != nil {
		return at, err
	}
	i.cuts = append(i.cuts, k)
	return at, i.c.order(i.ctx, control.Command{Op: control.OpCut, Cut: k, Sides: i.c.job.Faults[k].Sides})
}

func (i *injector) leave(k int, nodes []dme.NodeID) (at int64, err error) {
	c := i.c
	if at, err = i.record(k, nodes); err != nil {
		return at, err
	}
	for _, id := range nodes {
		w := c.workerOf(id)
		c.setState(w, leaving)
		for _, op := range []control.Op{control.OpFree, control.OpLeave} {
			if err := c.instruct(i.ctx, op, id); err != nil {
				return at, err
			}
		}
	}
	return at, nil
}

func (i *injector) lookForLeavers() error {
	if !i.director.AnyLeaves() {
		return nil
	}
	c := i.c
	if err := c.read(i.ctx, i.readings); err != nil {
		return err
	}
	for _, w := range c.those(func(p presence) bool { return p == leaving }) {
		if id := c.places[w].nodes[0]; i.readings[id-1].Activity == noderun.Down {
			if err := c.letGo(i.ctx, w, id); err != nil {
				return err
			}
			i.director.Left(id)
		}
	}
	return nil
}

func (c *coordinator) letGo(ctx context.Context, w int, id dme.NodeID) error {
	c.setState(w, gone)
	if _, err := c.remove(ctx, id); err != nil {
		return err
	}
	_, err := c.call(ctx, w, control.Command{Op: control.OpQuit})
	p := c.at(w).process
	if err == nil {
		select {
		case <-p.Ended():
		case <-time.After(endTimeout):
		}
	}
	p.Kill()
	<-p.Ended()
	return c.order(ctx, control.Command{Op: control.OpDown, Nodes: []dme.NodeID{id}})
}

// This file reports what was done to a run, and to which nodes.

// recount says what was done to the run, as the end of a sentence.
func (i *injector) recount() string {
	if i == nil {
		return ""
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	var all []string
	for _, s := range i.strikes {
		at := time.Duration(s.At - i.c.start).Round(time.Millisecond)
		all = append(all, fmt.Sprintf("%s %s at %v", s.Fault.Kind, dme.FormatNodes(s.Nodes), at))
	}
	if all == nil {
		return ""
	}
	return "; before that: " + strings.Join(all, ", ")
}

// observeFaults says what was done to the run, and what ended with the nodes that
// were hit. The records of a node outlive it.
func (c *coordinator) observeFaults(left []host.NodeReport, o *measure.Observation) {
	i := c.faults
	if i == nil {
		return
	}
	i.telling.Wait() // for the goroutines that hand over what lost hosts left
	i.mu.Lock()
	defer i.mu.Unlock()
	o.Strikes = slices.Clone(i.strikes)
	o.Abandoned = slices.Clone(i.abandoned)
	i.addLost(o)
	o.Warnings, o.Missed = append(o.Warnings, i.director.Warnings()...), i.director.Missed(c.stop)
	for _, n := range left {
		if n.Log == nil {
			continue // its host is lost
		}
		var err error
		if o.Entries, err = record.Decode(o.Entries, n.Log); err != nil {
			o.Warnings = append(o.Warnings, fmt.Sprintf("records of node %d cannot be read: %v", n.Node, err))
		}
		o.Abandoned = append(o.Abandoned, i.pending(n.Left, record.Never)...)
	}
}

// asked is when a node was first seen to wait for a request.
type asked struct {
	requests uint64 // the node's, with this one
	at       int64
}

// pending describes the request of a node that waits, or is inside; it ends with the node
// at that time. When it was made is not known; it matters only at which faults it had been
// made already. It is called with mu held.
func (i *injector) pending(left control.Left, ended int64) []record.Abandoned {
	is := noderun.Activity(left.Counts.Activity)
	if is != noderun.Requesting && is != noderun.Inside {
		return nil
	}
	x := record.Abandoned{Node: left.Node, Made: true, Requested: i.c.clock.Now(), Entered: record.Never, Ended: ended}
	if seen, ok := i.asked[left.Node]; ok && seen.requests == left.Counts.Requests {
		x.Requested = seen.at
	}
	x.Requested = min(x.Requested, ended)
	if is == noderun.Inside {
		x.Entered, _ = i.c.aboutHostOf(i.c.workerOf(left.Node)).Clock.Here(left.Entered)
	}
	return []record.Abandoned{x}
}

// revive brings nodes into the running system, by processes of their own: for the
// first time, or again.
func (i *injector) revive(k int, nodes []dme.NodeID) (at int64, err error) {
	if at, err = i.record(k, nodes); err != nil {
		return at, err
	}
	for _, id := range nodes {
		if err := i.admit(i.ctx, i.c.workerOf(id), i.c.job.Faults[k].Kind == fault.Join); err != nil {
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
	limited, cancel := context.WithTimeout(ctx, c.bound())
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
	var commands []control.Command
	for _, k := range i.cuts {
		commands = append(commands, control.Command{Op: control.OpCut, Cut: k, Sides: c.job.Faults[k].Sides})
	}
	commands = append(commands, control.Command{Op: control.OpConnect, Book: c.book()})
	if err := c.commands(ctx, w, commands...); err != nil {
		return err
	}
	if err := c.order(ctx, control.Command{Op: control.OpUp, Nodes: a.Local, Addr: r.Addr, Life: a.Incarnation}); err != nil {
		return err
	}
	if err := c.commands(ctx, w, control.Command{Op: control.OpBegin, At: c.there(w, c.start)}); err != nil {
		return err
	}
	c.setState(w, present)
	return nil
}
