package quorum

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
)

// fromText builds the sets of a file with that text.
func fromText(nodes int, text string) (*System, error) {
	return New("file:sets", Config{Nodes: nodes, ReadFile: func(name string) ([]byte, error) {
		if name != "sets" {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}})
}

func TestFile(t *testing.T) {
	for name, x := range map[string]struct {
		text string
		want [][]dme.NodeID
	}{
		"sets of nodes": {
			"# the triangle\n\n2: 3 2\n1: {1, 2}  # in any order\r\n3:3,1",
			[][]dme.NodeID{{1, 2}, {2, 3}, {1, 3}},
		},
		"equal sets of nodes": {"1: 2\n2: 2\n3: 2\n", [][]dme.NodeID{{2}, {2}, {2}}},
		"quorums":             {"1 2\n2 3\n1 3\n", [][]dme.NodeID{{1, 2}, {2, 3}, {1, 3}}},
		// Node 1 is in two, and takes the first; 3 is in none, and takes the
		// one that nobody has.
		"quorums to choose from": {"{1,2}\n1 4\n2 4", [][]dme.NodeID{{1, 2}, {2, 4}, {1, 4}, {1, 4}}},
	} {
		s, err := fromText(len(x.want), x.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkFamily(t, s)
		for i, want := range x.want {
			if got := s.RequestSet(dme.NodeID(i + 1)); !slices.Equal(got, want) {
				t.Errorf("%s: S_%d = %v, want %v", name, i+1, got, want)
			}
		}
	}
}

// The coterie of the textbook's section 9.9.6: each of the nodes 3, 5 and 6 has
// the quorum that contains it.
func TestExampleCoterie(t *testing.T) {
	s, err := New("file:testdata/textbook-9.9.6.txt", Config{Nodes: 6, ReadFile: os.ReadFile})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[dme.NodeID][]dme.NodeID{3: {1, 2, 3}, 5: {2, 4, 5}, 6: {1, 4, 6}} {
		if got := s.RequestSet(id); !slices.Equal(got, want) {
			t.Errorf("S_%d = %v, want %v", id, got, want)
		}
	}
	if p := s.Properties(); !p.Intersecting() || !p.SelfIncluded() || !p.EqualSizes() || p.Plane() {
		t.Errorf("%+v", p)
	}
}

// Of the counterexamples of the textbook's section 9.7, sets that do not meet are refused.
func TestDisjointSets(t *testing.T) {
	for text, want := range map[string]string{
		"1 2 3\n2 5 7\n5 7 9":  "line 1, {1,2,3}, and line 3, {5,7,9}, have no common node",
		"1: 1 2\n2: 2\n3: 3 1": "line 2, S_2 = {2}, and line 3, S_3 = {1,3}, have no common node",
	} {
		nodes := 9
		if strings.Contains(text, ":") {
			nodes = 3
		}
		if _, err := fromText(nodes, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want an error that says %q, got %v", text, want, err)
		}
	}
}

// A set that contains another makes no coterie, and is told; mutual exclusion needs only
// that sets meet.
func TestNestedSets(t *testing.T) {
	for _, x := range []struct {
		text   string
		nested [][2]dme.NodeID
		remark string // "" for none
	}{
		{"1: 1 2\n2: 2\n3: 2 3", [][2]dme.NodeID{{1, 2}, {3, 2}}, "S_1 contains S_2, and 1 more request sets contain a smaller one: "},
		{"1: 1 2 3\n2: 2 3\n3: 1 3", [][2]dme.NodeID{{1, 2}, {1, 3}}, "S_1 contains S_2, and 1 more"},
		{"1: 1 2\n2: 1 2\n3: 1 2 3", [][2]dme.NodeID{{3, 1}, {3, 2}}, "S_3 contains S_1, and 1 more"},
		{"1: 1 3\n2: 1 2 3\n3: 2 3", [][2]dme.NodeID{{2, 1}, {2, 3}}, "S_2 contains S_1, and 1 more"},
		{"1: 1 2\n2: 2 3\n3: 1 3", nil, ""},
		{"1: 2\n2: 2\n3: 2", nil, ""},
		{"1 2\n1 2 3", [][2]dme.NodeID{{2, 1}, {3, 1}}, "S_2 contains S_1, and 1 more"},
		{"1: 1 2\n2: 1 2\n3: 1 2", nil, ""},
	} {
		s, err := fromText(3, x.text)
		if err != nil {
			t.Errorf("%q: %v", x.text, err)
			continue
		}
		checkFamily(t, s)
		p := s.Properties()
		if !slices.Equal(p.Nested, x.nested) || p.NestedPairs != len(x.nested) || p.Minimal() != (x.nested == nil) || !p.Intersecting() {
			t.Errorf("%q: nested %v, %d; want %v", x.text, p.Nested, p.NestedPairs, x.nested)
		}
		said := strings.Join(s.Remarks(), "\n")
		if !strings.Contains(said, x.remark) || (said == "") != (x.remark == "") {
			t.Errorf("%q: %q", x.text, said)
		}
	}
}

func TestFileRefused(t *testing.T) {
	for want, text := range map[string]string{
		"there are no sets":                "# nothing\n",
		"line 2: \"4\" is not a node":      "1 2\n2 4\n",
		"line 1: \"x\" is not a node":      "1 x\n",
		"line 1: \"0\" is not a node":      "0: 1\n",
		"line 1: the set is empty":         "1: # nobody\n",
		"line 1: the set names node 2":     "2 1 2\n",
		"line 2: some lines begin with":    "1: 1 2\n2 3\n",
		"line 3: S_1 is on line 1 already": "1: 1 2\n2: 2 3\n1: 1 3\n",
		"there is no set of node 2 of 3":   "1: 1 2\n3: 1 3\n",
		"there is no set of node 1 of 3":   "2: 1 2\n3: 1 3\n",
	} {
		if _, err := fromText(3, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want an error that says %q, got %v", text, want, err)
		}
	}
	absent := func(string) ([]byte, error) { return nil, fs.ErrNotExist }
	if _, err := New("file:other", Config{Nodes: 3, ReadFile: absent}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// The families that are built by rule are written down and read again, which
// checks them a second time, by other means.
func TestFileTwin(t *testing.T) {
	for _, name := range []string{"plane", "majority", "singleton"} {
		for _, n := range []int{1, 2, 3, 7, 13, 31} {
			s := mustNew(t, name, n)
			var text strings.Builder
			for id := dme.NodeID(1); int(id) <= n; id++ {
				fmt.Fprintf(&text, "%d: %s\n", id, join(s.RequestSet(id)))
			}
			twin, err := fromText(n, text.String())
			if err != nil {
				t.Errorf("%s of %d: %v", name, n, err)
				continue
			}
			for id := dme.NodeID(1); int(id) <= n; id++ {
				if !slices.Equal(s.RequestSet(id), twin.RequestSet(id)) {
					t.Errorf("%s of %d: S_%d = %v is read as %v", name, n, id, s.RequestSet(id), twin.RequestSet(id))
				}
			}
		}
	}
}
