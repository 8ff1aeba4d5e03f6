package dme

import (
	"errors"
	"fmt"
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

// An error says whom it concerns, each once and in order, also from within another; one
// that is not of an invariant concerns nobody.
func TestWhomAnErrorConcerns(t *testing.T) {
	given := []NodeID{3, 1, 3}
	err := Broken(given, "%d is wrong", 7)
	if got := Concerned(fmt.Errorf("because %w", err)); err.Error() != "7 is wrong" || !slices.Equal(got, []NodeID{1, 3}) || given[0] != 3 {
		t.Errorf("%v concerns %v", err, got)
	}
	if got := Concerned(errors.New("of nobody")); got != nil {
		t.Errorf("an error of another kind concerns %v", got)
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

// asker asks the nodes that its system says.
type asker struct {
	Node
	asks []NodeID // none: all
}

func (a asker) Request(out *Outbox) {
	if a.asks == nil {
		out.Broadcast(Message{Kind: 1})
	}
	for _, id := range a.asks {
		out.Send(id, Message{Kind: 1})
		out.Send(id, Message{Kind: 2}) // twice the same node
	}
	out.SetTimer(1, 1)
}

type askers [][]NodeID

func (s askers) Node(id NodeID) Node { return asker{asks: s[id-1]} }

func TestWhomANodeAsks(t *testing.T) {
	s := Setting{Nodes: 4, System: askers{{3, 2}, {}, nil, {4, 1}}}
	for i, want := range [][]NodeID{{1, 2, 3}, {2}, {1, 2, 3, 4}, {1, 4}} {
		if got := Asked(s, NodeID(i+1)); !slices.Equal(got, want) {
			t.Errorf("node %d asks %v, want %v", i+1, got, want)
		}
	}
	if mean, ok := AskedByAll(s); mean != 10./4 || !ok {
		t.Errorf("%v are asked on average, %v", mean, ok)
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

func TestActivitiesInWords(t *testing.T) {
	for a, want := range map[Activity]string{
		Idle: "idle", Requesting: "requesting", Inside: "in the critical section", Down: "down", Down + 1: "unknown",
	} {
		if got := a.String(); got != want {
			t.Errorf("%d is %q, want %q", a, got, want)
		}
	}
}

// The largest value counts of those that there were, and none where there was none.
func TestLargest(t *testing.T) {
	m := Largest(func(x Moment) (float64, bool) { return float64(x.OnTheWay), x.What == HasSent })
	m.Note(Moment{What: HasReceived, OnTheWay: 9})
	if x, ok := m.Value(); ok {
		t.Errorf("%v, of nothing", x)
	}
	for _, onTheWay := range []int{0, 5, 3} {
		m.Note(Moment{What: HasSent, OnTheWay: onTheWay})
		m.Note(Moment{What: HasReceived, OnTheWay: 9})
	}
	if x, ok := m.Value(); x != 5 || !ok {
		t.Errorf("%v, %v; want 5", x, ok)
	}
}
