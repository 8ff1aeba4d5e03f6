package tcp

import (
	"fmt"
	"slices"
	"sync/atomic"

	"dmebench/dme"
	"dmebench/transport"
)

// process is a process of the run: the nodes that share an address.
type process struct {
	addr  string
	nodes []dme.NodeID // ascending

	link atomic.Pointer[link] // to it; nil before the first use

	// Guarded by Transport.mu.
	in    *inbound // from it; nil before it has dialed
	fate  fate
	cause error // why the link to it broke, where that was noticed first
}

// fate is what became of a process.
type fate uint8

const (
	alive fate = iota
	left       // it said goodbye
	down       // it vanished
)

func (p *process) String() string {
	first, last := p.nodes[0], p.nodes[len(p.nodes)-1]
	switch {
	case len(p.nodes) == 1:
		return fmt.Sprintf("node %d (%s)", first, p.addr)
	case int(last-first) == len(p.nodes)-1:
		return fmt.Sprintf("nodes %d-%d (%s)", first, last, p.addr)
	default:
		return fmt.Sprintf("%d nodes from %d to %d (%s)", len(p.nodes), first, last, p.addr)
	}
}

// topology says which process hosts each node. It does not change.
type topology struct {
	of   []*process // by node
	self *process
}

func newTopology(book transport.AddressBook, c *transport.Config) (*topology, error) {
	if len(book) != c.Nodes {
		return nil, fmt.Errorf("tcp: the address book has %d entries for %d nodes", len(book), c.Nodes)
	}
	top := &topology{of: make([]*process, len(book)+1)}
	at := make(map[string]*process)
	for i, addr := range book {
		id := dme.NodeID(i + 1)
		if addr == "" {
			return nil, fmt.Errorf("tcp: the address book has no address for node %d", id)
		}
		p := at[addr]
		if p == nil {
			p = &process{addr: addr}
			at[addr] = p
		}
		p.nodes = append(p.nodes, id)
		top.of[id] = p
	}
	top.self = top.of[c.Local[0]]
	if local := slices.Sorted(slices.Values(c.Local)); !slices.Equal(top.self.nodes, local) {
		return nil, fmt.Errorf("tcp: the address book has nodes %v at %s, but nodes %v live here",
			top.self.nodes, top.self.addr, local)
	}
	return top, nil
}

// at returns the process of node id; nil where there is no such node.
func (top *topology) at(id dme.NodeID) *process {
	if uint64(id) >= uint64(len(top.of)) {
		return nil
	}
	return top.of[id]
}
