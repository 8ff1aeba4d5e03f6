package dme

import (
	"fmt"
	"math"
)

// TurnsOfOthers is how many entries each node of the system may make before the request
// of one that waits, where no paper promises fewer and each node is served again and
// again. A node that serves requests in the order in which it hears of them lets each
// other node go first once; one that passes a token along a fixed route, or that lets a
// group of nodes take turns first, some times more. None of the built-in algorithms
// lets others go first more than three times on average, on up to 64 nodes.
const TurnsOfOthers = 10

// OrdinaryTrip is how many entries a node makes while a message to it is on its way, where
// each of the steps that are possible is as likely as any other.
const OrdinaryTrip = 10

// Overtaking is how many entries of others a request may see before its own.
type Overtaking struct {
	Most  int    // entries
	Claim *Claim // the claim that promises it; nil where none does
}

// String says what is allowed, and by whom: "at most 2(N−1) = 8 are claimed by …".
func (o Overtaking) String() string {
	if o.Claim == nil {
		return fmt.Sprintf("at most %d would be in keeping with requests that get nearer to their turn", o.Most)
	}
	return fmt.Sprintf("at most %s = %d are claimed by %s", o.Claim.Formula, o.Most, o.Claim.Source)
}

// OvertakingBound says from how many entries of others on a node that has asked is
// overtaken more often than it may be. It is what the claims promise for every run: of
// upper bounds on [Bypass] under any load the smallest, those for links that keep order
// where ordered says that they do.
//
// Where no claim does, it is N(TurnsOfOthers+trip), which grows like the number N of nodes.
// Nobody can serve a request that he has not heard of: while the request travels, a node
// that holds a token, or has all permissions, may enter so often as it asks again. So trip is
// how many entries a single node can make while one message is on its way, and a
// request travels over at most N links. An algorithm that passes this bound does not
// serve in any order in which a request gets nearer to its turn.
func OvertakingBound(all []Claim, s Setting, ordered bool, trip int) Overtaking {
	bound := Overtaking{Most: s.Nodes * (TurnsOfOthers + trip)}
	for i := range all {
		c := &all[i]
		if c.Quantity != Bypass || c.Kind != UpperBound || c.KnownFalse != "" || c.FIFO && !ordered ||
			c.Load != AnyLoad && c.Load != Worst {
			continue
		}
		most, ok := c.Predict(s)
		if !ok || math.IsNaN(most) || most < 0 || most > math.MaxInt32 {
			continue
		}
		if bound.Claim == nil || int(most) < bound.Most {
			bound = Overtaking{Most: int(most), Claim: c}
		}
	}
	return bound
}
