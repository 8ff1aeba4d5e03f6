package ricartagrawala

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"dmebench/dme"
	"dmebench/dme/claim"
)

// Bounded describes section 6.4, numbers of a fixed size.
//
// A number exceeds the highest that its node has seen by one, and a request is
// not granted while one with a smaller number waits: at any time the numbers of
// all requests lie between some x and x+N−1. So it is enough to know a number
// modulo M, where M ≥ 2N−1. To compare two residues, the smaller is first
// increased by M if they differ by N or more. All else is as in section 2.2.
//
// As published, this is unsafe for every M: published.go. With the repair of
// Highest_Sequence_Number, M = 2N−1 is enough, and 2N−2 is not.
//
// No timestamp leaves the node with its entry: no number is left that would
// order entries for longer than N requests.
func Bounded() *dme.Algorithm {
	a := describeBounded("ricart-agrawala-bounded", "Ricart–Agrawala, bounded numbers",
		func(n boundedNode) dme.Node { return &n })
	a.Description = "Ricart-Agrawala with numbers of a fixed size. The numbers of all pending requests lie within N of each other, so it is " +
		"enough to send them modulo 2N-1 or more. Costs and order are those of Ricart-Agrawala, 2(N-1) messages and one delay. " +
		"Good if sequence numbers must not grow for ever, as in a fixed frame format."
	a.Claims = claim.Lazy(boundedClaims)
	a.Invariants = boundedInvariants()
	return a
}

// describeBounded says what the repaired algorithm and the published one have
// in common; wrap makes a node of either.
func describeBounded(name, title string, wrap func(boundedNode) dme.Node) *dme.Algorithm {
	a := describe(name, title, "6.4")
	a.Clocks = nil // residues
	a.Options = []dme.Option{{
		Name: "modulus", Default: "auto", Words: []string{"auto"}, Forms: []string{"M"}, Valid: dme.Valid(dme.Whole(1, math.MaxInt)),
		Help: "numbers are kept modulo M ≥ 2N−1; auto is 2N−1",
	}}
	a.ValidNodes = func(n int, o dme.Options) error {
		if m := modulusOf(n, o); m < smallest(n) {
			return fmt.Errorf("modulus=%d does not tell the numbers of %d nodes apart; want at least 2N−1 = %d", m, n, smallest(n))
		}
		return nil
	}
	a.Prepare = func(c dme.Config) (dme.System, error) {
		r := residues{nodes: c.Nodes, modulus: modulusOf(c.Nodes, c.Options)}
		return dme.Unshared(func(n int, id dme.NodeID) dme.Node {
			return wrap(boundedNode{node: newNode(n, id), residues: r})
		})(c)
	}
	return a
}

// smallest is the smallest modulus that is enough.
func smallest(nodes int) uint64 { return 2*uint64(nodes) - 1 }

func modulusOf(nodes int, o dme.Options) uint64 {
	if m, err := strconv.ParseUint(o.Get("modulus"), 10, 63); err == nil {
		return m
	}
	return smallest(nodes)
}

// residues are the numbers modulo M.
type residues struct {
	nodes   int
	modulus uint64 // M
}

// less compares two numbers known only by their residues.
func (s residues) less(a, b uint64) bool {
	if max(a, b)-min(a, b) >= uint64(s.nodes) {
		if a < b {
			a += s.modulus
		} else {
			b += s.modulus
		}
	}
	return a < b
}

// precedes reports whether request a has priority over b.
func (s residues) precedes(a, b dme.Stamp) bool {
	return s.less(a.Clock, b.Clock) || a.Clock == b.Clock && a.Node < b.Node
}

// boundedNode is a node of section 2 whose numbers are residues.
type boundedNode struct {
	node
	residues
}

// Request is the first process of section 2.2 up to its WAITFOR.
func (n *boundedNode) Request(out *dme.Outbox) {
	if n.ask(dme.Message{Kind: kindRequest, Clock: (n.highestSequenceNumber + 1) % n.modulus}, out) {
		out.Enter(dme.Stamp{})
	}
}

// Receive is the second and the third process.
func (n *boundedNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch {
	case m.Clock >= n.modulus:
		out.Refuse("sequence number that is not a residue")
	case m.Kind == kindRequest:
		n.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, out)
	case n.isLastReply(from, m.Clock, out):
		out.Enter(dme.Stamp{})
	}
}

// receiveRequest is the second process.
func (n *boundedNode) receiveRequest(r dme.Stamp, out *dme.Outbox) {
	if n.less(n.highestSequenceNumber, r.Clock) {
		n.highestSequenceNumber = r.Clock
	}
	n.answer(r, n.requestingCriticalSection && n.precedes(n.ourRequest(), r), out)
}

// SmallestModulus is the smallest M that tells all numbers apart which can be
// compared.
var SmallestModulus = claim.Quantity{ID: "smallest-modulus", Name: "smallest modulus"}

func boundedClaims() claim.List {
	const source = "TR-869, section 6.4"
	always := claim.SafeAndLive("TR-869, sections 3 and 6.4: numbers modulo M ≥ 2N−1")
	return slices.Concat(always, oneDelay(), claim.List{
		claim.CostPerPeer(2, claim.AnyLoad, claim.Exact, "TR-869, section 4"),
		// In bytes on the wire, where a message has a head of two and a
		// number takes one for each seven bits.
		claim.MessageLength.AtMost("log2(2N−1) bits for a number", claim.AnyLoad, source).
			Predicting(func(s dme.Setting) (float64, bool) {
				largest := modulusOf(s.Nodes, s.Options) - 1
				return float64(2 + (bits.Len64(largest)+6)/7), s.Nodes >= 2
			}),
	}, overtaking(), claim.List{
		SmallestModulus.Is("2N−1", claim.Static, source).MeasuredBy(smallestAccepted),
		SmallestModulus.Is("2N: at least twice as large as the number of nodes", claim.Static, "TR-869, section 8").
			Named("twice-the-nodes").MeasuredBy(smallestAccepted).
			Refuted("2N−1 is enough, as section 6.4 says itself"),
	})
}

// smallestAccepted finds the smallest modulus with which any two numbers that
// can be compared are ordered rightly: those that are at most N−1 apart, which
// is how far apart the numbers of pending requests are.
func smallestAccepted(s dme.Setting) (float64, bool) {
	n := uint64(s.Nodes)
	for m := n; m <= 4*n; m++ {
		if tellsApart(residues{nodes: s.Nodes, modulus: m}) {
			return float64(m), true
		}
	}
	return 0, false
}

func tellsApart(s residues) bool {
	n := uint64(s.nodes)
	for low := range s.modulus {
		for d := uint64(1); d < n; d++ {
			if high := (low + d) % s.modulus; !s.less(low, high) || s.less(high, low) {
				return false
			}
		}
	}
	return true
}
