package helaryplouzeauraynal

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
)

func graphFor(t *testing.T, n int, seed uint64, value string, text string) (*graph, error) {
	t.Helper()
	opt, err := Algorithm().Resolve(map[string]string{optGraph: value})
	if err != nil {
		t.Fatal(err)
	}
	return makeGraph(dme.Config{
		Nodes: n, Seed: seed, Options: opt,
		ReadFile: func(name string) ([]byte, error) {
			if name != "links.txt" {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		},
	})
}

// Every graph is connected, without loops, and the same from both ends.
func TestGraphs(t *testing.T) {
	for _, shape := range []string{"grid", "ring", "complete", "random"} {
		for n := 1; n <= 40; n++ {
			for seed := range uint64(5) {
				g, err := graphFor(t, n, seed, shape, "")
				if err != nil {
					t.Fatal(err)
				}
				if i := g.unreached(); i != dme.None {
					t.Fatalf("%s, N=%d, seed %d: no path to node %d", shape, n, seed, i)
				}
				ends := 0
				for i := dme.NodeID(1); int(i) <= g.nodes(); i++ {
					near := g.neighbours(i)
					ends += len(near)
					for k, j := range near {
						if j == i || k > 0 && near[k-1] >= j || !slices.Contains(g.neighbours(j), i) {
							t.Fatalf("%s, N=%d, seed %d: node %d is next to %v", shape, n, seed, i, near)
						}
					}
				}
				if ends != 2*g.links {
					t.Errorf("%s, N=%d: %d ends of %d links", shape, n, ends, g.links)
				}
				links := map[string]int{
					"complete": n * (n - 1) / 2,
					"random":   min(2*(n-1), n*(n-1)/2),
					"ring":     n,
					"grid":     g.links,
				}
				if n <= 2 {
					links["ring"] = n - 1
				}
				if g.links != links[shape] {
					t.Errorf("%s, N=%d: %d links, want %d", shape, n, g.links, links[shape])
				}
			}
		}
	}
}

// 1 2 3
// 4 5 6
// 7 8
func TestGrid(t *testing.T) {
	g, err := graphFor(t, 8, 1, "grid", "")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range map[dme.NodeID][]dme.NodeID{
		1: {2, 4}, 5: {2, 4, 6, 8}, 6: {3, 5}, 7: {4, 8}, 8: {5, 7},
	} {
		if got := g.neighbours(i); !slices.Equal(got, want) {
			t.Errorf("node %d is next to %v, want %v", i, got, want)
		}
	}
}

func TestFile(t *testing.T) {
	g, err := graphFor(t, 4, 1, "file:links.txt", "# a square\n1 2\n\n 3\t2 # the other way round\n3 4\n4 1\n1 4\n")
	if err != nil || g.links != 4 || !slices.Equal(g.neighbours(2), []dme.NodeID{1, 3}) {
		t.Errorf("%+v, %v", g, err)
	}
}

func TestFileFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "no path joins nodes 1 and 2"},
		{"1 2\n", "no path joins nodes 1 and 3"},
		{"1 2\n2 3\n1\n", `line 3: "1": want two node numbers`},
		{"1 2 3", `line 1: "1 2 3": want two node numbers`},
		{"1 4\n1 2\n2 3", `line 1: "4" is not a node; there are the nodes 1 to 3`},
		{"0 1", `line 1: "0" is not a node`},
		{"1 two", `line 1: "two" is not a node`},
		{"-1 2", `line 1: "-1" is not a node`},
		{"4294967297 2", "is not a node"},
		{"1 2\n3 3", "line 2: node 3 is linked with itself"},
	} {
		_, err := graphFor(t, 3, 1, "file:links.txt", c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "helary-plouzeau-raynal: links.txt: ") {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
	// All faulty lines at once.
	_, err := graphFor(t, 3, 1, "file:links.txt", "1 1\n1 9\n")
	if err == nil || !strings.Contains(err.Error(), "line 1") || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v, want both lines", err)
	}
	if _, err := graphFor(t, 3, 1, "file:other.txt", ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := Algorithm().New(3, 1, map[string]string{optGraph: "file:links.txt"}); err == nil {
		t.Error("a file is read without a way to read it")
	}
}

func TestGraphOption(t *testing.T) {
	o := graphOption()
	for _, good := range []string{o.Default, "grid", "ring", "complete", "random", "file:x", "file:a/b.txt"} {
		if err := o.Accepts(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "Grid", "file:", "file", "tree", "random:3"} {
		if o.Accepts(bad) == nil {
			t.Errorf("graph=%s is accepted", bad)
		}
	}
}
