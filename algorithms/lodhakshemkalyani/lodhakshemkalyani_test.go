package lodhakshemkalyani

import (
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
	"dmebench/internal/testkit"
	"dmebench/internal/testkit/suite"
)

var (
	fault = flag.String("fault", "", "search for this fault only")
)

// TestRandomSchedules searches for two processes in the critical section, for
// requests that are never served, and for entries out of order, refused
// messages and message counts that contradict section 9.6.4.
func TestRandomSchedules(t *testing.T) {
	seeds := uint64(1200)
	if testkit.Full() {
		seeds *= 20
	}
	if err := search(Algorithm(), 2, 5, 3, false, seeds, *fault); err != nil {
		t.Fatal(err)
	}
}

// Why the algorithm declares that it needs links in order.
func TestNeedsFIFO(t *testing.T) {
	for _, fault := range []string{conformance.Unsafe, conformance.Stalled} {
		err := search(Algorithm(), 2, 4, 3, true, 1000, fault)
		if err == nil {
			t.Errorf("no schedule without order shows %s", fault)
			continue
		}
		t.Log(err)
	}
}

// The literal text stops with one request of each of three processes, and lets
// two in with two requests each, on links in order.
func TestAsPublishedIsCaught(t *testing.T) {
	for _, c := range []struct {
		rounds int
		fault  string
	}{{1, conformance.Stalled}, {2, conformance.Unsafe}} {
		caught := search(AsPublished(), 3, 3, c.rounds, false, 10_000, c.fault)
		if caught == nil {
			t.Errorf("no schedule with %d requests of each of 3 processes shows %s", c.rounds, c.fault)
			continue
		}
		t.Log(caught)
	}
}

func TestAlgorithm(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *process { return n.Host(id).Made().(*process) }
	stamp := func(clock uint64, node dme.NodeID) dme.Stamp {
		return dme.Stamp{Clock: clock, Node: node}
	}
	request := func(number uint64, done dme.Stamp) dme.Message {
		return dme.Message{Kind: kindRequest, Clock: number, Done: done}
	}
	reply := func(to, done dme.Stamp) dme.Message {
		return dme.Message{Kind: kindReply, Req: to, Done: done}
	}
	mine, none := stamp(2, 1), dme.Stamp{}
	start := func() *conformance.Net {
		net := conformance.Make(t, Algorithm(), 3, nil)
		if _, err := net.Serve(1); err != nil {
			t.Fatal(err)
		}
		net.Request(1) // with number 2
		return net
	}
	suite.Run(t, suite.Suite{
		Algorithm: Algorithm(), AllocatesNothing: true,
		Breaches: []conformance.Breach{
			{
				Invariant: "nothing done is pending", Nodes: 3, Says: "node 3 takes all up to (1,2) for satisfied, and the request (1,2) is pending",
				Fault: func(n *conformance.Net) { n.Request(2); at(n, 3).done = dme.Stamp{Clock: 1, Node: 2} },
			},
			{
				Invariant: "nothing done is pending", Nodes: 3, Says: "a message of node 3 says that all up to (4,2) are satisfied",
				Fault: func(n *conformance.Net) {
					at(n, 3).done = dme.Stamp{Clock: 4, Node: 2}
					n.Request(2)
					n.Request(3)
					at(n, 3).done = dme.Stamp{}
				},
			},
			{
				Invariant: "concurrent requests", Nodes: 3, Says: "LRQ of node 3, [(1,3)], lacks the request (1,2), which goes first",
				Fault: func(n *conformance.Net) {
					n.Request(2)
					n.Request(3)
					n.Deliver(2, 3, 0)
					n.Deliver(3, 2, 0)
					at(n, 3).lrq.Remove(2)
				},
			},
			{
				Invariant: "one answer", Nodes: 3, Says: "node 2 waits for node 3, which has not got its REQUEST",
				Fault: func(n *conformance.Net) { n.Request(2); n.Deliver(2, 3, 0); n.Deliver(3, 2, 0); at(n, 2).rv.Remove(3) },
			},
		},
		Refusals: []suite.Refusals{
			{
				Start: start,
				From:  2, To: 1,
				Messages: []suite.Refused{
					{What: "REQUEST without a number", Series: []dme.Message{request(0, none)}},
					{What: "REQUEST of a number that would overflow", Series: []dme.Message{request(latest+1, none)}},
					{What: "REQUEST while one is deferred", Series: []dme.Message{request(2, none), request(3, none), request(4, none)}},
					{What: "REPLY to an earlier request", Series: []dme.Message{reply(stamp(1, 1), none)}},
					{What: "REPLY to another process", Series: []dme.Message{reply(stamp(2, 3), none)}},
					{What: "REPLY twice", Series: []dme.Message{reply(mine, none), reply(mine, none)}},
					{What: "REPLY after an implicit one", Series: []dme.Message{request(2, none), reply(mine, none)}},
					{What: "REPLY that knows of our pending request", Series: []dme.Message{reply(mine, mine)}},
					{What: "REQUEST that knows of a later one", Series: []dme.Message{request(9, stamp(8, 3))}},
					{What: "FLUSH in the name of another", Series: []dme.Message{{Kind: kindFlush, Done: stamp(1, 3)}}},
				},
			},
		},
	}, suite.Suite{Algorithm: AsPublished()})
}

