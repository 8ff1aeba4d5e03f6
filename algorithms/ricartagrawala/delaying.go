package ricartagrawala

import (
	"fmt"
	"math"
	"time"

	"dmebench/dme"
	"dmebench/dme/collections"
)

// Section 6.5, the second means of priority, lower=delayed: a node delays acting on the
// REQUESTs of nodes of lower priority, those with larger numbers, 'in order to keep the
// Highest_Sequence_Number from being prematurely incremented past the one chosen by the
// low priority node'. So its own next numbers stay below, and it may 'monopolize critical
// section processing until forced to increment' its number past that one.
//
// To act on a REQUEST is to raise Highest_Sequence_Number and to answer, as in section 2.2.
// To delay it is as if it were still on its way, which section 2 allows a REQUEST for any
// time: exclusion does not depend on it. That a node is served in the end does, and the
// text leaves open until when a REQUEST may be delayed. Here it is delayed only
//
//   - while the node's own REQUEST goes before it. It would be deferred then in any case;
//     one that goes before the node's own must be answered, for each of the two nodes
//     would wait for the other;
//   - and after the node has left, for a time that is given, hold. If the node asks again
//     within it, and its new number is still below, the REQUEST stays delayed. If the new
//     number would be above, the node acts on the REQUEST before it chooses: it is forced.
//     If it does not ask, it acts on all.
//
// While a node waits, another enters only with numbers below its own, each used once, and
// above any that had entered when it asked. Each node that waits then has a number at most
// D above what it has seen, node 1 at most 1, so there are at most (N−1)D + 1 of them:
// nobody starves.

const optLower = "lower"

const holdTimer dme.TimerID = 1

func lowerOptions() []dme.Option {
	return []dme.Option{
		{
			Name: optLower, Default: "heard", Words: []string{"heard", "delayed"},
			Help: "what a node does with the REQUEST of one with a larger number: heard, it acts on it at once; delayed, only when its " +
				"own requests no longer go first",
		},
		{
			Name: "hold", Default: "0s", Forms: []string{"DURATION"}, Valid: validHold,
			Help: "with lower=delayed: how long a node that has left keeps REQUESTs waiting, lest it asks again itself; 0s serves " +
				"one that asks again in the instant in which it leaves",
		},
	}
}

func validHold(s string) error {
	switch d, err := dme.ParseDuration(s); {
	case err != nil:
		return err
	case d < 0:
		return fmt.Errorf("%v is negative; want 0s or more", d)
	}
	return nil
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

// Release is the rest of the first process. Who has asked with priority is answered;
// the others wait on, for as long as the node may ask again.
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
var Monopoly = dme.Quantity{ID: "monopoly", Name: "entries of node 1 while a request of node N waits"}

func delayingClaims() []dme.Claim {
	const (
		source  = "TR-869, section 6.5, 2"
		derived = source + ": until forced to increment their sequence numbers past the one chosen; section 6.4"
	)
	delayed := map[string]string{"increments": "priority", optLower: "delayed"}
	// Its own request takes a round trip, before that of another is answered.
	claims := dme.HandOver(2, dme.UpperBound, source+"; section 5.3.1: a request takes a round trip")
	claims = append(claims, []dme.Claim{
		{
			// Its numbers are above all that had entered when the request was made, and
			// below the request's: which is at most D above these for each node, and 1 for
			// node 1.
			Quantity: dme.BypassByOne, Formula: "(N−1)D + 1 (lower=delayed)",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: derived, Predict: numbersBelow,
		},
		{
			Quantity: dme.Bypass, Formula: "(N−1)((N−1)D + 1) (lower=delayed)",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: derived,
			Predict: func(s dme.Setting) (float64, bool) {
				each, ok := numbersBelow(s)
				return float64(s.Nodes-1) * each, ok
			},
		},
		{
			Quantity: Monopoly, Formula: "D (lower=delayed)",
			Load: dme.Static, Kind: dme.Exact, Source: source + ": monopolize critical section processing until forced",
			Predict: func(s dme.Setting) (float64, bool) { return most(s), s.Nodes >= 2 }, Measure: monopoly,
		},
	}...)
	for i := range claims {
		claims[i] = claims[i].With(delayed).Where(delaying)
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
// again in the instant in which it leaves, enters before it. Messages arrive in the order
// of sending.
func monopoly(s dme.Setting) (count float64, ok bool) {
	if s.Nodes < 2 {
		return 0, false
	}
	type letter struct {
		from, to dme.NodeID
		m        dme.Message
	}
	var onTheWay []letter
	var inside dme.NodeID
	var out dme.Outbox
	first, last := dme.NodeID(1), dme.NodeID(s.Nodes)
	nodes := make([]dme.Node, s.Nodes+1)
	for id := first; id <= last; id++ {
		nodes[id] = s.System.Node(id)
	}
	do := func(id dme.NodeID, what func(*dme.Outbox)) {
		what(&out)
		for _, e := range out.Effects() {
			switch e.Kind {
			case dme.EffectEnter:
				inside = id
			case dme.EffectSend:
				onTheWay = append(onTheWay, letter{id, e.To, e.Msg})
			case dme.EffectBroadcast:
				for to := first; to <= last; to++ {
					if to != id {
						onTheWay = append(onTheWay, letter{id, to, e.Msg})
					}
				}
			}
		}
		out.Reset()
	}
	settle := func() {
		for ; len(onTheWay) > 0; onTheWay = onTheWay[1:] {
			l := onTheWay[0]
			do(l.to, func(out *dme.Outbox) { nodes[l.to].Receive(l.from, l.m, out) })
		}
	}
	do(first, nodes[first].Request)
	settle()
	do(last, nodes[last].Request)
	settle()
	for ; inside == first && count < math.MaxInt16; count++ {
		do(first, nodes[first].Release)
		do(first, nodes[first].Request)
		settle()
	}
	return count - 1, inside == last // the first entry was before node N asked
}
