package commandline

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/internal/exit"
	"dmebench/internal/tables"
)

const (
	// maxQuorumNodes, the size of the plane of order 101, bounds the work of
	// examining all pairs of request sets to some seconds.
	maxQuorumNodes = 10303
	// maxQuorumsShown is the largest system whose sets are printed one by one.
	maxQuorumsShown = 64
)

func (p *program) listQuorumsCommand(common []cli.Flag) *cli.Command {
	return &cli.Command{
		Name:  "quorums",
		Usage: "constructions of request sets; with --nodes, the sets and their properties",
		Description: "Without --nodes: what constructions there are. With --nodes: for each, or for that of --quorum, the\n" +
			"sizes K of the sets, the loads D of the nodes (the number of sets that a node is in), whether\n" +
			"  (a) any two sets meet, (b) every node is in its own set, (c) all sets are equally large,\n" +
			"  (d) all nodes are in equally many sets (Maekawa 1985, section 2),\n" +
			"and whether the sets are the lines of a projective plane, any two of which meet in exactly one node.\n" +
			"With --availability: the probability that a quorum of nodes that are up exists, and its size, exactly\n" +
			"where the failures can all be examined, else from failures that are drawn, with a 95% interval.",
		Flags: append(append([]cli.Flag{
			nodesFlag(),
			&cli.StringFlag{Name: "quorum", Usage: "`NAME` of one construction: " + strings.Join(quorum.Names(), ", ")},
			&cli.StringFlag{Name: "weights", Usage: "votes `V1,V2,…` of the nodes, for --quorum weighted"},
		}, availabilityFlags()...), common...),
		Action: p.listQuorums,
	}
}

// construction and family are the JSON forms of what is listed.
type construction struct {
	Name   string `json:"name"`
	Help   string `json:"help"`
	Source string `json:"source"`
}

type family struct {
	Quorum string `json:"quorum"`
	Nodes  int    `json:"nodes"`
	K      extent `json:"k"`
	Loads  extent `json:"loads"`

	Intersecting bool            `json:"intersecting"`  // (a)
	SelfIncluded bool            `json:"self_included"` // (b)
	EqualSizes   bool            `json:"equal_sizes"`   // (c)
	EqualLoads   bool            `json:"equal_loads"`   // (d)
	UniqueMeets  bool            `json:"unique_meets"`
	Plane        bool            `json:"plane"`
	Disjoint     [][2]dme.NodeID `json:"disjoint_pairs,omitempty"`
	Nested       [][2]dme.NodeID `json:"nested_pairs,omitempty"` // S_i ⊃ S_j, the larger first
	remarks      []string

	Sets [][]dme.NodeID `json:"sets,omitempty"` // S_i at i−1
	Load []int          `json:"load,omitempty"` // of node i at i−1
}

type extent struct {
	Min  int     `json:"min"`
	Mean float64 `json:"mean"`
	Max  int     `json:"max"`
}

func (e extent) String() string {
	if e.Min == e.Max {
		return fmt.Sprint(e.Min)
	}
	return fmt.Sprintf("%d to %d, mean %.4g", e.Min, e.Max, e.Mean)
}

