package chaudhurikaraata

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
)

// model is a small system whose every schedule is carried out: from each state
// reached, everything that can happen next. A state that was reached before is
// not searched again.
type model struct {
	snapshot
	ends  [][2]dme.NodeID // of each link, from and to
	links [][]dme.Message
	local []byte // 0 idle, 1 waiting, 2 inside, by node from 1
	left  []byte // requests still to make, by node from 1
	order bool   // links keep order

	seen   map[string]bool // false while it is on the path
	events []string        // the path
	out    dme.Outbox

	stallsAllowed bool // go on after a stall
	stalls        int
}

// newModel returns a system in which node i may still ask left[i-1] times.
func newModel(sys *system, left ...byte) *model {
	m := &model{order: true, seen: map[string]bool{}, local: make([]byte, sys.nodes+1), left: append([]byte{0}, left...)}
	m.sys = sys
	m.nodes = make([]*node, sys.nodes+1)
	for id := dme.NodeID(1); int(id) <= sys.nodes; id++ {
		m.nodes[id] = sys.Node(id).(*node)
		for _, peer := range sys.Peers(id) {
			m.ends = append(m.ends, [2]dme.NodeID{id, peer})
		}
	}
	m.links = make([][]dme.Message, len(m.ends))
	return m
}

func (m *model) save() string {
	var b []byte
	for _, n := range m.nodes[1:] {
		b = dme.SaveState(b, n)
	}
	for _, l := range m.links {
		b = append(b, byte(len(l)))
		for i := range l {
			b = append(b, byte(dme.MessageSize(&l[i])))
			b = dme.AppendMessage(b, &l[i])
		}
	}
	b = append(b, m.local...)
	return string(append(b, m.left...))
}

func (m *model) load(state string) {
	b := []byte(state)
	var err error
	for _, n := range m.nodes[1:] {
		if b, err = dme.LoadState(b, n); err != nil {
			panic(err)
		}
	}
	for i := range m.links {
		m.links[i] = make([]dme.Message, b[0])
		b = b[1:]
		for j := range m.links[i] {
			size := int(b[0])
			if err := dme.DecodeMessage(b[1:1+size], &m.links[i][j], nil); err != nil {
				panic(err)
			}
			b = b[1+size:]
		}
	}
	copy(m.local, b)
	copy(m.left, b[len(m.local):])
	m.inside = m.inside[:0]
	for id, activity := range m.local {
		if activity == 2 {
			m.inside = append(m.inside, dme.NodeID(id))
		}
	}
}

// apply carries out what node id has left in the outbox.
func (m *model) apply(id dme.NodeID) error {
	defer m.out.Reset()
	for _, e := range m.out.Effects() {
		switch e.Kind {
		case dme.EffectSend:
			i := slices.Index(m.ends, [2]dme.NodeID{id, e.To})
			if i < 0 {
				return fmt.Errorf("node %d sends to node %d, which is no neighbour", id, e.To)
			}
			m.links[i] = append(m.links[i], e.Msg)
		case dme.EffectEnter:
			if m.local[id] != 1 {
				return fmt.Errorf("node %d enters unasked", id)
			}
			m.local[id] = 2
			m.inside = append(m.inside, id)
		default:
			return fmt.Errorf("node %d: %s", id, e.Reason)
		}
	}
	return nil
}

// choices returns everything that can happen, as functions that carry it out.
func (m *model) choices() (names []string, events []func() dme.NodeID) {
	add := func(name string, f func() dme.NodeID) {
		names, events = append(names, name), append(events, f)
	}
	for i, ends := range m.ends {
		for j := range m.links[i] {
			if j > 0 && m.order {
				break
			}
			add(fmt.Sprintf("%d receives message %d of %d", ends[1], j, ends[0]), func() dme.NodeID {
				msg := m.links[i][j]
				m.links[i] = slices.Delete(m.links[i], j, j+1)
				m.nodes[ends[1]].Receive(ends[0], msg, &m.out)
				return ends[1]
			})
		}
	}
	for id := dme.NodeID(1); int(id) < len(m.nodes); id++ {
		switch {
		case m.local[id] == 2:
			add(fmt.Sprintf("%d leaves", id), func() dme.NodeID {
				m.local[id] = 0
				m.inside = slices.DeleteFunc(m.inside, func(x dme.NodeID) bool { return x == id })
				m.nodes[id].Release(&m.out)
				return id
			})
		case m.local[id] == 0 && m.left[id] > 0:
			add(fmt.Sprintf("%d asks", id), func() dme.NodeID {
				m.local[id] = 1
				m.left[id]--
				m.nodes[id].Request(&m.out)
				return id
			})
		}
	}
	return names, events
}

