// Package peers is what every transport knows of a run's processes: which of them
// hosts each node, whether a frame may be sent, and which links have something
// queued. It is for those who write a transport.
package peers

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"dmebench/dme"
	"dmebench/transport"
)

// Check reports everything that is wrong with a configuration, for the transport
// of that name, and puts the local nodes into ascending order.
func Check(name string, c *transport.Config) error {
	var errs []error
	if c.Key == (transport.Key{}) {
		errs = append(errs, fmt.Errorf("%s: the run's key is zero; draw a random one", name))
	}
	if len(c.Local) == 0 {
		errs = append(errs, fmt.Errorf("%s: no node lives in this process", name))
	}
	for _, id := range slices.Concat(c.Local, c.Peers) {
		if id < 1 || uint64(id) > uint64(max(c.Nodes, 0)) {
			errs = append(errs, fmt.Errorf("%s: node %d is not one of the run's 1 to %d", name, id, c.Nodes))
		}
	}
	c.Local = slices.Sorted(slices.Values(c.Local))
	return errors.Join(errs...)
}

// Process is a process of the run: the nodes that share an address. State is what
// the transport itself knows of it.
type Process[State any] struct {
	Index int // among the run's processes, in the order of the address book
	Addr  string
	Nodes []dme.NodeID // ascending
	State State
}

// Node returns the node by which the process is known to the others.
func (p *Process[State]) Node() dme.NodeID { return p.Nodes[0] }

func (p *Process[State]) String() string {
	first, last := p.Nodes[0], p.Nodes[len(p.Nodes)-1]
	switch {
	case len(p.Nodes) == 1:
		return fmt.Sprintf("node %d (%s)", first, p.Addr)
	case int(last-first) == len(p.Nodes)-1:
		return fmt.Sprintf("nodes %d-%d (%s)", first, last, p.Addr)
	default:
		return fmt.Sprintf("%d nodes from %d to %d (%s)", len(p.Nodes), first, last, p.Addr)
	}
}

// Topology says which process hosts each node. It does not change.
type Topology[State any] struct {
	All  []*Process[State] // by index
	Self *Process[State]

	name string            // of the transport
	of   []*Process[State] // by node
}

// NewTopology reads an address book, for the transport of that name, whose
// configuration was checked.
func NewTopology[State any](name string, book transport.AddressBook, c *transport.Config) (*Topology[State], error) {
	if len(book) != c.Nodes {
		return nil, fmt.Errorf("%s: the address book has %d entries for %d nodes", name, len(book), c.Nodes)
	}
	t := &Topology[State]{name: name, of: make([]*Process[State], len(book)+1)}
	known := make(map[string]*Process[State])
	for i, addr := range book {
		id := dme.NodeID(i + 1)
		if addr == "" {
			return nil, fmt.Errorf("%s: the address book has no address for node %d", name, id)
		}
		p := known[addr]
		if p == nil {
			p = &Process[State]{Index: len(t.All), Addr: addr}
			known[addr] = p
			t.All = append(t.All, p)
		}
		p.Nodes = append(p.Nodes, id)
		t.of[id] = p
	}
	t.Self = t.of[c.Local[0]]
	if !slices.Equal(t.Self.Nodes, c.Local) {
		return nil, fmt.Errorf("%s: the address book has nodes %v at %s, but nodes %v live here",
			name, t.Self.Nodes, t.Self.Addr, c.Local)
	}
	return t, nil
}

// Of returns the process of node id; nil where there is no such node.
func (t *Topology[State]) Of(id dme.NodeID) *Process[State] {
	if uint64(id) >= uint64(len(t.of)) {
		return nil
	}
	return t.of[id]
}

// Sendable reports why node from cannot send a frame of so many bytes, where
// largest are allowed.
func (t *Topology[State]) Sendable(from dme.NodeID, bytes, largest int) error {
	switch {
	case t.Of(from) != t.Self:
		return fmt.Errorf("%s: node %d does not live in this process and cannot send from here", t.name, from)
	case bytes > largest:
		return fmt.Errorf("%s: frame of %d bytes from node %d, at most %d allowed: %w",
			t.name, bytes, from, largest, transport.ErrFrameTooLarge)
	}
	return nil
}

// Route is Sendable for a frame to one node, and returns the process it lives in.
func (t *Topology[State]) Route(from, to dme.NodeID, bytes, largest int) (*Process[State], error) {
	if err := t.Sendable(from, bytes, largest); err != nil {
		return nil, err
	}
	p := t.Of(to)
	if p == nil {
		return nil, fmt.Errorf("%s: no node %d in this run", t.name, to)
	}
	return p, nil
}

// Hosts reports whether a frame that came from the process p may be delivered: its
// sender lives there, and its receiver here.
func (t *Topology[State]) Hosts(p *Process[State], from, to dme.NodeID) bool {
	return t.Of(from) == p && t.Of(to) == t.Self
}

// Dirty is a list of links that have something queued which nobody has begun to
// write. Any goroutine may push, and take all.
type Dirty[Link any] struct{ head atomic.Pointer[Entry[Link]] }

// Entry is the place of a link in a list; it is part of the link, so that a push
// allocates nothing. The link sees to it that it is in the list once.
type Entry[Link any] struct {
	Link *Link
	next *Entry[Link]
}

// Push adds a link.
func (d *Dirty[Link]) Push(e *Entry[Link]) {
	for {
		head := d.head.Load()
		e.next = head
		if d.head.CompareAndSwap(head, e) {
			return
		}
	}
}

// Drain empties the list and calls f for each link, in the order of the pushes: who
// broadcasts in ascending order is not served in descending order. f may push the
// link again.
func (d *Dirty[Link]) Drain(f func(*Link)) {
	if d.head.Load() == nil {
		return
	}
	var first *Entry[Link]
	for e := d.head.Swap(nil); e != nil; {
		e.next, first, e = first, e, e.next
	}
	for e := first; e != nil; {
		next := e.next // before e may enter the list anew
		f(e.Link)
		e = next
	}
}
