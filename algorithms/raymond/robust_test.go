package raymond

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms/spanning"
	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/testkit"
)

// privileges counts the nodes that have the privilege, and those on the way, and
// reports whether all nodes are up and know their HOLDER.
func privileges(n *vnet.Network) (count int, initialized bool) {
	initialized = true
	for id := range n.IDs() {
		if n.Algorithm.HasToken(n.Node(id)) {
			count++
		}
		if n.Node(id).(*robust).holder == dme.None {
			initialized = false // this is so of a node that is down, too
		}
	}
	for _, f := range n.InFlight() {
		if f.Kind == kindPrivilege {
			count++
		}
	}
	return count, initialized
}

// onePrivilege says what is wrong with the number of privileges: there is never a
// second one, and none only while a node still has to find out where it is.
func onePrivilege(n *vnet.Network) error {
	if count, initialized := privileges(n); count > 1 || initialized && count != 1 {
		return fmt.Errorf("%d privileges", count)
	}
	return nil
}

// faultOf says what is wrong with a state of a network.
func faultOf(n *vnet.Network) error {
	if n.Violation != nil {
		return errors.New(n.Violation.Verdict)
	}
	if count, reason := n.Refused(); count > 0 {
		return fmt.Errorf("%d messages refused: %s", count, reason)
	}
	return onePrivilege(n)
}

