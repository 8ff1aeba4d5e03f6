package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/spacetime"
)

func onMedium(nodes, requests int) Options {
	return Options{Nodes: nodes, Requests: requests, Set: map[string]string{"form": "sequenced"}}
}

// TestSequencedMedium follows random schedules: every node hears the same, its
// own broadcasts among it, though not always in the order of sending.
func TestSequencedMedium(t *testing.T) {
	const nodes = 4
	search, err := New(ricartagrawala.Broadcast(), onMedium(nodes, 12))
	if err != nil {
		t.Fatal(err)
	}
	overtaken := false
	for seed := range uint64(50) {
		m, err := search.model.WithSeed(seed + 1)
		if err != nil {
			t.Fatal(err)
		}
		c := vnet.New(m)
		taken := search.random(m, nil).taken
		var sent []string // "2#5": the fifth broadcast of node 2
		said := map[dme.NodeID]int{}
		heard := map[dme.NodeID][]string{}
		count := map[[2]dme.NodeID]int{}
		for _, x := range taken {
			e := c.Do(x)
			messages := 0
			for _, effect := range e.Effects {
				if effect.Kind == dme.EffectSend {
					messages++
				}
			}
			if x.Kind == vnet.Deliver {
				link := [2]dme.NodeID{x.From, x.Node}
				count[link]++
				heard[x.Node] = append(heard[x.Node], fmt.Sprintf("%v#%d", x.From, count[link]))
			}
			if n := messages; n != 0 && n != nodes {
				t.Fatalf("%v: a broadcast is sent to %d nodes", x, n)
			} else if n > 0 {
				said[x.Node]++
				sent = append(sent, fmt.Sprintf("%v#%d", x.Node, said[x.Node]))
			}
			for _, other := range heard {
				n := min(len(other), len(heard[1]))
				if !slices.Equal(other[:n], heard[1][:n]) {
					t.Fatalf("seed %d: nodes hear %v and %v", seed, other, heard[1])
				}
			}
		}
		if c.Violation != nil || len(sent) != 24 {
			t.Fatalf("seed %d: %v, %d broadcasts", seed, c.Violation, len(sent))
		}
		for id := range c.IDs() {
			if len(heard[id]) != len(sent) {
				t.Errorf("seed %d: node %d has heard %d of %d broadcasts", seed, id, len(heard[id]), len(sent))
			}
		}
		overtaken = overtaken || !slices.Equal(heard[1], sent)
	}
	if !overtaken {
		t.Error("no broadcast ever comes before one that was sent earlier")
	}
}

// Without the medium the sequenced form breaks: nobody hears his own requests.
func TestSequencedFormNeedsTheMedium(t *testing.T) {
	for name, spoil := range map[string]func(*Options){
		"unordered":  func(o *Options) { o.Unordered = true },
		"duplicates": func(o *Options) { o.Duplicate = true },
		"losses":     func(o *Options) { o.Lose = 1 },
	} {
		o := onMedium(2, 2)
		spoil(&o)
		r, err := Exhaustive(t.Context(), ricartagrawala.Broadcast(), o)
		if err != nil || r.Violation == nil || r.Violation.Property != Progress {
			t.Errorf("%s: %v, %v, want a standstill", name, r.Violation, err)
		}
		search, err := New(ricartagrawala.Broadcast(), o)
		if err != nil || !strings.Contains(strings.Join(search.Notes(), "\n"), "do not give it") {
			t.Errorf("%s: notes %q, %v", name, search.Notes(), err)
		}
	}
}

// eager is the sequenced form with a fault that only the order of broadcasts
// shows: a node takes its own request for the first before it has heard it.
func eager() *dme.Algorithm {
	a := *ricartagrawala.Broadcast()
	prepare := a.Prepare
	a.Prepare = func(c dme.Config) (dme.System, error) {
		s, err := prepare(c)
		return eagerSystem{s}, err
	}
	return &a
}

type eagerSystem struct{ dme.System }

func (s eagerSystem) Node(id dme.NodeID) dme.Node {
	return &eagerNode{Node: s.System.Node(id)}
}

type eagerNode struct{ dme.Node }

func (n *eagerNode) Request(out *dme.Outbox) {
	n.Node.Request(out)
	n.Node.(dme.Monitor).Transmitted(dme.Message{Kind: 1}, out)
}

func TestFaultsOnAMediumAreFound(t *testing.T) {
	r, err := Exhaustive(t.Context(), eager(), onMedium(2, 2))
	if err != nil || r.Violation == nil || r.Violation.Property != vnet.Exclusion {
		t.Fatalf("%v, %v, want two nodes inside", r.Violation, err)
	}
	if lines := r.Trace.Lines(); len(lines) != 2 {
		t.Errorf("the shortest schedule has two requests, not\n%s", strings.Join(lines, "\n"))
	}
	random, err := Random(t.Context(), eager(), onMedium(3, 6))
	if err != nil || random.Violation == nil {
		t.Errorf("at random: %v, %v", random.Violation, err)
	}
}

func TestOwnBroadcastsAreDrawnAsHeard(t *testing.T) {
	search, err := New(ricartagrawala.Broadcast(), onMedium(2, 2))
	if err != nil {
		t.Fatal(err)
	}
	trace, _ := search.replay(search.model, []vnet.Step{
		{Kind: vnet.Ask, Node: 1}, {Kind: vnet.Deliver, Node: 1, From: 1}, {Kind: vnet.Deliver, Node: 2, From: 1},
	}, false)
	d := trace.Diagram()
	if len(d.Messages) != 1 || d.Messages[0].From != 0 || d.Messages[0].To != 1 || d.Messages[0].End != 3 {
		t.Errorf("messages %+v, want one from node 1 to node 2", d.Messages)
	}
	heard := spacetime.Point{Lane: 0, Row: 2, Mark: spacetime.Dot, Label: "REQUEST heard"}
	if !slices.Contains(d.Points, heard) {
		t.Errorf("points %+v", d.Points)
	}
}
