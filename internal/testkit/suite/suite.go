// Package suite runs what the packages of algorithms/ say of their algorithms as data: a
// [Suite] for each algorithm, schedules step by step in testdata (see [Schedules]), and
// mutants in testdata/*.patch (see [Mutants]).
package suite

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/conformance"
	"dmebench/internal/search/check"
	"dmebench/internal/search/trace"
	"dmebench/internal/testkit"
)

// Suite describes one algorithm.
type Suite struct {
	Algorithm *dme.Algorithm
	Breaches  []conformance.Breach // a state that breaks each invariant
	Refusals  []Refusals
	Searches  []Search

	AllocatesNothing bool // no handler does, once lists have grown
}

// Refusals are messages that no node can get as things are.
type Refusals struct {
	Start    func() *conformance.Net // a network in which they arrive
	From, To dme.NodeID              // where a message does not say otherwise
	Messages []Refused
}

// Refused is a series of messages, the last of which must be refused, and no other. A refused
// message leaves its receiver as it was.
type Refused struct {
	What     string
	From, To dme.NodeID // 0: those of the [Refusals]
	Series   []dme.Message
	Says     string // a part of the reason
}

// Search is one of a few random schedules, if Schedules is set, and else one of all
// schedules. It must find nothing.
type Search struct {
	check.Options
	Nodes []int // numbers of nodes; nil: that of the options
}

// Run tests what each suite says, and that its algorithm conforms: with all schedules of
// [conformance.Test] if tests may take long.
func Run(t *testing.T, suites ...Suite) {
	for _, s := range suites {
		t.Run(s.Algorithm.Name, func(t *testing.T) {
			t.Run("conformance", func(t *testing.T) {
				switch {
				case testkit.Full():
					conformance.Test(t, s.Algorithm)
				case testkit.Long():
					conformance.Sample(t, s.Algorithm, 3, math.MaxInt)
				default:
					conformance.Sample(t, s.Algorithm, 10, 6)
				}
			})
			if !s.Algorithm.AsPublished {
				t.Run("invariants", func(t *testing.T) { conformance.TestInvariants(t, s.Algorithm, s.Breaches...) })
			}
			if s.AllocatesNothing {
				t.Run("allocations", func(t *testing.T) { allocatesNothing(t, s.Algorithm) })
			}
			for _, r := range s.Refusals {
				t.Run("refusals", r.test)
			}
			for _, x := range s.Searches {
				t.Run("search", func(t *testing.T) { x.Test(t, s.Algorithm) })
			}
		})
	}
}

// EverySetOfFailedNodes lets any but all nodes of a system be down, as everybody knows, or crash
// when a live node has asked: it enters if there is a quorum, which the algorithm knows as well,
// waits if there is none, and enters when all are back. stride leaves out sets: one in that many is
// tried.
func EverySetOfFailedNodes(
	t *testing.T, a *dme.Algorithm, nodes, stride int, set map[string]string, quorum func(up func(dme.NodeID) bool) bool,
) {
	t.Helper()
	entered, waited := 0, 0
	for mask := 0; mask < 1<<nodes-1; mask += stride {
		var down []dme.NodeID
		var asks dme.NodeID
		for id := dme.NodeID(1); int(id) <= nodes; id++ {
			switch {
			case mask>>(id-1)&1 == 1:
				down = append(down, id)
			case asks == dme.None || mask%int(id) == 0:
				asks = id
			}
		}
		for _, before := range []bool{true, false} { // the request, or the crashes
			net := conformance.Make(t, a, nodes, set)
			if before {
				net.Request(asks)
			}
			for _, id := range down {
				net.Crash(id)
			}
			if !before {
				net.Settle()
				net.Request(asks)
			}
			net.Settle()
			want := quorum(func(id dme.NodeID) bool { return !slices.Contains(down, id) })
			in := slices.Contains(net.Inside(), asks)
			if in != want || want != a.Survives(net.Setting, down) {
				t.Fatalf("%v: %v down, node %d asks: is in: %v, there is a quorum: %v\n%s", set, down, asks, in, want, net.States())
			}
			if want {
				entered++
				continue
			}
			waited++
			for _, id := range down {
				net.Restart(id)
			}
			net.Settle()
			if !slices.Contains(net.Inside(), asks) || net.Err() != nil || net.Refused() > 0 {
				t.Fatalf("%v: %v are back, and node %d waits; %d refused, %v\n%s", set, down, asks, net.Refused(), net.Err(), net.States())
			}
		}
	}
	if entered == 0 || waited == 0 {
		t.Errorf("%v: %d entered, %d waited", set, entered, waited)
	}
}

func (r Refusals) test(t *testing.T) {
	for _, x := range r.Messages {
		net := r.Start()
		if err := net.Refuses(cmp.Or(x.From, r.From), cmp.Or(x.To, r.To), x.Series); err != nil {
			t.Errorf("%s: %v", x.What, err)
		} else if !strings.Contains(net.Refusal(), x.Says) {
			t.Errorf("%s: refused for %q, want %q", x.What, net.Refusal(), x.Says)
		}
	}
}

func (x Search) Test(t *testing.T, a *dme.Algorithm) {
	if x.Nodes == nil {
		x.Nodes = []int{x.Options.Nodes}
	}
	for _, nodes := range x.Nodes {
		o, search := x.Options, check.Exhaustive
		o.Nodes = nodes
		if o.Schedules > 0 {
			search = check.Random
		}
		if o.Requests == 0 {
			o = check.Defaults(a, nodes, x.Set)
			o.Schedules = x.Schedules
		}
		r, err := search(t.Context(), a, o)
		if err == nil {
			err = r.Err()
		}
		if err != nil {
			t.Errorf("%d nodes, %d requests, %v: %v", nodes, o.Requests, o.Set, err)
		}
	}
}

