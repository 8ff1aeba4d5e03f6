package ricartagrawala

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
)

// Priority describes section 6.5, increments of the sequence number other than one. All else is as
// in section 2.2. Increments are from 1 to D:
//
//   - increments=random: each request's is drawn again. When requests cross, the tie-breaking rule
//     no longer favours the nodes with low numbers, as it does if all of them choose the same
//     sequence number.
//   - increments=priority: each node has its own, 1 at node 1, the highest priority, and D at node
//     N. When requests cross, the smaller increment wins.
//
// Either works between requests that cross, and only there: a node that has heard of a request asks
// with a larger number, whatever its increment. Under saturation every node has heard of all
// requests before its own, and nodes take turns. The text's second means goes further, option
// lower: a node of high priority delays the REQUESTs of others so as not to hear of them.
//
// An increment of 0 is not safe: a node that has replied to a REQUEST would ask with the same
// number and could win the tie against the node that it has let in. With increments up to D the
// numbers of all requests lie between some x and x + (N−1)D, so that a modulus for them (section
// 6.4) would have to be 2(N−1)D + 1.
func Priority() *dme.Algorithm {
	a := describe("ricart-agrawala-priority", "Ricart–Agrawala, random or small increments", "6.5")
	a.Description = "Ricart-Agrawala in which a request's number may exceed the highest seen by more than one. Drawn at random, the " +
		"increments take away the advantage that small node numbers have when requests cross; fixed by node, they give some " +
		"nodes priority over others. Nobody starves: a node that has heard of a request always asks with a larger number. The " +
		"cost stays 2(N-1) messages and one delay. Under constant load nodes take turns, and priorities have no effect, unless " +
		"nodes delay the requests of those with larger numbers (lower=delayed): then one that asks again at once goes first until " +
		"its numbers reach theirs."
	a.Clocks = nil // clocks rise by more than 1
	a.Options = append([]dme.Option{
		dme.Choice("increments",
			"random: drawn for each request; priority: 1 at node 1, which goes first, to D at node N", "random", "priority"),
		{
			Name: "most", Default: "8", Forms: []string{"D"}, Valid: dme.Valid(dme.Whole(1, largestMost)),
			Help: "the largest increment; the smallest is 1",
		},
	}, lowerOptions()...)
	a.Claims = claim.Lazy(priorityClaims)
	a.Invariants = pairInvariants[party](nil) // with lower=delayed nodes are of another type
	a.Gauges = []dme.Gauge{{Quantity: LowerFirst.ID, Begin: lowerWins}}
	a.Prepare = func(c dme.Config) (dme.System, error) {
		d := increments{most: mostOf(c.Options), priority: c.Options.Get("increments") == "priority", nodes: c.Nodes, seed: c.Seed}
		hold, err := dme.ParseDuration(c.Options.Get("hold"))
		if err != nil {
			return nil, fmt.Errorf("hold=%s: %w", c.Options.Get("hold"), err)
		}
		delayed := c.Options.Get(optLower) == "delayed"
		return dme.Unshared(func(n int, id dme.NodeID) dme.Node {
			node := priorityNode{node: newNode(n, id), increments: d}
			if delayed {
				return &delayingNode{priorityNode: node, hold: hold}
			}
			return &node
		})(c)
	}
	return a
}

// largestMost bounds D, so that numbers stay far from the end of 64 bits.
const largestMost = 1 << 20

// increments says by how much the number of a request exceeds all that its node
// has seen: at least 1, at most the most.
type increments struct {
	most     uint64 // D
	priority bool   // one for each node, instead of random ones
	nodes    int
	seed     uint64
}

// of returns the increment of the k-th request of a node. It is a function of
// the system's seed, so that a node that is loaded from its saved state draws
// what the other would have drawn.
func (i increments) of(id dme.NodeID, k uint64) uint64 {
	if i.priority {
		return i.rank(id)
	}
	var source rand.PCG
	source.Seed(i.seed, uint64(id)<<32^k)
	above, _ := bits.Mul64(source.Uint64(), i.most) // uniform from 0 to D−1
	return 1 + above
}

// rank spreads the nodes evenly, from 1 at node 1 to D at node N.
func (i increments) rank(id dme.NodeID) uint64 {
	if i.nodes == 1 {
		return 1
	}
	return 1 + uint64(id-1)*(i.most-1)/uint64(i.nodes-1)
}

// priorityNode is a node of section 2 but for its increments.
type priorityNode struct {
	node
	increments increments
	requests   uint64 // made so far
}

// Request is the first process of section 2.2 up to its WAITFOR.
func (n *priorityNode) Request(out *dme.Outbox) {
	n.requests++
	n.askWith(n.next(), out)
}

// next is the number of a request that is made now.
func (n *priorityNode) next() uint64 {
	return n.highestSequenceNumber + n.increments.of(n.me, n.requests)
}

func (n *priorityNode) askWith(number uint64, out *dme.Outbox) {
	if n.ask(dme.Message{Kind: kindRequest, Clock: number}, out) {
		out.Enter(n.ourRequest())
	}
}

func (n *priorityNode) State(v *dme.Visitor) {
	v.Uint("Requests", &n.requests)
	n.node.State(v)
}

