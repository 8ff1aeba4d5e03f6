package vnet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// diary writes down what happens to it. A request asks every other node, and an
// answer of any lets it enter.
type diary struct {
	id, n   int
	entries []string
	asking  bool
	leaving bool
}

const (
	kindAsk dme.Kind = iota + 1
	kindAnswer
)

func diaries() *dme.Algorithm {
	return &dme.Algorithm{
		Name: "diary", Title: "diary", Citation: "none", Class: dme.Permission, Kinds: []string{"ASK", "ANSWER"},
		Needs: dme.Always(dme.Needs{Reliable: true}), Survives: dme.SurvivesAny,
		Prepare: dme.Unshared(func(n int, id dme.NodeID) dme.Node { return &diary{id: int(id), n: n} }),
	}
}

func (d *diary) note(format string, args ...any) {
	d.entries = append(d.entries, fmt.Sprintf(format, args...))
}

func (d *diary) Request(out *dme.Outbox) {
	d.asking = true
	out.Broadcast(dme.Message{Kind: kindAsk})
	out.SetTimer(1, 1)
}

func (d *diary) Release(*dme.Outbox) {}

func (d *diary) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	d.note("%d from %d", m.Kind, from)
	switch {
	case m.Kind == kindAsk:
		out.Send(from, dme.Message{Kind: kindAnswer})
	case d.leaving:
		out.Left()
	case d.asking:
		d.asking = false
		out.Enter(dme.Stamp{})
	}
}

func (d *diary) Timeout(id dme.TimerID, _ *dme.Outbox) { d.note("timer %d", id) }
func (d *diary) Restart(out *dme.Outbox) {
	d.note("restart")
	out.Broadcast(dme.Message{Kind: kindAsk})
}
func (d *diary) Join(out *dme.Outbox)                { d.note("join"); out.Broadcast(dme.Message{Kind: kindAsk}) }
func (d *diary) Down(peer dme.NodeID, _ *dme.Outbox) { d.note("%d down", peer) }
func (d *diary) Up(peer dme.NodeID, _ *dme.Outbox)   { d.note("%d up", peer) }

func (d *diary) Depart(out *dme.Outbox) {
	d.leaving = true
	out.Broadcast(dme.Message{Kind: kindAsk})
}

func (d *diary) State(v *dme.Visitor) {
	text := []byte(strings.Join(d.entries, "\n"))
	var words []uint64
	for _, b := range text {
		words = append(words, uint64(b))
	}
	v.Uints("entries", &words)
	text = text[:0]
	for _, w := range words {
		text = append(text, byte(w))
	}
	d.entries = nil
	if len(text) > 0 {
		d.entries = strings.Split(string(text), "\n")
	}
	v.Bool("asking", &d.asking)
	v.Bool("leaving", &d.leaving)
}

func newDiaries(t *testing.T, c Config) *Network {
	t.Helper()
	c.Algorithm, c.Requests = diaries(), func(dme.NodeID) int { return 9 }
	m, err := NewModel(c)
	if err != nil {
		t.Fatal(err)
	}
	return New(m)
}

// do takes steps, which must all be possible.
func do(t *testing.T, n *Network, steps ...Step) {
	t.Helper()
	for _, x := range steps {
		if !n.Possible(x) {
			t.Fatalf("%v is not possible; what is: %v", x, n.Enabled(nil))
		}
		if !slices.Contains(n.Enabled(nil), x) && !n.Faults {
			t.Fatalf("%v is possible, and not among what is: %v", x, n.Enabled(nil))
		}
		n.Do(x)
	}
}

func reads(t *testing.T, n *Network, id dme.NodeID, want ...string) {
	t.Helper()
	if got := n.Node(id).(*diary).entries; !slices.Equal(got, want) {
		t.Errorf("node %d: %q; want %q", id, got, want)
	}
}

