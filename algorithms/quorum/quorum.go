// Package quorum builds request sets: for each node i of N the set S_i of nodes whose permission i
// must have before it may enter its critical section (Maekawa 1985, sections 2 and 3). Two nodes
// are kept apart because any two request sets have a common member, which permits one of them at a
// time.
//
// A [System] is the family of all request sets of N nodes. It is immutable, deterministic (a
// function of its construction and N alone) and may be used by several goroutines. If the sets
// follow a rule they are computed when they are asked for: the plane of 10,303 nodes is kept as 102
// numbers, not as a million.
//
// [Constructions] lists the ways there are to build one:
//
//   - plane: lines of a finite projective plane, the smallest sets that share the work equally, K ≈
//     √N (Maekawa 1985, section 3);
//   - grid: row and column of a near-square grid, K ≈ 2√N;
//   - majority: ⌊N/2⌋+1 nodes;
//   - weighted: nodes with more than half of the votes (Gifford 1979), which with all votes at one
//     node is centralized control;
//   - tree: a path from the root of a binary tree to a leaf, K ≈ log2 N (Agrawal and El Abbadi
//     1991); [TreeQuorum] replaces nodes that have failed;
//   - hierarchical: two of three parts, at each level of a hierarchy, K ≈ N^0.63 (Kumar 1991);
//   - singleton: node 1 alone, which is centralized control (Maekawa 1985, section 2);
//   - file: sets that somebody has written down, and of which any two must meet.
//
// Every construction works for every N ≥ 1 and keeps the property (a) any two sets meet; plane,
// grid, majority, tree and hierarchical keep (b) i ∈ S_i. Whether (c) all sets are equally large
// and (d) every node serves equally many, [System.Properties] reports. [System.Resilience] reports
// which quorums are left while nodes fail; a node finds another quorum by [System.Substitute], and
// keeps what it knows of failed nodes in [Failures].
//
// The package does not decide anything about messages, and it does not look for coteries with the
// best availability.
package quorum

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dmebench/dme"
	"dmebench/units"
)

// System is a family of request sets S_1 … S_N.
type System struct {
	name    string
	nodes   int
	sets    family
	weights []uint64 // votes of the nodes if they were given
}

// family is the rule behind a System. The nodes that it appends are in ascending order, without
// duplicates, and takes O(K log K) time or little more.
type family interface {
	// has reports whether member is in S_id, both nodes of the system.
	has(id, member dme.NodeID) bool

	// appendSet appends S_id.
	appendSet(to []dme.NodeID, id dme.NodeID) []dme.NodeID
	// appendServed appends the nodes whose request sets contain id.
	appendServed(to []dme.NodeID, id dme.NodeID) []dme.NodeID
}

// counted is a family that knows how large a node's set is, and in how many sets the node is,
// without a look at the sets: those of a million nodes have a thousand million members.
type counted interface {
	count(id dme.NodeID) (size, load int)
}

// countOf returns that function, nil if the family has none.
func countOf(f family) func(id dme.NodeID) (size, load int) {
	switch f := f.(type) {
	case counted:
		return f.count
	case relabelled:
		if count := countOf(f.family); count != nil {
			return func(id dme.NodeID) (size, load int) { return count(f.place[id-1]) }
		}
	}
	return nil
}

// Name returns the name of the construction, with its file if it has one.
func (s *System) Name() string { return s.name }

// Nodes returns N.
func (s *System) Nodes() int { return s.nodes }

// RequestSet returns S_id, the nodes that id must ask, in ascending order. The
// slice is the caller's.
func (s *System) RequestSet(id dme.NodeID) []dme.NodeID {
	s.mustHave(id)
	return s.sets.appendSet(nil, id)
}

// Served returns the nodes that must ask id, those i with id ∈ S_i, in
// ascending order. The slice is the caller's.
func (s *System) Served(id dme.NodeID) []dme.NodeID {
	s.mustHave(id)
	return s.sets.appendServed(nil, id)
}

// Peers returns the nodes that id asks and those that it answers, in ascending
// order. The slice is the caller's.
func (s *System) Peers(id dme.NodeID) []dme.NodeID {
	peers := append(s.RequestSet(id), s.Served(id)...)
	slices.Sort(peers)
	peers = slices.Compact(peers)
	return slices.DeleteFunc(peers, func(peer dme.NodeID) bool { return peer == id })
}

