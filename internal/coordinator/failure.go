package coordinator

import (
	"context"
	"fmt"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/internal/control"
	"dmebench/internal/launch"
	"dmebench/result"
)

// failure is why a run cannot go on: a process died, a link broke.
type failure struct {
	nodes  []dme.NodeID // who failed; nil where it was nobody in particular
	what   string
	stderr []string // of the process that failed
}

func (f *failure) Error() string { return f.what }

// stall is why a run does not go on, though every process works.
type stall struct {
	what    string
	unquiet bool // every request was served, but the system does not fall silent
	states  []string
}

func (s *stall) Error() string { return s.what }

// status is what a run that ends so is.
func (s *stall) status() result.Status {
	if s.unquiet {
		return result.Failed
	}
	return result.Stalled
}

// watch fails the run if a worker process ends too early.
func (c *coordinator) watch(i int, p launch.Process) {
	<-p.Ended()
	if !c.ending.Load() {
		c.fail(&failure{
			nodes: c.local[i], stderr: p.Stderr(),
			what: fmt.Sprintf("%s ended during the run: %s", c.name(i), p.Outcome()),
		})
	}
}

// listen fails the run for what workers report.
func (c *coordinator) listen(ctx context.Context) {
	for {
		select {
		case e := <-c.leader.Events():
			if e.Fatal != "" {
				c.reported(e)
			}
		case <-ctx.Done():
			return
		}
	}
}

// causeTimeout is how long a reported failure waits for the end of the process
// that caused it, whose own end says more.
const causeTimeout = time.Second

// reported fails the run for what a worker has reported, and names the worker
// that caused it.
func (c *coordinator) reported(e control.Event) {
	culprit := e.Worker
	if e.Peer != 0 {
		culprit = c.workerOf(dme.NodeID(e.Peer))
	}
	f := &failure{what: e.Fatal}
	if culprit >= 0 && culprit < len(c.procs) {
		select {
		case <-c.procs[culprit].Ended():
			return // watch fails the run, with more to say
		case <-time.After(causeTimeout):
		}
		f.nodes, f.stderr = c.local[culprit], c.procs[culprit].Stderr()
	}
	if e.Worker >= 0 && e.Worker < len(c.workers) {
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
