package maekawa

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/testkit"
	"dmebench/internal/testkit/suite"
)

// setups are the systems that are searched.
func setups() []setup {
	var all []setup
	for _, x := range []struct {
		construction string
		nodes        int
	}{
		{"plane", 1}, {"plane", 2}, {"plane", 3}, {"plane", 5}, {"plane", 7}, {"plane", 13}, {"plane", 31},
		{"grid", 9}, {"majority", 5}, {"tree", 7}, {"hierarchical", 9}, {"singleton", 4},
	} {
		for _, yield := range []string{"failed", "always"} {
			for _, grants := range []string{"plain", "numbered"} {
				all = append(all, setup{x.construction, x.nodes, yield, grants})
			}
		}
	}
	return all
}

// TestRandomSchedules searches for two nodes in the critical section, for
// requests that are never served, for unfairness and for wrong message counts:
// in cold bursts and in churn, on ordered links, and where grants are numbered
// on links that reorder.
func TestRandomSchedules(t *testing.T) {
	for _, s := range setups() {
		sys := s.prepare()
		for _, burst := range []bool{true, false} {
			seeds := 300 / s.nodes
			if testkit.Long() {
				seeds *= 4
			}
			if testkit.Full() {
				seeds *= 50
			}
			for seed := range uint64(seeds) {
				w := walk(sys, seed, burst, 3)
				w.Reorder = s.grants == "numbered" && seed%4 < 3
				if _, err := judged(w); err != nil {
					t.Fatalf("%v: %v", s, err)
				}
			}
		}
	}
}

// TestPlainGrantsNeedFIFO shows why the algorithm declares it: on links that
// reorder, the search breaks it.
func TestPlainGrantsNeedFIFO(t *testing.T) {
	for _, yield := range []string{"failed", "always"} {
		sys := setup{"plane", 7, yield, "plain"}.prepare()
		broken := 0
		for seed := range uint64(100) {
			w := walk(sys, seed, false, 3)
			w.Reorder = true
			if _, err := judged(w); err != nil {
				broken++
			}
		}
		if broken == 0 {
			t.Errorf("yield=%s: no schedule without FIFO broke it", yield)
		}
	}
}

