package ricartagrawala

import "dmebench/dme"

// mostFollowed is the largest system of which every pair of nodes is followed.
const mostFollowed = 64

// conflicts follows pairs of concurrent requests: two nodes have asked, and neither
// had handled the other's REQUEST when it asked itself.
type conflicts struct {
	asked []request // by node, from 1; of those that wait
	heard [][]bool  // by node, from 1: whose pending REQUEST it has handled

	// judged says of two requests, the earlier first, which won: whether the conflict
	// counts, and whether as a hit.
	judged func(early, late, winner *request) (counts, hit bool)

	pairs [][]bool // by node that asked later, and earlier: they are in conflict

	all, hits int
}

// request is one that waits.
type request struct {
	dme.Moment
	stamp   dme.Stamp
	highest uint64 // number that its node had seen before
	waits   bool
}

func newConflicts(n int, judged func(early, late, winner *request) (counts, hit bool)) dme.Meter {
	if n > mostFollowed {
		return nil
	}
	table := func() [][]bool {
		rows := make([][]bool, n+1)
		for i := range rows {
			rows[i] = make([]bool, n+1)
		}
		return rows
	}
	return &conflicts{asked: make([]request, n+1), heard: table(), pairs: table(), judged: judged}
}

func (c *conflicts) Note(x dme.Moment) {
	switch x.What {
	case dme.HasReceived:
		if x.Msg.Kind == kindRequest {
			c.heard[x.ID][x.Peer] = true
		}
	case dme.HasAsked:
		c.ask(x)
	case dme.HasEntered:
		c.enter(x.ID)
	}
}

func (c *conflicts) ask(x dme.Moment) {
	r := &c.asked[x.ID]
	*r = request{Moment: x, waits: true}
	switch n := x.Node.(type) {
	case *node:
		r.stamp = n.ourRequest()
	case *priorityNode:
		r.stamp = n.ourRequest()
		r.highest = r.stamp.Clock - n.increments.of(n.me, n.requests)
	}
	for id := range c.asked {
		c.heard[id][x.ID] = false // the new REQUEST
		c.pairs[id][x.ID] = false
		c.pairs[x.ID][id] = c.asked[id].waits && id != int(x.ID) && !c.heard[x.ID][id]
	}
}

func (c *conflicts) enter(id dme.NodeID) {
	won := &c.asked[id]
	for other := range c.asked {
		lost := &c.asked[other]
		if !lost.waits {
			continue
		}
		early, late := won, lost
		switch {
		case c.pairs[id][other]:
			early, late = lost, won
		case !c.pairs[other][id]:
			continue
		}
		if counts, hit := c.judged(early, late, won); counts {
			c.all++
			if hit {
				c.hits++
			}
		}
	}
	won.waits = false
}

// Value is the share of the conflicts that were hits.
func (c *conflicts) Value() (float64, bool) { return float64(c.hits) / float64(c.all), c.all > 0 }

// laterFirst counts the conflicts that the later request wins. Two requests of one
// instant have no later one.
func laterFirst(s dme.Setting) dme.Meter {
	return newConflicts(s.Nodes, func(early, late, winner *request) (counts, hit bool) {
		return early.At < late.At, winner == late
	})
}

// tieLaterFirst counts those of them in which both have the same number.
func tieLaterFirst(s dme.Setting) dme.Meter {
	return newConflicts(s.Nodes, func(early, late, winner *request) (counts, hit bool) {
		return early.At < late.At && early.stamp.Clock == late.stamp.Clock, winner == late
	})
}

// lowerWins counts the conflicts that the node with the lower number wins: of those in
// which both nodes had seen the same highest number, so that nothing but what they
// added, and the numbers of the nodes, can decide.
func lowerWins(s dme.Setting) dme.Meter {
	if !heard(s) {
		return nil // what has arrived tells nothing of what a node has acted on
	}
	return newConflicts(s.Nodes, func(early, late, winner *request) (counts, hit bool) {
		return early.highest == late.highest, winner.ID == min(early.ID, late.ID)
	})
}

// afterProcessing follows how often each node enters from when it has handled
// another's REQUEST until that one enters.
type afterProcessing struct {
	entries []int   // by node, from 1
	handled [][]int // by node that waits, and by node: its entries when it had handled the REQUEST; −1: not yet
	most    int
	any     bool
}

func newAfterProcessing(s dme.Setting) dme.Meter {
	if s.Nodes > mostFollowed {
		return nil
	}
	m := &afterProcessing{entries: make([]int, s.Nodes+1), handled: make([][]int, s.Nodes+1)}
	for i := range m.handled {
		m.handled[i] = make([]int, s.Nodes+1)
		m.forget(dme.NodeID(i))
	}
	return m
}

func (m *afterProcessing) forget(asker dme.NodeID) {
	for j := range m.handled[asker] {
		m.handled[asker][j] = -1
	}
}

func (m *afterProcessing) Note(x dme.Moment) {
	switch {
	case x.What == dme.HasReceived && x.Msg.Kind == kindRequest:
		m.handled[x.Peer][x.ID] = m.entries[x.ID]
	case x.What == dme.HasEntered:
		m.entries[x.ID]++
		m.forget(x.ID)
		for asker := range m.handled {
			if before := m.handled[asker][x.ID]; before >= 0 {
				m.most, m.any = max(m.most, m.entries[x.ID]-before), true
			}
		}
	}
}

func (m *afterProcessing) Value() (float64, bool) { return float64(m.most), m.any }
