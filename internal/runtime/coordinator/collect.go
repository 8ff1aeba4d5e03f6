package coordinator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"dmebench/dme"
	"dmebench/internal/record"
	"dmebench/internal/record/measure"
	"dmebench/internal/record/recording"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/foreign"
	"dmebench/internal/runtime/host"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
	"dmebench/transport"
)

// observe gathers what the hosts know without their workers: it outlives them. The
// error says what they cannot tell any more.
func (c *coordinator) observe(ctx context.Context) (measure.Observation, error) {
	ctx, cancel := afterwards(ctx)
	defer cancel()
	o := measure.Observation{
		Job: c.job, Status: runs.OK, Start: c.start, Stop: c.stop, PerEntry: c.perEntry,
		Method: "shared-page", Workers: len(c.those(func(p presence) bool { return p != absent })), Environment: c.opt.Environment,
	}
	reports, err := c.reports(ctx)
	left := c.left(reports)
	for _, n := range left {
		o.Nodes = append(o.Nodes, n.Counts)
		o.Traffic = append(o.Traffic, n.Traffic)
	}
	if foreign.Is(c.job.Algorithm.Name) {
		o.Job = withKinds(c.job, nil) // until the workers report them
	}
	c.describeHosts(reports, &o)
	c.observeFaults(left, &o)
	all, failed := c.witness(ctx, false)
	for _, w := range all {
		if c.job.Spec.Resource == record.InMemory {
			o.Resource = &w.Resource
		}
		o.WitnessViolations += w.Violations
		if w.First != "" {
			o.Warnings = append(o.Warnings, "the witness saw it happen: "+w.First)
		}
	}
	o.Service = c.observeService(ctx, o.Nodes)
	return o, errors.Join(err, failed, c.shared.observe(ctx, &o))
}

func (c *coordinator) collect(ctx context.Context, o *measure.Observation) error {
	reports, err := c.all(ctx, control.Command{Op: control.OpReport})
	if err != nil {
		return err
	}
	var wire transport.Counters
	var procs []string
	for _, r := range reports {
		procs = append(procs, fmt.Sprint(r.Procs))
		if !c.places[r.Worker].disturbed {
			for i := range r.Lapses {
				r.Lapses[i].Until, _ = c.aboutHostOf(r.Worker).Clock.Here(r.Lapses[i].Until)
			}
			c.lapsed(c.name(r.Worker), r.Lapses)
		}
		if r.Wire != nil {
			wire = wire.Plus(*r.Wire)
		}
		for _, w := range r.Warnings { // most often all say the same
			if !slices.Contains(o.Warnings, w) {
				o.Warnings = append(o.Warnings, w)
			}
		}
		if r.Clocks != nil {
			o.Clocks = append(o.Clocks, *r.Clocks)
		}
		if o.Hosts != nil {
			h := &o.Hosts[c.places[r.Worker].host]
			h.Error = max(h.Error, r.Misread)
		}
		o.Unserved += r.Unserved
		if o.Service != nil {
			o.Service.FailedCalls += r.Failed
			o.Service.Expired += r.Expired
		}
		o.Dropped += r.Dropped
		for _, refusal := range r.Refusals {
			o.Warnings = append(o.Warnings, "a message was refused: "+refusal)
		}
	}
	if o.Environment != nil {
		slices.Sort(procs)
		o.Environment = maps.Clone(o.Environment)
		o.Environment["worker_gomaxprocs"] = strings.Join(slices.Compact(procs), ",")
	}
	c.nameKinds(o, reports)
	c.addStrangers(&wire)
	o.Wire = measure.Wire(wire)
	if c.faults == nil {
		if err := c.entries(ctx, reports, o); err != nil {
			return err
		}
	}
	if err := c.events(ctx, reports); err != nil {
		return err
	}
	c.survey.after(ctx)
	c.survey.report(o)
	if o.Status != runs.OK {
		return nil
	}
	return c.ping(ctx)
}

// entries fetches the records, chunk by chunk, from all workers at once.
func (c *coordinator) entries(ctx context.Context, reports []control.Reply, o *measure.Observation) error {
	var mu sync.Mutex
	return atOnce(len(reports), func(k int) (err error) {
		var mine []record.Entry
		w := reports[k].Worker
		for chunk := 0; chunk < reports[k].Chunks && err == nil; chunk++ {
			var r control.Reply
			if r, err = c.call(ctx, w, control.Command{Op: control.OpEntries, Chunk: chunk}); err == nil {
				mine, err = record.Decode(mine, r.Entries)
			}
		}
		if err != nil {
			return fmt.Errorf("records of %s: %w", c.name(w), err)
		}
		mu.Lock()
		defer mu.Unlock()
		o.Entries = append(o.Entries, c.inTime(w, mine)...)
		return nil
	})
}

// inTime leaves out what a worker has recorded after the run was interrupted: the workers report at
// different times.
func (c *coordinator) inTime(worker int, entries []record.Entry) []record.Entry {
	if c.cut == 0 {
		return entries
	}
	cut := c.there(worker, c.cut)
	return slices.DeleteFunc(entries, func(e record.Entry) bool { return e.Exited > cut })
}