func (s *System) mustHave(id dme.NodeID) {
	if id < 1 || int(id) > s.nodes {
		panic(fmt.Sprintf("quorum: node %d of %d", id, s.nodes))
	}
}

// Config is what a construction is given.
type Config struct {
	Nodes int

	// Weights is the number of votes of each node, node i's at i-1, for the
	// construction that counts votes. Nil gives one vote to each.
	Weights []uint64

	// ReadFile reads the file that a construction names; nil if none can be read.
	ReadFile func(name string) ([]byte, error)
}

// Construction is a way to build request sets.
type Construction struct {
	Name   string // as on the command line; "file:F" stands for every file F
	build  func(Config) (family, error)
	Source string // paper and section
	Help   string
}

const fromFile = "file:"

// Constructions lists what there is, the default first.
func Constructions() []Construction {
	return []Construction{
		{"plane", plane, "Maekawa 1985, section 3; Singer 1938",
			"lines of a finite projective plane, or of the next larger one with stand-ins for its missing nodes; K ≈ √N"},
		{"grid", grid, "Cheung, Ammar and Ahamad 1990",
			"row and column of a near-square grid; K ≈ 2√N"},
		{"majority", majority, "Thomas 1979",
			"a node and the ⌊N/2⌋ that follow it; K = ⌊N/2⌋+1"},
		{"weighted", weighted, "Gifford 1979; Maekawa 1985, section 1",
			"nodes that have more than half of the votes, none of them superfluous; one vote each unless weights are given"},
		{"tree", tree, "Agrawal and El Abbadi 1991; the textbook's section 9.9.1",
			"a path from the root of a heap-shaped binary tree through the node to a leaf; K ≈ log2(N+1)"},
		{"hierarchical", hierarchical, "Kumar 1991",
			"two of three parts of the nodes, and two of three parts of each of these, down to single nodes; K ≈ N^0.63"},
		{"singleton", singleton, "Maekawa 1985, section 2",
			"node 1 alone: centralized control; K = 1"},
		// lookup builds it, since it knows F
		{fromFile + "F", nil,
			"Maekawa 1985, section 2; the textbook's section 9.7: intersection is checked, and missing minimality is reported",
			"the sets of file F: a line 'i: a b c' for each node i, or lines 'a b c' with sets to choose from"},
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

// New builds the system of that construction. An error in a file is reported
// with its line.
func New(construction string, cfg Config) (*System, error) {
	refuse := func(err error) (*System, error) { return nil, fmt.Errorf("quorum: %s: %w", construction, err) }
	build := lookup(construction)
	if build == nil {
		return nil, fmt.Errorf("quorum: %w", units.UnknownName("construction", construction, Names(), units.Listed(Names())))
	}
	if cfg.Nodes < 1 {
		return refuse(fmt.Errorf("%d nodes; there must be at least 1", cfg.Nodes))
	}
	sets, err := build(cfg)
	if err != nil {
		return refuse(err)
	}
	return &System{name: construction, nodes: cfg.Nodes, sets: sets, weights: slices.Clone(cfg.Weights)}, nil
}

// lookup returns how that construction is built, nil if there is none.
func lookup(construction string) func(Config) (family, error) {
	if name, ok := strings.CutPrefix(construction, fromFile); ok && name != "" {
		return func(cfg Config) (family, error) { return readFamily(name, cfg) }
	}
	for _, c := range Constructions() {
		if c.Name == construction {
			return c.build
		}
	}
	return nil
}

// listed is a family whose sets are written down.
type listed struct {
	sets   [][]dme.NodeID // S_i at i-1
	served [][]dme.NodeID // the nodes whose sets contain i at i-1
}

// List returns a system of the given sets: sets[i-1] is S_i. The sets may be in
// any order; they must not be empty, name a member twice or name a node that
// does not exist. Whether they meet is not checked: see [System.Properties].
func List(name string, sets [][]dme.NodeID) (*System, error) {
	f, err := list(sets)
	if err != nil {
		return nil, fmt.Errorf("quorum: %s: %w", name, err)
	}
	return &System{name: name, nodes: len(sets), sets: f}, nil
}

func list(sets [][]dme.NodeID) (listed, error) {
	f := listed{served: make([][]dme.NodeID, len(sets))}
	if len(sets) == 0 {
		return f, errors.New("no request sets; there must be one for each node")
	}
	for i, set := range sets {
		id := dme.NodeID(i + 1)
		set, err := ascending(set, len(sets))
		if err != nil {
			return f, fmt.Errorf("set S_%d: %w", id, err)
		}
		for _, member := range set {
			f.served[member-1] = append(f.served[member-1], id)
		}
		f.sets = append(f.sets, set)
	}
	return f, nil
}

// ascending returns a copy of a set in ascending order, or says why it is no set
// of the nodes 1 to N.
func ascending(set []dme.NodeID, nodes int) ([]dme.NodeID, error) {
	if len(set) == 0 {
		return nil, errors.New("the set is empty; a node must ask at least one node")
	}
	set = slices.Sorted(slices.Values(set))
	for k, member := range set {
		if member < 1 || int(member) > nodes {
			return nil, fmt.Errorf("the set names node %d; there are the nodes 1 to %d", member, nodes)
		}
		if k > 0 && member == set[k-1] {
			return nil, fmt.Errorf("the set names node %d twice", member)
		}
	}
	return set, nil
}

func (f listed) has(id, member dme.NodeID) bool { return position(f.sets[id-1], member) >= 0 }

func (f listed) appendSet(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	return append(to, f.sets[id-1]...)
}

func (f listed) appendServed(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	return append(to, f.served[id-1]...)
}

// The options of an algorithm that lets its user choose the request sets.
const (
	OptionQuorum    = "quorum"
	OptionWeights   = "weights"
	OptionLabelling = "labelling"
)

// Options returns the declarations of quorum, weights and labelling.
func Options() []dme.Option {
	named := slices.DeleteFunc(Names(), func(name string) bool { return strings.HasPrefix(name, fromFile) })
	return []dme.Option{
		{
			Name: OptionQuorum, Default: Names()[0], Words: named, Forms: []string{fromFile + "F"},
			Help: "how the request sets are made",
			Valid: func(value string) error {
				if lookup(value) == nil {
					return errors.New("no such construction")
				}
				return nil
			},
		},
		{
			Name: OptionWeights, Default: "", Forms: []string{"V1,V2,…"},
			Help:  "votes of the nodes 1, 2, … for quorum=weighted; one each by default",
			Valid: dme.Valid(ParseWeights),
		},
		dme.Choice(OptionLabelling,
			"which node stands where in a plane or grid: by number, or at random by the run's seed; by number, neighbours on "+
				"a plane share one of the two, and hand over by one message",
			natural, shuffled),
	}
}

// ValidNodes reports why n nodes cannot have the request sets that the options of [Options] choose:
// if votes are given, each node must have its own.
func ValidNodes(n int, opt dme.Options) error {
	if err := relabels(opt.Get(OptionQuorum), opt.Get(OptionLabelling)); err != nil {
		return err
	}
	votes, err := ParseWeights(opt.Get(OptionWeights))
	if err != nil || votes == nil {
		return err
	}
	return oneEach(votes, n)
}

// ParseWeights reads votes separated by commas; nil if there are none.
func ParseWeights(value string) ([]uint64, error) {
	if value == "" {
		return nil, nil
	}
	var votes []uint64
	for word := range strings.SplitSeq(value, ",") {
		v, err := strconv.ParseUint(strings.TrimSpace(word), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number of votes", word)
		}
		votes = append(votes, v)
	}
	return votes, nil
}

// Prepare builds the system that the options of [Options] choose.
func Prepare(cfg dme.Config) (*System, error) {
	construction := cfg.Options.Get(OptionQuorum)
	votes, err := ParseWeights(cfg.Options.Get(OptionWeights))
	if err != nil {
		return nil, err
	}
	if votes != nil && construction != "weighted" {
		return nil, fmt.Errorf("quorum: weights are given, but quorum=%s does not count votes; choose quorum=weighted", construction)
	}
	s, err := New(construction, Config{Nodes: cfg.Nodes, Weights: votes, ReadFile: cfg.ReadFile})
	if err != nil {
		return nil, err
	}
	return s, s.relabel(cfg.Options.Get(OptionLabelling), cfg.Seed)
}
