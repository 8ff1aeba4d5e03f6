// Package composition composes two algorithms for nodes in groups that are far apart: one
// among the nodes of each group, and one among the heads of the groups, in the manner of
//
//	M. Bertier, L. Arantes, P. Sens: Distributed Mutual Exclusion Algorithms for Grid
//	Applications: A Hierarchical Approach, Journal of Parallel and Distributed Computing
//	66(1), 2006;
//	J. Sopena, F. Legond-Aubry, L. Arantes, P. Sens: A Composition Approach to Mutual
//	Exclusion Algorithms for Grid Applications, ICPP 2007.
//
// Each group has a lock of its own, the inner one, which its nodes ask for; a node that has
// it is in the critical section. The head of a group, its first node, takes part in that
// lock a second time, as the coordinator, and in the lock among all coordinators, the outer
// one. A coordinator has at least one of the two, so that a node of its group can have the
// inner lock only while the coordinator has the outer one:
//
//  1. It has the inner lock alone. When it hears that a node of its group waits for that,
//     it asks for the outer one.
//  2. When it has both, it releases the inner lock: nodes of its group enter, in the order
//     of the inner algorithm.
//  3. When it hears that another coordinator waits for the outer lock, it asks for the
//     inner one. It gets that in its turn: a group keeps the critical section for as many
//     entries as the inner algorithm lets pass a node that waits.
//  4. When it has both again, it releases the outer lock; and begins at 1.
//
// Messages between groups are those of the outer algorithm, and few: those of one of its
// entries for all entries of a group's turn.
//
// At the start each coordinator takes the inner lock, before any node asks. It is node 1
// there, which has the token or the first request in the order of timestamps, and node k of
// the group is number k+1. A message of the inner algorithm is INSIDE and one of the outer
// BETWEEN; numbers of nodes in them are those in their part.
//
// Links need what the two algorithms need. Failures are not tolerated.
package composition

import (
	"fmt"
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
)

const (
	kindInside  dme.Kind = iota + 1 // Flags: the kind in the inner algorithm, and the marks below
	kindBetween                     // Flags: the kind in the outer algorithm
)

// Marks of the messages from and to a coordinator.
const (
	fromCoordinator = 1 << 6
	toCoordinator   = 1 << 7
	kindMask        = fromCoordinator - 1
)

// The options.
const (
	OptionInside  = "inside"
	OptionBetween = "between"
	OptionGroups  = "groups"
)

// Parts returns the algorithms that can be composed.
func Parts(all []*dme.Algorithm) []*dme.Algorithm {
	return slices.DeleteFunc(slices.Clone(all), func(a *dme.Algorithm) bool { return a.AsPublished || a.Wanted == nil })
}

// Algorithm describes the compositions of two of these parts each, the first by default.
func Algorithm(parts []*dme.Algorithm) *dme.Algorithm {
	var names []string
	for _, p := range parts {
		names = append(names, p.Name)
	}
	part := func(o dme.Options, option string) *dme.Algorithm { return parts[slices.Index(names, o.Get(option))] }
	return &dme.Algorithm{
		Name:  "composed",
		Title: "Composed",
		Description: "Two algorithms for nodes in groups that are far apart: one among the nodes of each group, one among their heads. " +
			"The group that has the critical section keeps it for the nodes that wait there, for one turn each, and then passes it on, " +
			"so that few messages go far; a node may wait longer for its group's turn. Choose it with --set sites, with as many groups " +
			"as sites: --set groups=3, and the two algorithms by --set inside and --set between.",
		Citation: "M. Bertier, L. Arantes, P. Sens: Distributed Mutual Exclusion Algorithms for Grid Applications, JPDC 66(1), 2006; " +
			"J. Sopena et al., ICPP 2007",
		Class:   dme.Token,
		Dynamic: true,
		Needs: func(o dme.Options) dme.Needs {
			a, b := part(o, OptionInside).Needs(dme.Options{}), part(o, OptionBetween).Needs(dme.Options{})
			return dme.Needs{Reliable: true, FIFO: a.FIFO || b.FIFO}
		},
		Kinds: []string{"INSIDE", "BETWEEN"},
		Options: []dme.Option{
			dme.Choice(OptionInside, "the algorithm among the nodes of a group", names...),
			dme.Choice(OptionBetween, "the algorithm among the heads of the groups", names...),
			{
				Name: OptionGroups, Default: "2", Forms: []string{"K"}, Valid: dme.Valid(parseGroups), Samples: []string{"3"},
				Help: "how many groups there are, of nodes that follow one another, as equal as can be: as many as sites, with place=blocks",
			},
		},
		Claims:     claim.Lazy(claims),
		Invariants: invariants(),
		HasToken:   dme.OfNode(func(n *node) bool { return n.own.has }), // the right to the whole, whatever the parts pass on
		Waits:      dme.OfNode((*node).Waits),
		Prepare: func(c dme.Config) (dme.System, error) {
			return prepare(c, part(c.Options, OptionInside), part(c.Options, OptionBetween))
		},
	}
}

