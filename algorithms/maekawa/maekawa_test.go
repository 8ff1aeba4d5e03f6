package maekawa

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/testkit"
)

var (
	fault = flag.String("fault", "", "search for this fault only")
)

// setups are the systems that are searched.
func setups() []setup {
	var all []setup
	for _, x := range []struct {
		construction string
		nodes        int
	}{
		{"plane", 1}, {"plane", 2}, {"plane", 3}, {"plane", 5}, {"plane", 7}, {"plane", 13}, {"plane", 31},
		{"grid", 9}, {"majority", 5}, {"tree", 7}, {"singleton", 4},
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
			seeds := 3000 / s.nodes
			if testing.Short() {
				seeds /= 3
			}
			if testkit.Full() {
				seeds *= 20
			}
			for seed := range uint64(seeds) {
				w := walk(sys, seed, burst, 3)
				w.Reorder = s.grants == "numbered" && seed%4 < 3
				if _, err := judged(w); err != nil && strings.Contains(err.Error(), *fault) {
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

// TestOneNode: a node that is alone enters at once, again and again.
func TestOneNode(t *testing.T) {
	for _, construction := range quorum.Names() {
		if strings.HasPrefix(construction, "file:") {
			continue
		}
		n := setup{construction, 1, "failed", "plain"}.prepare().Node(1)
		var out dme.Outbox
		for range 3 {
			n.Request(&out)
			if e := out.Effects(); len(e) != 1 || e[0].Kind != dme.EffectEnter {
				t.Fatalf("%s: a request has the effects %+v, want an entry", construction, e)
			}
			out.Reset()
			n.Release(&out)
			if e := out.Effects(); len(e) != 0 {
				t.Fatalf("%s: a release has the effects %+v, want none", construction, e)
			}
		}
	}
}

func TestDescription(t *testing.T) {
	a := Algorithm()
	if err := a.Check(); err != nil {
		t.Error(err)
	}
	for grants, fifo := range map[string]bool{"plain": true, "numbered": false} {
		opt, err := a.Resolve(map[string]string{"grants": grants})
		if err != nil {
			t.Fatal(err)
		}
		if needs := a.Needs(opt); needs != (dme.Needs{Reliable: true, FIFO: fifo}) {
			t.Errorf("grants=%s needs %+v", grants, needs)
		}
	}
	for _, set := range []map[string]string{
		{"quorum": "star"}, {"weights": "1,1,1,1,1,1,1"}, {"yield": "never"}, {"grants": "1"}, {"K": "4"},
	} {
		if _, err := a.New(7, 1, set); err == nil {
			t.Errorf("%v was accepted", set)
		}
	}
	if _, err := a.New(0, 1, nil); err == nil {
		t.Error("no nodes were accepted")
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

// TestPeers: a node sends to the members of its set and to those whose sets it
// is in, and to nobody else; S_7 of Figure 1(c) is {2,7,10,13}, and 7 is in the
// sets of 5, 7, 9 and 12.
func TestPeers(t *testing.T) {
	sys := listed(figure1c, nil)
	if got, want := sys.Peers(7), []dme.NodeID{2, 5, 9, 10, 12, 13}; !slices.Equal(got, want) {
		t.Errorf("peers of 7: %v, want %v", got, want)
	}
	if got, want := sys.RequestSet(7), figure1c[6]; !slices.Equal(got, want) {
		t.Errorf("S_7 = %v, want %v", got, want)
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

// The invariants can be broken: each of these states breaks one.
func TestInvariants(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(*node) }
	conformance.TestInvariants(t, Algorithm(),
		conformance.Breach{
			Invariant: "one lock", Nodes: 3, Says: "member 1 is locked for (0,0); node 2 holds its lock: true",
			Fault: func(n *conformance.Net) { x := at(n, 2); x.locked.Add(x.MemberIndex(1)) },
			Set:   map[string]string{"quorum": "singleton"},
		},
		conformance.Breach{
			Invariant: "one lock", Nodes: 3, Says: "there are 1 locks, not 0",
			Set: map[string]string{"quorum": "singleton"},
			Fault: func(n *conformance.Net) {
				n.Request(2)
				n.Deliver(2, 1, 0)
				at(n, 1).locking = dme.Stamp{Clock: 1, Node: 3}
			},
		},
		conformance.Breach{
			Invariant: "one REQUEST", Nodes: 3, Says: "the REQUEST (1,2) is 1 times on its way to member 1 and 1 times in its WAITING QUEUE",
			Set:   map[string]string{"quorum": "singleton"},
			Fault: func(n *conformance.Net) { n.Request(2); at(n, 1).waiting.Insert(dme.Stamp{Clock: 1, Node: 2}) },
		},
		conformance.Breach{
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
	)
}

// mutant is the algorithm with one repair, or one rule of the paper, taken out.
type mutant struct {
	name     string
	file     string
	old, new string
	caught   string // what the search says
}

const (
	lockTwice  = "one lock: " // the invariant
	unfair     = "overtaken: "
	leftOver   = "not quiescent: "
	inquisitor = "one INQUIRE: "
)

var mutants = []mutant{
	{"R1", "arbiter.go",
		"\tif others && head.Precedes(n.locking) {\n\t\tn.fail(head, out)\n\t}\n", "", conformance.Stalled},
	{"R2 in the critical section, yield=always", "requester.go",
		"if !n.pending() || !n.locked.Has(j) ||", "if !n.pending() && !n.yieldAlways || !n.locked.Has(j) ||", lockTwice},
	{"R2 for the next request", "requester.go",
		"if !n.pending() || !n.locked.Has(j) ||", "if !n.pending() ||", lockTwice},
	{"R2 altogether", "requester.go",
		"if !n.pending() || !n.locked.Has(j) || n.numbered && grant != n.grants[j] {", "if false {", leftOver},
	{"R3 for relinquished members", "requester.go",
		"\t\tn.failed.Add(j)\n\t}\n\tn.send", "\t}\n\tn.send", conformance.Stalled},
	{"R3 for members that lock later", "requester.go",
		"\tn.failed.Remove(j) // R3: j has not failed this node any more\n", "", leftOver},
	{"R4", "requester.go",
		"\t// next FAILED.\n\tn.inquired.Add(j)\n", "\t// next FAILED.\n", conformance.Stalled},
	{"clock on REQUEST only", "node.go",
		"\tn.clock = max(n.clock, m.Clock)\n", "\tif m.Kind == kindRequest {\n\t\tn.clock = max(n.clock, m.Clock)\n\t}\n", unfair},
	{"FAILED compares with the lock only", "arbiter.go",
		"if n.locking.Precedes(r) || others && head.Precedes(r) {", "if n.locking.Precedes(r) {", conformance.Stalled},
	{"several INQUIREs for one lock", "arbiter.go",
		"\tif !n.inquiring {\n", "\tif true {\n", inquisitor},
	{"relock in order of arrival", "arbiter.go",
		"\tn.waiting.Insert(r)\n\tif n.locking", "\tn.waiting = append(n.waiting, r)\n\tif n.locking", conformance.Stalled},
	{"numbered: an INQUIRE before its LOCKED is forgotten", "requester.go",
		"// ask again, so it is kept until that LOCKED arrives.\n\t\tn.inquired.Add(j)\n",
		"// ask again, so it is kept until that LOCKED arrives.\n", conformance.Stalled},
	{"numbered: a late FAILED counts", "requester.go",
		"if n.numbered && (about != n.request || n.locked.Has(j)) {", "if false {", leftOver},
}

// TestMutantsAreCaught shows that TestRandomSchedules can fail: it must, for
// every mutant.
func TestMutantsAreCaught(t *testing.T) {
	var all []conformance.Mutant
	for _, m := range mutants {
		all = append(all, conformance.Mutant{Name: m.name, File: m.file, Old: m.old, New: m.new, Caught: m.caught})
	}
	conformance.TestMutants(t, "^TestRandomSchedules$", all...)
}
