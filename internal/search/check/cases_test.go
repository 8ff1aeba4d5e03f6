package check

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dmebench/algorithms"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/vnet"
	"dmebench/internal/testkit"
	"dmebench/internal/testkit/toys"
)

// TestCases carries out the searches that the files in testdata name, each on a line that
// is not indented, and compares what comes of them with the indented lines below it;
// -rewrite writes these. A search is a command, an algorithm or a toy, and the options
// that differ from the zero value; '+Defaults' begins with [Defaults].
//
// Whatever is found is held to what must be true of every counterexample, and of every
// search: see shown, minimal, follow and alike.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || files == nil {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			for line := range strings.Lines(string(text)) {
				line = strings.TrimRight(line, "\n")
				if strings.HasPrefix(line, " ") {
					continue
				}
				fmt.Fprintln(&out, line)
				if line != "" && line[0] != '#' {
					c := &testCase{T: t, line: line, out: &out}
					c.run()
				}
			}
			testkit.FileMustBe(t, file, out.Bytes())
		})
	}
}

type testCase struct {
	*testing.T
	line string
	out  *bytes.Buffer
	alg  *dme.Algorithm
	o    Options
}

func (c *testCase) say(format string, args ...any) { fmt.Fprintf(c.out, "  "+format+"\n", args...) }

func (c *testCase) run() {
	line, steps, _ := strings.Cut(c.line, ": ")
	words := strings.Fields(line)
	c.alg = algorithm(c.T, words[1])
	for _, word := range words[2:] {
		c.option(word)
	}
	if words[0] == "prove" {
		c.prove()
		return
	}
	switch s, err := New(c.alg, c.o); {
	case err != nil:
		for l := range strings.Lines(err.Error()) {
			c.say("%s", strings.TrimSpace(l))
		}
	case words[0] == "options":
		for _, note := range s.Notes() {
			c.say("note: %s", note)
		}
		if w := s.Watched(); w != "" {
			c.say("watched: %s", w)
		}
		c.say("%d of %d nodes ask, links {Unordered:%v Duplicate:%v Lose:%d}, sequenced %v, patience %d", s.Askers(), s.Nodes,
			s.Unordered, s.Duplicate, s.Lose, s.Sequenced(), s.Patience)
	case words[0] == "random":
		c.random(s)
	case words[0] == "exhaustive":
		c.exhaustive(s)
	case words[0] == "liveness":
		c.liveness(s)
	case words[0] == "backlog":
		c.say("%d messages on a link", s.Backlog(20))
	case words[0] == "draw":
		c.draw(s)
	case words[0] == "replay":
		c.replay(s, steps)
	default:
		c.Fatalf("%q is no search", words[0])
	}
}

func algorithm(t *testing.T, name string) *dme.Algorithm {
	for _, a := range slices.Concat(toys.All(), algorithms.All()) {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("there is no algorithm %q", name)
	return nil
}

// option sets an option by the name of its field.
func (c *testCase) option(word string) {
	name, value, _ := strings.Cut(word, "=")
	field := reflect.ValueOf(&c.o).Elem().FieldByName(name)
	number := func() int64 {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			c.Fatal(word, err)
		}
		return n
	}
	switch {
	case name == "+Defaults":
		c.o = Defaults(c.alg, int(number()), c.o.Set)
	case name == "+Promised": // claims that it is free of starvation
		promised := *c.alg
		promised.Claims = append(slices.Clone(claim.Of(c.alg)), claim.SafeAndLive("nowhere")...)
		c.alg = &promised
	case name == "+NeverAt3": // an invariant that is false
		boastful := *c.alg
		boastful.Invariants = append(slices.Clone(c.alg.Invariants), dme.Invariant{
			Name: "never at 3", Citation: "nobody", Statement: "node 3 never has the token",
			Holds: func(v dme.GlobalView) error {
				if boastful.HasToken(v.Node(3)) {
					return dme.Broken([]dme.NodeID{3}, "node 3 has the token")
				}
				return nil
			},
		})
		c.alg = &boastful
	case name == "Set":
		key, value, _ := strings.Cut(value, ":")
		c.o.Set = maps.Clone(c.o.Set)
		if c.o.Set == nil {
			c.o.Set = map[string]string{}
		}
		c.o.Set[key] = value
	case name == "Requesters":
		for id := range strings.SplitSeq(value, ",") {
			n, err := strconv.Atoi(id)
			if err != nil {
				c.Fatal(word, err)
			}
			c.o.Requesters = append(c.o.Requesters, dme.NodeID(n))
		}
	case field.Kind() == reflect.Bool:
		field.SetBool(value != "false")
	case field.Kind() == reflect.String:
		field.SetString(value)
	case field.CanInt():
		field.SetInt(number())
	case field.CanUint():
		field.SetUint(uint64(number()))
	default:
		c.Fatalf("%q is no option", word)
	}
}