// Schedules plays the scenarios of testdata and compares what comes of their steps with
// what the files say; the flag -rewrite writes it. The worked examples that users see are
// files of one scenario, *.txt; other schedules stand in *.trace with a line === between
// them. See [trace] for how to read them.
func Schedules(t *testing.T, algorithms ...*dme.Algorithm) {
	var files []string
	for _, pattern := range []string{"testdata/*.trace", "testdata/*.txt", "testdata/*/*.txt"} {
		some, _ := filepath.Glob(pattern)
		files = append(files, some...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !trace.IsScenario(text) {
			continue
		}
		var played [][]byte
		for i, one := range bytes.Split(text, []byte(between)) {
			s, err := trace.Parse(fmt.Sprintf("%s, scenario %d", file, i+1), one)
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(algorithms, func(a *dme.Algorithm) bool { return a.Name == s.Algorithm })
			if at < 0 {
				t.Fatalf("%s: there is no %s", s.Name, s.Algorithm)
			}
			got, err := s.Play(algorithms[at], func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(filepath.Dir(file), name)) })
			if err != nil {
				t.Fatal(err)
			}
			played = append(played, got.Text)
		}
		testkit.FileMustBe(t, file, bytes.Join(played, []byte(between)))
	}
}

const between = "===\n"

// Mutants rewrites the package by each of the mutants of testdata/*.patch, which the
// tests named there must notice: see [conformance.TestMutants]. One of four is tried,
// unless DMEBENCH_TESTS is "full"; that all can be made is looked at always. A mutant begins
// with its name and goes on with what Mutant's fields hold:
//
//	# the privilege leaves while it is used
//	test ^TestSchedules$
//	caught are in the critical section
//	file raymond.go
//	-if n.holder != n.self || n.using {
//	+if n.holder != n.self {
func Mutants(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.patch")
	if len(files) == 0 {
		t.Fatal("no testdata/*.patch")
	}
	byTest, number := make(map[string][]conformance.Mutant), 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for one := range strings.SplitSeq("\n"+strings.TrimSpace(string(text)), "\n# ") {
			if one == "" {
				continue
			}
			test, m, err := parseMutant(one)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if _, err := m.Applied(); err != nil {
				t.Errorf("%s: mutant %q: %v", file, m.Name, err)
			}
			if number++; testkit.Full() || number%4 == 1 {
				byTest[test] = append(byTest[test], m)
			}
		}
	}
	for _, test := range slices.Sorted(maps.Keys(byTest)) {
		conformance.TestMutants(t, test, byTest[test]...)
	}
}

func parseMutant(text string) (test string, m conformance.Mutant, err error) {
	var edits [][2][]string
	sign := byte('+')
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch {
		case i == 0:
			m.Name = line
		case line[0] == '-':
			if sign == '+' {
				edits = append(edits, [2][]string{})
			}
			sign = '-'
			edits[len(edits)-1][0] = append(edits[len(edits)-1][0], line[1:])
		case line[0] == '+' && len(edits) > 0:
			sign = '+'
			edits[len(edits)-1][1] = append(edits[len(edits)-1][1], line[1:])
		case line == "and":
			sign = '+'
		case key == "test":
			test = value
		case key == "caught":
			m.Caught = value
		case key == "file":
			m.File = value
		case key == "args":
			m.Args = append(m.Args, value)
		default:
			return "", m, fmt.Errorf("mutant %q: what is %q?", m.Name, line)
		}
	}
	if test == "" || m.File == "" || len(edits) == 0 {
		return "", m, fmt.Errorf("mutant %q: want a test, a file, and lines that go", m.Name)
	}
	for i, e := range edits {
		old, replacement := strings.Join(e[0], "\n"), strings.Join(e[1], "\n")
		if i == 0 {
			m.Old, m.New = old, replacement
		} else {
			m.More = append(m.More, [2]string{old, replacement})
		}
	}
	return test, m, nil
}

const handlersOf = 64

// rehearsal lets all nodes of a system enter in turn, without a network.
type rehearsal struct{ *claim.Rehearsal }

func newRehearsal(t testing.TB, a *dme.Algorithm) rehearsal {
	t.Helper()
	sys, err := a.New(handlersOf, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := rehearsal{claim.Rehearse(dme.Setting{Nodes: handlersOf, System: sys})}
	m.round(t) // lists grow to their length
	return m
}

// round lets each node ask, enter and leave once.
func (m rehearsal) round(t testing.TB) {
	m.Entered = dme.None
	for id := range dme.NodeID(handlersOf) {
		m.Do(id+1, dme.Node.Request)
	}
	for served := range handlersOf {
		m.Settle()
		id := m.Entered
		if m.Entered = dme.None; id == dme.None {
			t.Fatalf("%d of %d nodes are served, and nothing moves", served, handlersOf)
		}
		m.Do(id, dme.Node.Release)
	}
}

func allocatesNothing(t *testing.T, a *dme.Algorithm) {
	m := newRehearsal(t, a)
	m.round(t)
	if got := testing.AllocsPerRun(10, func() { m.round(t) }); got != 0 {
		t.Errorf("%v allocations for %d entries", got, handlersOf)
	}
}

// Benchmark measures the handlers of an algorithm, with nothing but a queue between them,
// per message received.
func Benchmark(b *testing.B, a *dme.Algorithm) {
	m := newRehearsal(b, a)
	m.Received = 0
	for b.Loop() {
		m.round(b)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(m.Received), "ns/message")
}
