package vnet

import (
	"fmt"

	"dmebench/dme"
	"dmebench/internal/noderun"
)

// Watch says which of an algorithm's invariants the states of a network are
// judged by.
type Watch uint8

// The invariants of the algorithm's options, where links give what it needs;
// none; those of its options, whatever the links do.
const (
	WatchWhereNeedsAreMet Watch = iota
	WatchNothing
	WatchAlways
)

// watched returns the invariants by which the states of a model are judged.
func (m *Model) watched() []dme.Invariant {
	if m.Watch == WatchNothing || m.Watch == WatchWhereNeedsAreMet && !m.meetsNeeds() {
		return nil
	}
	var all []dme.Invariant
	for _, i := range m.Algorithm.Invariants {
		if (i.If == nil || i.If(m.Options)) && (i.Faults || len(m.Absent) == 0) {
			all = append(all, i)
		}
	}
	return all
}

// meetsNeeds reports whether links give what the algorithm needs. (A description
// without needs is not complete, and says nothing.)
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

// disturbs reports whether a node comes or goes in a step.
func (x Step) disturbs() bool {
	switch x.Kind {
	case Crash, Restart, Join, Depart:
		return true
	}
	return false
}

// struck reports whether a node has crashed or left since the beginning.
func (m *Model) struck(s *shared) bool { return s.crashes < m.Crashes || s.departures < m.Departures }

func broken(i *dme.Invariant, err error) *Violation {
	return &Violation{Property(i.Name), fmt.Sprintf("%s: %v", i.Name, err), dme.Concerned(err)}
}

// judge looks at one state after another by the invariants of a model.
type judge struct {
	model   *Model
	setting dme.Setting
	state   seen
	round   uint64         // of the state
	nodes   []knownNode    // by node, from 1
	flights []dme.Flight   // of the state, once listed
	listed  bool           // they are
	between []*dme.Message // scratch, of one state
}

// knownNode is a node that invariants have asked for.
type knownNode struct {
	node  dme.Node
	round uint64 // in which it is valid
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
	return &judge{model: m, setting: m.setting(), nodes: make([]knownNode, m.Nodes+1)}
}

// of returns the first invariant that a state breaks, nil where all hold.
func (j *judge) of(s seen, disturbed bool) *Violation {
	j.state, j.listed, j.between = s, false, j.between[:0]
	j.round++
	for k := range j.model.Invariants {
		i := &j.model.Invariants[k]
		if disturbed && !i.Faults {
			continue
		}
		if err := j.holds(i); err != nil {
			return broken(i, err)
		}
	}
	return nil
}

// holds asks an invariant. One that panics is a fault of its author, which must
// not look like one of the search.
func (j *judge) holds(i *dme.Invariant) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the invariant itself panics: %v", r)
		}
	}()
	return i.Holds(j)
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
	// What was returned before stays valid: a longer list moves elsewhere.
	at := len(j.between)
	j.between = j.state.flyingBetween(from, to, j.between)
	return j.between[at:len(j.between):len(j.between)]
}

// What follows shows a network of nodes that run.

// judgeState notes an invariant that does not hold now, where nothing has been
// broken before.
func (n *Network) judgeState() {
	if n.Violation == nil && (n.WatchEvery < 2 || n.Steps%n.WatchEvery == 0) {
		n.Violation = n.judge.of(n, n.disturbed)
	}
}

// Unwatch ends the judgement by invariants: from now on something happens that
// the algorithm's proofs rule out.
func (n *Network) Unwatch() { n.judge = nil }

// Broken returns the invariant that does not hold now, of all that are watched;
// nil where all hold. It is for tests that have changed a node by hand.
func (n *Network) Broken() *Violation {
	if len(n.Invariants) == 0 {
		return nil
	}
	return newJudge(n.Model).of(n, n.disturbed)
}

// unjudged returns a network whose states nobody judges.
func unjudged(m *Model) *Network {
	plain := *m
	plain.Invariants = nil
	return New(&plain)
}

// wrapper is a node that stands for another, which the algorithm made.
type wrapper interface{ Unwrap() dme.Node }

// made returns the node that the algorithm made.
func made(node dme.Node) dme.Node {
	if w, ok := node.(wrapper); ok {
		return w.Unwrap()
	}
	return node
}

func (n *Network) node(id dme.NodeID) dme.Node { return made(n.runners[id].Node()) }

func (n *Network) flying(to []dme.Flight) []dme.Flight {
	for _, first := range n.occupied {
		held := n.links[n.link(first.From, first.Node)].messages
		for i := range held {
			if held[i].news == noNews {
				to = append(to, dme.Flight{From: first.From, To: first.Node, Message: &held[i].msg})
			}
		}
	}
	return to
}

func (n *Network) flyingBetween(from, to dme.NodeID, messages []*dme.Message) []*dme.Message {
	held := n.links[n.link(from, to)].messages
	for i := range held {
		if held[i].news == noNews {
			messages = append(messages, &held[i].msg)
		}
	}
	return messages
}