// violation writes down what was found, and how.
func (c *testCase) violation(v *vnet.Violation, t *Trace) {
	c.say("%s, nodes %v: %s", v.Property, v.Nodes, v.Verdict)
	if t == nil {
		return
	}
	c.lines(t)
	for _, s := range t.States {
		c.say("  %s", s)
	}
	c.shown(v, t)
	if v.Property == Starvation && t.Repeats == 0 {
		fair(c.T, t)
	}
}

// lines writes down a schedule, of a long one the beginning and the end, and why it comes
// to a standstill.
func (c *testCase) lines(t *Trace) {
	const most = 24
	lines := t.Lines()
	if more := len(lines) - most; more > 0 {
		lines = slices.Concat(lines[:most/2], []string{fmt.Sprintf("  … %d more", more)}, lines[len(lines)-most/2:])
	}
	for _, l := range slices.Concat(lines, t.Why()) {
		c.say("%s", l)
	}
}

func (c *testCase) random(s *Search) {
	s.Workers = 1
	r := s.Random(c.Context())
	c.say("%d schedules from seed %d, %d steps, %d entries, most overtaken %d", r.Schedules, r.Seed, r.Steps, r.Entries, r.MaxBypass)
	c.outcome(r)
	if r.Trace != nil && r.Violation.Property != Starvation && r.Violation.Property != Liveness && r.Violation.Property != Rest {
		c.minimal(s, r.Trace)
	}
	// The same, with any number of workers, in parts, and by the seed alone.
	s.Workers = 3
	many := s.Random(c.Context())
	parted := c.parted(s, 7)
	for name, other := range map[string]Report{"three workers": many, "parts": parted} {
		if x, y := plain(other), plain(r); !reflect.DeepEqual(x, y) {
			c.Errorf("%s: by %s\n%+v\nwant\n%+v", c.line, name, x, y)
		}
	}
	if r.Violation != nil && r.Trace != nil {
		s.Seed, s.Schedules = r.Seed, 1
		if again := s.Random(c.Context()); again.Violation == nil || !slices.Equal(again.Trace.Lines(), r.Trace.Lines()) {
			c.Errorf("%s: by its seed %+v", c.line, again.Violation)
		}
	}
}

// outcome writes down how a search has ended.
func (c *testCase) outcome(r Report) {
	if r.Starved > 0 {
		c.say("%d schedules starve a node: %s", r.Starved, r.Starving)
	}
	if r.Refused > 0 {
		c.say("%d messages refused: %s", r.Refused, r.Refusal)
	}
	switch {
	case r.Violation != nil:
		c.violation(r.Violation, r.Trace)
	case !r.Complete:
		c.say("not complete: %s", r.Stopped)
	}
	if r.Elapsed <= 0 || r.Complete != (r.Violation == nil && r.Stopped == "") {
		c.Errorf("%s: complete %v, stopped by %q, in %v", c.line, r.Complete, r.Stopped, r.Elapsed)
	}
	want := ""
	switch {
	case r.Violation != nil:
		want = r.Violation.Verdict
	case !r.Complete:
		want = r.Stopped
	case r.Refused > 0:
		want = r.Refusal
	}
	if err := r.Err(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		c.Errorf("%s: %v", c.line, err)
	}
}

func (c *testCase) exhaustive(s *Search) {
	var at Reached
	layers := 0
	s.Workers = 1
	s.Reach = func(r Reached) {
		if !s.Reduce && (r.Layer > at.Layer+1 || r.States < at.States) || r.Held <= 0 || r.Open > r.States {
			c.Errorf("%s: after %+v comes %+v", c.line, at, r)
		}
		at, layers = r, layers+1
	}
	r, err := s.Exhaustive(c.Context())
	if err != nil {
		c.say("%v", err)
		return
	}
	if r.Violation == nil {
		c.say("%d states, %d steps, depth %d, reduced %v, by class %v, most overtaken %d, never sent %v",
			r.States, r.Steps, r.Depth, r.Reduced, r.ByClass, r.MaxBypass, r.NeverSent)
	}
	c.outcome(r)
	if r.Complete && (at.States != r.States || at.Open != 0) || layers == 0 && r.Steps > 0 {
		c.Errorf("%s: in the end %+v, and %d states", c.line, at, r.States)
	}
	s.Reach = nil
	if r.Trace != nil {
		c.minimal(s, r.Trace)
	}
	c.alike(s, r)
}

