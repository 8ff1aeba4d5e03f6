package coordinator

import (
	"context"
	"fmt"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/internal/control"
)

// failure is why a run cannot go on: a process died, a link broke.
type failure struct {
	nodes  []dme.NodeID // who failed; nil where it was nobody in particular
	what   string
	stderr []string // of the process that failed
}

func (f *failure) Error() string { return f.what }

// stall is why a run does not go on, though everything works.
type stall struct{ what string }

func (s *stall) Error() string { return s.what }

// watch reaps a worker process, and fails the run if it ends too early.
func (c *coordinator) watch(i int, p Process) {
	err := p.Wait()
	if !c.ending.Load() {
		how := "exit status 0"
		if err != nil {
			how = err.Error()
		}
		c.fail(&failure{
			nodes: c.local[i], stderr: p.Stderr(),
			what: fmt.Sprintf("%s ended during the run: %s", c.name(i), how),
		})
	}
	close(c.exited[i])
}

// listen fails the run for what workers report.
func (c *coordinator) listen(ctx context.Context) {
	for {
		select {
		case e := <-c.leader.Events():
			if e.Fatal != "" {
				c.suspect(e)
			}
		case <-ctx.Done():
			return
		}
	}
}

// grace is how long a reported failure waits for the end of the process that
// caused it, whose own end says more.
const grace = time.Second

// suspect looks for the culprit of what a worker has reported, and fails the
// run.
func (c *coordinator) suspect(e control.Event) {
	culprit := e.Worker
	if e.Peer != 0 {
		culprit = int(e.Peer-1) / c.job.Spec.NodesPerWorker
	}
	f := &failure{what: e.Fatal}
	if culprit >= 0 && culprit < len(c.procs) {
		select {
		case <-c.exited[culprit]:
			return // watch has failed the run, with more to say
		case <-time.After(grace):
		}
		f.nodes, f.stderr = c.local[culprit], c.procs[culprit].Stderr()
	}
	if e.Worker >= 0 && e.Worker < c.workers {
		f.what = fmt.Sprintf("%s reports: %s", c.name(e.Worker), e.Fatal)
	}
	c.fail(f)
}

// names says who some workers are.
func (c *coordinator) names(workers []int) string {
	const most = 8
	var names []string
	for _, w := range workers[:min(most, len(workers))] {
		names = append(names, c.name(w))
	}
	if more := len(workers) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// name says who worker i is.
func (c *coordinator) name(i int) string {
	ids := c.local[i]
	nodes := fmt.Sprintf("node %d", ids[0])
	if len(ids) > 1 {
		nodes = fmt.Sprintf("nodes %d to %d", ids[0], ids[len(ids)-1])
	}
	if i < len(c.procs) {
		return fmt.Sprintf("%s (worker %d, pid %d)", nodes, i, c.procs[i].PID())
	}
	return fmt.Sprintf("%s (worker %d)", nodes, i)
}

func numbers(ids []dme.NodeID) []int {
	var n []int
	for _, id := range ids {
		n = append(n, int(id))
	}
	return n
}

// progress notices when a run moves no more.
type progress struct {
	limit   time.Duration // how long nothing may move while requests wait
	hold    time.Duration // how much longer, while somebody is in the critical section
	last    reading
	moved   time.Time // when anything last moved
	entered time.Time // when somebody last left the critical section, or nobody waited
}

func newProgress(limit, hold time.Duration) *progress {
	now := time.Now()
	return &progress{limit: limit, hold: hold, moved: now, entered: now}
}

// patience is how much longer messages may flow without any entry than there
// may be no message at all: a large system takes long before its first entry,
// and a perpetual token moves for ever.
const patience = 10

// observe takes a reading and says why the run is stalled, if it is. While
// somebody is in the critical section, waiting is what the others should do;
// but it ends, unless the process inside hangs.
func (p *progress) observe(r reading) error {
	now := time.Now()
	if r != p.last {
		p.moved = now
	}
	if r.entries != p.last.entries || r.requesting == 0 {
		p.entered = now
	}
	p.last = r
	limit, where := p.limit, "the critical section is free"
	if r.inside > 0 {
		limit, where = p.limit+p.hold, "somebody has been in the critical section for longer than the workload says"
	}
	still, dry := now.Sub(p.moved), now.Sub(p.entered)
	switch {
	case r.requesting+r.inside > 0 && still > limit:
		return &stall{fmt.Sprintf("%d requests are pending, %s, and nothing has moved for %v; messages sent %d, handled %d",
			r.requesting, where, limit, r.sent, r.handled)}
	case r.requesting > 0 && dry > patience*limit:
		return &stall{fmt.Sprintf("%d requests are pending and nobody has left the critical section for %v, though messages flow; sent %d, handled %d",
			r.requesting, patience*limit, r.sent, r.handled)}
	case r.served() && r.sent != r.handled && still > limit:
		return fmt.Errorf("messages were lost: %d were sent and %d handled, and nothing has moved for %v", r.sent, r.handled, limit)
	}
	return nil
}
