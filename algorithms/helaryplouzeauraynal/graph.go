package helaryplouzeauraynal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"dmebench/dme"
)

const (
	optGraph   = "graph"
	filePrefix = "file:"
)

func graphOption() dme.Option {
	return dme.Option{
		Name: optGraph, Default: "complete", Values: "complete|ring|grid|random|file:F",
		Valid: func(value string) error {
			name, isFile := strings.CutPrefix(value, filePrefix)
			if isFile && name == "" {
				return fmt.Errorf("no name of a file")
			}
			if !isFile && shapes()[value] == nil {
				return fmt.Errorf("no such graph")
			}
			return nil
		},
		Help: "the network: all links, a ring, a square grid (the last row may be short), a random tree with N−1 further links, or the edges in file F, \"i j\" on a line",
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
	g := newGraph(c.Nodes)
	if name, isFile := strings.CutPrefix(value, filePrefix); isFile {
		if c.ReadFile == nil {
			return nil, fmt.Errorf("helary-plouzeau-raynal: %s=%s: files cannot be read here; choose another graph", optGraph, value)
		}
		text, err := c.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("helary-plouzeau-raynal: %s=%s: %w", optGraph, value, err)
		}
		if err := g.parse(string(text)); err != nil {
			return nil, fmt.Errorf("helary-plouzeau-raynal: %s: %w", name, err)
		}
		return g, nil
	}
	shape := shapes()[value]
	if shape == nil {
		return nil, fmt.Errorf("helary-plouzeau-raynal: %s=%s: no such graph", optGraph, value)
	}
	shape(g, c.Seed)
	return g, nil
}

// graph is an undirected graph without loops on the nodes 1..n.
type graph struct {
	near  [][]dme.NodeID // by node, at i-1, in ascending order
	links int
}

func newGraph(n int) *graph { return &graph{near: make([][]dme.NodeID, n)} }

func (g *graph) nodes() int { return len(g.near) }

// neighbours returns the nodes next to id, in ascending order. The list is
// shared.
func (g *graph) neighbours(id dme.NodeID) []dme.NodeID { return g.near[id-1] }

// link joins two different nodes. It reports false where they are joined
// already.
func (g *graph) link(a, b dme.NodeID) bool {
	at, joined := slices.BinarySearch(g.near[a-1], b)
	if joined {
		return false
	}
	g.near[a-1] = slices.Insert(g.near[a-1], at, b)
	at, _ = slices.BinarySearch(g.near[b-1], a)
	g.near[b-1] = slices.Insert(g.near[b-1], at, a)
	g.links++
	return true
}

// from yields the nodes from low to N.
func (g *graph) from(low int) func(func(dme.NodeID) bool) {
	return func(yield func(dme.NodeID) bool) {
		for i := low; i <= g.nodes(); i++ {
			if !yield(dme.NodeID(i)) {
				return
			}
		}
	}
}

func (g *graph) ring() {
	for i := range g.from(2) {
		g.link(i-1, i)
	}
	if g.nodes() > 2 {
		g.link(1, dme.NodeID(g.nodes()))
	}
}

func (g *graph) complete() {
	for b := range g.from(2) {
		for a := dme.NodeID(1); a < b; a++ {
			g.link(a, b)
		}
	}
}

// grid numbers the nodes row by row; there are ⌈√N⌉ in a row.
func (g *graph) grid() {
	width := dme.NodeID(math.Ceil(math.Sqrt(float64(g.nodes()))))
	for i := range g.from(2) {
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
	for i := range g.from(2) {
		g.link(draw(int(i)-1), i)
	}
	most := min(2*(n-1), n*(n-1)/2)
	for g.links < most {
		if a, b := draw(n), draw(n); a != b {
			g.link(a, b)
		}
	}
}

// unreached returns a node that no path joins to node 1, None where the graph
// is connected.
func (g *graph) unreached() dme.NodeID {
	reached := dme.MakeNodeSet(g.nodes())
	reached.Add(1)
	frontier := []dme.NodeID{1}
	for len(frontier) > 0 {
		i := frontier[len(frontier)-1]
		frontier = frontier[:len(frontier)-1]
		for _, j := range g.neighbours(i) {
			if !reached.Has(j) {
				reached.Add(j)
				frontier = append(frontier, j)
			}
		}
	}
	for i := range g.from(1) {
		if !reached.Has(i) {
			return i
		}
	}
	return dme.None
}