// TestSetsThatLackTheirNode: three of five nodes arbitrate for all, but none of
// them for itself.
func TestSetsThatLackTheirNode(t *testing.T) {
	a := Algorithm()
	opt, err := a.Resolve(map[string]string{"quorum": "file:sets"})
	if err != nil {
		t.Fatal(err)
	}
	text := "1: 2 3\n2: 3 4\n3: 2 4\n4: 2 3\n5: 3 4\n"
	sys, err := a.Prepare(dme.Config{Nodes: 5, Options: opt, ReadFile: func(string) ([]byte, error) { return []byte(text), nil }})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(300) {
		if _, err := judged(walk(sys.(*system), seed, seed%2 == 0, 3)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCentralized: everybody asks node 1, which costs the others 3 messages.
func TestCentralized(t *testing.T) {
	for _, set := range []map[string]string{
		{"quorum": "singleton"}, {"quorum": "weighted", "weights": "1,0,0,0"},
	} {
		sys, err := Algorithm().New(4, 1, set)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := serial(t, sys.(*system)), []uint64{0, 3, 3, 3}; !slices.Equal(got, want) {
			t.Errorf("%v: %v messages, want %v", set, got, want)
		}
	}
}

// figure1c is Figure 1(c) of the paper: request sets of 13 nodes, K=4. (The example
// of section 5 is played on them by testdata/section-5.txt and its variation.)
var figure1c = [][]dme.NodeID{
	{1, 2, 3, 4}, {2, 5, 8, 11}, {3, 6, 8, 13}, {4, 6, 10, 11}, {1, 5, 6, 7}, {2, 6, 9, 12}, {2, 7, 10, 13},
	{1, 8, 9, 10}, {3, 7, 9, 11}, {3, 5, 10, 12}, {1, 11, 12, 13}, {4, 7, 8, 12}, {4, 5, 9, 13},
}

// TestColdBurstsOnFigure1b: without repair R1 the nodes 2, 3, 4 and 5 of Figure
// 1(b) can wait for each other for ever, if they ask at once.
func TestColdBurstsOnFigure1b(t *testing.T) {
	sys := listed([][]dme.NodeID{
		{1, 2, 3}, {2, 4, 6}, {3, 5, 6}, {1, 4, 5}, {2, 5, 7}, {1, 6, 7}, {3, 4, 7},
	}, nil)
	for seed := range uint64(500) {
		w := walk(sys, seed, true, 1)
		w.Requests = conformance.Only(2, 3, 4, 5)
		if _, err := judged(w); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAlgorithm(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(*node) }
	suite.Run(t, suite.Suite{
		Algorithm: Algorithm(),
		Breaches: []conformance.Breach{
			{
				Invariant: "one lock", Nodes: 3, Says: "member 1 is locked for (0,0); node 2 holds its lock: true",
				Fault: func(n *conformance.Net) { x := at(n, 2); x.ready(); x.locked.Add(x.MemberIndex(1)) },
				Set:   map[string]string{"quorum": "singleton"},
			},
			{
				Invariant: "one lock", Nodes: 3, Says: "there are 1 locks, not 0",
				Set: map[string]string{"quorum": "singleton"},
				Fault: func(n *conformance.Net) {
					n.Request(2)
					n.Deliver(2, 1, 0)
					at(n, 1).locking = dme.Stamp{Clock: 1, Node: 3}
				},
			},
			{
				Invariant: "one REQUEST", Nodes: 3, Says: "the REQUEST (1,2) is 1 times on its way to member 1 and 1 times in its WAITING QUEUE",
				Set:   map[string]string{"quorum": "singleton"},
				Fault: func(n *conformance.Net) { n.Request(2); at(n, 1).waiting.Insert(dme.Stamp{Clock: 1, Node: 2}) },
			},
			{
				Invariant: "one INQUIRE", Nodes: 3, Says: "1 INQUIREs are on their way from member 1 to node 3",
				Set: map[string]string{"quorum": "singleton"},
				Fault: func(n *conformance.Net) {
					n.Request(3)
					n.Request(2)
					n.Deliver(3, 1, 0)
					n.Deliver(2, 1, 0)
					at(n, 1).inquiring = false
				},
			},
		},
	}, suite.Suite{Algorithm: AsPublished()}, suite.Suite{Algorithm: TextbookAsPublished()})
}

func TestSchedules(t *testing.T) {
	suite.Schedules(t, Algorithm(), AsPublished(), TextbookAsPublished())
}

func TestMutants(t *testing.T) { suite.Mutants(t) }

// setup is a system to run.
type setup struct {
	construction string
	nodes        int
	yield        string
	grants       string
}

func (s setup) String() string {
	return fmt.Sprintf("%s of %d, yield=%s, grants=%s", s.construction, s.nodes, s.yield, s.grants)
}

func (s setup) options() map[string]string {
	return map[string]string{"quorum": s.construction, "yield": s.yield, "grants": s.grants}
}

func (s setup) prepare() *system {
	sys, err := Algorithm().New(s.nodes, 1, s.options())
	if err != nil {
		panic(err)
	}
	return sys.(*system)
}

// on is the algorithm on a system that is there already.
func on(sys *system) *dme.Algorithm {
	a := Algorithm()
	a.Prepare = func(dme.Config) (dme.System, error) { return sys, nil }
	return a
}

// walk is one in which each node asks so many times. In a burst all do before
// anything is delivered.
func walk(sys *system, seed uint64, burst bool, requests int) conformance.Walk {
	w := conformance.Walk{Algorithm: on(sys), Nodes: sys.Nodes(), Requests: conformance.Each(requests), Load: vnet.Churn, Seed: seed}
	if burst {
		w.Load = vnet.Bursts
	}
	return w
}

// judged walks and judges what happens by what the paper promises of every run.
func judged(w conformance.Walk) (*conformance.Net, error) {
	j := &judge{inquired: map[[2]dme.NodeID]bool{}, travelling: make([]int, w.Nodes+1), passed: make([][]uint8, w.Nodes+1)}
	for i := range j.passed {
		j.passed[i] = make([]uint8, w.Nodes+1)
	}
	w.Look = j.look
	net, err := w.Run()
	if err == nil {
		err = atRest(net, w.Requests)
	}
	return net, err
}

// judge keeps what the steps of a run are judged by.
type judge struct {
	inquired   map[[2]dme.NodeID]bool // by link: INQUIRE was sent since the last LOCKED
	travelling []int                  // REQUESTs of node i that have not arrived
	passed     [][]uint8              // how often node j entered since all REQUESTs of i had arrived
}

// look checks that no lock is inquired about twice, and that nobody is overtaken
// for ever.
func (j *judge) look(net *conformance.Net, e *vnet.Event) error {
	switch {
	case e.Step.Kind == dme.Request:
		clear(j.passed[e.Node])
	case e.Step.Kind == dme.Receive && e.Msg.Kind == kindRequest:
		j.travelling[e.From]--
	}
	for _, x := range e.Effects {
		link := [2]dme.NodeID{e.Node, x.To}
		switch {
		case x.Kind == dme.Enter:
			if err := j.entry(net, e.Node); err != nil {
				return err
			}
		case x.Msg.Kind == kindRequest:
			j.travelling[e.Node]++
		case x.Msg.Kind == kindLocked:
			j.inquired[link] = false
		case x.Msg.Kind == kindInquire:
			if j.inquired[link] {
				return fmt.Errorf("node %d inquires twice about one lock of node %d", e.Node, x.To)
			}
			j.inquired[link] = true
		}
	}
	return nil
}

func (j *judge) entry(net *conformance.Net, id dme.NodeID) error {
	for i := dme.NodeID(1); int(i) <= net.Setting.Nodes; i++ {
		if net.Host(i).Activity() != noderun.Requesting || j.travelling[i] > 0 {
			continue
		}
		if j.passed[i][id]++; j.passed[i][id] > 2 {
			return fmt.Errorf("overtaken: node %d entered %d times since node %d's REQUESTs arrived", id, j.passed[i][id], i)
		}
	}
	return nil
}

// atRest examines a run after which nothing is left to do.
func atRest(net *conformance.Net, requests func(dme.NodeID) int) error {
	var asked, members uint64
	yieldAlways := false
	for id := dme.NodeID(1); int(id) <= net.Setting.Nodes; id++ {
		n := net.Host(id).Node().(*node)
		if !n.request.IsZero() || !n.locked.Empty() || !n.failed.Empty() || !n.inquired.Empty() ||
			!n.locking.IsZero() || len(n.waiting) > 0 || n.inquiring {
			return fmt.Errorf("not quiescent: node %d\n%s", id, net.States())
		}
		yieldAlways = n.yieldAlways
		self := 0
		if n.MemberIndex(n.ID) >= 0 {
			self = 1
		}
		asked += uint64(requests(id) * (len(n.Members) - self))
		members += uint64(requests(id) * len(n.Members))
	}
	sent := net.SentOf
	for _, x := range []struct {
		holds bool
		what  string
	}{
		{sent(kindRequest) == asked, "one REQUEST for each other member"},
		{sent(kindRelease) == asked, "one RELEASE for each other member"},
		{sent(kindLocked) == asked+sent(kindRelinquish), "one LOCKED for each REQUEST and each RELINQUISH"},
		{sent(kindRelinquish) <= sent(kindInquire) && sent(kindInquire) <= sent(kindLocked), "RELINQUISH ≤ INQUIRE ≤ LOCKED"},
		{sent(kindFailed)+sent(kindInquire) <= members, "a REQUEST causes a FAILED or an INQUIRE, not both"},
		{!yieldAlways || sent(kindFailed) == 0, "no FAILED with yield=always"},
		{net.Sent() <= 3*asked+3*members, "3(K−1) messages and 3 for each arrival at most"},
	} {
		if !x.holds {
			return fmt.Errorf("message counts: %d REQUEST, %d LOCKED, %d INQUIRE, %d RELINQUISH, %d FAILED, %d RELEASE: want %s",
				sent(kindRequest), sent(kindLocked), sent(kindInquire), sent(kindRelinquish), sent(kindFailed), sent(kindRelease), x.what)
		}
	}
	return nil
}

// listed makes a system of given sets.
func listed(sets [][]dme.NodeID, set map[string]string) *system {
	opt, err := Algorithm().Resolve(set)
	if err != nil {
		panic(err)
	}
	s, err := quorum.List("listed", sets)
	if err != nil {
		panic(err)
	}
	return &system{s, func(s site) dme.Node { return newNode(s, rulesOf(opt)) }}
}

// inPrecedence orders requests as slices.Sort wants it.
func inPrecedence(a, b dme.Stamp) int {
	if a.Precedes(b) {
		return -1
	}
	return 1
}

func TestRefusals(t *testing.T) {
	var out dme.Outbox
	for _, x := range []struct {
		grants string
		from   dme.NodeID
		m      dme.Message
		reason string
	}{
		{"plain", 5, dme.Message{Kind: kindRequest}, "clock"},
		{"plain", 5, dme.Message{Kind: kindRequest, Clock: 1 << 63}, "clock"},
		{"plain", 5, dme.Message{Kind: 9, Clock: 1}, "kind"},
		{"plain", 13, dme.Message{Kind: kindWithdraw, Clock: 3}, "no request"},
		{"plain", 12, dme.Message{Kind: kindReclaim, Req: dme.Stamp{Clock: 1, Node: 12}}, "not lost"},
		{"plain", 12, dme.Message{Kind: kindReclaim, Req: dme.Stamp{Clock: 1, Node: 9}}, "no such request"},
		{"plain", 1, dme.Message{Kind: kindRequest, Clock: 3}, "must not ask"},
		{"plain", 9, dme.Message{Kind: kindRequest, Clock: 3}, "waits already"},
		{"plain", 12, dme.Message{Kind: kindRequest, Clock: 3}, "holds the lock"},
		{"numbered", 12, dme.Message{Kind: kindRequest, Clock: 1}, "holds the lock"},
		{"plain", 3, dme.Message{Kind: kindLocked, Clock: 3}, "was not asked"},
		{"plain", 2, dme.Message{Kind: kindLocked, Clock: 3}, "without a request"},
		{"plain", 2, dme.Message{Kind: kindFailed, Clock: 3}, "without a request"},
		{"numbered", 2, dme.Message{Kind: kindInquire, Clock: 3, Num: 2}, "does not exist"},
		{"plain", 12, dme.Message{Kind: kindRelinquish, Clock: 3}, "not inquired"},
		{"plain", 9, dme.Message{Kind: kindRelease, Clock: 3}, "not held"},
		{"numbered", 12, dme.Message{Kind: kindRelease, Clock: 3}, "not held"},
	} {
		// Node 7 of Figure 1(c), locked for node 12, with node 9 waiting.
		n := listed(figure1c, map[string]string{"grants": x.grants}).Node(7)
		n.Receive(12, dme.Message{Kind: kindRequest, Clock: 1}, &out)
		n.Receive(9, dme.Message{Kind: kindRequest, Clock: 2}, &out)
		out.Reset()
		n.Receive(x.from, x.m, &out)
		e := out.Effects()
		if len(e) != 1 || e[0].Kind != dme.Refuse || !strings.Contains(e[0].Reason, x.reason) {
			t.Errorf("%s: %+v of node %d: want a refusal that says %q, got %+v", x.grants, x.m, x.from, x.reason, e)
		}
		out.Reset()
	}
}

// TestMemory: a node of a system of about a million takes memory that grows with
// K ≈ √N, not with N: two lists of K nodes, sets of K bits each, and with numbered
// grants K numbers.
func TestMemory(t *testing.T) {
	const nodes = 499*499 + 499 + 1 // a plane
	for _, x := range []struct {
		a   *dme.Algorithm
		set map[string]string
	}{{Algorithm(), nil}, {Algorithm(), map[string]string{"grants": "numbered"}}, {AsPublished(), nil}, {TextbookAsPublished(), nil}} {
		sys, err := x.a.New(nodes, 1, x.set)
		if err != nil {
			t.Fatal(err)
		}
		const k = 500
		if got := len(x.a.RequestSet(sys, nodes)); got != k {
			t.Fatalf("K = %d, want %d", got, k)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n := sys.Node(nodes)
		runtime.ReadMemStats(&after)
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 24*k {
			t.Errorf("%s, %v: a node of %d takes %d bytes, more than 24K", x.a.Name, x.set, nodes, bytes)
		}
		var out dme.Outbox
		n.Request(&out)
		if got := len(out.Effects()); got != k-1 {
			t.Errorf("%s: %d REQUESTs, want %d", x.a.Name, got, k-1)
		}
	}
}