// LowerFirst is how often, of two nodes that ask concurrently, the one with the
// lower number, or the higher priority, enters first.
var LowerFirst = claim.Quantity{ID: "lower-first", Name: "share of conflicts that the node with the lower number wins"}

func priorityClaims() claim.List {
	const source = "TR-869, section 6.5"
	return slices.Concat(
		claim.SafeAndLive("TR-869, sections 3 and 6.5"),
		handedOver(),
		delayingClaims(),
		claim.List{
			claim.CostPerPeer(2, claim.AnyLoad, claim.Exact, "TR-869, section 4"),
			claim.InOrder("0: entries in timestamp order", "TR-869, sections 2.4 and 6.5"),
			// Each request adds at most D to a number that has been seen,
			// where it adds 1 in section 6.4.
			claim.NumberRange.AtMost("(N−1)D", claim.AnyLoad, "TR-869, section 6.4, with increments up to D").
				Predicting(func(s dme.Setting) (float64, bool) { return float64(s.Nodes-1) * most(s), true }),
			// 1 if all add 1. Of two increments from 1 to D the first is smaller, or equal and wins
			// the tie.
			LowerFirst.Averages("less than 1: (D+1)/2D (increments=random)",
				claim.Contention, source+", 1: random increments reduce the favouritism").
				Predicting(func(s dme.Setting) (float64, bool) {
					return (most(s) + 1) / (2 * most(s)), s.Nodes >= 2 && s.Options.Get("increments") == "random" && heard(s)
				}),
			LowerFirst.Is("1 (increments=priority)", claim.Static, source+", 2: deliberate priority").
				With("increments=priority").Where(claim.AtLeastTwo).MeasuredBy(lowerFirst),
		})
}

// handedOver is claimed of nodes that act on every REQUEST as they hear it: one that has
// left goes first again only with a larger number.
func handedOver() claim.List {
	claims := oneDelay()
	for i := range claims {
		claims[i] = claims[i].Where(heard)
	}
	return claims
}

// mostOf is D, the largest increment.
func mostOf(o dme.Options) uint64 {
	d, err := strconv.ParseUint(o.Get("most"), 10, 64)
	if err != nil {
		panic("ricartagrawala: most=" + o.Get("most") + " was accepted") // the option is checked
	}
	return d
}

func most(s dme.Setting) float64 { return float64(mostOf(s.Options)) }

// lowerFirst lets all nodes of a new system ask before any hears of another,
// and compares each two of their requests.
func lowerFirst(s dme.Setting) (float64, bool) {
	var requests []dme.Stamp
	for id := dme.NodeID(1); int(id) <= s.Nodes; id++ {
		n, ok := s.System.Node(id).(*priorityNode)
		if !ok {
			return 0, false
		}
		n.Request(new(dme.Outbox))
		requests = append(requests, n.ourRequest())
	}
	won, all := 0, 0
	for j, high := range requests {
		for _, low := range requests[:j] {
			all++
			if low.Precedes(high) {
				won++
			}
		}
	}
	return float64(won) / float64(all), all > 0
}

// Section 6.5, the second means of priority, lower=delayed: a node delays acting on the REQUESTs of
// nodes of lower priority, those with larger numbers, 'in order to keep the Highest_Sequence_Number
// from being prematurely incremented past the one chosen by the low priority node'. So its own next
// numbers stay below, and it may 'monopolize critical section processing until forced to increment'
// its number past that one.
//
// To act on a REQUEST is to raise Highest_Sequence_Number and to answer, as in section 2.2. To
// delay it is as if it were still on its way, which section 2 allows a REQUEST for any time:
// exclusion does not depend on it. That a node is served in the end does, and the text leaves open
// until when a REQUEST may be delayed. Here it is delayed only
//
//   - while the node's own REQUEST goes before it. It would be deferred then in any case; one that
//     goes before the node's own must be answered, for each of the two nodes would wait for the
//     other;
//   - and after the node has left, for a time that is given, hold. If the node asks again within
//     it, and its new number is still below, the REQUEST stays delayed. If the new number would be
//     above, the node acts on the REQUEST before it chooses: it is forced. If it does not ask, it
//     acts on all.
//
// While a node waits, another enters only with numbers below its own, each used once, and above any
// that had entered when it asked. Each node that waits then has a number at most D above what it
// has seen, node 1 at most 1, so there are at most (N−1)D + 1 of them: no node starves.

const optLower = "lower"

const holdTimer dme.TimerID = 1

func lowerOptions() []dme.Option {
	return []dme.Option{
		dme.Choice(optLower,
			"what a node does with the REQUEST of one with a larger number: heard, it acts on it at once; delayed, only when its "+
				"own requests no longer go first",
			"heard", "delayed"),
		{
			Name: "hold", Default: "0s", Forms: []string{"DURATION"}, Valid: dme.Valid(dme.Lasting(0, math.MaxInt64)),
			Help: "with lower=delayed: how long a node that has left keeps REQUESTs waiting, in case it asks again itself; 0s serves " +
				"one that asks again in the instant in which it leaves",
		},
	}
}

