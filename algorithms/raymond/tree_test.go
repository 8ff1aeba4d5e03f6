package raymond

import (
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/conformance"
)

// build makes the tree of a value of the option, where every file has that text.
func build(value string, nodes int, text string) (*tree, error) {
	opt, err := Algorithm().Resolve(map[string]string{optTree: value})
	if err != nil {
		return nil, err
	}
	sys, err := prepare(dme.Config{Nodes: nodes, Options: opt, ReadFile: func(name string) ([]byte, error) {
		if name == "absent" {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}})
	if err != nil {
		return nil, err
	}
	return sys.tree, nil
}

func mustShape(t *testing.T, value string, nodes int) *tree {
	t.Helper()
	made, err := build(value, nodes, "")
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// wantNeighbours compares a tree with its edges.
func wantNeighbours(t *testing.T, what string, made *tree, edges ...[2]dme.NodeID) {
	t.Helper()
	if len(edges) != made.nodes()-1 {
		t.Fatalf("%s: %d edges on %d nodes", what, len(edges), made.nodes())
	}
	for _, e := range edges {
		if !made.adjacent(e[0], e[1]) {
			t.Errorf("%s: no edge between %d and %d, but those of %d are %v", what, e[0], e[1], e[0], made.neighbours(e[0]))
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
			if got := made.longestPath(); got != 2*d {
				t.Errorf("%s of %d: longest path %d, want %d", value, full, got, 2*d)
			}
			for id := dme.NodeID(1); int(id) <= full; id++ {
				if got := len(made.neighbours(id)); got != k && got != 1 {
					t.Errorf("%s of %d: node %d has degree %d", value, full, id, got)
				}
			}
		}
	}
}

// Section 9.12.5: the worst case of the radiating star is O(log_(K−1) N), and
// the mean falls with a higher fan-out. 2 · longest path is at most four times
// the logarithm and a little (a path of two edges for each level, two messages
// for each edge), for all K alike.
func TestRadiatingStarClaim(t *testing.T) {
	for _, c := range claims() {
		if !strings.Contains(c.Formula, "radiating") || c.Load != claim.Worst {
			continue
		}
		for k := 3; k <= 12; k++ {
			for n := 2; n <= 2000; n += 1 + n/7 {
				value := fmt.Sprintf("radiating:%d", k)
				made := mustShape(t, value, n)
				log, ok := c.Prediction(dme.Setting{Nodes: n, Options: dme.Options{optTree: value}})
				if worst := float64(2 * made.longestPath()); !ok || worst > 4*log+4 {
					t.Errorf("%s of %d: worst case %v messages, log N is %v, %v", value, n, worst, log, ok)
				}
			}
		}
		if _, ok := c.Prediction(dme.Setting{Nodes: 9, Options: dme.Options{optTree: "kary:3"}}); ok {
			t.Error("the claim is made for another tree")
		}
	}
	before := math.Inf(1)
	for k := 3; k <= 12; k++ {
		mean := mustShape(t, fmt.Sprintf("radiating:%d", k), 1000).meanDistance()
		if mean >= before {
			t.Errorf("K=%d: mean distance %v, with one less %v", k, mean, before)
		}
		before = mean
	}
}

func TestTreeFromFile(t *testing.T) {
	made, err := build("file:tree", 5, "# a tree\n5 2\n\n1 5 # root\n4 2\n3 1\n")
	if err != nil {
		t.Fatal(err)
	}
	wantNeighbours(t, "file", made, [][2]dme.NodeID{{2, 5}, {1, 5}, {2, 4}, {1, 3}}...)
	if made.parent[4] != 2 || made.parent[2] != 5 || made.parent[5] != root {
		t.Errorf("parents %v", made.parent)
	}
	if alone, err := build("file:tree", 1, ""); err != nil || alone.nodes() != 1 {
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
		if err == nil || !strings.Contains(err.Error(), x.want) || !strings.HasPrefix(err.Error(), "raymond: tree="+x.value) {
			t.Errorf("tree=%s, %q: want an error that says %q, got %v", x.value, x.text, x.want, err)
		}
	}
	_, err := Algorithm().New(3, 1, map[string]string{optTree: "file:t"})
	if err == nil || !strings.Contains(err.Error(), "no file can be read here") {
		t.Errorf("no files: %v", err)
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

// The algorithm runs on a tree from a file like on any other.
func TestServiceOnATreeFromAFile(t *testing.T) {
	a := Algorithm()
	prepare := a.Prepare
	a.Prepare = func(c dme.Config) (dme.System, error) {
		c.ReadFile = func(string) ([]byte, error) { return []byte("3 1\n3 4\n2 4\n5 3\n"), nil }
		return prepare(c)
	}
	net := conformance.Make(t, a, 5, map[string]string{optTree: "file:tree"})
	// From 1 to 2 and from 2 to 5: three edges each.
	for _, id := range []dme.NodeID{2, 5} {
		if got, err := net.Serve(id); err != nil || got != 6 {
			t.Errorf("node %d: %d messages, %v; want 6", id, got, err)
		}
	}
}

// Nothing is said of how the messages of one node grow: it sends none, and its logarithm
// is 0. Two nodes are a tree, on which something is said wherever degrees are bounded.
func TestGrowthIsClaimedOfTreesWithEdges(t *testing.T) {
	found := 0
	for _, c := range claims() {
		if c.Quantity != claim.MessagesPerCS || c.Formula != "O(log N) (trees of bounded degree)" {
			continue
		}
		found++
		for tree, bounded := range map[string]bool{"binary": true, "kary:3": true, "radiating:4": true, "line": false, "star": false} {
			for n := 1; n <= 3; n++ {
				_, ok := c.Prediction(dme.Setting{Nodes: n, Options: dme.Options{optTree: tree}})
				if want := bounded && n >= 2; ok != want {
					t.Errorf("%s of %d: claimed %v", tree, n, ok)
				}
			}
		}
	}
	if found != 1 {
		t.Errorf("%d claims", found)
	}
}