func TestSchedules(t *testing.T) { suite.Schedules(t, Algorithm()) }

func TestMutants(t *testing.T) { suite.Mutants(t) }

// predict evaluates the one claim about messages under a load.
func predict(t *testing.T, load claim.Load, n int) float64 {
	t.Helper()
	for _, c := range claims() {
		if c.Quantity == claim.MessagesPerCS && c.Load == load {
			value, _ := c.Prediction(dme.Setting{Nodes: n})
			return value
		}
	}
	t.Fatalf("no claim for %s", load)
	return 0
}

// Section 9.6.4, case 2: requests one after the other.
func TestSerialRequests(t *testing.T) {
	for _, n := range []int{1, 2, 5, 8} {
		net := conformance.Make(t, Algorithm(), n, nil)
		for k := range 3 * n {
			messages, err := net.Serve(dme.NodeID(1 + k*3%n))
			if err != nil || float64(messages) != predict(t, claim.Light, n) {
				t.Errorf("n=%d: %d messages, want %v; %v", n, messages, predict(t, claim.Light, n), err)
			}
		}
	}
}

// Section 9.6.4, case 1: "when all the requests are concurrent", N messages for
// each entry but the last, and N−1 for that.
func TestConcurrentRequests(t *testing.T) {
	for _, n := range []int{2, 5, 8} {
		net := conformance.Make(t, Algorithm(), n, nil)
		for round := range 3 {
			before := net.Sent()
			for i := 1; i <= n; i++ {
				net.Request(dme.NodeID(i))
			}
			for range n {
				net.Settle()
				if len(net.Inside()) != 1 {
					t.Fatalf("n=%d, round %d: %v inside\n%s", n, round, net.Inside(), net.States())
				}
				net.Release(net.Inside()[0])
			}
			if got, want := float64(net.Sent()-before)/float64(n), predict(t, claim.Burst, n); math.Abs(got-want) > 1e-9 {
				t.Errorf("n=%d, round %d: %v messages for each entry, want %v", n, round, got, want)
			}
		}
	}
}

// BenchmarkHandlers measures the handlers alone, per message received.
func BenchmarkHandlers(b *testing.B) { suite.Benchmark(b, Algorithm()) }

