package coordinator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"dmebench/dme"
	"dmebench/internal/record"
	"dmebench/internal/record/measure"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/host"
	"dmebench/internal/runtime/noderun"
	"dmebench/workload/fault"
)

// This file lets a run go on when a host is lost, if the algorithm is made for nodes that crash. A
// node must not be taken for crashed while it is in the critical section, so the others are told
// when each worker of the host
//
//   - has answered that its nodes do nothing any more (control.OpFence): one whose agent alone is
//     lost does so at once, and hands over what it leaves; or
//   - was reaped by the agent, which has said so; or
//   - must have ended, because its lease is over.
//
// A worker renews its lease all the time, and counts it from its question on. So it ends at most a
// lease after the latest answer, however long that was on its way. But a stopped worker cannot end
// itself: unless its connection has ended as well, entries are undecided until it is heard of
// ([measure.Doubt]). They are undecided from its latest question on if it was out of reach and has
// not handed over what it recorded: an algorithm may have let others in before any node was told.

const (
	// hostTimeout is how long it takes at most to find that an unreachable host is lost: others may
	// notice before that one of its nodes is not reached.
	hostTimeout = 15 * time.Second

	leaseTime   = 5 * time.Second // of a worker on another host
	leaseMargin = 2 * time.Second // clocks drift apart, and a process that has read one may wait for a core

	fenceAnswer = time.Second // for a worker of a lost host
	fencePause  = 100 * time.Millisecond
)

// lease is how long a worker may go on without hearing its coordinator; 0 for any time if it is the
// coordinator's child. A worker that a fault pauses may stand still that much longer.
func (c *coordinator) lease() time.Duration {
	if !c.several() {
		return 0
	}
	longest := time.Duration(0)
	for _, f := range c.job.Faults {
		if f.Kind == fault.Pause {
			longest = max(longest, f.Lasts)
		}
	}
	return leaseTime + longest + time.Duration(len(c.places))*answerPerWorker
}

func (c *coordinator) grant(worker int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if worker < 0 || worker >= len(c.places) || c.isLost(worker) {
		return false
	}
	c.places[worker].granted = time.Now()
	return true
}

// lostHosts is what the workers of lost hosts have handed over, and what is not known of
// them. The injector's lock guards it.
type lostHosts struct {
	entries   []record.Entry
	left      map[dme.NodeID]control.Left
	announced map[int]int64 // by host: when the others heard of it
	doubts    []measure.Doubt
}

// orGoOn returns the error of a question to a host; nil if the host is lost and the run goes on
// without it.
func (c *coordinator) orGoOn(k int, err error) error {
	if err == nil || !c.goesOn.Load() || !errors.Is(err, host.ErrLost) {
		return err
	}
	if !c.lost[k].Swap(true) {
		c.lose(k, err)
	}
	return nil
}

// lose goes on without a host. If no other is left, the run fails.
func (c *coordinator) lose(k int, why error) {
	var workers []int
	var over time.Time // the last of their leases
	others := false
	c.mu.Lock()
	for w, p := range c.places {
		switch {
		case !p.state.expected():
		case p.host == k:
			p.become(lost)
			workers = append(workers, w)
			if p.granted.After(over) {
				over = p.granted
			}
		default:
			others = true
		}
	}
	c.mu.Unlock()
	if !others {
		c.fail(&failure{nodes: c.nodesLost(), what: fmt.Sprintf(
			"%v; no host is left: workers end when they have not heard the coordinator for %v", why, c.lease())})
		return
	}
	i := c.faults
	if over = over.Add(c.lease() + leaseMargin); i.ended.Load() {
		over = time.Now() // no node is to be told: only what is left counts
	}
	i.tellings.Add(1)
	i.telling.Go(func() { i.goOnWithout(k, workers, over, why) })
}

// goOnWithout waits until the workers of a lost host have ended, at the latest until their leases
// are over, and then has the others told that its nodes are down.
func (i *injector) goOnWithout(k int, workers []int, over time.Time, why error) {
	c := i.c
	var said *host.LostError
	var unsure, apart []int
	if reaped := errors.As(why, &said) && said.Ended; !reaped {
		unsure, apart = c.fence(i.ctx, workers, over)
	}
	at := c.clock.Now()
	doubted := measure.Doubt{Host: c.about[k].Name, Since: at, Until: at}
	var nodes []dme.NodeID
	c.mu.Lock()
	for _, w := range workers {
		c.places[w].become(gone)
		nodes = append(nodes, c.places[w].nodes...)
		if slices.Contains(apart, w) {
			doubted.Since = min(doubted.Since, at-int64(time.Since(c.places[w].granted)))
		}
	}
	c.mu.Unlock()
	since := time.Duration(at - c.start).Round(time.Millisecond)
	text := fmt.Sprintf("%v; its nodes %s are taken for crashed %v after the start", why, dme.FormatNodes(nodes), since)
	i.mu.Lock()
	i.announced[k] = at
	i.strikes = append(i.strikes, measure.Strike{Fault: fault.Fault{Kind: fault.Kill, Nodes: nodes, At: since}, At: at, Nodes: nodes})
	i.order = append(i.order, -1) // none that was asked for
	doubt := len(i.doubts)
	if unsure != nil {
		doubted.Until = math.MaxInt64
		text += fmt.Sprintf("; nothing confirms that %s has ended: entries from then on are undecided", c.names(unsure))
	}
	if doubted.Since < doubted.Until {
		i.doubts = append(i.doubts, doubted)
	}
	i.mu.Unlock()
	c.warn("%s", text)
	if !i.ended.Load() {
		if err := c.order(i.ctx, control.Command{Op: control.OpDown, Nodes: nodes}); err != nil && i.ctx.Err() == nil {
			c.fail(err)
		}
	}
	i.tellings.Add(-1)
	for unsure != nil && !i.ended.Load() && i.ctx.Err() == nil {
		if unsure, _ = c.fence(i.ctx, unsure, over); unsure == nil {
			i.mu.Lock()
			i.doubts[doubt].Until = c.clock.Now()
			i.mu.Unlock()
		}
	}
}