var parseGroups = dme.Whole(1, 1<<20)

// system is the groups, and the two algorithms as they are prepared for them.
type system struct {
	nodes, groups  int
	inner, outer   *dme.Algorithm
	inside         map[int]dme.System // by number of nodes, the coordinator included
	between        dme.System
	innerN, outerN int // kinds
}

func prepare(c dme.Config, inner, outer *dme.Algorithm) (*system, error) {
	k, err := parseGroups(c.Options.Get(OptionGroups))
	if err != nil {
		return nil, err
	}
	s := &system{
		nodes: c.Nodes, groups: min(k, c.Nodes), inner: inner, outer: outer, inside: make(map[int]dme.System),
		innerN: len(inner.Kinds), outerN: len(outer.Kinds),
	}
	if s.between, err = outer.New(s.groups, c.Seed, nil); err != nil {
		return nil, fmt.Errorf("composed: %s=%s: %w", OptionBetween, outer.Name, err)
	}
	for g := range s.groups {
		n := s.size(g) + 1
		if s.inside[n] != nil {
			continue
		}
		if s.inside[n], err = inner.New(n, c.Seed, nil); err != nil {
			return nil, fmt.Errorf("composed: %s=%s: %w", OptionInside, inner.Name, err)
		}
	}
	return s, nil
}

// groupOf returns the group of a node, from 0.
func (s *system) groupOf(id dme.NodeID) int { return (int(id) - 1) * s.groups / s.nodes }

// head returns the first node of a group.
func (s *system) head(group int) dme.NodeID {
	return dme.NodeID((group*s.nodes+s.groups-1)/s.groups + 1)
}

func (s *system) size(group int) int { return int(s.head(group+1) - s.head(group)) }

// Node returns node id: a node of its group, and the coordinator if it is the head.
func (s *system) Node(id dme.NodeID) dme.Node {
	g := s.groupOf(id)
	n := &node{system: s, self: id, group: g, head: s.head(g)}
	inside := s.inside[s.size(g)+1]
	inner := func(number dme.NodeID) part {
		return part{node: inside.Node(number), number: number, of: s.size(g) + 1}
	}
	n.own = inner(id - n.head + 2)
	if id == n.head {
		number := dme.NodeID(g + 1)
		n.coordinator = &coordinator{
			inner: inner(1), outer: part{node: s.between.Node(number), number: number, of: s.groups, outer: true},
		}
	}
	return n
}

// part is a node of one of the two algorithms.
type part struct {
	node   dme.Node
	number dme.NodeID // in its algorithm
	of     int        // nodes there
	outer  bool       // of the two algorithms, the outer one
	out    dme.Outbox // empty between events
	has    bool       // its lock
}

// phase is where a coordinator stands: what it has, and what it has asked for.
type phase = uint64

const (
	starting   phase = iota // has asked for the inner lock, for the first time
	holding                 // has the inner lock: 1
	asking                  // has the inner lock, and has asked for the outer one: 1
	lending                 // has the outer lock: 2
	reclaiming              // has the outer lock, and has asked for the inner one: 3
)

type coordinator struct {
	inner, outer part
	phase        phase
}

type node struct {
	*system
	self  dme.NodeID
	group int
	head  dme.NodeID

	own         part
	coordinator *coordinator // nil but at a head

	local []letter // what the parts of this node say to each other; empty between events
}

// letter is a message from one part of a head to another.
type letter struct {
	to   *part
	from dme.NodeID // its number in the inner algorithm
	m    dme.Message
}