func (p *program) listQuorums(c *cli.Context) error {
	if !c.IsSet("nodes") {
		if c.IsSet("quorum") || c.IsSet("weights") || c.IsSet("availability") || c.IsSet("plots") {
			return usage("list quorums: --nodes is missing: the sets of how many nodes?")
		}
		return p.listConstructions(c)
	}
	nodes := c.Int("nodes")
	if nodes < 1 || nodes > maxQuorumNodes {
		return usage("list quorums: --nodes %d: want 1 to %d", nodes, maxQuorumNodes)
	}
	weights, err := quorum.ParseWeights(c.String("weights"))
	if err != nil {
		return usage("list quorums: --weights %s: %w", c.String("weights"), err)
	}
	if weights != nil && c.String("quorum") != "weighted" {
		return usage("list quorums: --weights goes with --quorum weighted")
	}
	if !c.Bool("availability") && (c.IsSet("plots") || c.IsSet("seed")) {
		return usage("list quorums: --plots and --seed go with --availability")
	}
	var systems []*quorum.System
	for _, name := range chosen(c.String("quorum")) {
		if c.Bool("availability") && name == "weighted" && !c.IsSet("quorum") {
			continue // with a vote each it is the majority
		}
		sets, err := quorum.New(name, quorum.Config{Nodes: nodes, Weights: weights, ReadFile: newFiles().read})
		if err != nil {
			return failWith(exit.Usage, err)
		}
		systems = append(systems, sets)
	}
	if c.Bool("availability") {
		return p.listAvailability(c, systems)
	}
	var list []family
	t := tables.New("QUORUM", "K", "LOAD D", "(a) MEET", "(b) SELF", "(c) SIZES", "(d) LOADS", "PLANE")
	for _, sets := range systems {
		f := describe(sets)
		list = append(list, f)
		t.Add(f.Quorum, f.K.String(), f.Loads.String(), either(f.Intersecting, "yes", "no"), either(f.SelfIncluded, "yes", "no"),
			either(f.EqualSizes, "equal", "differ"), either(f.EqualLoads, "equal", "differ"), either(f.Plane, "yes", "no"))
	}
	if err := p.show(c, list, t); err != nil || c.Bool("json") {
		return err
	}
	return p.printSets(list)
}

// chosen returns the construction of that name, or all that need no file.
func chosen(name string) []string {
	if name != "" {
		return []string{name}
	}
	var names []string
	for _, name := range quorum.Names() {
		if !strings.Contains(name, ":") {
			names = append(names, name)
		}
	}
	return names
}

func (p *program) listConstructions(c *cli.Context) error {
	var list []construction
	t := new(tables.Table)
	for _, x := range quorum.Constructions() {
		list = append(list, construction{x.Name, x.Help, x.Source})
		t.Add(x.Name, x.Help, x.Source)
	}
	return p.show(c, list, t)
}

// describe examines a family. Its sets and loads are listed where there are few.
func describe(s *quorum.System) family {
	p := s.Properties()
	f := family{
		Quorum: s.Name(), Nodes: s.Nodes(),
		K: extent{p.Sizes.Min, p.Sizes.Mean, p.Sizes.Max}, Loads: extent{p.Loads.Min, p.Loads.Mean, p.Loads.Max},
		Intersecting: p.Intersecting(), SelfIncluded: p.SelfIncluded(), EqualSizes: p.EqualSizes(), EqualLoads: p.EqualLoads(),
		UniqueMeets: p.UniqueMeets, Plane: p.Plane(), Disjoint: p.Disjoint, Nested: p.Nested, remarks: s.Remarks(),
	}
	if s.Nodes() <= maxQuorumsShown {
		f.Load = s.Loads()
		for id := dme.NodeID(1); int(id) <= s.Nodes(); id++ {
			f.Sets = append(f.Sets, s.RequestSet(id))
		}
	}
	return f
}

// printSets prints the request sets of the families that list theirs.
func (p *program) printSets(list []family) error {
	for _, f := range list {
		for _, remark := range f.remarks {
			fmt.Fprintf(p.stdout, "\n%s\n", remark)
		}
		if f.Sets == nil {
			continue
		}
		fmt.Fprintf(p.stdout, "\n%s of %d\n", f.Quorum, f.Nodes)
		t := new(tables.Table)
		for i, set := range f.Sets {
			members := strings.ReplaceAll(strings.Trim(fmt.Sprint(set), "[]"), " ", ",")
			t.Add(fmt.Sprintf("  S_%d", i+1), fmt.Sprintf("= {%s}", members), fmt.Sprintf("node %d is in %d", i+1, f.Load[i]))
		}
		if err := t.WriteText(p.stdout); err != nil {
			return err
		}
	}
	return nil
}

func either(holds bool, yes, no string) string {
	if holds {
		return yes
	}
	return no
}
