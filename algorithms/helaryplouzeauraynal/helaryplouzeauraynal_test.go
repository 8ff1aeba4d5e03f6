package helaryplouzeauraynal

import (
	"math/rand/v2"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/testkit/suite"
)

func newNet(t *testing.T, nodes int, graph string) *conformance.Net {
	t.Helper()
	return conformance.Make(t, Algorithm(), nodes, map[string]string{optGraph: graph})
}

// onFile returns a system whose graph is the text of a file.
func onFile(t *testing.T, nodes int, text string) *conformance.Net {
	t.Helper()
	a := Algorithm()
	prepare := a.Prepare
	a.Prepare = func(c dme.Config) (dme.System, error) {
		c.ReadFile = func(string) ([]byte, error) { return []byte(text), nil }
		return prepare(c)
	}
	net := conformance.Make(t, a, nodes, map[string]string{optGraph: "file:links"})
	return net
}

func graphOf(net *conformance.Net) *graph { return net.Setting.System.(*system).graph }

// cost is the twin: what one request costs where all links have the same delay,
// by a search that keeps no more than who has the request and from whom.
func cost(g *graph, from, token dme.NodeID) uint64 {
	if from == token {
		return 0
	}
	type copied struct {
		to, by dme.NodeID
		seen   map[dme.NodeID]bool
	}
	requests := uint64(0)
	by := map[dme.NodeID]dme.NodeID{}
	queue := []copied{{to: from, seen: map[dme.NodeID]bool{from: true}}}
	for len(queue) > 0 {
		c := queue[0]
		queue = queue[1:]
		if _, again := by[c.to]; again {
			continue
		}
		by[c.to] = c.by
		seen := map[dme.NodeID]bool{}
		for j := range c.seen {
			seen[j] = true
		}
		for _, j := range g.neighbours(c.to) {
			seen[j] = true
		}
		for _, j := range g.neighbours(c.to) {
			if !c.seen[j] {
				requests++
				queue = append(queue, copied{to: j, by: c.to, seen: seen})
			}
		}
	}
	hops := uint64(0)
	for ; token != from; token = by[token] {
		hops++
	}
	return requests + hops
}

// A lone request costs what the twin says: nothing for the process that has
// the token, else from n to 2e, and so less than the 2e + n − 1 of the claim.
func TestSerialCost(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 4))
	for _, shape := range []string{"grid", "ring", "complete", "random"} {
		for _, n := range []int{1, 2, 3, 5, 8, 13, 70} {
			net := newNet(t, n, shape)
			g := graphOf(net)
			token := first
			for range 60 {
				id := dme.NodeID(1 + rng.IntN(n))
				want := cost(g, id, token)
				got, err := net.Serve(id)
				if err != nil || got != want {
					t.Fatalf("%s, N=%d: process %d, token at %d: %d messages, %v; want %d", shape, n, id, token, got, err, want)
				}
				if id != token && (got < uint64(n) || got > uint64(2*g.links)) {
					t.Errorf("%s, N=%d: %d messages; e is %d", shape, n, got, g.links)
				}
				if shape == "complete" && id != token && got != uint64(n) {
					t.Errorf("complete graph, N=%d: %d messages", n, got)
				}
				token = id
			}
		}
	}
}

// The lower end of the claim's range is a complete graph, or a neighbour in a
// tree; what it leaves out is the process that has the token. On a line the ends
// cost each other 2e.
func TestRange(t *testing.T) {
	line := onFile(t, 5, "1 2\n2 3\n3 4\n4 5\n")
	for _, c := range []struct {
		id   dme.NodeID
		want uint64
	}{{2, 5}, {2, 0}, {1, 5}, {5, 8}, {1, 8}, {3, 6}} {
		if got, err := line.Serve(c.id); err != nil || got != c.want {
			t.Errorf("process %d: %d messages, %v; want %d", c.id, got, err, c.want)
		}
	}
}

