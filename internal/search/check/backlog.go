package check

import (
	"math/rand/v2"
	"slices"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// Limits of a search for a backlog: this many steps until the link holds more, and
// this many attempts for each message of the limit.
const (
	backlogSteps    = 200
	backlogAttempts = 20
)

// Backlog returns how many messages a link comes to hold, up to a limit, in random schedules that
// deliver nothing on it while nodes enter. If a high limit is reached, a link can probably hold any
// number, and the states with requests without limit do not come to an end.
func (s *Search) Backlog(limit int) (most int) {
	for from := range s.model.IDs() {
		for to := range s.model.IDs() {
			if from != to && most < limit {
				most = max(most, s.backlog(from, to, limit))
			}
		}
	}
	return most
}

// backlog fills one link: from the last entry at which it held more than before, it tries to come
// to another. If it does not, a schedule may have put on the link what all others wait for, and it
// goes further back.
func (s *Search) backlog(from, to dme.NodeID, limit int) (most int) {
	n := vnet.New(s.model)
	rng := rand.New(rand.NewPCG(uint64(from), uint64(to)))
	reached := [][]byte{n.Save(nil)}
	for attempt := 0; attempt < backlogAttempts*limit && most < limit; attempt++ {
		if err := n.Load(reached[len(reached)-1]); err != nil {
			panic(err) // never happens: the network saved this state itself
		}
		if fill(n, from, to, rng) {
			reached = append(reached, n.Save(nil))
			most = max(most, len(n.OnTheWay(from, to)))
		} else if len(reached) > 1 && rng.IntN(2) == 0 {
			reached = reached[:len(reached)-1]
		}
	}
	return most
}

// fill takes steps until a node enters while the link holds more; it reports whether one does.
func fill(n *vnet.Network, from, to dme.NodeID, rng *rand.Rand) bool {
	held := len(n.OnTheWay(from, to))
	for range backlogSteps {
		enabled := slices.DeleteFunc(n.Enabled(nil), func(x vnet.Step) bool { return x.From == from && x.Node == to })
		if len(enabled) == 0 {
			return false
		}
		inside := len(n.Inside())
		n.Take(enabled[rng.IntN(len(enabled))])
		if len(n.Inside()) > inside && len(n.OnTheWay(from, to)) > held {
			return true
		}
	}
	return false
}
