// Package peers is what transports have in common, for authors of transports: which process of the
// run hosts each node ([Topology]), which links have something queued ([Dirty]), and the form of a
// frame on a byte stream ([AppendFrame], [Stream]).
package peers

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync/atomic"

	"dmebench/dme"
	"dmebench/transport"
)

// Check reports everything that is wrong with the configuration of the transport of that
// name, and puts the local nodes into ascending order.
func Check(name string, c *transport.Config) error {
	var errs []error
	if c.Key == (transport.Key{}) {
		errs = append(errs, fmt.Errorf("%s: the run's key is zero; draw a random one", name))
	}
	if len(c.Local) == 0 {
		errs = append(errs, fmt.Errorf("%s: no node lives in this process", name))
	}
	for _, id := range slices.Concat(c.Local, c.Peers, c.Absent, slices.Sorted(maps.Keys(c.Incarnations))) {
		if id < 1 || uint64(id) > uint64(max(c.Nodes, 0)) {
			errs = append(errs, fmt.Errorf("%s: node %d is not one of the run's 1 to %d", name, id, c.Nodes))
		}
	}
	for _, id := range c.Absent {
		if slices.Contains(c.Local, id) {
			errs = append(errs, fmt.Errorf("%s: node %d lives here and cannot be absent", name, id))
		}
	}
	c.Local = slices.Sorted(slices.Values(c.Local))
	c.Incarnation = max(c.Incarnation, 1)
	return errors.Join(errs...)
}

// Process is one incarnation of a process of the run: the nodes that share an
// address. State is what the transport itself knows of it.
type Process[State any] struct {
	Index       int // among the run's processes, in the order of the address book
	Addr        string
	Nodes       []dme.NodeID // ascending
	Incarnation uint32       // 0: it has never been there
	Absent      bool         // not here, and its latest incarnation was this
	State       State
}

// Node is the node by which the process is known to the others.
func (p *Process[State]) Node() dme.NodeID { return p.Nodes[0] }

func (p *Process[State]) String() string {
	first, last := p.Nodes[0], p.Nodes[len(p.Nodes)-1]
	where := p.Addr
	switch {
	case p.Absent:
		where = "absent"
	case p.Incarnation > 1:
		where += fmt.Sprintf(", incarnation %d", p.Incarnation)
	}
	switch {
	case len(p.Nodes) == 1:
		return fmt.Sprintf("node %d (%s)", first, where)
	case int(last-first) == len(p.Nodes)-1:
		return fmt.Sprintf("nodes %d-%d (%s)", first, last, where)
	default:
		return fmt.Sprintf("%d nodes from %d to %d (%s)", len(p.Nodes), first, last, where)
	}
}

// Topology says which process hosts each node. Which nodes share a process does not
// change; a process that is restarted takes the place of its incarnation before.
type Topology[State any] struct {
	Self *Process[State]

	name      string                           // of the transport
	processes []atomic.Pointer[Process[State]] // by index
	of        []atomic.Pointer[Process[State]] // by node
}

