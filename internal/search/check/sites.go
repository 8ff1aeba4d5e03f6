package check

import (
	"math/rand/v2"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// Sites are the places where nodes are. In random schedules, messages between them then
// arrive in the order in which they would on links with these delays.
type Sites struct {
	Name  string // as it was given
	Place string // the same: how nodes are placed
	Of    []int  // by node, from 0: its site
	Ways  [][]Way
}

// Way is how long a message takes from one site to another: the delay, and up to the jitter more.
type Way struct{ Delay, Jitter time.Duration }

// longest returns the longest delay.
func (s *Sites) longest() (most time.Duration) {
	for _, row := range s.Ways {
		for _, w := range row {
			most = max(most, w.Delay+w.Jitter)
		}
	}
	return most
}

// distances takes steps in the order of their times on a clock that the schedule draws. A
// message takes the way between its sites, everything up to a local delay more; entries,
// timers and the time until a node asks take so long as to happen while messages are far away.
type distances struct {
	*Sites
	rand        *rand.Rand
	local, long time.Duration
	now         time.Duration
	at, before  map[occasion]time.Duration // what is possible, now and one step before: when it happens
	sent        []time.Duration            // by a message's number: when
}

// occasion is a message by its number, or another step.
type occasion struct {
	message uint64
	step    vnet.Step
}

func newDistances(s *Sites, rng *rand.Rand) *distances {
	longest := max(s.longest(), time.Microsecond)
	return &distances{
		Sites: s, rand: rng, local: max(1, longest/100), long: 1 + longest>>rng.IntN(8),
		at: make(map[occasion]time.Duration), before: make(map[occasion]time.Duration),
	}
}

func (d *distances) Pick(n *vnet.Network, steps []vnet.Step) (first int) {
	d.at, d.before = d.before, d.at
	clear(d.at)
	for uint64(len(d.sent)) <= n.Sent() {
		d.sent = append(d.sent, d.now)
	}
	soonest, next := time.Duration(-1), occasion{}
	for i, x := range steps {
		// A message that stands behind another on its link has been on its way since it was sent.
		o, since := occasion{step: x}, d.now
		if arrives(x) {
			o = occasion{message: n.Number(x)}
			since = d.sent[o.message]
		}
		at, known := d.before[o]
		if !known {
			at = since + d.lasts(x)
		}
		d.at[o] = at
		if soonest < 0 || at < soonest {
			first, soonest, next = i, at, o
		}
	}
	delete(d.at, next) // what is possible again after it, such as a timer that is set anew, takes its own time
	d.now = max(d.now, soonest)
	return first
}

func (d *distances) lasts(x vnet.Step) time.Duration {
	if !arrives(x) {
		return d.upTo(d.long)
	}
	way := d.Ways[d.site(x.From)][d.site(x.Node)]
	return way.Delay + d.upTo(way.Jitter+d.local)
}

func (d *distances) upTo(most time.Duration) time.Duration {
	return time.Duration(d.rand.Int64N(int64(most)))
}

func (d *distances) site(id dme.NodeID) int { return d.Of[id-1] }