// delayingNode is a node of lower=delayed.
type delayingNode struct {
	priorityNode
	hold time.Duration

	delayed collections.RequestQueue // the REQUESTs of lower priority that are not acted on yet
	holding bool                     // has left, and may ask again before hold is over
}

// Request is the first process of section 2.2 up to its WAITFOR. A delayed REQUEST that
// would go before the new one is acted on first.
func (n *delayingNode) Request(out *dme.Outbox) {
	if n.holding {
		n.holding = false
		out.CancelTimer(holdTimer)
	}
	for n.requests++; len(n.delayed) > 0 && n.delayed[0].Precedes(dme.Stamp{Clock: n.next(), Node: n.me}); {
		n.act(out)
	}
	n.askWith(n.next(), out)
}

// act acts on the first of the delayed REQUESTs, while the node has none of its own.
func (n *delayingNode) act(out *dme.Outbox) { n.receiveRequest(n.delayed.Pop(), out) }

// Release is the rest of the first process. Nodes that have asked with priority are answered; the
// others wait for as long as this node may ask again.
func (n *delayingNode) Release(out *dme.Outbox) {
	n.priorityNode.Release(out)
	if len(n.delayed) > 0 || n.hold > 0 {
		n.holding = true
		out.SetTimer(holdTimer, n.hold)
	}
}

// Timeout ends the delay of a node that has not asked again.
func (n *delayingNode) Timeout(_ dme.TimerID, out *dme.Outbox) {
	n.holding = false
	for len(n.delayed) > 0 {
		n.act(out)
	}
}

// Receive is the second and the third process, the second perhaps later.
func (n *delayingNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	r := dme.Stamp{Clock: m.Clock, Node: from}
	switch {
	case m.Kind == kindRequest && n.delayed.Has(from):
		out.Refuse("REQUEST from a node whose REQUEST is delayed")
	case m.Kind == kindRequest && m.Clock > 0 && from > n.me && (n.holding || n.defers(r)):
		n.delayed.Insert(r)
	default:
		n.priorityNode.Receive(from, m, out)
	}
}

func (n *delayingNode) State(v *dme.Visitor) {
	n.priorityNode.State(v)
	n.delayed.Show(v, "Delayed")
	v.Bool("Holding", &n.holding)
}

// Monopoly is how often the node of the highest priority enters again, asking at once each
// time, while a request of the lowest priority waits for it.
var Monopoly = claim.Quantity{ID: "monopoly", Name: "entries of node 1 while a request of node N waits"}

func delayingClaims() claim.List {
	const (
		source  = "TR-869, section 6.5, 2"
		derived = source + ": until forced to increment their sequence numbers past the one chosen; section 6.4"
	)
	// Its own request takes a round trip, before that of another is answered.
	claims := claim.HandOver(2, claim.UpperBound, source+"; section 5.3.1: a request takes a round trip")
	claims = append(claims, claim.List{
		// Its numbers are above all that had entered when the request was made, and
		// below the request's: which is at most D above these for each node, and 1 for
		// node 1.
		claim.BypassByOne.AtMost("(N−1)D + 1 (lower=delayed)", claim.AnyLoad, derived).Predicting(numbersBelow),
		claim.Bypass.AtMost("(N−1)((N−1)D + 1) (lower=delayed)", claim.AnyLoad, derived).
			Predicting(func(s dme.Setting) (float64, bool) {
				each, ok := numbersBelow(s)
				return float64(s.Nodes-1) * each, ok
			}),
		Monopoly.Is("D (lower=delayed)",
			claim.Static, source+": monopolize critical section processing until forced").
			Predicting(func(s dme.Setting) (float64, bool) { return most(s), s.Nodes >= 2 }).MeasuredBy(monopoly),
	}...)
	for i := range claims {
		claims[i] = claims[i].With("increments=priority", optLower+"=delayed").Where(delaying)
	}
	return claims
}

// numbersBelow is how many numbers there can be between those that have entered and that
// of a request.
func numbersBelow(s dme.Setting) (float64, bool) { return float64(s.Nodes-1)*most(s) + 1, s.Nodes >= 2 }

// delaying reports whether nodes delay REQUESTs of lower priority.
func delaying(s dme.Setting) bool {
	return s.Options.Get("increments") == "priority" && s.Options.Get(optLower) == "delayed"
}

func heard(s dme.Setting) bool { return s.Options[optLower] != "delayed" }

// monopoly lets node N ask while node 1 is inside, and counts how often node 1, which asks
// again in the instant in which it leaves, enters before it.
func monopoly(s dme.Setting) (count float64, ok bool) {
	if s.Nodes < 2 {
		return 0, false
	}
	net, first, last := claim.Rehearse(s), dme.NodeID(1), dme.NodeID(s.Nodes)
	for _, id := range []dme.NodeID{first, last} {
		net.Do(id, dme.Node.Request)
		net.Settle()
	}
	for ; net.Entered == first && count < math.MaxInt16; count++ {
		net.Do(first, dme.Node.Release)
		net.Do(first, dme.Node.Request)
		net.Settle()
	}
	return count - 1, net.Entered == last // the first entry was before node N asked
}
