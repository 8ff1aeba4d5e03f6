package nats

import (
	"fmt"
	"slices"
	"strings"

	"dmebench/dme"
	"dmebench/transport"
)

// topology says which process hosts each node. It does not change.
type topology struct {
	of    []*process // by node
	all   []*process // by first node
	first map[dme.NodeID]*process
	self  *process

	subjects []string // by node: where its frames go; those for all under dme.None
}

// What stands behind the prefix in subjects.
const (
	relay = ".s" // of what the sequencer is to pass on; the subject proper follows
	toAll = ".all"
)

func newTopology(book transport.AddressBook, c *transport.Config, prefix string, sequenced bool) (*topology, error) {
	if len(book) != c.Nodes {
		return nil, fmt.Errorf("nats: the address book has %d entries for %d nodes", len(book), c.Nodes)
	}
	top := &topology{
		of: make([]*process, len(book)+1), first: make(map[dme.NodeID]*process),
		subjects: make([]string, len(book)+1),
	}
	via := prefix
	if sequenced {
		via += relay
	}
	top.subjects[dme.None] = via + toAll
	at := make(map[string]*process)
	for i, addr := range book {
		id := dme.NodeID(i + 1)
		if addr == "" {
			return nil, fmt.Errorf("nats: the address book has no address for node %d", id)
		}
		p := at[addr]
		if p == nil {
			p = &process{addr: addr}
			at[addr] = p
			top.all = append(top.all, p)
			top.first[id] = p
		}
		p.nodes = append(p.nodes, id)
		top.of[id] = p
		top.subjects[id] = addr + "." + id.String()
		if rest, ours := strings.CutPrefix(top.subjects[id], prefix); ours {
			top.subjects[id] = via + rest
		}
	}
	top.self = top.of[c.Local[0]]
	if !slices.Equal(top.self.nodes, c.Local) {
		return nil, fmt.Errorf("nats: the address book has nodes %v at %s, but nodes %v live here",
			top.self.nodes, top.self.addr, c.Local)
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

// process is a process of the run: the nodes that share an address.
type process struct {
	addr  string
	nodes []dme.NodeID // ascending

	out window // frames to it
	in  inflow // frames from it
}

func (p *process) String() string {
	if len(p.nodes) == 1 {
		return fmt.Sprintf("node %d (%s)", p.nodes[0], p.addr)
	}
	return fmt.Sprintf("%d nodes from node %d on (%s)", len(p.nodes), p.nodes[0], p.addr)
}
