package coordinator

import (
	"context"
	"maps"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/internal/control"
)

const (
	pingPairs = 32 // ordered pairs that are measured, spread over all edges
	pingCount = 12 // pings along each

	// pingBudget bounds how long all pings together may take beyond what the links
	// are told to take: those that are lost cost the time for which an answer is
	// awaited.
	pingBudget = 3 * time.Second
	pingWait   = 250 * time.Millisecond // for an answer; a frame that takes longer counts as lost
	pingBytes  = 64                     // what a ping takes, roughly, for links that are narrow

	// fewPings is the least number of answers that a mean delay is made of.
	fewPings = 6
)

// ping measures one-way delays, one pair at a time, so that pings do not meet.
// What it cannot measure does not fail the run: T is unknown then.
func (c *coordinator) ping(ctx context.Context) error {
	if c.lostPings > 0 && c.delays == nil {
		return nil // nothing came back before the run
	}
	if c.start == 0 {
		c.survey.before(ctx)
	}
	links := c.job.Links()
	wait := pingWait + 2*links.Typical(pingBytes)
	byWorker := make(map[int][][2]uint32)
	edges := slices.DeleteFunc(slices.Clone(c.edges), func(e [2]uint32) bool {
		return c.stateOf(c.workerOf(dme.NodeID(e[0]))) != present || c.stateOf(c.workerOf(dme.NodeID(e[1]))) != present
	})
	n := min(pingPairs, len(edges))
	for k := range n {
		edge := edges[k*len(edges)/n]
		w := c.workerOf(dme.NodeID(edge[0]))
		byWorker[w] = append(byWorker[w], edge)
	}
	left := pingBudget + time.Duration(n)*2*links.Typical(pingBytes)
	for i, w := range slices.Sorted(maps.Keys(byWorker)) {
		share := left / time.Duration(len(byWorker)-i)
		begin := time.Now()
		limited, cancel := context.WithTimeout(ctx, share+wait+answerTime)
		replies, err := c.leader.Call(limited, []int{w}, control.Same(control.Command{
			Op: control.OpPing, Pairs: byWorker[w], Count: pingCount, Within: share, Wait: wait, Halves: len(c.hosts) > 1,
		}))
		cancel()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			// A worker that does not answer is found out by the run itself.
			c.warn("the delays of messages from %s could not be measured: %v", c.name(w), err)
		}
		left -= min(left, time.Since(begin))
		c.delays = append(c.delays, replies[0].Delays...)
		c.lostPings += replies[0].Lost
	}
	return nil
}

// measured returns the delays, where they are enough to speak of, and says what
// is missing.
func (c *coordinator) measured() []int64 {
	if c.lostPings > 0 {
		c.warn("%d of the pings were not answered in time, and %d were: the links lose, or are slow; T speaks of what was answered",
			c.lostPings, len(c.delays))
	}
	if len(c.delays) < fewPings {
		return nil
	}
	return c.delays
}
