// Package tokenring is the simple method of the textbook's Exercise 9.1 (Kshemkalyani and Singhal,
// Distributed Computing, chapter 9): all sites are arranged in a logical ring, 1 → 2 → … → N → 1,
// and the site that has the one token may execute the critical section. The token is at node 1 at
// the beginning.
//
// mode=perpetual is the exercise's method: the token circulates for ever ([perpetual]). A site that
// needs it grabs it as it comes by, executes, and dispatches it to the next site; any other
// dispatches it at once.
//
// mode=demand is for times without requests, when a circulating token is all that happens: the
// token rests where it was used last, until a REQUEST that goes the other way round the ring
// reaches it ([demand]).
//
// Neither mode needs links that keep order. Loss and duplication are not tolerated.
package tokenring

import (
	"dmebench/dme"
	"dmebench/dme/claim"
)

const (
	kindToken   dme.Kind = iota + 1 // Num: in mode=perpetual, the finished sites it passed in a row
	kindRequest                     // in mode=demand only
)

const optMode = "mode"

// Algorithm describes the token ring.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:  "token-ring",
		Title: "Token ring",
		Description: "The nodes form a ring, and a single token goes round it; whoever has it may enter. When all nodes always want to " +
			"enter, an entry costs one message and a handover one delay, which nothing can beat. When nobody wants to, the token " +
			"circulates for nothing, and a lone requester waits for half a round on average. With mode=demand the token rests until " +
			"a request travels round the ring to fetch it. Good for steady heavy load on few nodes; a token that is lost stops " +
			"everything.",
		Citation: "A. D. Kshemkalyani, M. Singhal: Distributed Computing, Cambridge University Press 2008, chapter 9, Exercise 9.1",
		Class:    dme.Token,
		Needs:    dme.Always(dme.Needs{Reliable: true}),
		Kinds:    []string{"TOKEN", "REQUEST"},
		Options: []dme.Option{dme.Choice(optMode,
			"whether the token circulates for ever or rests until a request reaches it", "perpetual", "demand")},
		Perpetual:  func(o dme.Options) bool { return o.Get(optMode) == "perpetual" },
		Stepped:    map[string]string{optMode: "demand"},
		Claims:     claim.Lazy(claims),
		Invariants: invariants(),
		HasToken:   dme.OfNode(holder.HasToken),
		Waits:      dme.OfNode(holder.Waits),
		Peers:      dme.OfSystem(system.Peers),
		Prepare: func(c dme.Config) (dme.System, error) {
			return system{nodes: c.Nodes, onDemand: c.Options.Get(optMode) == "demand"}, nil
		},
	}
}

// holder is a node of either mode.
type holder interface {
	HasToken() bool
	Waits() []dme.Wait
}

type system struct {
	nodes    int
	onDemand bool
}

func (s system) Node(id dme.NodeID) dme.Node {
	place := place{n: s.nodes, next: s.next(id), previous: s.previous(id)}
	if s.onDemand {
		return &demand{place: place, token: id == 1}
	}
	return &perpetual{place: place, token: id == 1}
}

func (s system) next(id dme.NodeID) dme.NodeID { return id%dme.NodeID(s.nodes) + 1 }

func (s system) previous(id dme.NodeID) dme.NodeID {
	return (id+dme.NodeID(s.nodes)-2)%dme.NodeID(s.nodes) + 1
}

// Peers returns the next node, and with mode=demand also the previous one.
func (s system) Peers(id dme.NodeID) []dme.NodeID {
	next, previous := s.next(id), s.previous(id)
	switch {
	case s.nodes == 1:
		return nil
	case !s.onDemand || next == previous:
		return []dme.NodeID{next}
	}
	return []dme.NodeID{min(next, previous), max(next, previous)}
}

// place is where a node is in the ring. Alone, it is next to itself.
type place struct {
	n              int
	next, previous dme.NodeID
}

// invariants are those of a single token and, if it rests, of the chain of sites that have asked
// for it.
func invariants() []dme.Invariant {
	return []dme.Invariant{
		dme.OneToken("textbook, Exercise 9.1", dme.OfKind(kindToken)),
		{
			Name: "asked once", Citation: "mode=demand, steps 1 and 2",
			Statement: "a site that has asked the previous one has one REQUEST or TOKEN between the two, or is owed the token there",
			Pair:      dme.EachPair(askedOnce),
			If:        func(o dme.Options) bool { return o.Get(optMode) == "demand" },
		},
	}
}

func askedOnce(v dme.GlobalView, id, previous dme.NodeID, d, before *demand) error {
	if d.previous != previous || previous == id { // also if it is alone
		return nil
	}
	requests, tokens := dme.Between(v, kindRequest, id, previous), dme.Between(v, kindToken, previous, id)
	if requests+tokens+dme.Count(before.owed) != dme.Count(d.asked) {
		return dme.Broken([]dme.NodeID{id, previous},
			"node %d, asked=%t, and node %d, owed=%t, with %d REQUESTs and %d TOKENs on their way between them",
			id, d.asked, previous, before.owed, requests, tokens)
	}
	return nil
}
