package cli

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/internal/platform/layout"
	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

const (
	// maxQuorumNodes, the size of the plane of order 101, bounds the work of
	// examining all pairs of request sets to some seconds.
	maxQuorumNodes = 10303
	// maxQuorumsShown is the largest system whose sets are printed one by one.
	maxQuorumsShown = 64
)

func (p *program) listQuorumsCommand(common ...cli.Flag) *cli.Command {
	return &cli.Command{
		Name:  "quorums",
		Usage: "constructions of quorums; with --nodes, the quorums and their properties",
		UsageText: "dmebench list quorums --nodes 13\n" +
			"dmebench list quorums --nodes 7 --quorum tree --availability",
		Description: "With --nodes: for each construction the sizes K of the request sets, the loads D of the nodes (the\n" +
			"number of sets that a node is in), whether (a) any two sets meet, (b) every node is in its own set,\n" +
			"(c) all sets are equally large, (d) all nodes are in equally many sets (Maekawa 1985, section 2),\n" +
			"and whether the sets are the lines of a projective plane, any two of which meet in exactly one node.",
		Flags: append([]cli.Flag{
			nodesFlag(),
			&cli.StringFlag{Name: "quorum", Usage: "only the construction `NAME`"},
			&cli.StringFlag{Name: "weights", Usage: "nodes with `V1,V2,…` votes, for --quorum weighted"},
			&cli.BoolFlag{Name: "availability", Usage: "how likely nodes that are up form a quorum, and its size"},
			seedFlag(runs.DefaultSeed, "random seed `S` of the failures, for --availability"),
			&cli.StringFlag{Name: "svg", Usage: "draw the sets of one construction as points and lines, and their incidence, to `FILE`"},
			&cli.StringFlag{Name: "plots", Usage: "draw figures in folder `DIR`, for --availability"},
		}, common...),
		Action: p.listQuorums,
	}
}

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
			return failWith(Usage, err)
		}
		systems = append(systems, sets)
	}
	if c.Bool("availability") {
		return p.listAvailability(c, systems)
	}
	if c.IsSet("svg") {
		return p.drawQuorums(c, systems)
	}
	var list []family
	t := layout.NewTable("QUORUM", "K", "LOAD D", "(a) MEET", "(b) SELF", "(c) SIZES", "(d) LOADS", "PLANE")
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
	t := new(layout.Table)
	for _, x := range quorum.Constructions() {
		list = append(list, construction{x.Name, x.Help, x.Source})
		t.Add(x.Name, x.Help, x.Source)
	}
	return p.show(c, list, t)
}

// describe examines a family. Its sets and loads are listed if there are few.
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

