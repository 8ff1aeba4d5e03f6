package spanning

import (
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
)

// build makes the tree of a value of the option, where every file has that text.
func build(value string, nodes int, text string) (*Tree, error) {
	return Make(dme.Config{Nodes: nodes, Options: dme.Options{OptTree: value}, ReadFile: func(name string) ([]byte, error) {
		if name == "absent" {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}})
}

func mustShape(t *testing.T, value string, nodes int) *Tree {
	t.Helper()
	made, err := build(value, nodes, "")
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// wantNeighbours compares a tree with its edges.
func wantNeighbours(t *testing.T, what string, made *Tree, edges ...[2]dme.NodeID) {
	t.Helper()
	if len(edges) != made.Nodes()-1 {
		t.Fatalf("%s: %d edges on %d nodes", what, len(edges), made.Nodes())
	}
	for _, e := range edges {
		if !made.Adjacent(e[0], e[1]) {
			t.Errorf("%s: no edge between %d and %d, but those of %d are %v", what, e[0], e[1], e[0], made.Neighbours(e[0]))
		}
	}
}

// Every node that is not on the last two levels has degree K; where the last
// level is full, and d edges below the root, the longest path has 2d edges.
func TestRadiatingStar(t *testing.T) {
	wantNeighbours(t, "radiating:3", mustShape(t, "radiating:3", 10), [][2]dme.NodeID{
		{1, 2}, {1, 3}, {1, 4}, {2, 5}, {2, 6}, {3, 7}, {3, 8}, {4, 9}, {4, 10},
	}...)
	for k := 3; k <= 6; k++ {
		value := fmt.Sprintf("radiating:%d", k)
		full, level := 1, k
		for d := 1; full+level < 3000; d++ {
			full, level = full+level, level*(k-1)
			made := mustShape(t, value, full)
			if got := made.LongestPath(); got != 2*d {
				t.Errorf("%s of %d: longest path %d, want %d", value, full, got, 2*d)
			}
			for id := dme.NodeID(1); int(id) <= full; id++ {
				if got := len(made.Neighbours(id)); got != k && got != 1 {
					t.Errorf("%s of %d: node %d has degree %d", value, full, id, got)
				}
			}
		}
	}
}

func TestTreeFromFile(t *testing.T) {
	made, err := build("file:tree", 5, "# a tree\n5 2\n\n1 5 # root\n4 2\n3 1\n")
	if err != nil {
		t.Fatal(err)
	}
	wantNeighbours(t, "file", made, [][2]dme.NodeID{{2, 5}, {1, 5}, {2, 4}, {1, 3}}...)
	if made.parent[4] != 2 || made.parent[2] != 5 || made.parent[5] != Root {
		t.Errorf("parents %v", made.parent)
	}
	if alone, err := build("file:tree", 1, ""); err != nil || alone.Nodes() != 1 {
		t.Errorf("one node, no edge: %v", err)
	}
}

func TestTreeFilesRefused(t *testing.T) {
	for _, x := range []struct{ value, text, want string }{
		{"file:t", "1 2\n2 3\n3 1\n", "t: line 3: the edge 1 3 closes a circle"},
		{"file:t", "1 2\n2 1\n", "line 2: the edge 1 2 closes a circle"},
		{"file:t", "1 2\n", "nothing connects node 3 with node 1"},
		{"file:t", "1 2\n2 4\n", `line 2: "4" is not a node; there are the nodes 1 to 3`},
		{"file:t", "0 2\n", `line 1: "0" is not a node`},
		{"file:t", "2 2\n", "line 1: an edge from node 2 to itself"},
		{"file:t", "1 2 3\n", `line 1: "1 2 3": want 'i j'`},
		{"file:absent", "", "file does not exist"},
		{"mst:t", "1 2\n", `line 1: "1 2": want 'i j cost'`},
		{"mst:t", "1 2 -1\n", `line 1: "-1" is not a cost`},
		{"mst:t", "1 2 NaN\n", `line 1: "NaN" is not a cost`},
		{"mst:t", "1 2 Inf\n", `line 1: "Inf" is not a cost`},
		{"mst:t", "1 2 1\n1 2 2\n", "nothing connects node 3 with node 1"},
	} {
		_, err := build(x.value, 3, x.text)
		if err == nil || !strings.Contains(err.Error(), x.want) || !strings.HasPrefix(err.Error(), "tree="+x.value) {
			t.Errorf("tree=%s, %q: want an error that says %q, got %v", x.value, x.text, x.want, err)
		}
	}
}

func TestMinimalSpanningTree(t *testing.T) {
	made, err := build("mst:costs", 4, "1 2 4\n3 2 0.5\n1 3 2\n2 1 1.5\n4 1 1e1\n4 3 9\n3 4 12\n")
	if err != nil {
		t.Fatal(err)
	}
	wantNeighbours(t, "mst", made, [][2]dme.NodeID{{2, 3}, {1, 2}, {3, 4}}...)
	// All links cost the same: the lower numbers win, which makes a star.
	made, err = build("mst:costs", 4, "3 4 1\n2 4 1\n2 3 1\n1 4 1\n1 3 1\n2 1 1\n")
	if err != nil {
		t.Fatal(err)
	}
	wantNeighbours(t, "equal costs", made, [][2]dme.NodeID{{1, 2}, {1, 3}, {1, 4}}...)
}

// The cost of the tree against Prim's algorithm, and the tree against other
// orders of the lines.
func TestMinimalSpanningTreeTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 100 {
		n := 2 + rng.IntN(9)
		cost := make([][]float64, n+1)
		for i := range cost {
			cost[i] = make([]float64, n+1)
		}
		var lines []string
		for a := 1; a <= n; a++ {
			for b := a + 1; b <= n; b++ {
				c := float64(rng.IntN(6))
				cost[a][b], cost[b][a] = c, c
				lines = append(lines, fmt.Sprintf("%d %d %v\n", b, a, c))
			}
		}
		made, err := build("mst:costs", n, strings.Join(lines, ""))
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for id := 2; id <= n; id++ {
			total += cost[id][made.parent[id]]
		}
		if want := prim(cost); total != want {
			t.Fatalf("%v: the tree costs %v, the cheapest %v", lines, total, want)
		}
		rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		again, err := build("mst:costs", n, strings.Join(lines, ""))
		if err != nil || !slices.Equal(again.parent, made.parent) {
			t.Fatalf("in another order of the lines: %v, %v; before %v", again.parent, err, made.parent)
		}
	}
}

// prim returns the cost of a minimal spanning tree on the nodes from 1.
func prim(cost [][]float64) float64 {
	inside := map[int]bool{1: true}
	total := 0.0
	for len(inside) < len(cost)-1 {
		best, at := math.Inf(1), 0
		for a := range inside {
			for b := 1; b < len(cost); b++ {
				if !inside[b] && cost[a][b] < best {
					best, at = cost[a][b], b
				}
			}
		}
		inside[at] = true
		total += best
	}
	return total
}

// distances are those of all pairs, by Floyd and Warshall.
func distances(t *Tree) [][]int {
	far := make([][]int, t.Nodes()+1)
	for a := range far {
		far[a] = make([]int, len(far))
		for b := range far[a] {
			if far[a][b] = len(far); a == b {
				far[a][b] = 0
			}
		}
		if a > 0 {
			for _, b := range t.Neighbours(dme.NodeID(a)) {
				far[a][b] = 1
			}
		}
	}
	for via := range far {
		for a := range far {
			for b := range far {
				far[a][b] = min(far[a][b], far[a][via]+far[via][b])
			}
		}
	}
	return far
}

// shapes are values of the option.
var shapes = []string{"binary", "star", "line", "kary:3", "kary:7", "radiating:3", "radiating:5"}

func TestTreeAgainstSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	trees := map[string]*Tree{}
	for _, n := range []int{1, 2, 3, 8, 31} {
		for _, name := range shapes {
			trees[fmt.Sprintf("%s %d", name, n)] = mustShape(t, name, n)
		}
		trees[fmt.Sprintf("random %d", n)] = newTree(n, func(i dme.NodeID) dme.NodeID {
			return dme.NodeID(1 + rng.IntN(int(i)-1))
		})
	}
	for name, tree := range trees {
		n := tree.Nodes()
		longest, degree, sum := 0, 0, 0
		for id := dme.NodeID(1); int(id) <= n; id++ {
			near := tree.Neighbours(id)
			degree = max(degree, len(near))
			if !slices.IsSorted(near) {
				t.Errorf("%s: neighbours %v of node %d", name, near, id)
			}
			for other := dme.NodeID(1); int(other) <= n; other++ {
				if other != id && tree.Adjacent(id, other) != slices.Contains(near, other) {
					t.Errorf("%s: nodes %d and %d", name, id, other)
				}
			}
			for _, d := range distances(tree)[id][1:] {
				longest = max(longest, d)
				sum += d
			}
		}
		if got := tree.LongestPath(); got != longest {
			t.Errorf("%s: longest path %d, want %d", name, got, longest)
		}
		if got := tree.MaxDegree(); got != degree {
			t.Errorf("%s: degree %d, want %d", name, got, degree)
		}
		if got, want := tree.MeanDistance(), float64(sum)/float64(n*n); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: mean distance %v, want %v", name, got, want)
		}
	}
}

func TestTreeOption(t *testing.T) {
	o := Option("star")
	for _, good := range append(shapes, o.Default, "kary:2", "kary:65535", "radiating:65535", "file:F", "mst:C:1") {
		if err := o.Accepts(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{
		"", "Binary", "kary", "kary:", "kary:0", "kary:1", "kary:-3", "kary:x", "kary:65536", "kary:K",
		"binary:2", "star:", "radiating", "radiating:2", "radiating:x", "file", "file:", "mst:",
	} {
		if o.Accepts(bad) == nil {
			t.Errorf("tree=%s is accepted", bad)
		}
	}
}