// search walks once for each seed below seeds on each number of nodes up to most,
// with 1 to rounds requests of each process, and returns the first error that
// shows the fault, or any if it is ""; nil where none does.
func search(a *dme.Algorithm, least, most, rounds int, reorder bool, seeds uint64, fault string) error {
	if fault != "" { // an invariant would be broken first, and end the schedule
		without := *a
		without.Invariants = nil
		a = &without
	}
	for seed := range seeds {
		for nodes := least; nodes <= most; nodes++ {
			seen := newConcurrency()
			net, err := conformance.Walk{
				Algorithm: a, Nodes: nodes, Requests: conformance.Each(1 + int(seed)%rounds), Load: vnet.Churn, Reorder: reorder, Seed: seed,
				Look: func(_ *conformance.Net, e *vnet.Event) error {
					seen.note(e)
					return nil
				},
			}.Run()
			if err == nil && !a.AsPublished && !reorder {
				if err = seen.judge(net); err != nil {
					err = fmt.Errorf("seed %d, %d processes: against section 9.6.4: %w\n%s", seed, nodes, err, net.States())
				}
			}
			if err != nil && strings.Contains(err.Error(), fault) {
				return err
			}
		}
	}
	return nil
}

// concurrency watches a run to tell which requests are concurrent, by
// definition 9.1.
type concurrency struct {
	now      int
	requests []*request                // in the order in which they were made
	of       map[dme.NodeID][]*request // by process
	arrived  map[[2]dme.NodeID]int     // REQUESTs delivered, by sender and receiver
}

type request struct {
	stamp   dme.Stamp
	made    int
	arrived map[dme.NodeID]int // by process
}

func newConcurrency() *concurrency {
	return &concurrency{of: make(map[dme.NodeID][]*request), arrived: make(map[[2]dme.NodeID]int)}
}

// note notes a step. A process can make its next request before the last one has
// arrived everywhere; links in order tell which is which.
func (c *concurrency) note(e *vnet.Event) {
	c.now++
	switch {
	case e.Step.Kind == dme.Request:
		r := &request{made: c.now, arrived: make(map[dme.NodeID]int)}
		r.stamp.Node = e.Node
		c.requests = append(c.requests, r)
		c.of[e.Node] = append(c.of[e.Node], r)
	case e.Step.Kind == dme.Receive && e.Msg.Kind == kindRequest:
		link := [2]dme.NodeID{e.From, e.Node}
		r := c.of[e.From][c.arrived[link]]
		c.arrived[link]++
		r.stamp.Clock = e.Msg.Clock
		r.arrived[e.Node] = c.now
	}
}

func (r *request) concurrent(s *request) bool {
	return r.stamp.Node != s.stamp.Node && r.arrived[s.stamp.Node] > s.made && s.arrived[r.stamp.Node] > r.made
}

// judge compares a run that has ended with section 9.6.4: N−1 REQUEST and
// N−|CSet| REPLY messages for each entry, and a FLUSH where some request of the
// concurrency set has a lower priority. It also checks that nothing was refused
// and that entries were in order.
func (c *concurrency) judge(net *conformance.Net) error {
	n := net.Setting.Nodes
	var want [kindFlush + 1]int
	for _, r := range c.requests {
		cset, successor := 1, false
		for _, s := range c.requests {
			if r.concurrent(s) {
				cset++
				successor = successor || r.stamp.Precedes(s.stamp)
			}
		}
		want[kindRequest] += n - 1
		want[kindReply] += n - cset
		if successor {
			want[kindFlush]++
		}
	}
	for k := kindRequest; k <= kindFlush; k++ {
		if got := int(net.SentOf(k)); got != want[k] {
			return fmt.Errorf("%d messages of kind %d, section 9.6.4 says %d", got, k, want[k])
		}
	}
	if net.Refused() > 0 {
		return fmt.Errorf("%d messages refused", net.Refused())
	}
	var last dme.Stamp
	for _, e := range net.Entries {
		if !last.Precedes(e.Stamp) {
			return fmt.Errorf("entries out of order: %v after %v", e.Stamp, last)
		}
		last = e.Stamp
	}
	return nil
}