// result turns the observation into the run's result. err is what ended the run early, if anything
// did; the cause of life's end says which worker failed.
func (c *coordinator) result(life context.Context, o measure.Observation, err error) *runs.Result {
	var f *failure
	if errors.As(context.Cause(life), &f) {
		err = f
	}
	if errors.As(err, &f) {
		for _, id := range f.nodes {
			o.FailedNodes = append(o.FailedNodes, int(id))
		}
	}
	if err != nil {
		o.Status, o.Error = runs.Failed, err.Error()
	}
	r := measure.Result(o)
	if f != nil {
		r.FailedStderr = f.stderr
	}
	return r
}

// sums are the counters of a run, added up over its nodes.
type sums struct {
	sent, handled     uint64
	requests, entries uint64
	requesting        int // nodes that wait for the critical section
	inside            int // nodes in the critical section
	timers            uint64
	toCome            uint64 // requests that local processes have still to make
}

func sumUp(nodes []host.Reading) sums {
	var r sums
	for i := range nodes {
		c := &nodes[i]
		r.sent += c.Sent
		r.handled += c.Handled
		r.requests += c.Requests
		r.entries += c.Entries
		r.timers += c.Timers
		r.toCome += c.Pending
		switch c.Activity {
		case noderun.Requesting:
			r.requesting++
		case noderun.Inside:
			r.inside++
		}
	}
	return r
}

// served reports whether all requests have been made and served; messages may
// still be on their way.
func (r sums) served() bool { return r.requesting == 0 && r.inside == 0 && r.toCome == 0 }

// quiet reports whether the system was quiescent at some instant between two
// successive sums: no message in flight, no node active, no timer armed.
//
// All counters only grow, and a handled message is counted after what its
// handler sent. If two sums agree, no counter moved between the end of the
// first and the beginning of the second, on no host; if then as much was handled
// as was sent, nothing was in flight at that instant.
func quiet(a, b sums) bool {
	return a == b && a.sent == a.handled && a.served() && a.timers == 0
}

// settling is how long nothing must have moved in a run with faults: messages are lost
// with nodes, and no sum tells whether any is on its way.
const (
	settling      = 50 * time.Millisecond // beside what the links take
	settlingTimer = time.Second           // while timers are armed, which some algorithm keeps for ever
)

// quiet returns the condition under which the system is quiescent, for until. Once nodes were killed,
// messages to them are missing for ever: then the system is quiescent if nothing has moved for longer
// than a message takes, and stays so while no more messages are missing.
func (c *coordinator) quiet() func(before, now sums) bool {
	if c.faults == nil {
		return quiet
	}
	links := c.job.Links()
	longest, bounded := links.Longest()
	if !bounded {
		longest = 20 * links.Typical(pingBytes)
	}
	pause := settling + 2*longest
	since := time.Now()
	return func(a, b sums) bool {
		if a != b || !b.served() {
			since = time.Now()
			return false
		}
		missing := b.sent - b.handled
		if b.timers == 0 && missing == c.missed {
			return true
		}
		if still := time.Since(since); still < pause || b.timers > 0 && still < settlingTimer {
			return false
		}
		c.missed = missing
		return true
	}
}

// events fetches what was recorded, chunk by chunk, from all workers at once.
func (c *coordinator) events(ctx context.Context, reports []control.Reply) error {
	if c.opt.Recorded == nil {
		return nil
	}
	c.warn("the run was recorded, which slows its nodes: do not compare its times with those of other runs")
	streams := make([][]recording.Stream, len(reports))
	err := atOnce(len(reports), func(k int) error {
		for _, r := range reports[k].Recorded {
			var s recording.Stream
			for chunk := range r.Chunks {
				ask := control.Command{Op: control.OpEvents, Nodes: []dme.NodeID{r.Node}, Chunk: chunk}
				reply, err := c.call(ctx, reports[k].Worker, ask)
				if err != nil {
					return fmt.Errorf("events recorded by %s: %w", c.name(reports[k].Worker), err)
				}
				s = append(s, reply.Entries)
			}
			streams[k] = append(streams[k], s)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var kept recording.Kept
	for i, report := range reports {
		for k, r := range report.Recorded {
			kept.Add(streams[i][k], r.Dropped, r.Until)
		}
	}
	c.opt.Recorded(kept)
	return nil
}

// nameKinds gives the kinds of messages their names if nodes decide what these are. Every worker
// numbers them in the order in which it meets them; here they get numbers that are the same for
// all. Without the workers' reports they have no names.
func (c *coordinator) nameKinds(o *measure.Observation, reports []control.Reply) {
	if !foreign.Is(o.Job.Algorithm.Name) {
		return
	}
	var names []string
	for _, r := range reports {
		names = append(names, r.Types...)
	}
	names = foreign.Union(names)
	number := func(name string) int {
		i := slices.Index(names, name)
		if i < 0 {
			i = len(names) - 1 // the last stands for all others
		}
		return i + 1
	}
	for _, r := range reports {
		for _, id := range c.places[r.Worker].nodes {
			n := &o.Traffic[id-1]
			sent, handled := n.Sent, n.Handled
			clear(n.Sent[1:])
			clear(n.Handled[1:])
			for i, name := range r.Types {
				k := number(name)
				n.Sent[k] += sent[i+1]
				n.Handled[k] += handled[i+1]
			}
		}
	}
	o.Job = withKinds(o.Job, names)
}

// withKinds returns a job whose algorithm has other kinds of messages.
func withKinds(job *run.Job, names []string) *run.Job {
	j, a := *job, *job.Algorithm
	a.Kinds = names
	j.Algorithm = &a
	return &j
}
