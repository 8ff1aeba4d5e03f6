package quorum

import (
	"fmt"
	"slices"
	"strings"

	"dmebench/algorithms"
)

// System is a family of request sets S_1 … S_N.
type System struct {
	name  string
	nodes int
	sets  family
}

// family is the rule behind a System. Both methods append in ascending order,
// without duplicates, and take O(K log K) time or little more.
type family interface {
	// appendSet appends S_id.
	appendSet(to []algorithms.NodeID, id algorithms.NodeID) []algorithms.NodeID
	// appendServed appends the nodes whose request sets contain id.
	appendServed(to []algorithms.NodeID, id algorithms.NodeID) []algorithms.NodeID
}

// Name returns the name of the construction.
func (s *System) Name() string { return s.name }

// Nodes returns N.
func (s *System) Nodes() int { return s.nodes }

// RequestSet returns S_id, the nodes that id must ask, in ascending order. The
// slice is the caller's.
func (s *System) RequestSet(id algorithms.NodeID) []algorithms.NodeID {
	s.mustHave(id)
	return s.sets.appendSet(nil, id)
}

// Served returns the nodes that must ask id, those i with id ∈ S_i, in
// ascending order. The slice is the caller's.
func (s *System) Served(id algorithms.NodeID) []algorithms.NodeID {
	s.mustHave(id)
	return s.sets.appendServed(nil, id)
}

func (s *System) mustHave(id algorithms.NodeID) {
	if id < 1 || int(id) > s.nodes {
		panic(fmt.Sprintf("quorum: node %d of %d", id, s.nodes))
	}
}

// Config is what a construction is given.
type Config struct {
	Nodes int
}

// Construction is a way to build request sets.
type Construction struct {
	Name   string // as on the command line
	Help   string
	Source string // paper and section

	build func(Config) (family, error)
}

// Constructions lists what there is, the default first.
func Constructions() []Construction {
	return []Construction{
		{
			Name: "plane", build: plane,
			Help:   "lines of a finite projective plane, or of the next larger one with stand-ins for its missing nodes; K ≈ √N",
			Source: "Maekawa 1985, section 3; Singer 1938",
		},
		{
			Name: "grid", build: grid,
			Help:   "row and column of a near-square grid; K ≈ 2√N",
			Source: "Cheung, Ammar and Ahamad 1990",
		},
		{
			Name: "majority", build: majority,
			Help:   "a node and the ⌊N/2⌋ that follow it; K = ⌊N/2⌋+1",
			Source: "Thomas 1979",
		},
	}
}

// Names returns the names of all constructions, the default first.
func Names() []string {
	var names []string
	for _, c := range Constructions() {
		names = append(names, c.Name)
	}
	return names
}

// New builds the system of that construction.
func New(construction string, cfg Config) (*System, error) {
	all := Constructions()
	i := slices.IndexFunc(all, func(c Construction) bool { return c.Name == construction })
	if i < 0 {
		return nil, fmt.Errorf("quorum: unknown construction %q; there are %s", construction, strings.Join(Names(), ", "))
	}
	if cfg.Nodes < 1 {
		return nil, fmt.Errorf("quorum: %s: %d nodes; there must be at least 1", construction, cfg.Nodes)
	}
	sets, err := all[i].build(cfg)
	if err != nil {
		return nil, fmt.Errorf("quorum: %s: %w", construction, err)
	}
	return &System{name: construction, nodes: cfg.Nodes, sets: sets}, nil
}
