package measure

import (
	"math"
	"slices"

	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/record"
	"dmebench/internal/runtime/noderun"
)

// clocks compares the clocks of hosts; nil stands for a single clock.
type clocks struct {
	hosts  []Host
	of     []int                            // the host of each node, node 1 first; -1 if it is on none
	direct map[[2]int]([]*clock.Relation)   // of the second host's clock, compared with the first's
	ways   map[[2]int]func(int64) wayOfTime // from the first host's clock to the second's
}

// wayOfTime bounds what another clock showed, if anything is known.
type wayOfTime struct {
	earliest, latest int64
	known            bool
}

func (w wayOfTime) middle() int64 { return w.earliest + (w.latest-w.earliest)/2 }

// bound is how far either end is from the middle.
func (w wayOfTime) bound() int64 { return w.latest - w.middle() }

func newClocks(o *Observation) *clocks {
	if len(o.Hosts) == 0 {
		return nil
	}
	c := &clocks{
		hosts: o.Hosts, of: make([]int, o.Job.Spec.Nodes),
		direct: make(map[[2]int][]*clock.Relation), ways: make(map[[2]int]func(int64) wayOfTime),
	}
	for i := range c.of {
		c.of[i] = slices.IndexFunc(o.Hosts, func(h Host) bool { return slices.Contains(h.Nodes, i+1) })
	}
	for _, l := range o.Links {
		pair := [2]int{l.From, l.To}
		c.direct[pair] = append(c.direct[pair], &l.Clock)
	}
	return c
}

func (c *clocks) several() bool { return c != nil && len(c.hosts) > 1 }

// host returns where a node lived.
func (c *clocks) host(id dme.NodeID) int {
	if c == nil || id < 1 || int(id) > len(c.of) {
		return -1
	}
	return c.of[id-1]
}

// here returns what the reference clock showed when a host's showed at.
func (c *clocks) here(host int, at int64) int64 {
	if host < 0 {
		return at
	}
	here, _ := c.hosts[host].Relation.Here(at)
	return here
}

// entries returns them with their times on the reference clock.
func (c *clocks) entries(entries []record.Entry) []record.Entry {
	if c == nil {
		return entries
	}
	there := slices.Clone(entries)
	for i := range there {
		e := &there[i]
		host := c.host(e.Node)
		for _, at := range []*int64{&e.Intended, &e.Arrived, &e.Requested, &e.Entered, &e.Exited} {
			*at = c.here(host, *at)
		}
	}
	return there
}

// counts returns them with their times on the reference clock.
func (c *clocks) counts(nodes []noderun.Counts) []noderun.Counts {
	if c == nil {
		return nodes
	}
	there := slices.Clone(nodes)
	for i := range there {
		there[i].LastMove = c.here(c.host(dme.NodeID(i+1)), there[i].LastMove)
	}
	return there
}

// way says for each instant of one host's clock what another host's showed, by their exchanges with
// one another and with the reference. The bounds of both hold, so the tighter counts on either
// side.
func (c *clocks) way(from, to int) func(at int64) wayOfTime {
	if way, ok := c.ways[[2]int{from, to}]; ok {
		return way
	}
	way := func(at int64) wayOfTime { return wayOfTime{at, at, true} }
	switch {
	case from < 0 || to < 0:
		way = func(int64) wayOfTime { return wayOfTime{} }
	case from != to:
		way = c.findWay(from, to)
	}
	c.ways[[2]int{from, to}] = way
	return way
}

func (c *clocks) findWay(from, to int) func(at int64) wayOfTime {
	direct := c.direct[[2]int{from, to}]
	f, t := c.hosts[from].Relation, c.hosts[to].Relation
	misread := int64(c.hosts[from].Error + c.hosts[to].Error)
	return func(at int64) wayOfTime {
		w := wayOfTime{math.MinInt64, math.MaxInt64, false}
		sound := true
		limit := func(x, bound int64) {
			const tooMuch = math.MaxInt64 / 4 // what no clock shows
			sound = sound && bound >= 0       // else exchanges contradict one another
			if bound < tooMuch && -tooMuch < x && x < tooMuch {
				w.known = true
				bound += misread
				w.earliest, w.latest = max(w.earliest, x-bound), min(w.latest, x+bound)
			}
		}
		for _, r := range direct {
			limit(r.Within(at, 0))
		}
		if x, bound := f.Here(at); bound >= 0 && bound < math.MaxInt64 {
			limit(t.Within(x, bound))
		} else {
			limit(x, bound)
		}
		w.known = w.known && sound && w.earliest <= w.latest
		return w
	}
}

// sound says whether no clock of the run was set, as far as exchanges show, and something is known
// about each. There must be several clocks.
func (c *clocks) sound() bool {
	for i := range c.hosts {
		if _, bound := c.hosts[i].Relation.Offset(0); bound < 0 || bound == math.MaxInt64 {
			return false
		}
	}
	for _, relations := range c.direct {
		if slices.ContainsFunc(relations, func(r *clock.Relation) bool { return r.Contradiction() > 0 }) {
			return false
		}
	}
	return true
}
