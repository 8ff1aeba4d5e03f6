package coordinator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/foreign"
	"dmebench/internal/runtime/noderun"
	standstill "dmebench/internal/runtime/stall"
	"dmebench/runs"
	"dmebench/units"
	"dmebench/workload/fault"
)

const (
	// maxStates bounds how many decoded states a stalled run reports.
	maxStates = 64

	// answerTime bounds how long workers may take to answer when all they have to
	// do is to take a lock.
	answerTime = 5 * time.Second

	// promptly is how fast workers answer that nothing holds up.
	promptly = 250 * time.Millisecond

	// doubts is how often a standstill in which nothing moved is not believed
	// because workers took their time to answer.
	doubts = 3
)

// confirm looks once more at a run in which nothing has moved. All nodes are asked
// where they stand: if a worker was held up, the run goes on once it is not,
// and the algorithm has not stalled. An error names the workers that do not answer
// even that: they hang, and the algorithm is not to blame. Nor is it if links hold messages.
func (c *coordinator) confirm(ctx context.Context, err error, seen sums) (stalled bool, _ error) {
	var s *stall
	if !errors.As(err, &s) {
		return false, err
	}
	asked := time.Now()
	states, waits, err := c.states(ctx)
	if err != nil {
		return false, err
	}
	traffic, err := c.traffic(ctx, seen)
	if err != nil {
		return false, err
	}
	if again, err := c.sums(ctx); err != nil {
		return false, c.blame(ctx, err)
	} else if again != seen {
		c.doubted = 0
		return false, nil
	}
	if time.Since(asked) > promptly && c.doubted < doubts {
		c.doubted++ // what it could not do meanwhile it may do now
		return false, nil
	}
	s.states, s.waits = states, waits
	c.suspect(s, traffic)
	s.what += c.faults.recount()
	return true, s
}

// states asks all nodes where they stand, and what they wait for.
func (c *coordinator) states(ctx context.Context) ([]string, *standstill.Standstill, error) {
	replies, err := c.inquire(ctx, control.Command{Op: control.OpStates, Limit: maxStates})
	var states []string
	waits := &standstill.Standstill{Nodes: c.job.Spec.Nodes, Tokens: -1}
	for _, r := range replies {
		states = append(states, r.States...)
		if r.Waits != nil {
			waits.Join(r.Waits)
		}
	}
	absent, gone := c.absentees()
	waits.Absent = gone
	return append(states[:min(len(states), maxStates)], absent...), waits, err
}

// inquire asks all workers for what takes no more than the locks of their nodes.
func (c *coordinator) inquire(ctx context.Context, command control.Command) ([]control.Reply, error) {
	begin := time.Now()
	replies, err := c.within(ctx, answerTime, c.workers(), control.Same(command))
	return replies, c.blame(ctx, c.exceptStruck(begin, err))
}

// dead says that a run will never move again, if two equal sums prove it, and nil if they do not.
// Nodes wait; none is inside, no timer is armed, every message was handled that was not lost with a
// node, no idle node will ask, and no fault is still to strike or to end. Only a handler that is
// under way could change that, and [coordinator.confirm] waits for it, as it takes every node's
// lock before it looks once more.
//
// The counters prove it only if a message is handled at most once, and all that moves a node is
// counted.
func (c *coordinator) dead(ctx context.Context, before, now sums, since time.Time) error {
	if before != now || now.requesting == 0 || now.inside > 0 || now.timers > 0 ||
		time.Since(since) < settling || !c.countable() || !c.faults.spent() {
		return nil
	}
	for i := range c.looked {
		if n := &c.looked[i]; n.Activity == noderun.Idle && n.Pending > 0 {
			return nil
		}
	}
	fate := fmt.Sprintf("all %d messages that were sent have been handled", now.sent)
	if now.sent != now.handled {
		if since.Equal(c.unproven) {
			return nil // nothing has moved since the workers were asked
		}
		c.unproven = since
		replies, err := c.traffic(ctx, now)
		if err != nil || replies == nil || len(c.missing(replies)) > 0 {
			return err
		}
		fate = fmt.Sprintf("of %d messages that were sent %d have been handled, and the others were lost with nodes", now.sent, now.handled)
	}
	return &stall{what: fmt.Sprintf("%s, the critical section is free, and nothing can move any more: %s",
		pending(now.requesting), fate)}
}

func pending(requests int) string {
	if requests == 1 {
		return "1 request is pending"
	}
	return units.Counted(requests, "request") + " are pending"
}

// countable reports whether the counters cover all that can move a node. Nodes in other languages
// and clients of a lock service act when they like; that a node comes or goes, or is lost with its
// host, others hear from their links.
func (c *coordinator) countable() bool {
	for _, f := range c.job.Faults {
		if f.Kind == fault.Restart || f.Kind == fault.Join || f.Kind == fault.Leave {
			return false
		}
	}
	return c.job.Guarantees().Reliable && !c.tolerant && !foreign.Is(c.job.Algorithm.Name) && c.job.Algorithm.Class != dme.Service
}

// spent reports whether all faults have struck, and those that end have ended.
func (i *injector) spent() bool {
	if i == nil {
		return true
	}
	select {
	case <-i.done:
		return true
	default:
		return false
	}
}

// This file separates a standstill of the algorithm from one of the network: on links that lose
// nothing, a message that was sent and not handled is being held up.

