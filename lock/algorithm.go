package lock

import (
	"fmt"
	"slices"

	"dmebench/dme"
)

// SiteOption says where servers are, in a run whose links have a delay.
const (
	SiteOption = "site"
	OwnSite    = "own"
)

var site = dme.Option{
	Name: SiteOption, Default: "nodes", Words: []string{"nodes", OwnSite},
	Help: "where the servers are: among the nodes, so that every link is as long, or on a site of their own, with short links between them",
}

// Algorithm describes the system to everything that lists, runs, measures and ranks
// algorithms. Its nodes are clients.
func (s *System) Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name: s.Name, Title: s.Title, Citation: s.Citation, Description: s.Description,
		Class: dme.Service, Options: append(slices.Clip(s.Options), site), Kinds: s.Kinds, Fencing: s.Fencing,
		Needs:    dme.Always(dme.Needs{}),
		Survives: dme.SurvivesAny,
		Peers:    func(dme.System, dme.NodeID) []dme.NodeID { return []dme.NodeID{} },
		Prepare: func(c dme.Config) (dme.System, error) {
			if s.Available != nil {
				if err := s.Available(c.Options); err != nil {
					return nil, fmt.Errorf("%s cannot run here: %w", s.Name, err)
				}
			}
			return &Prepared{System: s, Options: c.Options}, nil
		},
	}
}

// Prepared is a system with the options of a run.
type Prepared struct {
	*System
	Options dme.Options
}

// Servers returns how many servers the run has of its own, for faults of servers.
func (p *Prepared) Servers() int {
	if p.System.Servers == nil {
		return 0
	}
	return p.System.Servers(p.Options)
}

// Node implements [dme.System].
func (p *Prepared) Node(dme.NodeID) dme.Node { return new(Node) }

// Node stands for the client of a node. The worker that has the client learns what the local
// process wants by the functions, which do not wait.
type Node struct {
	Ask, Leave func()
}

// Request implements [dme.Node], as do the following.
func (n *Node) Request(*dme.Outbox) { n.Ask() }

// Release gives the lock back.
func (n *Node) Release(*dme.Outbox) { n.Leave() }

// Receive refuses everything: clients of a lock service send each other nothing.
func (n *Node) Receive(_ dme.NodeID, _ dme.Message, out *dme.Outbox) {
	out.Refuse("clients of a lock service send each other nothing")
}

// Restart implements [dme.Restarter]: a client that is new knows nothing of the one before.
func (n *Node) Restart(*dme.Outbox) {}

// State has nothing to show.
func (n *Node) State(*dme.Visitor) {}
