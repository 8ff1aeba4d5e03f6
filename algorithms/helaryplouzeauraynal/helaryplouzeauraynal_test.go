package helaryplouzeauraynal

import (
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

func TestConformance(t *testing.T) { conformance.Test(t, Algorithm()) }

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

func at(net *conformance.Net, id dme.NodeID) *process { return net.Host(id).Node().(*process) }

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

// The token follows the trail of the request, and the processes on the way do
// not use it, though they wait.
func TestTokenFollowsTheTrail(t *testing.T) {
	net := newNet(t, 5, "ring")
	net.Request(1)
	net.Request(4) // the REQUEST to 5, the short way, waits
	net.Deliver(4, 3, 0)
	net.Deliver(3, 2, 0)
	net.Deliver(2, 1, 0)
	net.Request(2) // later than 4
	net.Settle()
	net.Release(1)
	for _, hop := range [][2]dme.NodeID{{1, 2}, {2, 3}, {3, 4}} {
		got := net.InFlight(hop[0], hop[1])
		if len(got) != 1 || got[0].Kind != kindToken || got[0].Node != 4 {
			t.Fatalf("from %d to %d: %+v, want the token for 4", hop[0], hop[1], got)
		}
		net.Deliver(hop[0], hop[1], 0)
	}
	if !slices.Equal(net.Inside(), []dme.NodeID{4}) {
		t.Fatalf("%v inside, want process 4", net.Inside())
	}
	net.Release(4)
	net.Settle()
	if !slices.Equal(net.Inside(), []dme.NodeID{2}) || net.Err() != nil {
		t.Errorf("%v inside, want process 2; %v", net.Inside(), net.Err())
	}
}

// Step 5: the oldest request is served first, and of equal dates that of the
// smallest number.
func TestOldestFirst(t *testing.T) {
	net := newNet(t, 5, "complete")
	net.Request(1)
	net.Request(5)
	net.Settle()
	net.Request(4) // dated after 5's
	net.Request(3) // dated as 4's
	net.Settle()
	order := net.Drain()
	if want := []dme.NodeID{1, 5, 3, 4}; !slices.Equal(order, want) || net.Err() != nil {
		t.Errorf("order %v, want %v; %v", order, want, net.Err())
	}
}

// Step 2: an old request that arrives after a newer one is dropped.
func TestOldRequestIsDropped(t *testing.T) {
	net := newNet(t, 3, "complete")
	net.Request(2)
	net.Deliver(2, 1, 0)
	net.Deliver(1, 2, 0) // the token; the REQUEST to process 3 waits
	net.Release(2)
	net.Request(1)
	net.Deliver(1, 2, 0)
	net.Deliver(2, 1, 0)
	net.Release(1)
	net.Request(2)
	net.Deliver(2, 3, 1) // the second REQUEST first
	net.Deliver(2, 3, 0)
	if got := at(net, 3).date[1]; got != at(net, 2).date[1] {
		t.Errorf("process 3 knows of a request of date %d, want %d", got, at(net, 2).date[1])
	}
	net.Settle()
	if !slices.Equal(net.Inside(), []dme.NodeID{2}) || net.Refused() != 0 || net.Err() != nil {
		t.Errorf("%v inside, %d refused, %v", net.Inside(), net.Refused(), net.Err())
	}
}

func TestRefusals(t *testing.T) {
	request := func(date uint64, origin dme.NodeID, vec ...uint64) dme.Message {
		return dme.Message{Kind: kindRequest, Req: dme.Stamp{Clock: date, Node: origin}, Vec: vec}
	}
	token := func(elected dme.NodeID, vec ...uint64) dme.Message {
		return dme.Message{Kind: kindToken, Node: elected, Vec: vec}
	}
	// Process 3 of the ring 1–2–3–4 waits; it has noted a request of 2.
	refuses := conformance.Refusing(t, func() *conformance.Net {
		net := newNet(t, 4, "ring")
		net.Request(2)
		net.Deliver(2, 3, 0)
		net.Request(3)
		return net
	})
	refuses("from a stranger", 1, 3, request(9, 1, 0))
	refuses("no date", 2, 3, request(0, 1, 0))
	refuses("no origin", 2, 3, request(9, 0, 0))
	refuses("an origin that does not exist", 2, 3, request(9, 5, 0))
	refuses("its own request", 2, 3, request(9, 3, 0))
	refuses("no already_seen", 2, 3, request(9, 1))
	refuses("already_seen of a larger system", 2, 3, request(9, 1, 0, 0))
	refuses("token without dates", 2, 3, token(3))
	refuses("token with too many dates", 2, 3, token(3, 0, 0, 0, 0, 0))
	refuses("token for nobody", 2, 3, token(0, 0, 0, 0, 0))
	refuses("token for a process that does not exist", 2, 3, token(5, 0, 0, 0, 0))
	refuses("token for a process that has not asked", 2, 3, token(4, 0, 0, 0, 0))
	refuses("token for a process that was served", 4, 3, token(2, 0, 1, 0, 0))
	refuses("token that has served the request", 2, 3, token(3, 0, 0, 9, 0))
	net := newNet(t, 4, "ring")
	for _, id := range []dme.NodeID{1, 3} {
		m := token(id, 0, 0, 0, 0)
		net.Host(id).Receive(2, &m)
	}
	if net.Refused() != 2 {
		t.Error("a token to who has it, or did not ask: not refused")
	}
}

func TestState(t *testing.T) {
	net := newNet(t, 3, "ring")
	net.Request(1)
	net.Request(3)
	net.Settle()
	net.WantStates(t, map[dme.NodeID]string{
		1: "h=2 date=[0 0 1] via=[0 0 3] waiting=false inside=true lud=[0 0 0]",
		2: "h=2 date=[0 0 1] via=[0 0 3] waiting=false inside=false lud=[]",
		3: "h=1 date=[0 0 1] via=[0 0 0] waiting=true inside=false lud=[]",
	})
}

func TestSeen(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 128} {
		s := newSeen(n)
		for j := 1; j <= n; j += 3 {
			s.add(dme.NodeID(j))
		}
		for j := 1; j <= n; j++ {
			if got, want := s.has(dme.NodeID(j)), j%3 == 1; got != want {
				t.Fatalf("N=%d: %d is in the set: %v", n, j, got)
			}
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

// The invariants can be broken: each of these states breaks one.
func TestInvariants(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *process { return n.Host(id).Made().(*process) }
	conformance.TestInvariants(t, Algorithm(),
		conformance.Breach{
			Invariant: "one token", Nodes: 3, Says: "no node has the token",
			Fault: func(n *conformance.Net) { at(n, 1).lud = nil },
		},
		conformance.Breach{
			Invariant: "way back", Nodes: 3, Says: "node 3 knows of node 2's request, and via leads from it to node 1",
			Fault: func(n *conformance.Net) { n.Request(2); n.Deliver(2, 3, 0); at(n, 3).via[1] = 1 },
		},
	)
}
