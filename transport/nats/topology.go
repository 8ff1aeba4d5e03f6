package nats

import (
	"strings"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
)

// topology says which process hosts each node, and by which subject to reach it.
type topology struct {
	*peers.Topology[peer]
	subjects []string // by node: where its frames go; those for all under dme.None. Guarded by Transport.mu

	prefix, via string // of subjects, and of those that frames are published under
}

type process = peers.Process[peer]

// peer is what is known of a process.
type peer struct {
	out window // frames to it
	in  inflow // frames from it
}

// What stands behind the prefix in subjects.
const (
	relay = ".s" // of what the sequencer is to pass on; the subject proper follows
	toAll = ".all"
)

func newTopology(book transport.AddressBook, c *transport.Config, prefix string, sequenced bool) (*topology, error) {
	processes, err := peers.NewTopology[peer]("nats", book, c)
	if err != nil {
		return nil, err
	}
	top := &topology{Topology: processes, subjects: make([]string, len(book)+1), prefix: prefix, via: prefix}
	if sequenced {
		top.via += relay
	}
	top.subjects[dme.None] = top.via + toAll
	for p := range top.All() {
		p.State.in.open = p == top.Self || p.Incarnation <= 1 && c.Incarnation <= 1
		p.State.in.over = p.Absent
		p.State.out.left.Store(p.Absent)
		top.address(p)
	}
	return top, nil
}

// address notes under which subjects the nodes of a process are reached. For one that
// is in use, it is called with Transport.mu held.
func (top *topology) address(p *process) {
	for _, id := range p.Nodes {
		subject := p.Addr + "." + id.String()
		if rest, ours := strings.CutPrefix(subject, top.prefix); ours {
			subject = top.via + rest
		}
		top.subjects[id] = subject
	}
}
