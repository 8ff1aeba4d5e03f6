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

	// Spaced pings take as long as what is between them, and so are fewer. A core
	// that has slept for mostApart sleeps as deeply as it ever will.
	spacedPairs  = 12
	spacedCount  = 6
	spacedBudget = 600 * time.Millisecond
	mostApart    = 50 * time.Millisecond

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
	edges := slices.DeleteFunc(slices.Clone(c.edges), func(e [2]uint32) bool {
		return c.stateOf(c.workerOf(dme.NodeID(e[0]))) != present || c.stateOf(c.workerOf(dme.NodeID(e[1]))) != present
	})
	delays, err := c.pingAlong(ctx, spread(edges, pingPairs), control.Command{Count: pingCount}, pingBudget)
	if err != nil {
		return err
	}
	c.delays = append(c.delays, delays...)
	apart := min(c.job.Plan.MeanHold(), mostApart)
	if apart <= 0 {
		return nil // one follows the other at once in the run as well
	}
	spaced, err := c.pingAlong(ctx, spread(edges, spacedPairs), control.Command{Count: spacedCount, Apart: apart}, spacedBudget)
	c.spaced = append(c.spaced, spaced...)
	return err
}

// spread returns up to n of the edges, from all over them.
func spread(edges [][2]uint32, n int) [][2]uint32 {
	n = min(n, len(edges))
	chosen := make([][2]uint32, n)
	for k := range chosen {
		chosen[k] = edges[k*len(edges)/n]
	}
	return chosen
}

// pingAlong sends pings along the edges, as ask says, for budget beyond what the links
// are told to take. It returns the one-way delays of those that were answered.
func (c *coordinator) pingAlong(ctx context.Context, edges [][2]uint32, ask control.Command, budget time.Duration) ([]int64, error) {
	links := c.job.Links()
	ask.Op, ask.Halves, ask.Wait = control.OpPing, len(c.hosts) > 1, pingWait+2*links.Typical(pingBytes)
	byWorker := make(map[int][][2]uint32)
	for _, edge := range edges {
		w := c.workerOf(dme.NodeID(edge[0]))
		byWorker[w] = append(byWorker[w], edge)
	}
	var delays []int64
	left := budget + time.Duration(len(edges))*2*links.Typical(pingBytes)
	for i, w := range slices.Sorted(maps.Keys(byWorker)) {
		ask.Pairs, ask.Within = byWorker[w], left/time.Duration(len(byWorker)-i)
		begin := time.Now()
		limited, cancel := context.WithTimeout(ctx, ask.Within+ask.Apart+ask.Wait+answerTime)
		replies, err := c.leader.Call(limited, []int{w}, control.Same(ask))
		cancel()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			// A worker that does not answer is found out by the run itself.
			c.warn("the delays of messages from %s could not be measured: %v", c.name(w), err)
		}
		left -= min(left, time.Since(begin))
		delays = append(delays, replies[0].Delays...)
		c.lostPings += replies[0].Lost
	}
	return delays, nil
}

// measured returns the delays of pings back to back and of spaced ones, each where
// they are enough to speak of, and says what is missing.
func (c *coordinator) measured() (delays, spaced []int64) {
	if c.lostPings > 0 {
		c.warn("%d of the pings were not answered in time, and %d were: the links lose, or are slow; T speaks of what was answered",
			c.lostPings, len(c.delays)+len(c.spaced))
	}
	if len(c.delays) >= fewPings {
		delays = c.delays
	}
	if len(c.spaced) >= fewPings {
		spaced = c.spaced
	}
	return delays, spaced
}
