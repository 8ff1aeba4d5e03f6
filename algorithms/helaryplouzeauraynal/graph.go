package helaryplouzeauraynal

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"dmebench/dme"
	"dmebench/dme/collections"
)

const (
	optGraph   = "graph"
	filePrefix = "file:"
)

func graphOption() dme.Option {
	return dme.Option{
		Name: optGraph, Default: "complete", Words: []string{"complete", "ring", "grid", "random"}, Forms: []string{"file:F"},
		Valid: func(value string) error {
			switch name, isFile := strings.CutPrefix(value, filePrefix); {
			case !isFile:
				return errors.New("no such graph")
			case name == "":
				return errors.New("no name of a file")
			}
			return nil
		},
		Help: "the network: all links, a ring, a square grid (the last row may be short), a random tree with N−1 further links, " +
			"or the edges in file F, \"i j\" on a line",
	}
}

// shapes names the graphs that need no file.
func shapes() map[string]func(g *graph, seed uint64) {
	return map[string]func(*graph, uint64){
		"complete": func(g *graph, _ uint64) { g.complete() },
		"ring":     func(g *graph, _ uint64) { g.ring() },
		"grid":     func(g *graph, _ uint64) { g.grid() },
		"random":   (*graph).random,
	}
}

// makeGraph returns the graph that c's options name.
func makeGraph(c dme.Config) (*graph, error) {
	value := c.Options.Get(optGraph)
	g := &graph{near: make([][]dme.NodeID, c.Nodes)}
	name, isFile := strings.CutPrefix(value, filePrefix)
	if !isFile {
		shapes()[value](g, c.Seed)
		return g, nil
	}
	lines, err := dme.ReadLines(c.ReadFile, name)
	if err == nil {
		err = g.read(lines)
	}
	if err != nil {
		return nil, fmt.Errorf("helary-plouzeau-raynal: %s: %w", name, err)
	}
	return g, nil
}

// graph is an undirected graph without loops on the nodes 1..n.
type graph struct {
	near  [][]dme.NodeID // by node, at i-1, in ascending order
	links int
}

func (g *graph) nodes() int { return len(g.near) }

// neighbours returns the nodes next to id, in ascending order. The list is
// shared.
func (g *graph) neighbours(id dme.NodeID) []dme.NodeID { return g.near[id-1] }

// link joins two different nodes, if they are not joined already.
func (g *graph) link(a, b dme.NodeID) {
	at, joined := slices.BinarySearch(g.near[a-1], b)
	if joined {
		return
	}
	g.near[a-1] = slices.Insert(g.near[a-1], at, b)
	at, _ = slices.BinarySearch(g.near[b-1], a)
	g.near[b-1] = slices.Insert(g.near[b-1], at, a)
	g.links++
}

func (g *graph) ring() {
	for i := dme.NodeID(2); int(i) <= g.nodes(); i++ {
		g.link(i-1, i)
	}
	if g.nodes() > 2 {
		g.link(1, dme.NodeID(g.nodes()))
	}
}

func (g *graph) complete() {
	for b := dme.NodeID(2); int(b) <= g.nodes(); b++ {
		for a := dme.NodeID(1); a < b; a++ {
			g.link(a, b)
		}
	}
}

// grid numbers the nodes row by row; there are ⌈√N⌉ in a row.
func (g *graph) grid() {
	width := dme.NodeID(math.Ceil(math.Sqrt(float64(g.nodes()))))
	for i := dme.NodeID(2); int(i) <= g.nodes(); i++ {
		if (i-1)%width != 0 {
			g.link(i-1, i)
		}
		if i > width {
			g.link(i-width, i)
		}
	}
}

// random makes a random tree and N−1 further links, or as many as there is
// room for.
func (g *graph) random(seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0x68656c617279)) // a stream of its own
	n := g.nodes()
	draw := func(n int) dme.NodeID { return dme.NodeID(1 + rng.IntN(n)) }
	for i := dme.NodeID(2); int(i) <= g.nodes(); i++ {
		g.link(draw(int(i)-1), i)
	}
	most := min(2*(n-1), n*(n-1)/2)
	for g.links < most {
		if a, b := draw(n), draw(n); a != b {
			g.link(a, b)
		}
	}
}

// unreached returns a node that no path joins to node 1, None if the graph is connected.
func (g *graph) unreached() dme.NodeID {
	reached := []dme.NodeID{1}
	left := collections.MakeNodeSet(g.nodes())
	for i := dme.NodeID(2); int(i) <= g.nodes(); i++ {
		left.Add(i)
	}
	for at := 0; at < len(reached); at++ {
		for _, j := range g.neighbours(reached[at]) {
			if left.Has(j) {
				left.Remove(j)
				reached = append(reached, j)
			}
		}
	}
	for i := range left.All() {
		return i
	}
	return dme.None
}

// read adds the links of a file, "i j" on a line; a link may be named in both
// directions. All faulty lines are reported, and then a graph that is not
// connected.
func (g *graph) read(lines []dme.Line) error {
	var errs []error
	for _, l := range lines {
		if err := g.parseLink(strings.Fields(l.Text)); err != nil {
			errs = append(errs, fmt.Errorf("line %d: %w", l.Number, err))
		}
	}
	if errs != nil {
		return errors.Join(errs...)
	}
	if i := g.unreached(); i != dme.None {
		return fmt.Errorf("no path joins nodes 1 and %d; the graph must be connected", i)
	}
	return nil
}

func (g *graph) parseLink(words []string) error {
	if len(words) != 2 {
		return fmt.Errorf("%q: want two node numbers", strings.Join(words, " "))
	}
	var ends [2]dme.NodeID
	for k := range ends {
		var err error
		if ends[k], err = dme.ParseNode(words[k], g.nodes()); err != nil {
			return err
		}
	}
	if ends[0] == ends[1] {
		return fmt.Errorf("node %d is linked with itself", ends[0])
	}
	g.link(ends[0], ends[1])
	return nil
}
