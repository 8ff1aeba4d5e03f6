package dme

import (
	"maps"
	"slices"
	"testing"
)

// keeper is a node that may have a token.
type keeper struct {
	Node
	token bool
}

func (k keeper) HasToken() bool { return k.token }

// snapshot is a state of nodes, of which those that are nil are down.
type snapshot struct {
	GlobalView
	nodes   []Node // from 1
	flights []Flight
}

func (s snapshot) Setting() Setting {
	return Setting{Nodes: len(s.nodes), Algorithm: &Algorithm{HasToken: OfNode(keeper.HasToken)}}
}

func (s snapshot) Node(id NodeID) Node { return s.nodes[id-1] }
func (s snapshot) InFlight() []Flight  { return s.flights }

func (s snapshot) Between(from, to NodeID) (all []*Message) {
	for _, f := range s.flights {
		if f.From == from && f.To == to {
			all = append(all, f.Message)
		}
	}
	return all
}

func flight(from, to NodeID, kind Kind) Flight { return Flight{from, to, &Message{Kind: kind}} }

func TestOneToken(t *testing.T) {
	holds := OneToken("a paper", OfKind(2)).Holds
	for _, x := range []struct {
		state snapshot
		want  string
		nodes []NodeID
	}{
		{snapshot{nodes: []Node{keeper{}, keeper{token: true}, nil}, flights: []Flight{flight(1, 2, 1)}}, "", nil},
		{snapshot{nodes: []Node{keeper{}, keeper{}, nil}, flights: []Flight{flight(1, 2, 2)}}, "", nil},
		{
			snapshot{nodes: []Node{keeper{}, keeper{}}, flights: []Flight{flight(1, 2, 1)}},
			"no node has the token, and no message carries it", nil,
		},
		{snapshot{nodes: []Node{keeper{}, keeper{token: true}, keeper{token: true}}}, "there are 2 tokens: at node 2, at node 3", []NodeID{2, 3}},
		{
			snapshot{nodes: []Node{keeper{token: true}, left{}, keeper{}}, flights: []Flight{flight(3, 2, 2), flight(2, 3, 2), flight(2, 1, 1)}},
			"there are 3 tokens: at node 1, on its way from node 3 to node 2, on its way from node 2 to node 3", []NodeID{1, 2, 3},
		},
	} {
		err := holds(x.state)
		if (err == nil) != (x.want == "") || err != nil && err.Error() != x.want || !slices.Equal(Concerned(err), x.nodes) {
			t.Errorf("%v of %v; want %q of %v", err, Concerned(err), x.want, x.nodes)
		}
	}
}

// Nodes are told apart by their types, and messages by link and kind.
func TestWhatAViewShows(t *testing.T) {
	v := snapshot{
		nodes:   []Node{left{}, keeper{token: true}, nil, left{}, keeper{}},
		flights: []Flight{flight(1, 2, 1), flight(1, 2, 2), flight(2, 1, 1), flight(1, 2, 1)},
	}
	if got := slices.Sorted(maps.Keys(maps.Collect(NodesOf[keeper](v)))); !slices.Equal(got, []NodeID{2, 5}) {
		t.Errorf("nodes %v are of the type", got)
	}
	for id := range NodesOf[left](v) {
		if id != 1 {
			t.Errorf("node %d comes after the loop has ended", id)
		}
		break
	}
	if !NodeOf[keeper](v, 2).token || NodeOf[keeper](v, 1).token || NodeOf[keeper](v, 3).token {
		t.Error("a node that is none of the type is not zero, or one that is")
	}
	for _, x := range []struct {
		kind     Kind
		from, to NodeID
		want     int
	}{{1, 1, 2, 2}, {2, 1, 2, 1}, {1, 2, 1, 1}, {2, 2, 1, 0}, {1, 4, 5, 0}} {
		if got := Between(v, x.kind, x.from, x.to); got != x.want {
			t.Errorf("%+v: %d", x, got)
		}
	}
}

// What is waited for is told of each node, in their order.
func TestWaitsFor(t *testing.T) {
	want := []Wait{{3, "REPLY"}, {7, "REPLY"}}
	if got := WaitsFor("REPLY", slices.Values([]NodeID{3, 7})); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := WaitsFor("REPLY", slices.Values([]NodeID{})); len(got) > 0 {
		t.Errorf("%v, of nobody", got)
	}
}