func (p *program) printSets(list []family) error {
	for _, f := range list {
		for _, remark := range f.remarks {
			fmt.Fprintf(p.stdout, "\n%s\n", remark)
		}
		if f.Sets == nil {
			continue
		}
		fmt.Fprintf(p.stdout, "\n%s of %d\n", f.Quorum, f.Nodes)
		t := new(layout.Table)
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

const (
	// maxAvailabilityNodes and availabilityPatterns bound the work to some seconds.
	maxAvailabilityNodes = 133
	availabilityPatterns = 40_000
	// maxFailuresShown is the number of failures at which a table ends.
	maxFailuresShown = 8
)

// availabilityUps are the probabilities that a node is up, of tables and figures.
func availabilityUps() []float64 {
	return []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99}
}

// resilience is a system with what becomes of it.
type resilience struct {
	name string
	quorum.Resilience
}

// available is the JSON form. A value that does not exist, such as the size of no quorum, is null.
type available struct {
	Quorum string         `json:"quorum"`
	Nodes  int            `json:"nodes"`
	ByUp   []availableUp  `json:"by_up"`
	Failed []afterFailing `json:"by_failures"`
}

type availableUp struct {
	Up           float64  `json:"up"` // probability of each node
	Availability float64  `json:"availability"`
	Low          float64  `json:"ci95_low"`
	High         float64  `json:"ci95_high"`
	MeanSize     *float64 `json:"mean_size"` // of the smallest quorum
}

type afterFailing struct {
	Failures int      `json:"failures"`
	Formed   float64  `json:"formed"` // probability of a quorum
	MeanSize *float64 `json:"mean_size"`
	Exact    bool     `json:"exact"`
}

func (p *program) listAvailability(c *cli.Context, systems []*quorum.System) error {
	nodes := systems[0].Nodes()
	if nodes > maxAvailabilityNodes {
		return usage("list quorums: --availability with --nodes %d: want at most %d", nodes, maxAvailabilityNodes)
	}
	dir := c.String("plots")
	if dir != "" {
		if err := makeFolder(dir); err != nil {
			return cannotWrite("--plots "+dir, err)
		}
	}
	var all []resilience
	var list []available
	byUp, byFailures := layout.NewTable("QUORUM"), layout.NewTable("QUORUM")
	for _, up := range availabilityUps() {
		byUp.Extend("p=" + units.Number(up))
	}
	for f := range min(nodes, maxFailuresShown) + 1 {
		byFailures.Extend(fmt.Sprintf("f=%d", f))
	}
	for _, s := range systems {
		r := resilience{s.Name(), s.Resilience(availabilityPatterns, c.Uint64("seed"))}
		all = append(all, r)
		a := available{Quorum: r.name, Nodes: nodes}
		byUp.Add(r.name)
		for _, up := range availabilityUps() {
			x := r.Availability(up)
			a.ByUp = append(a.ByUp, availableUp{x.Up, x.Probability, x.Low, x.High, stats.Known(x.MeanSize)})
			text := fmt.Sprintf("%.5f", x.Probability)
			if half := (x.High - x.Low) / 2; half >= 5e-6 {
				text += fmt.Sprintf("±%.5f", half)
			}
			byUp.Extend(text)
		}
		byFailures.Add(r.name)
		for failures, x := range r.Failed {
			a.Failed = append(a.Failed, afterFailing{failures, x.Probability(), stats.Known(x.MeanSize()), x.Exact})
			switch {
			case failures > maxFailuresShown:
			case x.Formed == 0:
				byFailures.Extend("0")
			default:
				byFailures.Extend(fmt.Sprintf("%s (%s)", units.Number(x.Probability()), units.Number(x.MeanSize())))
			}
		}
		list = append(list, a)
	}
	err := p.print(c, "quorums", list, func() error {
		fmt.Fprintf(p.stdout, "Probability that nodes that are up form a quorum, each of %d nodes being up with probability p:\n", nodes)
		err := byUp.WriteText(p.stdout)
		fmt.Fprint(p.stdout, "\nThe same after f nodes have failed, and the mean size of the smallest quorum if there is one:\n")
		return errors.Join(err, byFailures.WriteText(p.stdout))
	})
	if err != nil || dir == "" {
		return err
	}
	return drawAvailability(dir, all)
}

// drawAvailability draws availability against p, and the chance and the cost of
// a quorum against the number of failures.
func drawAvailability(dir string, all []resilience) error {
	n := all[0].Nodes
	values := func(label string) plots.Axis { return plots.Axis{Label: label, Kind: plots.Values} }
	probability := plots.Axis{Label: "probability of a quorum", Kind: plots.Parts}
	about := fmt.Sprintf("N = %d · quorums of nodes that are up", n)
	byUp := plots.Figure{
		Name: fmt.Sprintf("quorum-availability-n%d", n), Title: "Availability of quorums", Subtitle: about,
		X: values("probability that a node is up"), Y: probability,
	}
	formed := plots.Figure{
		Name: fmt.Sprintf("quorum-failures-n%d", n), Title: "Chance of a quorum after failures", Subtitle: about,
		X: values("failed nodes"), Y: probability,
	}
	size := plots.Figure{
		Name: fmt.Sprintf("quorum-cost-n%d", n), Title: "Cost of a quorum after failures", Subtitle: about + ", if there is one",
		X: values("failed nodes"), Y: values("nodes in the smallest quorum, mean"),
	}
	for style, r := range all {
		series := func(points []plots.Point) plots.Series {
			return plots.Series{Label: r.name, Style: style, Role: plots.Measured, Points: points}
		}
		var up, chance, cost []plots.Point
		for _, p := range availabilityUps() {
			a := r.Availability(p)
			point := plots.At(p, a.Probability)
			if point.Lo, point.Hi = a.Low, a.High; a.High-a.Low < 1e-6 {
				point.Lo, point.Hi = math.NaN(), math.NaN()
			}
			up = append(up, point)
		}
		for f, x := range r.Failed {
			point := plots.At(float64(f), x.Probability())
			chance = append(chance, point)
			if x.Formed > 0 {
				point.Y = x.MeanSize()
				cost = append(cost, point)
			}
		}
		byUp.Series = append(byUp.Series, series(up))
		formed.Series = append(formed.Series, series(chance))
		size.Series = append(size.Series, series(cost))
	}
	return drawInto(dir, byUp, formed, size)
}
