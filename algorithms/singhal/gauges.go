package singhal

import "dmebench/dme"

// NoStaircase counts the moments at which the system is silent, nobody asks, and the
// request sets are no staircase with the site that executed last at its right end.
var NoStaircase = dme.Quantity{ID: "no-staircase", Name: "silent moments without a staircase"}

// mostFollowed is the largest system in which every request set is looked at.
const mostFollowed = 64

func preserved() dme.Claim {
	return dme.Claim{
		Quantity: NoStaircase, Formula: "0: the staircase is preserved when sites request concurrently and have executed",
		Load: dme.Burst, Kind: dme.Exact, Source: "textbook, sections 9.5.2 and 9.5.3, and Exercise 9.8",
		Predict: func(s dme.Setting) (float64, bool) { return 0, s.Nodes <= mostFollowed },
	}
}

// stairs looks at the request sets whenever the system is silent.
type stairs struct {
	sites         []*site // from 1; nil where nothing has happened yet
	busy          int     // sites that wait or execute
	last          dme.NodeID
	silent, count int
}

func newStairs(s dme.Setting) dme.Meter {
	if s.Nodes > mostFollowed {
		return nil
	}
	m := &stairs{sites: make([]*site, s.Nodes+1)}
	for id := dme.NodeID(1); int(id) <= s.Nodes; id++ {
		m.sites[id], _ = s.System.Node(id).(*site) // as it is until something happens
	}
	return m
}

func (m *stairs) Note(x dme.Moment) {
	m.sites[x.ID] = x.Node.(*site)
	switch x.What {
	case dme.HasAsked:
		m.busy++
	case dme.HasEntered:
		m.last = x.ID
	case dme.HasLeft:
		m.busy--
	}
	if m.busy > 0 || x.OnTheWay > 0 || m.last == dme.None {
		return
	}
	m.silent++
	if !m.staircase() {
		m.count++
	}
}

// staircase reports whether the sites stand in a line in which each asks exactly those
// to its right, and owes nobody an answer.
func (m *stairs) staircase() bool {
	order := make([]*site, len(m.sites)-1) // from the right
	for _, s := range m.sites[1:] {
		position := s.r.Len()
		if len(s.inform) > 0 || position >= len(order) || order[position] != nil {
			return false
		}
		order[position] = s
	}
	for k, s := range order {
		for _, right := range order[:k] {
			if !s.r.Has(right.i) {
				return false
			}
		}
	}
	return order[0].i == m.last
}

func (m *stairs) Value() (float64, bool) { return float64(m.count), m.silent > 0 }