// model returns a model of nodes that can come back.
func model(t *testing.T, a *dme.Algorithm, tree string, c vnet.Config) *vnet.Model {
	t.Helper()
	opt, err := a.Resolve(map[string]string{spanning.OptTree: tree})
	if err != nil {
		t.Fatal(err)
	}
	c.Algorithm, c.Options, c.Restarts = a, opt, true
	m, err := vnet.NewModel(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// watch carries out a schedule to its end, and says what was wrong with it. Every
// state is looked at.
func watch(n *vnet.Network, next func() (vnet.Step, bool)) error {
	for x, ok := next(); ok; x, ok = next() {
		n.Take(x)
		if err := faultOf(n); err != nil {
			return fmt.Errorf("after %v: %w\n%s", x, err, strings.Join(n.States(), "\n"))
		}
		if n.Steps > 100_000 {
			return fmt.Errorf("no end after %d steps", n.Steps)
		}
	}
	if len(n.Waiting()) > 0 {
		return fmt.Errorf("nodes %v wait and nothing moves\n%s", n.Waiting(), strings.Join(n.States(), "\n"))
	}
	if sent := n.Counts(dme.None).SentOf; sent[kindAdvise] > sent[kindRestart] {
		return fmt.Errorf("%d ADVISE for %d RESTART", sent[kindAdvise], sent[kindRestart])
	}
	return nil
}

// Up to five nodes crash at any moment, those that are recovering too, and come
// back at any moment. Then everybody is served.
func TestRecoveryAtRandom(t *testing.T) {
	schedules := uint64(60)
	switch {
	case testkit.Full():
		schedules = 10_000
	case testkit.Long():
		schedules = 1200
	}
	for _, nodes := range []int{1, 2, 3, 4, 7, 13} {
		for _, tree := range []string{"binary", "line", "star"} {
			crashed := 0
			for seed := range schedules {
				rng := rand.New(rand.NewPCG(seed, 912))
				n := vnet.New(model(t, Robust(), tree, vnet.Config{
					Nodes: nodes, Crashes: 1 + rng.IntN(5), Requests: func(dme.NodeID) int { return 1 + rng.IntN(4) },
				}))
				s := &vnet.Schedule{
					Network: n, Rand: rng, Load: vnet.Load(rng.IntN(int(vnet.Loads))), Choose: vnet.Chance{Rand: rng},
					Fault: 1 / float64(1+rng.IntN(8*nodes)),
				}
				s.Begin()
				err := watch(n, func() (x vnet.Step, ok bool) {
					if x, ok = s.Next(); x.Kind == dme.Crash {
						crashed++
					}
					return x, ok
				})
				if err != nil {
					t.Fatalf("%d nodes, %s, seed %d: %v", nodes, tree, seed, err)
				}
			}
			if crashed < int(schedules)/2 {
				t.Errorf("%d nodes, %s: only %d crashes", nodes, tree, crashed)
			}
		}
	}
}

// literal recovers as section 9.12.7 says: during the recovery phase it acts on
// REQUEST and PRIVILEGE as ever, but for the two routines; at its end it computes
// HOLDER, ASKED and REQUEST_Q from the ADVISE messages. It answers RESTART at any
// time. The text is read with favour: REQUEST_Q has no duplicates.
type literal struct {
	*robust
	ends    delay
	holders []dme.NodeID // HOLDER of each neighbour, by ADVISE
	mine    []uint64     // by position: 1 where the node stands in its REQUEST_Q
}

// delay says when the phase ends: when all neighbours have answered, or when the
// time is up in which those that are up have, two delays of a message.
type delay bool

const (
	longEnough delay = false
	timed      delay = true
)

const bound = time.Second

type literalSystem struct {
	robustSystem
	ends delay
}

func (s literalSystem) Node(id dme.NodeID) dme.Node {
	n := s.robustSystem.Node(id).(*robust)
	return &literal{robust: n, ends: s.ends, holders: make([]dme.NodeID, len(n.near)), mine: make([]uint64, len(n.near))}
}

func literally(ends delay) *dme.Algorithm {
	a := Robust()
	a.Invariants = nil // which are broken before a search sees what comes of it
	needs := a.Needs(nil)
	if ends == timed {
		needs.BoundedDelay = true
		a.Options = append(a.Options, dme.Option{
			Name: "bound", Default: bound.String(), Words: []string{bound.String()}, Help: "on the delay of a message",
		})
	}
	a.Needs = dme.Always(needs)
	a.Prepare = func(c dme.Config) (dme.System, error) {
		s, err := prepare(c)
		return literalSystem{robustSystem{s}, ends}, err
	}
	return a
}

func (n *literal) Restart(out *dme.Outbox) {
	n.recovering = true
	for i, id := range n.near {
		n.awaited.Add(i)
		out.Send(id, dme.Message{Kind: kindRestart})
	}
	if n.ends == timed {
		out.SetTimer(1, 2*bound) // for RESTART, and for ADVISE
	}
}

func (n *literal) Up(peer dme.NodeID, out *dme.Outbox) {
	if n.ends == longEnough {
		n.robust.Up(peer, out)
	}
}

func (n *literal) Timeout(_ dme.TimerID, out *dme.Outbox) { n.endOfPhase(out) }

func (n *literal) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	i, _ := slices.BinarySearch(n.near, from)
	switch {
	case m.Kind == kindRestart:
		out.Send(from, n.advice())
	case !n.recovering && m.Kind == kindAdvise:
	case !n.recovering:
		n.robust.Receive(from, m, out)
	case m.Kind == kindRequest:
		n.requestQ.Push(from)
	case m.Kind == kindPrivilege:
		n.holder = n.self
	case m.Kind == kindAdvise:
		n.awaited.Remove(i)
		n.holders[i] = m.Node
		if m.Node == n.self && m.Flags&flagAsked != 0 && !n.requestQ.Has(from) {
			n.requestQ.Push(from)
		}
		if slices.Contains(m.Vec, uint64(n.self)) {
			n.mine[i] = 1
		}
		if n.ends == longEnough && n.awaited.Empty() {
			n.endOfPhase(out)
		}
	}
}

func (n *literal) endOfPhase(out *dme.Outbox) {
	n.recovering = false
	n.holder, n.asked = n.self, false
	for i, holder := range n.holders {
		if holder != n.self && holder != dme.None {
			n.holder, n.asked = n.near[i], n.mine[i] == 1
		}
	}
	n.assignPrivilege(out)
	n.makeRequest(out)
}

func (n *literal) Request(out *dme.Outbox) {
	if n.recovering {
		n.requestQ.Push(n.self)
		return
	}
	n.robust.Request(out)
}

func (n *literal) State(v *dme.Visitor) {
	n.robust.State(v)
	v.Nodes("TOLD", &n.holders)
	v.Uints("MINE", &n.mine)
}

// overwriting is a schedule in which PRIVILEGE arrives at a recovering node after
// the ADVISE of its sender and before that of another neighbour.
var overwriting = []vnet.Step{
	{Kind: dme.Receive, From: 1, Node: 2}, {Kind: dme.Receive, From: 2, Node: 3}, // INITIALIZE
	{Kind: dme.Request, Node: 1},
	{Kind: dme.Request, Node: 2}, {Kind: dme.Receive, From: 2, Node: 1},
	{Kind: dme.Crash, Node: 2}, {Kind: dme.Restart, Node: 2},
	{Kind: dme.PeerDown, From: 2, Node: 1}, {Kind: dme.PeerUp, From: 2, Node: 1}, {Kind: dme.Receive, From: 2, Node: 1},
	{Kind: dme.PeerDown, From: 2, Node: 3}, {Kind: dme.PeerUp, From: 2, Node: 3}, {Kind: dme.Receive, From: 2, Node: 3},
	{Kind: dme.Exit, Node: 1},
	{Kind: dme.Receive, From: 1, Node: 2}, // ADVISE: HOLDER is node 1
	{Kind: dme.Receive, From: 1, Node: 2}, // PRIVILEGE
	{Kind: dme.Receive, From: 3, Node: 2}, // ADVISE: HOLDER is node 2
	{Kind: dme.Request, Node: 3}, {Kind: dme.Receive, From: 3, Node: 2},
}

// The HOLDER that is computed overwrites the one that PRIVILEGE has set, and the
// privilege is lost: no node has it, and a request waits for ever.
func TestPrivilegeIsOverwritten(t *testing.T) {
	replay := func(a *dme.Algorithm) *vnet.Network {
		n := vnet.New(model(t, a, "line", vnet.Config{Nodes: 3, Faults: true}))
		for _, x := range overwriting {
			if !n.Possible(x) {
				t.Fatalf("%v is not possible\n%s", x, strings.Join(n.States(), "\n"))
			}
			n.Take(x)
		}
		for x, ok := n.Oldest(); ok; x, ok = n.Oldest() {
			n.Take(x)
		}
		return n
	}
	if n := replay(literally(longEnough)); !n.Stuck() || n.Node(2).(*literal).holder != 1 {
		t.Errorf("the literal text does not lose the privilege\n%s", strings.Join(n.States(), "\n"))
	}
	if n := replay(Robust()); !slices.Equal(n.Inside(), []dme.NodeID{3}) {
		t.Errorf("%v inside, want node 3\n%s", n.Inside(), strings.Join(n.States(), "\n"))
	}
}

// search runs random schedules with so many crashes until one ends as wanted,
// and reports whether one does.
func search(t *testing.T, a *dme.Algorithm, crashes int, wanted func(*vnet.Network) bool) bool {
	t.Helper()
	needs := a.Needs(nil)
	for seed := range uint64(5000) {
		rng := rand.New(rand.NewPCG(seed, 9127))
		n := vnet.New(model(t, a, "line", vnet.Config{
			Nodes: 3, Crashes: crashes, Unordered: !needs.FIFO, Bounded: needs.BoundedDelay,
			Requests: func(dme.NodeID) int { return 2 },
		}))
		for x, ok := n.Oldest(); ok; x, ok = n.Oldest() {
			n.Take(x) // INITIALIZE
		}
		s := &vnet.Schedule{Network: n, Rand: rng, Load: vnet.Churn, Choose: vnet.Chance{Rand: rng}, Fault: 0.1}
		s.Begin()
		for x, ok := s.Next(); ok && n.Violation == nil; x, ok = s.Next() {
			n.Take(x)
		}
		if wanted(n) {
			return true
		}
	}
	return false
}

// A phase that ends after a time, which is long enough for all who are up: a
// neighbour that is down does not answer, and may be the only one to know that the
// privilege is on its side. Two nodes enter.
func TestTimedRecoveryMakesTwoPrivileges(t *testing.T) {
	unsafe := func(n *vnet.Network) bool { return n.Violation != nil && n.Violation.Property == vnet.Exclusion }
	if search(t, literally(timed), 1, unsafe) {
		t.Error("two nodes enter although no neighbour is down")
	}
	if !search(t, literally(timed), 2, unsafe) {
		t.Error("two nodes never enter")
	}
}

// ADVISE that overtakes PRIVILEGE says that the privilege is on the far side of
// its receiver, where it is not: the receiver makes a second one. Links that keep
// order are needed. The invariants show it before two nodes are inside.
func TestRecoveryNeedsOrder(t *testing.T) {
	inAnyOrder := *Robust()
	twice := func(n *vnet.Network) bool { return n.Violation != nil && n.Violation.Property == vnet.Exclusion }
	if search(t, &inAnyOrder, 1, twice) {
		t.Error("on links that keep order two nodes enter")
	}
	inAnyOrder.Needs = dme.Always(dme.Needs{Reliable: true})
	early := func(n *vnet.Network) bool {
		return n.Violation != nil && n.Violation.Property != vnet.Exclusion && len(n.Inside()) < 2
	}
	if !search(t, &inAnyOrder, 1, early) {
		t.Error("on links that do not keep order no invariant is broken before two nodes are inside")
	}
	inAnyOrder.Invariants = nil
	if !search(t, &inAnyOrder, 1, twice) {
		t.Error("on links that do not keep order nobody finds two nodes inside")
	}
}
