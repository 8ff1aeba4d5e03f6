package vnet

import (
	"fmt"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// Watch says which of an algorithm's invariants the states of a network are judged by.
type Watch uint8

// Those of the algorithm's options, if links give what it needs; none; those of its options, whatever
// the links do. The substitute for mutual exclusion, distinct fencing tokens, is judged in any case.
const (
	WatchWhereNeedsAreMet Watch = iota
	WatchNothing
	WatchAlways
)

func (m *Model) watched() []dme.Invariant {
	judgeable := m.Watch == WatchAlways || m.Watch == WatchWhereNeedsAreMet && m.meetsNeeds()
	var all []dme.Invariant
	for _, i := range m.Algorithm.Invariants {
		if (judgeable || i.Fencing) && (i.If == nil || i.If(m.Options)) && (i.Faults || len(m.Absent) == 0) {
			all = append(all, i)
		}
	}
	return all
}

// meetsNeeds reports whether links give what the algorithm needs, if it says what.
func (m *Model) meetsNeeds() bool {
	if m.Algorithm.Needs == nil {
		return false
	}
	needs := m.Algorithm.Needs(m.Options)
	return !(needs.FIFO && m.Unordered ||
		needs.Reliable && (m.Duplicate || m.Lose > 0) ||
		needs.SequencedBroadcast && !m.Sequenced ||
		needs.BoundedDelay && !m.Bounded)
}

func (x Step) disturbs() bool {
	switch x.Kind {
	case dme.Crash, dme.Restart, dme.Join, dme.Depart:
		return true
	}
	return false
}

// struck reports whether a node has crashed or left since the beginning.
func (m *Model) struck(s *shared) bool { return s.crashes < m.Crashes || s.departures < m.Departures }

func broken(i *dme.Invariant, err error) *Violation {
	return &Violation{Property(i.Name), fmt.Sprintf("%s: %v", i.Name, err), dme.Concerned(err)}
}

type judge struct {
	model   *Model
	setting dme.Setting
	state   seen
	round   uint64           // of the state
	nodes   []knownNode      // by node, from 1
	flights []dme.Flight     // of the state, once listed
	listed  bool             // whether flights are listed
	links   [][]knownLink    // by the nodes that they lead from and to, from 0; rows are made when they are needed
	whole   []*dme.Invariant // invariants about all nodes
	pairs   []*dme.Invariant // invariants about each two
	asked   *dme.Invariant   // last
}

type knownNode struct {
	node  dme.Node
	round uint64 // in which it is valid
}

type knownLink struct {
	messages []*dme.Message
	round    uint64 // in which they are valid
}

// seen is a state, as far as invariants see it.
type seen interface {
	process(id dme.NodeID) *process
	node(id dme.NodeID) dme.Node // of one that is up
	flying(to []dme.Flight) []dme.Flight
	flyingBetween(from, to dme.NodeID, messages []*dme.Message) []*dme.Message
}

var _ dme.GlobalView = (*judge)(nil)

func newJudge(m *Model) *judge {
	j := &judge{model: m, setting: m.setting(), nodes: make([]knownNode, m.Nodes+1), links: make([][]knownLink, m.Nodes)}
	for k := range m.Invariants {
		if i := &m.Invariants[k]; i.Pair != nil {
			j.pairs = append(j.pairs, i)
		} else {
			j.whole = append(j.whole, i)
		}
	}
	return j
}

// of returns an invariant that a state breaks, nil if all hold. Of those about each two nodes it
// asks only about pairs with node changed, or about all if that is None.
func (j *judge) of(s seen, disturbed bool, changed dme.NodeID) (bad *Violation) {
	j.see(s)
	defer j.recovered(&bad)
	if bad := j.ofWhole(disturbed); bad != nil || len(j.pairs) == 0 {
		return bad
	}
	nodes := dme.NodeID(j.model.Nodes)
	for a := dme.NodeID(1); a <= nodes; a++ {
		first, last := a, nodes
		if changed != dme.None {
			first, last = changed, changed
		}
		for b := first; b <= last; b++ {
			if bad := j.ofPair(disturbed, a, b); bad != nil {
				return bad
			}
		}
	}
	return nil
}

// see turns to a state.
func (j *judge) see(s seen) {
	j.state, j.listed = s, false
	j.round++
}

func (j *judge) ofWhole(disturbed bool) *Violation {
	for _, i := range j.whole {
		if disturbed && !i.Faults {
			continue
		}
		j.asked = i
		if err := i.Holds(j); err != nil {
			return broken(i, err)
		}
	}
	return nil
}

func (j *judge) ofPair(disturbed bool, a, b dme.NodeID) *Violation {
	if j.state.process(a).activity == noderun.Down || j.state.process(b).activity == noderun.Down {
		return nil
	}
	for _, i := range j.pairs {
		if disturbed && !i.Faults {
			continue
		}
		j.asked = i
		x, y := j.Node(a), j.Node(b)
		err := i.Pair(j, a, b, x, y)
		if err == nil && a != b {
			err = i.Pair(j, b, a, y, x)
		}
		if err != nil {
			return broken(i, err)
		}
	}
	return nil
}

// recovered ends the panic of an invariant, which must not look like a fault of the search.
func (j *judge) recovered(bad **Violation) {
	if r := recover(); r != nil {
		*bad = broken(j.asked, fmt.Errorf("the invariant itself panics: %v", r))
	}
}

// Setting implements [dme.GlobalView], as do the following.
func (j *judge) Setting() dme.Setting { return j.setting }

func (j *judge) Activity(id dme.NodeID) dme.Activity { return j.state.process(id).activity }

func (j *judge) Reads(id dme.NodeID) bool {
	p := j.state.process(id)
	return p.reads && (p.activity == noderun.Requesting || p.activity == noderun.Inside)
}

func (j *judge) Node(id dme.NodeID) dme.Node {
	k := &j.nodes[id]
	if k.round != j.round {
		k.round, k.node = j.round, nil
		if j.state.process(id).activity != noderun.Down {
			k.node = j.state.node(id)
		}
	}
	return k.node
}

func (j *judge) InFlight() []dme.Flight {
	if !j.listed {
		j.flights, j.listed = j.state.flying(j.flights[:0]), true
	}
	return j.flights
}

func (j *judge) Between(from, to dme.NodeID) []*dme.Message {
	row := &j.links[from-1]
	if *row == nil {
		*row = make([]knownLink, j.model.Nodes)
	}
	k := &(*row)[to-1]
	if k.round != j.round {
		k.round, k.messages = j.round, j.state.flyingBetween(from, to, k.messages[:0])
	}
	return k.messages
}

// The methods below show a network of nodes that run.

// judgeState notes an invariant that does not hold now, if nothing has been broken before. A step
// changes the node that takes it, and what is on its way to it and from it: no pair of other nodes.
// None: everything may have changed.
func (n *Network) judgeState(changed dme.NodeID) {
	if n.Violation != nil {
		return
	}
	if n.judgeAll {
		changed, n.judgeAll = dme.None, false
	}
	n.Violation = n.judge.of(n, n.disturbed, changed)
}

// Unwatch ends the judgement by invariants: something happens that proofs rule out.
func (n *Network) Unwatch() { n.judge = nil }

// Broken returns the invariant that does not hold now, of all that are watched; nil if all hold. It
// is for tests that have changed a node by hand.
func (n *Network) Broken() *Violation {
	if len(n.Invariants) == 0 {
		return nil
	}
	return newJudge(n.Model).of(n, n.disturbed, dme.None)
}

func unjudged(m *Model) *Network {
	plain := *m
	plain.Invariants = nil
	return New(&plain)
}

func (n *Network) node(id dme.NodeID) dme.Node { return dme.Unwrap(n.runners[id].Node()) }

func (n *Network) flying(to []dme.Flight) []dme.Flight {
	for _, first := range n.occupied {
		held := n.links[n.link(first.From, first.Node)].messages
		for i := range held {
			if held[i].news == 0 {
				to = append(to, dme.Flight{From: first.From, To: first.Node, Message: &held[i].msg})
			}
		}
	}
	return to
}

func (n *Network) flyingBetween(from, to dme.NodeID, messages []*dme.Message) []*dme.Message {
	held := n.links[n.link(from, to)].messages
	for i := range held {
		if held[i].news == 0 {
			messages = append(messages, &held[i].msg)
		}
	}
	return messages
}