// fence has workers of a lost host do nothing any more. It asks until they have answered,
// or their leases are over, and returns those that may still be at work, and those that
// went on out of reach and have handed over nothing: unlike one that was dead already, they
// still had a connection when they were asked first.
func (c *coordinator) fence(ctx context.Context, workers []int, over time.Time) (unsure, apart []int) {
	var mu sync.Mutex
	var asking sync.WaitGroup
	for _, w := range workers {
		asking.Go(func() {
			connected, ended := false, false
			for expired := false; !expired && !ended; wait(fencePause) {
				expired = ctx.Err() != nil || time.Now().After(over)
				r, err := c.require(ctx, w, control.Command{Op: control.OpFence}, fenceAnswer)
				if err == nil && c.takeOver(ctx, w, r) {
					return
				}
				var silence *control.Silence
				absent := errors.As(err, &silence) && silence.Absent != nil
				connected = connected || !absent
				ended = err == nil || expired && absent
			}
			mu.Lock()
			defer mu.Unlock()
			if !ended {
				unsure = append(unsure, w)
			}
			if connected {
				apart = append(apart, w)
			}
		})
	}
	asking.Wait()
	slices.Sort(unsure)
	return unsure, apart
}

// require asks a worker of a lost host, which no other call reaches.
func (c *coordinator) require(ctx context.Context, w int, q control.Command, patience time.Duration) (control.Reply, error) {
	r, err := c.within(ctx, patience, []int{w}, control.Same(q))
	return r[0], err
}

// takeOver takes over what a worker leaves that is fenced, and ends with its lease. It
// reports whether nothing is missing.
func (c *coordinator) takeOver(ctx context.Context, w int, r control.Reply) bool {
	var entries []record.Entry
	for k := 1; k <= r.Chunks; k++ {
		chunk, err := c.require(ctx, w, control.Command{Op: control.OpFence, Chunk: k}, answerTime)
		if err == nil {
			entries, err = record.Decode(entries, chunk.Entries)
		}
		if err != nil {
			return false // its nodes are reported as missing
		}
	}
	i := c.faults
	i.mu.Lock()
	i.entries = append(i.entries, entries...)
	for _, left := range r.Left {
		i.left[left.Node] = left
	}
	i.mu.Unlock()
	return true
}

// leftOf returns what a node of a lost host has counted, as far as that is known.
func (i *injector) leftOf(id dme.NodeID) control.Left {
	i.telling.Wait()
	i.mu.Lock()
	defer i.mu.Unlock()
	left := i.left[id]
	left.Counts.Activity = uint64(noderun.Down)
	return left
}

// addLost adds what the workers of lost hosts have handed over, and says what is
// missing. It is called with the injector's lock held.
func (i *injector) addLost(o *measure.Observation) {
	o.Entries, o.Doubts = append(o.Entries, i.entries...), i.doubts
	var missing []dme.NodeID
	for _, id := range i.c.nodesLost() {
		left, ok := i.left[id]
		if !ok {
			missing = append(missing, id)
			continue
		}
		announced := i.announced[i.c.places[i.c.workerOf(id)].host]
		o.Abandoned = append(o.Abandoned, i.pending(left, announced)...)
	}
	if missing != nil {
		o.Warnings = append(o.Warnings, "what nodes "+dme.FormatNodes(missing)+" have counted and recorded is lost with their host")
	}
}

// lostWith reports whether a worker's host cannot be reached any more, and fails the run
// if that does not go on without it. A host that can be reached answers at once.
func (c *coordinator) lostWith(worker int) bool {
	if !c.several() {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), hostTimeout)
	defer cancel()
	_, err := c.hostOf(worker).Witness(ctx, false)
	if !errors.Is(err, host.ErrLost) {
		return false
	}
	if !c.goesOn.Load() {
		c.fail(c.lostHost(err))
	}
	return true // the next reader of the counters takes its nodes for crashed
}

// isLost reports whether a worker is on a host without which the run goes on: nothing
// that it says counts.
func (c *coordinator) isLost(worker int) bool {
	return worker >= 0 && worker < len(c.places) && c.lost[c.places[worker].host].Load()
}

// nodesLost returns the nodes of hosts that are lost, in ascending order.
func (c *coordinator) nodesLost() []dme.NodeID {
	var all []dme.NodeID
	for w, p := range c.places {
		if c.isLost(w) {
			all = append(all, p.nodes...)
		}
	}
	return all
}

// freeze says of nodes on hosts that are lost that they are down: they count no more.
func (c *coordinator) freeze(readings []host.Reading) {
	if !c.tolerant {
		return
	}
	for _, id := range c.nodesLost() {
		r := &readings[id-1]
		r.Activity, r.Timers, r.Pending = noderun.Down, 0, 0
	}
}
