package coordinator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/control"
)

// failure is why a run cannot go on: a process died, a link broke.
type failure struct {
	nodes  []dme.NodeID // the nodes that failed; nil if none in particular
	what   string
	stderr []string // of the process that failed
}

func (f *failure) Error() string { return f.what }

func (c *coordinator) watch(worker int, p launch.Process) {
	<-p.Ended()
	if c.ending.Load() {
		return
	}
	c.mu.Lock()
	at := c.places[worker]
	failed := at.process == p && at.state.expected()
	c.mu.Unlock()
	if failed {
		if c.lostWith(worker) {
			return
		}
		c.fail(&failure{
			nodes: at.nodes, stderr: p.Stderr(),
			what: fmt.Sprintf("%s ended during the run: %s", c.name(worker), p.Outcome()),
		})
	}
}

// listen hears what workers say unasked, and fails the run for what they report.
func (c *coordinator) listen(ctx context.Context) {
	for {
		select {
		case e := <-c.leader.Events():
			if e.Joined {
				c.arrived(e.Worker)
			}
			if e.Fatal != "" {
				go c.reported(e) // waits for a while
			}
		case <-ctx.Done():
			return
		}
	}
}

func (c *coordinator) arrived(worker int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if worker < 0 || worker >= len(c.places) || c.places[worker].joined == nil {
		return
	}
	close(c.places[worker].joined)
	c.places[worker].joined = nil
}

// causeTimeout is how long a reported failure waits for the end of the process
// that caused it, whose own end says more.
const causeTimeout = time.Second

// reported fails the run for what a worker has reported, and names the worker
// that caused it. Links to nodes that were killed or paused on purpose, or have left,
// may break, and the workers of a lost host may not reach the others: that is no failure.
func (c *coordinator) reported(e control.Event) {
	if c.isLost(e.Worker) {
		return
	}
	culprit := e.Worker
	if e.Peer != 0 {
		culprit = c.workerOf(dme.NodeID(e.Peer))
	}
	f := &failure{what: e.Fatal}
	if culprit >= 0 && culprit < len(c.places) && c.at(culprit).process != nil {
		p := c.at(culprit).process
		patience := causeTimeout
		if c.tolerant {
			patience = hostTimeout
		}
		select {
		case <-p.Ended():
			return // watch fails the run, with more to say
		case <-time.After(patience):
		}
		if at := c.at(culprit); e.Peer != 0 && (!at.state.expected() || at.disturbed) {
			return // a fault is why others cannot reach it
		}
		if c.lostWith(culprit) || e.Worker >= 0 && e.Worker < len(c.places) && c.lostWith(e.Worker) {
			return
		}
		f.nodes, f.stderr = c.places[culprit].nodes, p.Stderr()
	}
	if e.Worker >= 0 && e.Worker < len(c.places) {
		f.what = fmt.Sprintf("%s reports: %s", c.name(e.Worker), e.Fatal)
	}
	c.fail(f)
}

// lapseEvery is how often the coordinator checks whether it was held up.
const lapseEvery = 250 * time.Millisecond

type held struct {
	who   string
	worst clock.Lapse
}

func (c *coordinator) lapsed(who string, lapses []clock.Lapse) {
	if len(lapses) > 0 {
		c.held = append(c.held, held{who, slices.MaxFunc(lapses, func(a, b clock.Lapse) int { return int(a.For - b.For) })})
	}
}

// warnOfLapses warns if processes did not run for a while: times are longer by that, and that is not
// the algorithm's doing.
func (c *coordinator) warnOfLapses() {
	if c.start == 0 {
		return
	}
	c.lapsed("the coordinator", c.lapses.Since(c.start))
	if c.held == nil {
		return
	}
	slices.SortStableFunc(c.held, func(a, b held) int { return int(b.worst.For - a.worst.For) })
	var parts []string
	for _, h := range c.held {
		parts = append(parts, fmt.Sprintf("%s for %v until %v after the start", h.who,
			h.worst.For.Round(10*time.Millisecond), time.Duration(h.worst.Until-c.start).Round(10*time.Millisecond)))
	}
	c.warn("processes did not run for a second or more, stopped by a signal or for want of a core, and times include that: %s",
		some(parts, "; "))
}

// some joins the first of many parts, and counts the others.
func some(parts []string, between string) string {
	const most = 8
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, between)
}