// Start has a coordinator take the inner lock.
func (n *node) Start(out *dme.Outbox) {
	if c := n.coordinator; c != nil {
		n.do(&c.inner, c.inner.node.Request, out)
		n.settle(out)
	}
}

func (n *node) Request(out *dme.Outbox) {
	n.do(&n.own, n.own.node.Request, out)
	n.settle(out)
}

func (n *node) Release(out *dme.Outbox) {
	n.own.has = false
	n.do(&n.own, n.own.node.Release, out)
	n.settle(out)
}

func (n *node) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	to, number, reason := n.addressee(from, &m)
	if reason != "" {
		out.Refuse(reason)
		return
	}
	m.Kind, m.Flags = dme.Kind(m.Flags&kindMask), 0
	n.do(to, func(o *dme.Outbox) { to.node.Receive(number, m, o) }, out)
	n.settle(out)
}

// addressee returns for which part a message is, and the sender's number in its algorithm;
// or says why it cannot have been sent.
func (n *node) addressee(from dme.NodeID, m *dme.Message) (to *part, number dme.NodeID, reason string) {
	c, kind := n.coordinator, int(m.Flags&kindMask)
	g := n.groupOf(from)
	if m.Kind == kindBetween {
		if c == nil || from != n.system.head(g) || m.Flags != uint8(kind) || kind < 1 || kind > n.outerN {
			return nil, 0, "BETWEEN that is not from one head to another"
		}
		return &c.outer, dme.NodeID(g + 1), ""
	}
	if g != n.group || kind < 1 || kind > n.innerN {
		return nil, 0, "INSIDE from another group, or of no kind"
	}
	to, number = &n.own, from-n.head+2
	if m.Flags&fromCoordinator != 0 {
		if from != n.head {
			return nil, 0, "message of a node that is not a coordinator"
		}
		number = 1
	}
	if m.Flags&toCoordinator != 0 {
		if c == nil {
			return nil, 0, "message to a node that is not a coordinator"
		}
		to = &c.inner
	}
	return to, number, ""
}

// do calls a handler of a part, and does what it says.
func (n *node) do(p *part, handler func(*dme.Outbox), out *dme.Outbox) {
	handler(&p.out)
	for i := range p.out.Effects() {
		switch e := &p.out.Effects()[i]; e.Kind {
		case dme.Send:
			n.send(p, e.To, e.Msg, out)
		case dme.Broadcast:
			for to := range dme.Others(p.of, p.number) {
				m := e.Msg
				m.Vec = slices.Clone(m.Vec)
				n.send(p, to, m, out)
			}
		case dme.Enter:
			if p.has = true; p == &n.own {
				out.Enter(dme.Stamp{})
			}
		case dme.Refuse:
			out.Refuse(e.Reason)
		default:
			panic(fmt.Sprintf("composition: an effect that cannot be composed: %v", e.Kind))
		}
	}
	p.out.Reset()
}

// send sends the message of a part to a node of its algorithm.
func (n *node) send(p *part, to dme.NodeID, m dme.Message, out *dme.Outbox) {
	m.Flags = uint8(m.Kind)
	if p.outer {
		m.Kind = kindBetween
		out.Send(n.system.head(int(to)-1), m)
		return
	}
	at := n.head // of the coordinator
	if to > 1 {
		at += to - 2
	}
	if at == n.self { // from one part of a head to the other
		l := letter{to: &n.own, from: p.number, m: m}
		if to == 1 {
			l.to = &n.coordinator.inner
		}
		n.local = append(n.local, l)
		return
	}
	m.Kind = kindInside
	if p.number == 1 {
		m.Flags |= fromCoordinator
	}
	if to == 1 {
		m.Flags |= toCoordinator
	}
	out.Send(at, m)
}

// settle handles what the parts of the node have said to each other, and takes the steps
// of the coordinator, until nothing is left to do.
func (n *node) settle(out *dme.Outbox) {
	for {
		for i := 0; i < len(n.local); i++ {
			l := n.local[i]
			l.m.Kind, l.m.Flags = dme.Kind(l.m.Flags), 0
			n.do(l.to, func(o *dme.Outbox) { l.to.node.Receive(l.from, l.m, o) }, out)
		}
		n.local = n.local[:0]
		if n.coordinator == nil || !n.coordinate(out) {
			return
		}
	}
}

