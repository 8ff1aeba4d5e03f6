package check

import (
	"context"
	"fmt"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// sampled is how many schedules Overtaking runs.
const sampled = 300

// Overtaking returns the most entries of others between a request and its entry in some
// random schedules: what an exhaustive search, which would have to tell apart states
// that differ in this alone, does not count unless it is to bound it. More may be possible.
func (s *Search) Overtaking(ctx context.Context) (most, schedules int) {
	o := *s
	o.Schedules, o.Progress = sampled, nil
	r := o.Random(ctx)
	return r.MaxBypass, int(r.Schedules)
}

// watch is what a random search holds overtaking against, where nobody has given it a
// bound.
type watch struct {
	bound    int       // on the entries of others between a request and its entry; 0: none is claimed
	claim    dme.Claim // which says so
	starves  bool      // some schedules try to starve a node
	promised bool      // the algorithm is claimed to be free of starvation
}

// watching returns what there is to watch: nothing where links and nodes are worse than
// the algorithm needs, since what its paper says is then not said.
func watching(m *vnet.Model, needs dme.Needs) watch {
	var w watch
	if m.Nodes < 2 || m.Crashes > 0 || needs.FIFO && m.Unordered || needs.Reliable && (m.Duplicate || m.Lose > 0) ||
		needs.SequencedBroadcast && !m.Sequenced {
		return w
	}
	w.starves = true
	setting := dme.Setting{Nodes: m.Nodes, Options: m.Options, System: m.System}
	for _, c := range m.Algorithm.Claims {
		if c.KnownFalse != "" || c.Load != dme.AnyLoad && c.Load != dme.Worst || c.FIFO && m.Unordered {
			continue
		}
		value, ok := c.Prediction(setting)
		switch {
		case !ok || c.Kind != dme.UpperBound && c.Kind != dme.Exact:
		case c.Quantity == dme.Unserved:
			w.promised = w.promised || value == 0
		}
	}
	if o := dme.OvertakingBound(m.Algorithm.Claims, setting, !m.Unordered); o.Claimed >= 1 {
		w.bound, w.claim = o.Claimed, *o.Claim
	}
	return w
}

// Watched says what a random search holds overtaking against, "" where nothing.
func (s *Search) Watched() string {
	switch {
	case s.Bypass > 0:
		return fmt.Sprintf("at most %d entries of others between a request and its entry, as told", s.Bypass)
	case s.watch.bound > 0:
		return fmt.Sprintf("at most %d entries of others between a request and its entry: %s, %s",
			s.watch.bound, s.watch.claim.Formula, s.watch.claim.Source)
	case s.starves:
		return fmt.Sprintf("at most %d entries of others for each step of the longest delay, in schedules that try to starve a node", 2*s.Nodes)
	}
	return ""
}
