package check

import (
	"context"
	"fmt"
	"math/rand/v2"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/vnet"
)

// isolation lets nodes ask one after the other, each once everything else has come to
// rest, while what concerns its victims waits for the very end: a node asks without
// having heard of requests that all the others know. Numbers grow as far apart as they
// can, and what was sent last may arrive first.
type isolation struct {
	fair   vnet.Chance
	links  *priorities // chooses the held message to go first
	held   victims
	alone  dme.NodeID // the node of the first victim
	first  bool       // asks before the others
	again  bool       // a node that leaves asks again at once
	newest bool       // what was sent last arrives first
	left   dme.NodeID // in the last step

	asks, free, kept []int // scratch: the possible steps, by their indexes
}

func newIsolation(m *vnet.Model, requests int, rng *rand.Rand) *isolation {
	fair := vnet.Chance{Rand: rng}
	x := &isolation{
		fair: fair, links: newPriorities(m.Nodes, requests, rng), first: rng.IntN(4) > 0, again: rng.IntN(4) > 0, newest: rng.IntN(2) == 0,
		held: victims{fair: fair, nodes: m.Nodes, kinds: len(m.Algorithm.Kinds)},
	}
	x.draw()
	return x
}

// draw chooses the victims: mostly a node that hears nothing.
func (x *isolation) draw() {
	v := x.held.draw()
	if x.fair.IntN(4) > 0 {
		v.what = aReceiver
	}
	x.held.held = [3]victim{v}
	if x.fair.IntN(8) == 0 {
		x.held.held[1] = x.held.draw()
	}
	x.alone = v.to
}

func (x *isolation) Pick(n *vnet.Network, steps []vnet.Step) (at int) {
	left := x.left
	defer func() {
		if x.left = dme.None; steps[at].Kind == dme.Exit {
			x.left = steps[at].Node
		}
	}()
	if x.fair.IntN(256) == 0 {
		return x.fair.Pick(n, steps)
	}
	x.asks, x.free, x.kept = x.asks[:0], x.free[:0], x.kept[:0]
	first := -1
	for i, s := range steps {
		switch {
		case asks(s):
			if x.again && s.Node == left {
				return i
			}
			if x.first && s.Node == x.alone && n.Entries == 0 {
				first = i
			}
			x.asks = append(x.asks, i)
		case x.held.holds(n, s):
			x.kept = append(x.kept, i)
		default:
			x.free = append(x.free, i)
		}
	}
	switch {
	case len(x.free) > 0:
		return x.free[x.fair.IntN(len(x.free))]
	case first >= 0:
		return first
	case len(x.asks) > 0:
		return x.asks[x.fair.IntN(len(x.asks))]
	}
	// Nothing is possible but what is held back.
	best := x.links.Pick(n, steps)
	if x.newest {
		best = newestOf(n, steps)
	}
	if x.fair.IntN(4*n.Nodes) == 0 {
		x.draw()
	}
	return best
}

func newestOf(n *vnet.Network, steps []vnet.Step) int {
	best, number := 0, uint64(0)
	for i, s := range steps {
		if arrives(s) && n.Number(s) > number {
			best, number = i, n.Number(s)
		}
	}
	return best
}

const sampled = 100

// Overtaking returns the most entries of others between a request and its entry in some
// random schedules: what an exhaustive search, which would have to tell apart states
// that differ in this alone, does not count unless it is to bound it. More may be possible.
func (s *Search) Overtaking(ctx context.Context) (most, schedules int) {
	o := *s
	o.Schedules, o.Progress = sampled, nil
	if bare, err := s.model.Unwatched(); err == nil && !s.model.Fenced { // the states were all judged
		o.model = bare
	}
	r := o.Random(ctx)
	return r.MaxBypass, int(r.Schedules)
}

// watch is the bound on overtaking of a random search without a given one.
type watch struct {
	bound    int         // on the entries of others between a request and its entry; 0: none is claimed
	claim    claim.Claim // the source of the bound
	starves  bool        // some schedules try to starve a node
	promised bool        // the algorithm is claimed to be free of starvation
}

// watching returns what there is to watch: nothing if the paper's assumptions are not met.
func watching(m *vnet.Model, needs dme.Needs) watch {
	var w watch
	if m.Nodes < 2 || m.Crashes > 0 || needs.FIFO && m.Unordered || needs.Reliable && (m.Duplicate || m.Lose > 0) ||
		needs.SequencedBroadcast && !m.Sequenced {
		return w
	}
	w.starves = true
	setting := dme.Setting{Algorithm: m.Algorithm, Nodes: m.Nodes, Options: m.Options, System: m.System}
	for _, c := range claim.Of(m.Algorithm) {
		if c.KnownFalse != "" || c.Load != claim.AnyLoad && c.Load != claim.Worst || c.FIFO && m.Unordered {
			continue
		}
		value, ok := c.Prediction(setting)
		switch {
		case !ok || c.Kind != claim.UpperBound && c.Kind != claim.Exact:
		case c.Quantity == claim.Unserved:
			w.promised = w.promised || value == 0
		}
	}
	if o := claim.OvertakingBound(claim.Of(m.Algorithm), setting, !m.Unordered); o.Claimed >= 1 {
		w.bound, w.claim = o.Claimed, *o.Claim
	}
	return w
}

// Watched says what a random search holds overtaking against, "" if nothing.
func (s *Search) Watched() string {
	switch {
	case s.Bypass > 0:
		return fmt.Sprintf("at most %d entries of others between a request and its entry, as given", s.Bypass)
	case s.watch.bound > 0:
		return fmt.Sprintf("at most %d entries of others between a request and its entry: %s, %s",
			s.watch.bound, s.watch.claim.Formula, s.watch.claim.Source)
	case s.starves:
		return fmt.Sprintf("at most %d entries of others for each step of the longest delay, in schedules that try to starve a node", 2*s.Nodes)
	}
	return ""
}
