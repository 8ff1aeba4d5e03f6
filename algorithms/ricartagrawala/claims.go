package ricartagrawala

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
)

// Quantities that only TR-869 mentions.
var (
	// EntriesAfterProcessing counts the entries of one node from when it has
	// processed another's REQUEST until that one enters.
	EntriesAfterProcessing = claim.Quantity{ID: "entries-after-processing",
		Name: "entries by a node that has processed a REQUEST, before that request's"}
	// LaterFirst is how often, of two nodes that ask concurrently, the one that
	// asked later enters first.
	LaterFirst = claim.Quantity{ID: "later-first", Name: "share of conflicts in which the later request goes first"}
	// TieLaterFirst is the same of nodes that have chosen the same number.
	TieLaterFirst = claim.Quantity{ID: "tie-later-first", Name: "share of ties in which the later request goes first"}
)

const (
	report   = "TR-869, "
	textbook = "textbook, "
)

func claims() claim.List {
	return slices.Concat(
		claim.SafeAndLive(report+"sections 3.1 to 3.3; "+textbook+"theorem 9.3"),
		messages(), times(), order(),
	)
}

func messages() claim.List {
	each := claim.MessagesPerCS.Is("N−1", claim.AnyLoad, report+"section 4; "+textbook+"section 9.4")
	return append(claim.KindsPerCS(each, "REQUEST", "REPLY"), claim.List{
		claim.CostPerPeer(2, claim.AnyLoad, claim.Exact, report+"section 4; "+textbook+"section 9.4; Chaudhuri and Karaata 1998, section 1"),
		claim.MessagesPerCS.Is("2(N−1), whatever the relative speeds of nodes and links",
			claim.AnyLoad, report+"section 1").Named("relative-speeds"),
		// A message into and one out of each other node, for each entry.
		claim.WorkSpread.Is("1: a symmetric algorithm",
			claim.Burst, report+"section 4.1; Maekawa 1985, section 1").Where(claim.AtLeastTwo),
		claim.QuorumSize.Is("K = N", claim.Static, "Maekawa 1985, section 2").MeasuredBy(claim.AskedByAll),
	}...)
}

func times() claim.List {
	return append(claim.HandOver(1, claim.Mean, textbook+"section 9.4; "+report+"section 5.4, case A"), claim.List{
		claim.SyncDelay.AtLeast("T: a one-way trip", claim.Saturated, report+"section 5.3.3"),
		// The request waits for the slowest of N−1 round trips, which is 2T only if all links have
		// the same delay.
		claim.ResponseTime.Averages("2T + E (links of equal delay)",
			claim.Light, textbook+"section 9.2.3; "+report+"section 5.4, case B").OnEqualDelays(),
		claim.ResponseTime.AtLeast("one round trip + E", claim.AnyLoad, report+"section 5.3.1").As("2T + E"),
		LaterFirst.Averages("1/2", claim.Contention, report+"section 5.3.2").Where(claim.AtLeastTwo).
			Refuted("numbers know something of time: a later request has a larger number, since its node has heard of more requests; " +
				"it is 1/2 if the numbers are equal and the numbers of the nodes decide"),
		// The node number decides, which knows nothing of time. If nodes ask again at their exits,
		// neither does it look like chance.
		TieLaterFirst.Averages("1/2 of the conflicts between equal numbers", claim.Burst, report+"section 5.3.2").
			Named("equal-numbers").Where(claim.AtLeastTwo),
	}...)
}

func order() claim.List {
	return slices.Concat(claim.List{
		claim.InOrder("0: entries in timestamp order", textbook+"section 9.4 and Exercise 9.5; "+report+"section 2.4"),
		EntriesAfterProcessing.AtMost("1: not twice, once all have processed the REQUEST",
			claim.Worst, report+"section 2.4").Where(claim.AtLeastTwo),
	}, overtaking(), claim.List{
		claim.NumberRange.AtMost("N−1: from x to x+N−1", claim.AnyLoad, report+"section 6.4"),
	})
}

// oneDelay is claimed of the modifications, too.
func oneDelay() claim.List { return claim.HandOver(1, claim.Mean, report+"section 5.4, case A") }

// overtaking follows from the range of numbers, on links without order. If a link keeps order it is
// less.
func overtaking() claim.List {
	const source = report + "appendix"
	return claim.List{
		claim.Bypass.AtMost("N(N+1)/2 − 1", claim.AnyLoad, source),
		claim.BypassByOne.AtMost("N", claim.AnyLoad, source),
		claim.Bypass.AtMost("2(N−1) (links that keep order)", claim.AnyLoad, source).OnFIFO(),
		claim.BypassByOne.AtMost("2 (links that keep order)", claim.AnyLoad, source).OnFIFO().Where(claim.AtLeastTwo),
	}
}

// mostFollowed is the largest system in which every pair of nodes is followed.
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
	dme.Event
	stamp   dme.Stamp
	highest uint64 // number that its node had seen before
	waits   bool
}

func newConflicts(n int, judged func(early, late, winner *request) (counts, hit bool)) dme.Meter {
	if n > mostFollowed {
		return nil
	}
	c := &conflicts{asked: make([]request, n+1), judged: judged}
	for range n + 1 {
		c.heard, c.pairs = append(c.heard, make([]bool, n+1)), append(c.pairs, make([]bool, n+1))
	}
	return c
}

func (c *conflicts) Note(x *dme.Event) {
	switch x.Kind {
	case dme.Receive:
		if x.Msg.Kind == kindRequest {
			c.heard[x.ID][x.Peer] = true
		}
	case dme.Request:
		c.ask(x)
	case dme.Enter:
		c.enter(x.ID)
	}
}

func (c *conflicts) ask(x *dme.Event) {
	r := &c.asked[x.ID]
	*r = request{Event: *x, waits: true}
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
			c.hits += dme.Count(hit)
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
		return nil // what has arrived does not say what a node has acted on
	}
	return newConflicts(s.Nodes, func(early, late, winner *request) (counts, hit bool) {
		return early.highest == late.highest, winner.ID == min(early.ID, late.ID)
	})
}

// newAfterProcessing follows how often each node enters from when it has handled
// another's REQUEST until that one enters.
func newAfterProcessing(s dme.Setting) dme.Meter {
	if s.Nodes > mostFollowed {
		return nil
	}
	entries := make([]int, s.Nodes+1)   // by node, from 1
	handled := make([][]int, s.Nodes+1) // by node that waits, and by node: its entries when it had handled the REQUEST; −1: not yet
	for i := range handled {
		handled[i] = slices.Repeat([]int{-1}, s.Nodes+1)
	}
	return dme.Largest(func(x *dme.Event) (most float64, any bool) {
		switch {
		case x.Kind == dme.Receive && x.Msg.Kind == kindRequest:
			handled[x.Peer][x.ID] = entries[x.ID]
		case x.Kind == dme.Enter:
			entries[x.ID]++
			for j := range handled[x.ID] {
				handled[x.ID][j] = -1
			}
			for _, before := range handled {
				if before[x.ID] >= 0 {
					most, any = max(most, float64(entries[x.ID]-before[x.ID])), true
				}
			}
		}
		return most, any
	})
}
