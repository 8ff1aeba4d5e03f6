package check

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// Random runs schedules with the seeds Seed, Seed+1, … and reports the first
// that breaks a property, in the order of the seeds: the same options give the
// same report, however many workers there are, unless time or context ends the
// search. A schedule is repeated by its seed with Schedules: 1.
func (s *Search) Random(ctx context.Context) Report {
	start := time.Now()
	limited, cancel := s.within(ctx)
	defer cancel()
	r := &randomSearch{Search: s, ahead: make(map[int64]Part), report: Report{Workers: s.Workers}}
	r.failed.Store(int64(s.Schedules))
	var wg sync.WaitGroup
	for range s.Workers {
		wg.Go(func() { r.work(limited) })
	}
	wg.Wait()
	return r.finish(ctx, limited, start)
}

func (s *Search) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.Time > 0 {
		return context.WithTimeout(ctx, s.Time)
	}
	return context.WithCancel(ctx)
}

// schedule runs the k-th schedule, from 0, and says what it broke until ctx ended. The run is nil if there was not
// even a system. Starvation that no claim excludes breaks nothing: only the run shows it.
func (s *Search) schedule(ctx context.Context, k int64, taken []vnet.Step) (*run, *vnet.Violation) {
	p, err := s.plan(s.Seed + uint64(k))
	if err != nil {
		// Options are checked with one seed; another might make a construction fail.
		return nil, &vnet.Violation{Property: vnet.Sanity, Verdict: "no system: " + err.Error()}
	}
	one := s.draw(ctx, p, taken)
	if s.excuses(one.Violation) {
		return one, nil
	}
	return one, one.Violation
}

// excuses reports whether a violation is starvation that no claim excludes.
func (s *Search) excuses(v *vnet.Violation) bool {
	return v != nil && v.Property == Starvation && !s.promised
}

type randomSearch struct {
	*Search
	next   atomic.Int64 // the next schedule, from 0
	failed atomic.Int64 // the first schedule that broke a property, or their number

	mu     sync.Mutex
	done   uint64         // schedules
	ahead  map[int64]Part // of schedules that were run, those after one that was not yet
	sum    Part           // of all before these
	report Report
	steps  []vnet.Step // of the schedule that failed; nil if there was not even a system
}

func (r *randomSearch) work(ctx context.Context) {
	var taken []vnet.Step
	for ctx.Err() == nil {
		k := r.next.Add(1) - 1
		if k >= r.failed.Load() {
			return
		}
		one, broken := r.schedule(ctx, k, taken[:0])
		p := Part{First: int(k)}
		if broken != nil {
			r.fail(k, broken, one)
		}
		if broken != nil || ctx.Err() == nil { // else it was not finished
			p.Done = 1
		}
		if one != nil {
			taken = one.taken
			p.count(one)
		}
		r.add(p)
	}
}

func (r *randomSearch) fail(k int64, v *vnet.Violation, one *run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k < r.failed.Load() {
		r.failed.Store(k)
		if r.report.Violation, r.steps = v, nil; one != nil {
			r.steps = append([]vnet.Step{}, one.taken...)
		}
		r.report.Seed = r.Seed + uint64(k)
		r.report.Schedules = uint64(k) + 1
	}
}

// add counts a schedule. They are added up in their order, so that those after the one
// that broke a property, which other workers may have run meanwhile, are left out.
func (r *randomSearch) add(p Part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done += uint64(p.Done)
	r.ahead[int64(p.First)] = p
	for {
		k := int64(r.sum.Done)
		p, ok := r.ahead[k]
		if !ok || k > r.failed.Load() {
			break
		}
		delete(r.ahead, k)
		r.sum.add(p)
	}
	if r.Progress != nil && r.done%64 == 0 {
		r.Progress(r.done)
	}
}

// finish returns the report of a search that ran under limited. ctx is for shortening what it found.
func (r *randomSearch) finish(ctx, limited context.Context, start time.Time) Report {
	if r.report.Violation == nil {
		for _, p := range r.ahead { // the search was ended; the sums do not depend on the order
			r.sum.add(p)
		}
	}
	report := r.report
	report.Tally = r.sum.Tally
	report.Elapsed = time.Since(start)
	report.Complete = report.Violation == nil && limited.Err() == nil
	if report.Violation == nil {
		report.Schedules, report.Seed = r.done, r.Seed
		if !report.Complete {
			report.Stopped = whyStopped(limited)
		}
		return report
	}
	if r.steps != nil {
		if p, err := r.plan(report.Seed); err == nil {
			report.Trace = r.shrink(ctx, p, r.steps, report.Violation.Property)
			report.Violation = &report.Trace.Violation
		}
	}
	return report
}

// firstReason returns the first by the alphabet, however searches share the work.
func firstReason(a, b string) string {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}

func whyStopped(ctx context.Context) string {
	if ctx.Err() == context.DeadlineExceeded {
		return "out of time"
	}
	return "interrupted"
}

// delays measures how long a schedule holds back what is possible: the steps between
// the sending of a message and its arrival, between an entry and the exit, between the
// setting of a timer and its firing. A schedule in which all of them are bounded is
// fair.
type delays struct {
	network *vnet.Network
	sentAt  []int             // by a message's number: the step after which it was on its way
	since   map[vnet.Step]int // exits and timers that are possible: the step after which they were
	longest int               // of what has happened
}

func newDelays(n *vnet.Network) *delays {
	d := &delays{network: n, since: make(map[vnet.Step]int), sentAt: []int{0}}
	d.after()
	return d
}

// of returns how long a step has been held back, if it must not be so for ever.
func (d *delays) of(x vnet.Step) (age int, ok bool) {
	now := d.network.Steps
	switch {
	case arrives(x) || x.Kind == dme.Lose || x.Kind == dme.Copy:
		return now - d.sentAt[d.network.Number(x)], true
	case x.Kind == dme.Exit || x.Kind == dme.Timeout:
		return now - d.since[x], true
	}
	return
}

func (d *delays) before(x vnet.Step) {
	if age, ok := d.of(x); ok {
		d.longest = max(d.longest, age)
	}
	delete(d.since, x)
}

func (d *delays) after() {
	now := d.network.Steps
	for uint64(len(d.sentAt)) <= d.network.Sent() {
		d.sentAt = append(d.sentAt, now)
	}
	var held []vnet.Step
	for _, id := range d.network.Inside() {
		held = append(held, vnet.Step{Kind: dme.Exit, Node: id})
	}
	for _, t := range d.network.Timers() {
		held = append(held, vnet.Step{Kind: dme.Timeout, Node: t.Node, Timer: t.ID})
	}
	for _, x := range held {
		if _, ok := d.since[x]; !ok {
			d.since[x] = now
		}
	}
	if len(d.since) > len(held) { // some were cancelled
		maps.DeleteFunc(d.since, func(x vnet.Step, _ int) bool { return !slices.Contains(held, x) })
	}
}

// most returns the longest delay so far, of what is still held back too.
func (d *delays) most() int {
	now, most := d.network.Steps, d.longest
	for x, since := range d.since {
		if x.Kind == dme.Exit {
			most = max(most, now-since)
		}
	}
	if first, ok := d.network.Oldest(); ok {
		age, _ := d.of(first)
		most = max(most, age)
	}
	return most
}