func TestACrash(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		n := newDiaries(t, Config{Nodes: 3, Crashes: 1, Restarts: true, Unordered: unordered})
		do(t, n, Step{Kind: dme.Request, Node: 1}, Step{Kind: dme.Request, Node: 2})
		do(t, n, Step{Kind: dme.Receive, From: 2, Node: 1}) // node 1 answers
		do(t, n, Step{Kind: dme.Crash, Node: 1})
		if got := n.Activity(1); got != noderun.Down {
			t.Errorf("node 1 is %v", got)
		}
		if waiting := n.Waiting(); !slices.Equal(waiting, []dme.NodeID{2}) {
			t.Errorf("%v wait", waiting)
		}
		if slices.ContainsFunc(n.Timers(), func(x Timer) bool { return x.Node == 1 }) {
			t.Error("the timer of a dead node is set")
		}
		if n.Possible(Step{Kind: dme.Crash, Node: 2}) || n.Possible(Step{Kind: dme.Crash, Node: 1}) {
			t.Error("one crash was allowed, and another is possible")
		}
		// What it had sent arrives, and then the news; what was sent to it is gone.
		for _, x := range n.InFlight() {
			if x.To == 1 {
				t.Errorf("%+v is on its way to a dead node", x)
			}
		}
		if n.Possible(Step{Kind: dme.PeerDown, From: 1, Node: 3}) {
			t.Error("the news overtakes a message")
		}
		do(t, n, Step{Kind: dme.Receive, From: 1, Node: 3}) // node 3 answers a dead node
		reads(t, n, 3, "1 from 1")
		if len(n.OnTheWay(3, 1)) > 0 {
			t.Error("a message is on its way to a dead node")
		}
		do(t, n, Step{Kind: dme.Restart, Node: 1})
		reads(t, n, 1, "restart")
		// Node 3 has not heard that node 1 is back: what it sends is lost.
		do(t, n, Step{Kind: dme.Receive, From: 2, Node: 3})
		do(t, n, Step{Kind: dme.PeerDown, From: 1, Node: 3})
		n.Do(Step{Kind: dme.Request, Node: 3})
		if len(n.OnTheWay(3, 1)) > 0 || len(n.OnTheWay(3, 2)) != 2 {
			t.Error("a message reaches an incarnation of which its sender has not heard")
		}
		if n.Possible(Step{Kind: dme.Receive, From: 1, Node: 3}) {
			t.Error("a message of the new incarnation overtakes the news that it is up")
		}
		do(t, n, Step{Kind: dme.PeerUp, From: 1, Node: 3}, Step{Kind: dme.Receive, From: 1, Node: 3})
		reads(t, n, 3, "1 from 1", "1 from 2", "1 down", "1 up", "1 from 1")
		do(t, n, Step{Kind: dme.Receive, From: 3, Node: 1})
		reads(t, n, 1, "restart", "2 from 3")
	}
}

func TestWhoComesBackHearsWhoIsDown(t *testing.T) {
	n := newDiaries(t, Config{Nodes: 3, Crashes: 2, Restarts: true})
	do(t, n, Step{Kind: dme.Crash, Node: 1}, Step{Kind: dme.Crash, Node: 2}, Step{Kind: dme.Restart, Node: 1},
		Step{Kind: dme.PeerDown, From: 2, Node: 1})
	reads(t, n, 1, "restart", "2 down")
	do(t, n, Step{Kind: dme.Restart, Node: 2}, Step{Kind: dme.PeerUp, From: 2, Node: 1})
	reads(t, n, 1, "restart", "2 down", "2 up")
}

func TestWhoComesInHearsWhoHasJoined(t *testing.T) {
	n := newDiaries(t, Config{Nodes: 3, Absent: []dme.NodeID{2, 3}})
	do(t, n, Step{Kind: dme.Join, Node: 3}, Step{Kind: dme.Join, Node: 2}, Step{Kind: dme.PeerUp, From: 3, Node: 2})
	reads(t, n, 2, "join", "3 up")
	do(t, n, Step{Kind: dme.PeerDown, From: 2, Node: 3}, Step{Kind: dme.PeerUp, From: 2, Node: 3})
	reads(t, n, 3, "join", "2 down", "2 up")
}

func TestJoiningAndLeaving(t *testing.T) {
	n := newDiaries(t, Config{Nodes: 3, Absent: []dme.NodeID{3}, Departures: 1})
	do(t, n, Step{Kind: dme.Request, Node: 1})
	if len(n.OnTheWay(1, 3)) > 0 {
		t.Error("a message is on its way to an absent node")
	}
	if n.Possible(Step{Kind: dme.Request, Node: 3}) || n.Possible(Step{Kind: dme.Restart, Node: 3}) {
		t.Error("an absent node asks, or restarts")
	}
	do(t, n, Step{Kind: dme.Join, Node: 3}, Step{Kind: dme.PeerUp, From: 3, Node: 1},
		Step{Kind: dme.Receive, From: 3, Node: 1}, Step{Kind: dme.Receive, From: 1, Node: 3})
	reads(t, n, 3, "join", "2 from 1")
	do(t, n, Step{Kind: dme.Depart, Node: 3})
	if n.Possible(Step{Kind: dme.Request, Node: 3}) || n.Possible(Step{Kind: dme.Depart, Node: 2}) {
		t.Error("a node that leaves asks, or one more leaves than may")
	}
	do(t, n, Step{Kind: dme.Receive, From: 3, Node: 1})
	e := n.Do(Step{Kind: dme.Receive, From: 1, Node: 3})
	if got := e.Describe(n.Algorithm); got != "ANSWER 1→3 arrives: node 3 has left" {
		t.Error(got)
	}
	if got := n.Activity(3); got != noderun.Down || !n.Possible(Step{Kind: dme.Join, Node: 3}) {
		t.Errorf("node 3 is %v", got)
	}
	do(t, n, Step{Kind: dme.PeerDown, From: 3, Node: 1})
	reads(t, n, 1, "3 up", "1 from 3", "1 from 3", "3 down")
}

