package udp

import (
	"fmt"
	"net"
	"net/netip"
	"slices"

	"dmebench/dme"
	"dmebench/transport"
)

// process is a process of the run: the nodes that share an address.
type process struct {
	index int // among the run's processes
	addr  string
	at    netip.AddrPort
	nodes []dme.NodeID // ascending
}

// node returns the node by which the process is known to the others.
func (p *process) node() dme.NodeID { return p.nodes[0] }

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
	all  []*process // by index
	self *process
}

func newTopology(book transport.AddressBook, c *transport.Config) (*topology, error) {
	if len(book) != c.Nodes {
		return nil, fmt.Errorf("udp: the address book has %d entries for %d nodes", len(book), c.Nodes)
	}
	top := &topology{of: make([]*process, len(book)+1)}
	known := make(map[string]*process)
	for i, addr := range book {
		id := dme.NodeID(i + 1)
		p := known[addr]
		if p == nil {
			at, err := resolve(addr)
			if err != nil {
				return nil, fmt.Errorf("udp: address of node %d: %w; is the address book wrong?", id, err)
			}
			p = &process{index: len(top.all), addr: addr, at: at}
			known[addr] = p
			top.all = append(top.all, p)
		}
		p.nodes = append(p.nodes, id)
		top.of[id] = p
	}
	top.self = top.of[c.Local[0]]
	if local := slices.Sorted(slices.Values(c.Local)); !slices.Equal(top.self.nodes, local) {
		return nil, fmt.Errorf("udp: the address book has nodes %v at %s, but nodes %v live here",
			top.self.nodes, top.self.addr, local)
	}
	return top, nil
}

// resolve returns the address that HOST:PORT stands for.
func resolve(addr string) (netip.AddrPort, error) {
	if at, err := netip.ParseAddrPort(addr); err == nil {
		return netip.AddrPortFrom(at.Addr().Unmap(), at.Port()), nil
	}
	u, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return netip.AddrPort{}, err
	}
	at := u.AddrPort()
	if !at.IsValid() {
		return at, fmt.Errorf("%q names no host", addr)
	}
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port()), nil
}

// at returns the process of node id; nil where there is no such node.
func (top *topology) at(id dme.NodeID) *process {
	if uint64(id) >= uint64(len(top.of)) {
		return nil
	}
	return top.of[id]
}