// The token carries a number for each node, in a message that is bounded.
func TestMostNodes(t *testing.T) {
	a := Algorithm()
	opt, err := a.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.CheckNodes(dme.MaxVec, opt); err != nil {
		t.Errorf("%d nodes: %v", dme.MaxVec, err)
	}
	if a.CheckNodes(dme.MaxVec+1, opt) == nil {
		t.Errorf("%d nodes would not fit into a token", dme.MaxVec+1)
	}
}

func TestAlgorithm(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *process { return n.Host(id).Made().(*process) }
	request := func(date uint64, origin dme.NodeID, vec ...uint64) dme.Message {
		return dme.Message{Kind: kindRequest, Req: dme.Stamp{Clock: date, Node: origin}, Vec: vec}
	}
	token := func(elected dme.NodeID, vec ...uint64) dme.Message {
		return dme.Message{Kind: kindToken, Node: elected, Vec: vec}
	}
	// Process 3 of the ring 1–2–3–4 waits; it has noted a request of 2.
	suite.Run(t, suite.Suite{
		Algorithm: Algorithm(),
		Breaches: []conformance.Breach{
			{
				Invariant: "one token", Nodes: 3, Says: "no node has the token",
				Fault: func(n *conformance.Net) { at(n, 1).lud = nil },
			},
			{
				Invariant: "way back", Nodes: 3, Says: "node 3 knows of node 2's request, and via leads from it to node 1",
				Fault: func(n *conformance.Net) { n.Request(2); n.Deliver(2, 3, 0); at(n, 3).via[1] = 1 },
			},
		},
		Refusals: []suite.Refusals{
			{
				Start: func() *conformance.Net {
					net := newNet(t, 4, "ring")
					net.Request(2)
					net.Deliver(2, 3, 0)
					net.Request(3)
					return net
				},
				Messages: []suite.Refused{
					{What: "from a stranger", From: 1, To: 3, Series: []dme.Message{request(9, 1, 0)}},
					{What: "no date", From: 2, To: 3, Series: []dme.Message{request(0, 1, 0)}},
					{What: "no origin", From: 2, To: 3, Series: []dme.Message{request(9, 0, 0)}},
					{What: "an origin that does not exist", From: 2, To: 3, Series: []dme.Message{request(9, 5, 0)}},
					{What: "its own request", From: 2, To: 3, Series: []dme.Message{request(9, 3, 0)}},
					{What: "no already_seen", From: 2, To: 3, Series: []dme.Message{request(9, 1)}},
					{What: "already_seen of a larger system", From: 2, To: 3, Series: []dme.Message{request(9, 1, 0, 0)}},
					{What: "token without dates", From: 2, To: 3, Series: []dme.Message{token(3)}},
					{What: "token with too many dates", From: 2, To: 3, Series: []dme.Message{token(3, 0, 0, 0, 0, 0)}},
					{What: "token for nobody", From: 2, To: 3, Series: []dme.Message{token(0, 0, 0, 0, 0)}},
					{What: "token for a process that does not exist", From: 2, To: 3, Series: []dme.Message{token(5, 0, 0, 0, 0)}},
					{What: "token for a process that has not asked", From: 2, To: 3, Series: []dme.Message{token(4, 0, 0, 0, 0)}},
					{What: "token for a process that was served", From: 4, To: 3, Series: []dme.Message{token(2, 0, 1, 0, 0)}},
					{What: "token that has served the request", From: 2, To: 3, Series: []dme.Message{token(3, 0, 0, 9, 0)}},
				},
			},
			{
				Start: func() *conformance.Net { return newNet(t, 4, "ring") },
				Messages: []suite.Refused{
					{What: "token to the process that has it", From: 2, To: 1, Series: []dme.Message{token(1, 0, 0, 0, 0)}},
					{What: "token to a process that did not ask", From: 2, To: 3, Series: []dme.Message{token(3, 0, 0, 0, 0)}},
				},
			},
		},
	})
}

func TestSchedules(t *testing.T) { suite.Schedules(t, Algorithm()) }