// Vectors tell states with faults apart as saved networks do, and a network that
// is loaded goes on as the one that was saved.
func TestFaultsInBothForms(t *testing.T) {
	m, err := NewModel(Config{
		Algorithm: diaries(), Nodes: 3, Absent: []dme.NodeID{2}, Crashes: 2, Restarts: true, Departures: 1, Bypass: 99,
		Requests: func(dme.NodeID) int { return 1 },
	})
	if err != nil {
		t.Fatal(err)
	}
	space := NewSpace(m)
	walker := space.NewWalker()
	seen := make(map[string]Hash)
	var kinds [dme.PeerUp + 1]int
	for seed := range uint64(200) {
		s := &Schedule{Network: New(m), Rand: rand.New(rand.NewPCG(seed, 1)), Load: Churn, Fault: 0.2}
		s.Choose = Chance{s.Rand}
		s.Begin()
		v, h := space.Of(s.Network)
		for range 60 {
			x, ok := s.Next()
			if !ok {
				break
			}
			kinds[x.Kind]++
			copied := New(m)
			if err := copied.Load(s.Save(nil)); err != nil {
				t.Fatal(err)
			}
			copied.Do(x)
			s.Do(x)
			saved := s.Save(nil)
			if !bytes.Equal(saved, copied.Save(nil)) {
				t.Fatalf("seed %d: after %v the loaded network is in another state", seed, x)
			}
			walker.Do(v, h, x)
			if v, h = space.Of(s.Network); walker.Hash != h || !slices.Equal(walker.Next, v) {
				t.Fatalf("seed %d: after %v the vector is of another state", seed, x)
			}
			enabled, stuck := walker.Enabled(v, nil)
			real := s.Enabled(nil)
			for _, x := range everyStep(s.Network) {
				if slices.Contains(real, x) != s.Possible(x) {
					t.Fatalf("seed %d: %v is possible: %v; in all, %v are", seed, x, s.Possible(x), real)
				}
			}
			slices.SortFunc(real, byText)
			slices.SortFunc(enabled, byText)
			if !slices.Equal(enabled, real) || stuck != s.Stuck() {
				t.Fatalf("seed %d: %v are possible, the vector says %v", seed, real, enabled)
			}
			if other, ok := seen[string(saved)]; ok && other != h {
				t.Fatalf("seed %d: equal states have different hashes", seed)
			}
			seen[string(saved)] = h
		}
	}
	for _, k := range []dme.EventKind{dme.Crash, dme.Restart, dme.Join, dme.Depart, dme.PeerDown, dme.PeerUp} {
		if kinds[k] < 20 {
			t.Errorf("only %d steps %v show little", kinds[k], k)
		}
	}
}

func byText(x, y Step) int { return strings.Compare(x.String(), y.String()) }

// stoppable is a node that wants to be told when no more requests will come.
type stoppable struct{ diary }

func (d *stoppable) Stop(*dme.Outbox) { d.note("stop") }

// A node that is down keeps the others from being told to stop as long as it may come
// back and ask, and is told nothing itself.
func TestStopsWhileANodeIsDown(t *testing.T) {
	for _, x := range []struct {
		restarts bool
		requests int // of the node that is down
		want     bool
	}{{false, 1, true}, {true, 1, false}, {false, 0, true}, {true, 0, true}} {
		a := diaries()
		a.Prepare = dme.Unshared(func(n int, id dme.NodeID) dme.Node { return &stoppable{diary{id: int(id), n: n}} })
		m, err := NewModel(Config{
			Algorithm: a, Nodes: 3, Crashes: 1, Restarts: x.restarts, Requests: func(id dme.NodeID) int { return x.requests * (int(id) % 2) },
		})
		if err != nil {
			t.Fatal(err)
		}
		n := New(m)
		n.processes[3].requests = 0 // node 1 alone asks
		if got := n.Possible(Step{Kind: dme.Stop, Node: 2}); got != (x.requests == 0) {
			t.Errorf("%+v: before the crash %v", x, got)
		}
		n.Do(Step{Kind: dme.Crash, Node: 1})
		for id, want := range map[dme.NodeID]bool{1: false, 2: x.want, 3: x.want} {
			stop := Step{Kind: dme.Stop, Node: id}
			if got := n.Possible(stop); got != want || slices.Contains(n.Enabled(nil), stop) != want {
				t.Errorf("%+v: node %d is told to stop: %v, want %v", x, id, got, want)
			}
		}
	}
}
