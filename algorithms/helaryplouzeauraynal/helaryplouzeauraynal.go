// Package helaryplouzeauraynal is the algorithm of J.-M. Hélary, N. Plouzeau and M. Raynal, A
// Distributed Algorithm for Mutual Exclusion in an Arbitrary Network, The Computer Journal 31(4),
// 1988, pages 289–295.
//
// The network is any connected graph; a process knows its neighbours and talks to no others. One
// token exists; the process that has it may enter. A request floods the network and leaves at each
// process the neighbour by which it came; along this trail the token travels back. The token
// carries lud: lud[j] is the logical time at which j used it last, so that j waits if the date of
// its last request exceeds lud[j].
//
//  1. A process that has the token enters. Another one dates its request by its logical clock and
//     sends it to all neighbours, with the set already_seen of the processes that have it or are
//     about to get it: itself and them.
//  2. A process that receives a request which is not newer than the last one that it knows of the
//     same origin drops it: it is another copy. Otherwise it notes its date and the sender, raises
//     its clock, adds its neighbours to already_seen, and forwards the request to those that were
//     not in it. Then, if it has the token and does not use it, it does step 5.
//  3. A process that receives the token for another one sends it to the neighbour by which that
//     one's request came.
//  4. A process that receives the token for itself enters.
//  5. A process that leaves writes its clock into lud and elects, of the requests that it knows and
//     that the token has not served, the oldest; among equal dates, that of the smallest number. It
//     sends the token on its way there. If there is none it keeps the token.
//
// The cited figures are n to 2e+n−1 messages for e links: each link carries the request at most
// once in each direction, and the token makes at most n−1 hops. An entry with the token at hand
// needs none. Since a process does not send a request back where it came from, 2e messages are
// never exceeded.
//
// Which copy of a request comes first decides which processes forward it, and on which trail: in a
// graph with cycles that is not complete, a lone request does not always cost the same. On a
// complete graph it is n, since the requester itself reaches all.
//
// The token is at process 1 at the beginning. The graph is an option, the complete one unless set;
// the random one depends on the seed.
//
// Links need not keep order: dates tell old requests from new ones, and the trail to a process does
// not change while its request is pending. Loss and duplication are not tolerated.
package helaryplouzeauraynal

import (
	"errors"

	"dmebench/dme"
	"dmebench/dme/claim"
)

const (
	kindRequest dme.Kind = iota + 1 // Req: date and origin; Vec: already_seen
	kindToken                       // Node: the process elected; Vec: lud[1..n]
)

// Algorithm describes the algorithm of Hélary, Plouzeau and Raynal.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:  "helary-plouzeau-raynal",
		Title: "Hélary–Plouzeau–Raynal",
		Description: "One token on any connected graph, whose nodes know only their neighbours. A request floods the network and leaves a " +
			"trail at each node; the token comes back along it, to the oldest request. An entry costs between N and 2e+N-1 messages " +
			"for e links: N on a complete graph, more on sparse ones with cycles. Good if the network is given and nobody knows " +
			"it as a whole.",
		Citation: "J.-M. Hélary, N. Plouzeau, M. Raynal: A Distributed Algorithm for Mutual Exclusion in an Arbitrary Network, " +
			"The Computer Journal 31(4), 1988",
		Class:      dme.Token,
		Needs:      dme.Always(dme.Needs{Reliable: true}),
		Kinds:      []string{"REQUEST", "TOKEN"},
		Options:    []dme.Option{graphOption()},
		Claims:     claim.Lazy(claims),
		Invariants: invariants(),
		Clocks:     clocks,
		ValidNodes: func(n int, _ dme.Options) error {
			if n > dme.MaxVec {
				return errors.New("the token would be longer than a message may be")
			}
			return nil
		},
		HasToken: dme.OfNode((*process).HasToken),
		Waits:    dme.OfNode((*process).Waits),
		Peers:    dme.OfSystem((*system).Peers),
		Prepare:  prepare,
	}
}

// clocks shows the dates in a message.
func clocks(_ int, _ dme.NodeID, m *dme.Message, v *dme.Visitor) {
	v.Stamp("", &m.Req)
	if m.Kind == kindToken {
		v.ClocksOf(dme.None, "", &m.Vec)
	}
}

// first is the process that has the token at the beginning.
const first dme.NodeID = 1

type system struct{ graph *graph }

func prepare(c dme.Config) (dme.System, error) {
	g, err := makeGraph(c)
	if err != nil {
		return nil, err
	}
	return &system{graph: g}, nil
}

func (s *system) Node(id dme.NodeID) dme.Node {
	n := s.graph.nodes()
	p := &process{
		i: id, n: n, neighbours: s.graph.neighbours(id),
		date: make([]uint64, n), via: make([]dme.NodeID, n),
	}
	if id == first {
		p.lud = make([]uint64, n)
	}
	return p
}

func (s *system) Peers(id dme.NodeID) []dme.NodeID { return s.graph.neighbours(id) }