// NewTopology reads an address book, for a configuration that was checked.
func NewTopology[State any](name string, book transport.AddressBook, c *transport.Config) (*Topology[State], error) {
	if len(book) != c.Nodes {
		return nil, fmt.Errorf("%s: the address book has %d entries for %d nodes", name, len(book), c.Nodes)
	}
	absent := make(map[dme.NodeID]bool)
	for _, id := range c.Absent {
		absent[id] = true
	}
	t := &Topology[State]{name: name, of: make([]atomic.Pointer[Process[State]], len(book)+1)}
	var all []*Process[State]
	type place struct {
		addr   string
		absent bool
		alone  dme.NodeID
	}
	known := make(map[place]*Process[State])
	for i, addr := range book {
		id := dme.NodeID(i + 1)
		at := place{addr: addr, absent: absent[id]}
		if addr == "" {
			if !absent[id] {
				return nil, fmt.Errorf("%s: the address book has no address for node %d", name, id)
			}
			at.alone = id
		}
		p := known[at]
		if p == nil {
			p = &Process[State]{Index: len(all), Addr: addr, Absent: absent[id], Incarnation: 1}
			if p.Absent {
				p.Incarnation = 0
			}
			known[at] = p
			all = append(all, p)
		}
		p.Nodes = append(p.Nodes, id)
		if n, named := c.Incarnations[id]; named {
			p.Incarnation = max(p.Incarnation, n)
		}
		t.of[id].Store(p)
	}
	t.processes = make([]atomic.Pointer[Process[State]], len(all))
	for i, p := range all {
		t.processes[i].Store(p)
	}
	t.Self = t.Of(c.Local[0])
	t.Self.Incarnation = c.Incarnation
	if !slices.Equal(t.Self.Nodes, c.Local) {
		return nil, fmt.Errorf("%s: the address book has nodes %v at %s, but nodes %v live here",
			name, t.Self.Nodes, t.Self.Addr, c.Local)
	}
	return t, nil
}

func (t *Topology[State]) Len() int { return len(t.processes) }

func (t *Topology[State]) At(index int) *Process[State] { return t.processes[index].Load() }

func (t *Topology[State]) All() iter.Seq[*Process[State]] {
	return func(yield func(*Process[State]) bool) {
		for i := range t.processes {
			if !yield(t.processes[i].Load()) {
				return
			}
		}
	}
}

// Of returns the process of node id; nil if there is no such node.
func (t *Topology[State]) Of(id dme.NodeID) *Process[State] {
	if uint64(id) >= uint64(len(t.of)) {
		return nil
	}
	return t.of[id].Load()
}

// Lives reports whether a node lives in this process.
func (t *Topology[State]) Lives(id dme.NodeID) bool { return t.Of(id) == t.Self }

// Sendable reports why node from cannot send a frame of that many bytes.
func (t *Topology[State]) Sendable(from dme.NodeID, bytes, largest int) error {
	switch {
	case !t.Lives(from):
		return fmt.Errorf("%s: node %d does not live in this process and cannot send from here", t.name, from)
	case bytes > largest:
		return fmt.Errorf("%s: frame of %d bytes from node %d, at most %d allowed: %w",
			t.name, bytes, from, largest, transport.ErrFrameTooLarge)
	}
	return nil
}

// Hosts reports whether a frame that came from the process p may be delivered. A replaced
// incarnation hosts no node.
func (t *Topology[State]) Hosts(p *Process[State], from, to dme.NodeID) bool {
	return t.Of(from) == p && t.Lives(to)
}

// Full is the error of a link on which too many bytes are queued.
func (t *Topology[State]) Full(to *Process[State], queued, most int) error {
	return fmt.Errorf("%s: link from %v to %v: %d bytes queued, at most %d allowed: %w",
		t.name, t.Self, to, queued, most, transport.ErrBacklog)
}

// Dirty is a list of links with queued data that is not being written yet.
type Dirty[Link any] struct{ head atomic.Pointer[Entry[Link]] }

// Entry is the place of a link in a list, which is part of the link: a push allocates
// nothing. The link sees to it that it is in the list once.
type Entry[Link any] struct {
	Link *Link
	next *Entry[Link]
}

func (d *Dirty[Link]) Push(e *Entry[Link]) {
	for {
		head := d.head.Load()
		e.next = head
		if d.head.CompareAndSwap(head, e) {
			return
		}
	}
}

// Drain empties the list and calls f for each link, in the order of the pushes. f may push
// the link again.
func (d *Dirty[Link]) Drain(f func(*Link)) {
	if d.head.Load() == nil {
		return
	}
	var first *Entry[Link]
	for e := d.head.Swap(nil); e != nil; {
		e.next, first, e = first, e, e.next
	}
	for e := first; e != nil; {
		next := e.next // before e may enter the list again
		f(e.Link)
		e = next
	}
}
