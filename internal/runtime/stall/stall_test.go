package stall

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"dmebench/dme"
)

func TestCauses(t *testing.T) {
	for name, c := range map[string]struct {
		s    Standstill
		want []string
	}{
		"a cycle of arbiters": {
			Standstill{
				Nodes: 5, Waiting: []dme.NodeID{1, 2, 5}, Tokens: -1,
				Edges: []Edge{{1, 3, "LOCKED"}, {2, 4, "LOCKED"}, {3, 2, "RELEASE"}, {4, 1, "RELEASE"}, {5, 3, "LOCKED"}},
			},
			[]string{"1 waits for 3's LOCKED; 3 waits for 2's RELEASE; 2 waits for 4's LOCKED; 4 waits for 1's RELEASE: a cycle; so does 5"},
		},
		"a dead node": {
			Standstill{
				Nodes: 4, Waiting: []dme.NodeID{1, 3, 4}, Tokens: -1, Absent: []Absent{{Node: 2, Since: 2 * time.Second}},
				Edges: []Edge{{1, 2, "REPLY"}, {3, 2, "REPLY"}, {3, 1, "REPLY"}, {4, 2, "REPLY"}},
			},
			[]string{"1 waits for 2's REPLY; 2 is down since 2 s; so do 3-4"},
		},
		"a lost answer": {
			Standstill{
				Nodes: 3, Waiting: []dme.NodeID{1}, Tokens: -1, Losses: []Loss{{From: 2, To: 1, Kind: "REPLY"}, {From: 2, To: 3, Kind: "REPLY"}},
				Edges: []Edge{{1, 2, "REPLY"}},
			},
			[]string{"1 waits for 2's REPLY; 2 waits for nobody: lost on the link REPLY 2→1"},
		},
		"nobody knows why": {
			Standstill{Nodes: 2, Waiting: []dme.NodeID{1}, Tokens: -1, Edges: []Edge{{1, 2, "REPLY"}}},
			[]string{"1 waits for 2's REPLY; 2 waits for nobody, and nothing is on its way"},
		},
		"a token that died": {
			Standstill{
				Nodes: 2, Waiting: []dme.NodeID{1}, Absent: []Absent{{Node: 2, Since: -1, Token: true}},
				Edges: []Edge{{1, 2, "PRIVILEGE"}}, Losses: []Loss{{From: 1, To: 2, Kind: "REQUEST"}},
			},
			[]string{"nobody has the token: it died with node 2", "1 waits for 2's PRIVILEGE; 2 is down"},
		},
		"a token that was lost": {
			Standstill{
				Nodes: 2, Waiting: []dme.NodeID{1}, Edges: []Edge{{1, 2, "PRIVILEGE"}},
				Losses: []Loss{{From: 2, To: 1, Kind: "PRIVILEGE", Token: true}},
			},
			[]string{
				"nobody has the token: it was lost with PRIVILEGE 2→1",
				"1 waits for 2's PRIVILEGE; 2 waits for nobody: lost on the link PRIVILEGE 2→1",
			},
		},
		"a token that is nowhere": {
			Standstill{Nodes: 3, Waiting: []dme.NodeID{1, 3}, Edges: []Edge{{1, dme.None, "TOKEN"}, {3, dme.None, "TOKEN"}}},
			[]string{"nobody has the token", "1 waits for the TOKEN, wherever it is; nobody has it; so does 3"},
		},
		"a token that was lost somewhere": {
			Standstill{
				Nodes: 3, Waiting: []dme.NodeID{1}, Edges: []Edge{{1, dme.None, "TOKEN"}}, Lost: []string{"2 REQUEST", "1 TOKEN"},
			},
			[]string{
				"nobody has the token; lost on some link: 2 REQUEST, 1 TOKEN",
				"1 waits for the TOKEN, wherever it is; nobody has it",
			},
		},
		"a token whose holder was not asked": {
			Standstill{
				Nodes: 3, Waiting: []dme.NodeID{1}, Tokens: 1, Edges: []Edge{{1, dme.None, "TOKEN"}},
				Losses: []Loss{{From: 1, To: 2, Kind: "REQUEST"}, {From: 3, To: 2, Kind: "REQUEST"}},
			},
			[]string{"1 waits for the TOKEN, wherever it is; its holder may not know of the request: lost on the link REQUEST 1→2"},
		},
		"a token whose place is known": {
			Standstill{
				Nodes: 4, Waiting: []dme.NodeID{1, 4}, Tokens: 1, Holder: 2, Absent: []Absent{{Node: 3, Since: -1}},
				Edges: []Edge{{1, dme.None, "PERMIT"}, {2, 3, "RELEASE"}, {4, dme.None, "PERMIT"}},
			},
			[]string{"1 waits for 2's PERMIT; 2 waits for 3's RELEASE; 3 is down; so does 4"},
		},
		"nobody can tell": {Standstill{Nodes: 2, Waiting: []dme.NodeID{1}, Tokens: -1}, nil},
	} {
		if got := c.s.Explain().Lines(); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q\nwant\n%q", name, got, c.want)
		}
	}
}

type stuck struct {
	dme.Node
	waits []dme.Wait
	token bool
}

// What several processes have seen of their nodes is, joined, what one would have seen of all.
func TestJoin(t *testing.T) {
	a := &dme.Algorithm{
		Waits:    func(n dme.Node) []dme.Wait { return n.(stuck).waits },
		HasToken: func(n dme.Node) bool { return n.(stuck).token },
	}
	nodes := []stuck{
		{waits: []dme.Wait{{For: 4, What: "REPLY"}, {For: 2, What: "REPLY"}}},
		{},
		{waits: []dme.Wait{{For: 1, What: "REPLY"}}, token: true},
		{waits: []dme.Wait{{For: dme.None, What: "TOKEN"}}},
		{waits: []dme.Wait{{For: 3, What: "TOKEN"}}},
	}
	for processes := 1; processes <= len(nodes); processes++ {
		whole, joined := Standstill{Nodes: len(nodes), Tokens: -1}, Standstill{Nodes: len(nodes), Tokens: -1}
		parts := make([]Standstill, processes)
		for k := range parts {
			parts[k].Tokens = -1
		}
		for i, n := range nodes {
			id := dme.NodeID(i + 1)
			whole.Add(a, id, n, n.waits != nil)
			parts[i%processes].Add(a, id, n, n.waits != nil)
		}
		for k := range slices.Backward(parts) {
			joined.Join(&parts[k])
		}
		if !reflect.DeepEqual(joined, whole) {
			t.Errorf("%d processes: %+v, want %+v", processes, joined, whole)
		}
	}
}
