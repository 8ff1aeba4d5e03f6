package chaudhurikaraata

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/testkit"
)

// model is a small system whose every schedule is carried out: from each state
// reached, everything that can happen next. A state that was reached before is
// not searched again.
type model struct {
	snapshot
	net   *vnet.Network
	space *vnet.Space

	done map[vnet.Hash]bool // false while the state is on the path
	path []vnet.Step

	stallsAllowed bool // go on after a stall
	stalls        int
}

// newModel returns a system in which node i may ask left[i-1] times.
func newModel(sys *system, unordered bool, left ...int) *model {
	a := Algorithm()
	a.Prepare = func(dme.Config) (dme.System, error) { return sys, nil }
	shared, err := vnet.NewModel(vnet.Config{
		Algorithm: a, Nodes: sys.nodes, Unordered: unordered, Recover: true,
		Requests: func(id dme.NodeID) int { return left[id-1] },
		Carry: func(from, to dme.NodeID, m *dme.Message) dme.Message {
			if !slices.Contains(sys.Peers(from), to) {
				panic(fmt.Sprintf("node %d sends to node %d, which is no neighbour", from, to))
			}
			return *m
		},
	})
	if err != nil {
		panic(err)
	}
	m := &model{net: vnet.New(shared), space: vnet.NewSpace(shared), done: make(map[vnet.Hash]bool)}
	m.snapshot = snapshot{sys: sys, nodes: make([]*node, sys.nodes+1)}
	for id := range m.net.IDs() {
		m.nodes[id] = m.net.Node(id).(*node)
	}
	return m
}

// longest bounds a path, far above what any system searched here needs.
const longest = 1000

// explore searches everything from the current state on. It returns a fault: an
// invariant that does not hold, a message that is refused, requests that wait
// while nothing can happen, or a run that can go on for ever.
func (m *model) explore() error {
	_, state := m.space.Of(m.net)
	if done, was := m.done[state]; was {
		if !done {
			return m.fault("the system comes back to this state: it may never rest")
		}
		return nil
	}
	if len(m.path) > longest {
		return m.fault("no end after %d steps", longest)
	}
	m.done[state] = false
	m.inside, m.onWay = m.net.Inside(), m.onWay[:0]
	for _, f := range m.net.InFlight() {
		m.onWay = append(m.onWay, f.Message)
	}
	if err := m.check(); err != nil {
		return m.fault("%w", err)
	}
	steps := m.net.Enabled(nil)
	if len(steps) == 0 && len(m.net.Waiting()) > 0 {
		m.stalls++
		if !m.stallsAllowed {
			return m.fault("stalled: nodes %v wait and nothing moves", m.net.Waiting())
		}
	}
	saved := m.net.Save(nil)
	for i, x := range steps {
		if i > 0 {
			if err := m.net.Load(saved); err != nil {
				return err
			}
		}
		m.path = append(m.path, x)
		switch e := m.net.Do(x); {
		case m.net.Violation != nil:
			return m.fault("%v", m.net.Violation)
		case e.Refused != "":
			return m.fault("node %d: %s", e.Node, e.Refused)
		}
		if err := m.explore(); err != nil {
			return err
		}
		m.path = m.path[:len(m.path)-1]
	}
	m.done[state] = true
	return nil
}

func (m *model) fault(format string, args ...any) error {
	return fmt.Errorf("%w\nafter %v\n%s", fmt.Errorf(format, args...), m.path, strings.Join(m.net.States(), "\n"))
}

var repairs = []repair{numbered, suppressed, directed}

// Every schedule of these systems keeps the invariants I1 and I2 and assumption
// A1, serves every request and comes to rest.
func TestEverySchedule(t *testing.T) {
	type system struct {
		sizes []int
		left  []int // requests of each node
	}
	systems := []system{
		{[]int{1, 1, 1}, []int{3}},
		{[]int{1, 1, 2}, []int{2, 2}},
		{[]int{1, 2, 1}, []int{2, 2}},
		{[]int{1, 1, 3}, []int{1, 1, 1}},
		{[]int{1, 2, 2}, []int{1, 1, 1}}, // the last plane is incomplete
		{[]int{1, 2, 2}, []int{1, 1, 1, 1}},
		{[]int{1, 1, 3}, []int{2, 0, 2}},
		{[]int{1, 1, 2}, []int{4, 4}},
		{[]int{1, 1, 3}, []int{2, 2, 1}},
		{[]int{1, 1, 3}, []int{1, 3, 1}},
		{[]int{1, 1, 4}, []int{1, 1, 1, 1}},
		{[]int{1, 2, 3}, []int{0, 1, 0, 1, 1, 1}},
		{[]int{2, 2, 2}, []int{0, 1, 0, 1, 0, 1}},
		{[]int{2, 2}, []int{1, 1, 1, 1}},
		{[]int{1, 2, 1, 2}, []int{1, 1, 1, 1}},
	}
	if testkit.Full() {
		systems = append(systems,
			system{[]int{1, 1, 4}, []int{2, 1, 1, 2}},
			system{[]int{1, 1, 5}, []int{1, 1, 1, 1, 1}},
			system{[]int{1, 2, 3}, []int{1, 1, 1, 1, 1, 1}},
			system{[]int{2, 2, 2}, []int{1, 1, 1, 1, 1, 1}},
		)
	}
	for _, r := range repairs {
		for _, x := range systems {
			m := newModel(newSystem(x.sizes, len(x.left), r), false, x.left...)
			if err := m.explore(); err != nil {
				t.Fatalf("%s, mesh %v, requests %v: %v", r, x.sizes, x.left, err)
			}
			t.Logf("%s, mesh %v, requests %v: %d states", r, x.sizes, x.left, len(m.done))
		}
	}
}

// Section 2.1 assumes that messages arrive in the order sent (A2). The corners do
// not rely on it: a REQUEST may overtake the RELEASE of its node, or the PERMIT
// that takes the token away.
func TestEveryScheduleWithoutOrder(t *testing.T) {
	for _, r := range repairs {
		for _, x := range []struct {
			sizes []int
			left  []int
		}{
			{[]int{1, 2, 1}, []int{2, 2}},
			{[]int{1, 1, 2}, []int{3, 3}},
			{[]int{1, 1, 3}, []int{1, 2, 1}},
			{[]int{1, 2, 2}, []int{1, 2, 1, 1}},
		} {
			m := newModel(newSystem(x.sizes, len(x.left), r), true, x.left...)
			if err := m.explore(); err != nil {
				t.Errorf("%s, mesh %v, requests %v: %v", r, x.sizes, x.left, err)
			}
		}
	}
}