// longest bounds a path, far above what any system searched here needs.
const longest = 1000

// explore searches everything from the current state on. It returns a fault: an
// invariant that does not hold, requests that wait while nothing can happen, or
// a run that can go on for ever.
func (m *model) explore() error {
	state := m.save()
	if done, was := m.seen[state]; was {
		if !done {
			return m.fault(fmt.Errorf("the system comes back to this state: it may never rest"))
		}
		return nil
	}
	if len(m.events) > longest {
		return m.fault(fmt.Errorf("no end after %d events", longest))
	}
	m.seen[state] = false
	m.onWay = slices.Concat(m.links...)
	if err := m.check(); err != nil {
		return m.fault(err)
	}
	names, events := m.choices()
	if len(events) == 0 {
		if i := slices.Index(m.local, 1); i >= 0 {
			m.stalls++
			if m.stallsAllowed {
				m.seen[state] = true
				return nil
			}
			return m.fault(fmt.Errorf("stalled: node %d waits and nothing moves", i))
		}
	}
	for i := range events {
		if i > 0 {
			m.load(state)
		}
		m.events = append(m.events, names[i])
		if err := m.apply(events[i]()); err != nil {
			return m.fault(err)
		}
		if err := m.explore(); err != nil {
			return err
		}
		m.events = m.events[:len(m.events)-1]
	}
	m.seen[state] = true
	return nil
}

func (m *model) fault(err error) error {
	var b strings.Builder
	for _, n := range m.nodes[1:] {
		fmt.Fprintf(&b, "\nnode %d: %s", n.self, dme.DescribeState(n))
	}
	return fmt.Errorf("%w\nafter: %s%s", err, strings.Join(m.events, "; "), b.String())
}

var repairs = []repair{numbered, suppressed, directed}

// Every schedule of these systems keeps the invariants I1 and I2 and assumption
// A1, serves every request and comes to rest.
func TestEverySchedule(t *testing.T) {
	type system struct {
		sizes []int
		left  []byte // requests of each node
	}
	systems := []system{
		{[]int{1, 1, 1}, []byte{3}},
		{[]int{1, 1, 2}, []byte{2, 2}},
		{[]int{1, 2, 1}, []byte{2, 2}},
		{[]int{1, 1, 3}, []byte{1, 1, 1}},
		{[]int{1, 2, 2}, []byte{1, 1, 1}}, // the last plane is incomplete
		{[]int{1, 2, 2}, []byte{1, 1, 1, 1}},
		{[]int{1, 1, 3}, []byte{2, 0, 2}},
		{[]int{1, 1, 2}, []byte{4, 4}},
		{[]int{1, 1, 3}, []byte{2, 2, 1}},
		{[]int{1, 1, 3}, []byte{1, 3, 1}},
		{[]int{1, 1, 4}, []byte{1, 1, 1, 1}},
		{[]int{1, 2, 3}, []byte{0, 1, 0, 1, 1, 1}},
		{[]int{2, 2, 2}, []byte{0, 1, 0, 1, 0, 1}},
		{[]int{2, 2}, []byte{1, 1, 1, 1}},
		{[]int{1, 2, 1, 2}, []byte{1, 1, 1, 1}},
	}
	if *full {
		systems = append(systems,
			system{[]int{1, 1, 4}, []byte{2, 1, 1, 2}},
			system{[]int{1, 1, 5}, []byte{1, 1, 1, 1, 1}},
			system{[]int{1, 2, 3}, []byte{1, 1, 1, 1, 1, 1}},
			system{[]int{2, 2, 2}, []byte{1, 1, 1, 1, 1, 1}},
		)
	}
	for _, r := range repairs {
		for _, x := range systems {
			m := newModel(newSystem(x.sizes, len(x.left), r), x.left...)
			if err := m.explore(); err != nil {
				t.Fatalf("%s, mesh %v, requests %v: %v", r, x.sizes, x.left, err)
			}
			t.Logf("%s, mesh %v, requests %v: %d states", r, x.sizes, x.left, len(m.seen))
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
			left  []byte
		}{
			{[]int{1, 2, 1}, []byte{2, 2}},
			{[]int{1, 1, 2}, []byte{3, 3}},
			{[]int{1, 1, 3}, []byte{1, 2, 1}},
			{[]int{1, 2, 2}, []byte{1, 2, 1, 1}},
		} {
			m := newModel(newSystem(x.sizes, len(x.left), r), x.left...)
			m.order = false
			if err := m.explore(); err != nil {
				t.Errorf("%s, mesh %v, requests %v: %v", r, x.sizes, x.left, err)
			}
		}
	}
}