func (c *testCase) liveness(s *Search) {
	r, err := s.Liveness(c.Context())
	if err != nil {
		c.say("%v", err)
		return
	}
	c.say("%s of node %d: %d states, %d steps, depth %d, never sent %v", r.Verdict, r.Node, r.States, r.Steps, r.Depth, r.NeverSent)
	if r.Stopped != "" {
		c.say("stopped: %s", r.Stopped)
	}
	if (r.Lasso != nil) != (r.Verdict != Holds && r.Verdict != Incomplete) || r.Elapsed <= 0 {
		c.Errorf("%s: verdict %s, lasso %v", c.line, r.Verdict, r.Lasso)
	}
	if r.Lasso != nil {
		c.violation(r.Violation, r.Trace)
		if r.Trace.Repeats != len(r.Lasso.Loop) {
			c.Errorf("%s: %d steps repeat, of a loop of %d", c.line, r.Trace.Repeats, len(r.Lasso.Loop))
		}
		follow(c.T, s, r)
	}
}

// prove writes down what can be proven, with limits of Requests a node.
func (c *testCase) prove() {
	results, err := Prove(c.Context(), []*dme.Algorithm{c.alg}, ProofOptions{
		Nodes: c.o.Nodes, Each: c.o.Requests, States: c.o.States, Set: c.o.Set, Workers: 1,
	})
	if err != nil {
		c.say("%v", err)
		return
	}
	var table strings.Builder
	if err := ProofTable(results).WriteMarkdown(&table); err != nil {
		c.Fatal(err)
	}
	for line := range strings.Lines(table.String()) {
		c.say("%s", strings.TrimSpace(line))
	}
}

// draw writes down which schedules seeds stand for, in short.
func (c *testCase) draw(s *Search) {
	for k := range s.Schedules {
		one, broken := s.schedule(c.Context(), int64(k), nil)
		p, err := s.plan(s.Seed + uint64(k))
		if err != nil {
			c.Fatal(err)
		}
		h := fnv.New64a()
		for _, x := range one.taken {
			fmt.Fprintln(h, x)
		}
		first := ""
		for i, x := range one.taken[:min(6, len(one.taken))] {
			first += strings.Repeat(", ", min(i, 1)) + x.String()
		}
		c.say("seed %d, victim %d: %d steps, %016x, %s …", s.Seed+uint64(k), p.victim, len(one.taken), h.Sum64(), first)
		if broken != nil {
			c.say("  %s", broken.Verdict)
		}
	}
}

// replay takes steps, or as many of them as are possible, and lets the network run on if
// they end with 'and so on'.
func (c *testCase) replay(s *Search, text string) {
	text, on := strings.CutSuffix(text, ", and so on")
	var steps []vnet.Step
	for word := range strings.SplitSeq(text, ", ") {
		steps = append(steps, parseStep(c.T, word))
	}
	t, taken := s.replay(plan{model: s.model}, steps, on)
	if len(taken) < len(steps) {
		c.say("%d of %d steps are possible", len(taken), len(steps))
	}
	c.lines(t)
	if t.Violation.Property != "" {
		c.say("%s: %s", t.Violation.Property, t.Violation.Verdict)
	}
	if t.Repeats > 0 { // and so it does, for two turns more
		again, _ := s.replay(plan{model: s.model}, slices.Concat(taken, taken[len(taken)-t.Repeats:]), false)
		if len(again.Events) != len(taken)+t.Repeats {
			c.Errorf("%s: the last %d steps do not repeat", c.line, t.Repeats)
		}
	}
}

// parseStep reads what [vnet.Step.String] writes.
func parseStep(t *testing.T, text string) (x vnet.Step) {
	words := strings.Fields(text)
	for x.Kind = dme.Request; x.Kind < dme.PeerUp && !strings.HasPrefix(x.String(), words[0]+" "); x.Kind++ {
	}
	to := words[1]
	if from, node, link := strings.Cut(words[1], "->"); link {
		to = node
		n, _ := strconv.Atoi(from)
		x.From = dme.NodeID(n)
	}
	n, _ := strconv.Atoi(to)
	x.Node = dme.NodeID(n)
	if len(words) > 2 {
		n, _ := strconv.Atoi(strings.TrimPrefix(words[len(words)-1], "#"))
		if x.Kind == dme.Timeout {
			x.Timer = dme.TimerID(n)
		} else {
			x.Index = n
		}
	}
	if x.String() != text {
		t.Fatalf("%q is read as %v", text, x)
	}
	return x
}