// traffic asks the workers what their nodes have sent each other, if messages are missing that
// cannot have been lost; nil elsewhere. A partition on purpose loses them.
func (c *coordinator) traffic(ctx context.Context, seen sums) ([]control.Reply, error) {
	cut := func(f fault.Fault) bool { return f.Kind == fault.Partition }
	if seen.sent <= seen.handled || !c.job.Guarantees().Reliable || slices.ContainsFunc(c.job.Faults, cut) {
		return nil, nil
	}
	return c.inquire(ctx, control.Command{Op: control.OpTraffic})
}

// missing returns how many messages links between workers that are there hold, by workers,
// from and to. The replies are those of traffic.
func (c *coordinator) missing(replies []control.Reply) map[[2]int]int32 {
	missing := make(map[[2]int]int32)
	for _, r := range replies {
		for _, x := range r.Traffic {
			peer := c.workerOf(x.Peer)
			missing[[2]int{r.Worker, peer}] += int32(x.Sent)
			missing[[2]int{peer, r.Worker}] -= int32(x.Came)
		}
	}
	there := c.workers()
	maps.DeleteFunc(missing, func(w [2]int, n int32) bool {
		return n <= 0 || !slices.Contains(there, w[0]) || !slices.Contains(there, w[1])
	})
	return missing
}

// suspect says of a stall whether messages are held, and on which links. The replies are
// those of traffic.
func (c *coordinator) suspect(s *stall, replies []control.Reply) {
	if replies == nil {
		return
	}
	missing := c.missing(replies)
	var links []string
	for _, w := range slices.SortedFunc(maps.Keys(missing), func(v, w [2]int) int { return slices.Compare(v[:], w[:]) }) {
		links = append(links, fmt.Sprintf("%d from %s to %s", missing[w], c.name(w[0]), c.name(w[1])))
	}
	s.held = links != nil || c.faults.recount() == "" // else they went down with nodes
	if links != nil {
		s.what += "; the network holds messages: " + some(links, "; ") + "; repair the path between them, and run again"
	}
}

// stall is why a run does not go on, though every process works.
type stall struct {
	what    string
	unquiet bool // every request was served, but the system does not fall silent
	held    bool // messages that were sent have not been handled, though links lose none
	states  []string
	waits   *standstill.Standstill
}

func (s *stall) Error() string { return s.what }

func (s *stall) status() runs.Status {
	if s.unquiet || s.held {
		return runs.Failed
	}
	return runs.Stalled
}

type progress struct {
	limit   time.Duration // how long nothing may move while requests wait
	hold    time.Duration // how much longer, while a node is in the critical section
	lossy   bool          // messages are lost, through no fault of the links
	last    sums
	moved   time.Time // when anything last moved
	entered time.Time // when a node last left the critical section, or none waited
	pending time.Time // when a node last waited, was inside or had requests to make
}

func newProgress(limit, hold time.Duration) *progress {
	p := &progress{limit: limit, hold: hold}
	p.restart()
	return p
}

// patience is how much longer messages may flow without any entry than there
// may be no message at all: a large system takes long before its first entry,
// and a perpetual token moves for ever.
const patience = 10

// skip leaves a time out of account in which nothing could be observed: whether anything moved
// then is not known.
func (p *progress) skip(d time.Duration) {
	p.moved, p.entered, p.pending = p.moved.Add(d), p.entered.Add(d), p.pending.Add(d)
}

func (p *progress) restart() {
	now := time.Now()
	p.moved, p.entered, p.pending = now, now, now
}

// observe takes new sums and says why the run is stalled, if it is. While a node is in the critical
// section, the others should wait; but it ends, unless the process inside hangs.
func (p *progress) observe(r sums) error {
	now := time.Now()
	if r != p.last {
		p.moved = now
	}
	if r.entries != p.last.entries || r.requesting == 0 {
		p.entered = now
	}
	if !r.served() {
		p.pending = now
	}
	p.last = r
	limit, where := p.limit, "the critical section is free"
	if r.inside > 0 {
		limit, where = p.limit+p.hold, "a node has been in the critical section for longer than the workload says"
	}
	still, dry := now.Sub(p.moved), now.Sub(p.entered)
	switch {
	case r.requesting+r.inside > 0 && still > limit:
		return &stall{what: fmt.Sprintf("%s, %s, and nothing has moved for %v; messages sent %d, handled %d",
			pending(r.requesting), where, limit, r.sent, r.handled)}
	case r.requesting > 0 && dry > patience*limit:
		return &stall{what: fmt.Sprintf("%s and no node has left the critical section for %v, "+
			"though messages flow; sent %d, handled %d", pending(r.requesting), patience*limit, r.sent, r.handled)}
	case !p.lossy && r.served() && r.sent != r.handled && still > limit:
		what := "lost"
		if r.handled > r.sent {
			what = "duplicated"
		}
		return &stall{unquiet: true, what: fmt.Sprintf("messages were %s: %d were sent and %d handled, and nothing has moved for %v",
			what, r.sent, r.handled, limit)}
	case now.Sub(p.pending) > patience*limit:
		return &stall{unquiet: true, what: fmt.Sprintf("the system does not fall silent: no request is pending, "+
			"and after %v messages still flow", patience*limit)}
	}
	return nil
}