// coordinate takes a step of the coordinator, if there is one to be taken.
func (n *node) coordinate(out *dme.Outbox) bool {
	c := n.coordinator
	switch {
	case c.phase == starting && c.inner.has:
		c.phase = holding
	case c.phase == holding && n.inner.Wanted(c.inner.node):
		c.phase = asking
		n.do(&c.outer, c.outer.node.Request, out)
	case c.phase == asking && c.outer.has:
		c.phase = lending
		c.inner.has = false
		n.do(&c.inner, c.inner.node.Release, out)
	case c.phase == lending && n.outer.Wanted(c.outer.node):
		c.phase = reclaiming
		n.do(&c.inner, c.inner.node.Request, out)
	case c.phase == reclaiming && c.inner.has:
		c.phase = holding
		c.outer.has = false
		n.do(&c.outer, c.outer.node.Release, out)
	default:
		return false
	}
	return true
}

func (n *node) State(v *dme.Visitor) {
	n.own.show(v, "inside.")
	if c := n.coordinator; c != nil {
		v.Uint("phase", &c.phase)
		c.inner.show(v, "coordinator.")
		c.outer.show(v, "between.")
	}
}

func (p *part) show(v *dme.Visitor, prefix string) {
	v.Within(prefix, func(v *dme.Visitor) {
		v.Bool("has", &p.has)
		p.node.State(v)
	})
}

// Waits names what the parts wait for, of the nodes at which that is.
func (n *node) Waits() []dme.Wait {
	var waits []dme.Wait
	add := func(p *part, of *dme.Algorithm, what string, at func(dme.NodeID) dme.NodeID) {
		if of.Waits == nil {
			return
		}
		for _, w := range of.Waits(p.node) {
			if w.For != dme.None {
				w.For = at(w.For)
			}
			if w.For != n.self {
				waits = append(waits, dme.Wait{For: w.For, What: what + w.What})
			}
		}
	}
	inGroup := func(number dme.NodeID) dme.NodeID { return n.head + max(number, 2) - 2 }
	add(&n.own, n.inner, "INSIDE ", inGroup)
	if c := n.coordinator; c != nil {
		if !n.own.has { // else it waits for this node itself
			add(&c.inner, n.inner, "INSIDE ", inGroup)
		}
		add(&c.outer, n.outer, "BETWEEN ", func(number dme.NodeID) dme.NodeID { return n.system.head(int(number) - 1) })
	}
	slices.SortStableFunc(waits, func(a, b dme.Wait) int { return int(a.For) - int(b.For) })
	return waits
}

func claims() claim.List {
	const paper = "Sopena et al. 2007"
	return append(claim.SafeAndLive(paper),
		// A group's turn serves one node at least, and costs an entry among the heads.
		claim.KindPerCS("BETWEEN").AtMost("the number of groups", claim.AnyLoad, paper+"; Naimi and Trehel 1987: N messages among N nodes").
			Predicting(func(s dme.Setting) (float64, bool) {
				sys, ok := s.System.(*system)
				if !ok || sys.outer.Name != "naimi-trehel" {
					return 0, false
				}
				return float64(sys.groups), true
			}))
}

// invariants are those of the two locks.
func invariants() []dme.Invariant {
	const source = "Sopena et al. 2007, the states of a coordinator"
	return []dme.Invariant{
		dme.StateInvariant("one outer lock", source, "at most one coordinator has the outer lock", func(v dme.GlobalView) error {
			has := dme.None
			for id, n := range dme.NodesOf[*node](v) {
				switch c := n.coordinator; {
				case c == nil || !c.outer.has:
				case has != dme.None:
					return dme.Broken([]dme.NodeID{has, id}, "the coordinators of the nodes %d and %d both have the outer lock", has, id)
				default:
					has = id
				}
			}
			return nil
		}),
		dme.PairInvariant("inside by the outer lock", source,
			"the coordinator of a node that is inside has the outer lock, and not the inner one",
			func(_ dme.GlobalView, id, head dme.NodeID, n, at *node) error {
				if n.head != head || !n.own.has || at.coordinator.outer.has && !at.coordinator.inner.has {
					return nil
				}
				return dme.Broken([]dme.NodeID{id, head}, "node %d is inside, and its coordinator has the inner lock: %t, the outer: %t",
					id, at.coordinator.inner.has, at.coordinator.outer.has)
			}),
	}
}
