// Package trace replays the worked examples of papers. A scenario is a text file that reads like
// the paper: which figure it is, what happens step by step, and below each step what must come of
// it.
//
//	# TR-869, section 2.3, figures A to J
//	algorithm ricart-agrawala
//	nodes 3
//
//	# Figure A
//	request 3
//	  send 3->1 REQUEST clock=1
//	  send 3->2 REQUEST clock=1
//
// Commands stand at the beginning of a line, outcomes are indented. A test plays every scenario and
// compares; a flag rewrites the outcomes, so that a change in behaviour shows as a difference in a
// file that a person can judge.
//
// The commands: request N, request-shared N, exit N, deliver A->B [KIND [FIELD …]] (the oldest
// message of the link, or the oldest of that kind and with those fields, which overtakes the
// others), copy A->B (it arrives, and will again), lose A->B, settle (deliver everything, oldest
// first), timeout N [ID], stop [N], state [N], waits [N] (which nodes a node waits for, and for
// what). Faults: crash N, restart N, join N, leave N; absent N,N-N names the nodes that join later,
// and stands before the first command. News that a node is down or up arrives by deliver A->B, as
// the next thing from A.
//
// A counterexample is a scenario that says which property it breaks: violates PROPERTY stands above
// the first command, and the last one must then violate it. [Save] writes one from a schedule that
// a search has found.
package trace

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/search/check"
)

// Scenario is a parsed file.
type Scenario struct {
	Name      string
	Title     string // its first comment line: figure and section
	Algorithm string
	Nodes     int
	Set       map[string]string
	Absent    []dme.NodeID // at the start
	Faults    bool         // nodes may crash and leave, also if no command says so
	Seed      uint64       // the algorithm's
	Sequenced bool         // links give all broadcasts one order, even if the algorithm does not need it
	Bypass    int          // entries of others that may come before a request's; 0: any number
	Violates  vnet.Property
	Repeats   int // the last steps, which lead back to the state before them; 0: none
	lines     []line
	original  []string // all lines of the file
	expects   bool     // the scenario has outcomes

	lineOf map[string]int // where each setting stands first
}

// Text is the scenario as it was read.
func (s *Scenario) Text() []byte { return []byte(strings.Join(s.original, "\n") + "\n") }

// Refused is an error about the scenario's algorithm, with the line that names it.
func (s *Scenario) Refused(err error) error { return s.at(s.lineOf["algorithm"], err) }

func (s *Scenario) at(number int, err error) error {
	return fmt.Errorf("trace: %s:%d: %w", s.Name, number, err)
}

// Bounds of a scenario: it is read by people, and a slip must not fill the memory.
const (
	MaxBytes = 1 << 20
	maxNodes = 1000
	maxText  = 4 << 20 // bytes of outcomes
)

type line struct {
	text    string
	number  int
	command command // zero for comments, settings and empty lines
}

// Parse reads a scenario. Outcomes are skipped: Play makes them again.
func Parse(name string, text []byte) (*Scenario, error) {
	s := &Scenario{Name: name, Set: make(map[string]string), Seed: 1, lineOf: make(map[string]int)}
	if len(text) > MaxBytes {
		return nil, s.at(1, fmt.Errorf("the file has more than %d bytes; that is not a scenario", MaxBytes))
	}
	number, began := 0, 0 // of this line, and of the first command
	for raw := range strings.Lines(string(text)) {
		number++
		l := line{text: strings.TrimRight(raw, " \t\r\n"), number: number}
		fail := func(format string, args ...any) error {
			return fmt.Errorf("trace: %s:%d: %s", name, number, fmt.Sprintf(format, args...))
		}
		words := strings.Fields(l.text)
		s.original = append(s.original, l.text)
		switch {
		case strings.HasPrefix(raw, " ") || strings.HasPrefix(raw, "\t"):
			s.expects = s.expects || len(words) > 0
			continue
		case len(words) == 0:
		case strings.HasPrefix(l.text, "#"):
			if s.Title == "" {
				s.Title = strings.TrimSpace(strings.TrimPrefix(l.text, "#"))
			}
		case slices.Contains(Settings, words[0]):
			if began > 0 {
				return nil, fail("it comes after the first command, in line %d; put it above the commands", began)
			}
			if err := s.setting(l.text, number); err != nil {
				return nil, fail("%v", err)
			}
		default:
			var err error
			if l.command, err = parseCommand(words, s.Nodes); err != nil {
				return nil, fail("%v", err)
			}
			if began == 0 {
				began = number
			}
		}
		s.lines = append(s.lines, l)
	}
	if s.Title == "" || s.Algorithm == "" || s.Nodes == 0 {
		return nil, s.at(1, errors.New("it must begin with a comment that names figure and section, "+
			"and lines 'algorithm NAME' and 'nodes N'"))
	}
	return s, nil
}

func (s *Scenario) setting(text string, number int) (err error) {
	words := strings.Fields(text)
	name := words[0]
	value := strings.TrimSpace(strings.TrimPrefix(text, name)) // an option's value may have several words
	switch {
	case name == "violates" && value == "":
		return errors.New("violates takes the name of a property")
	case name == "sequenced" && value != "":
		return errors.New("sequenced takes no words")
	case name != "violates" && name != "sequenced" && name != "set" && len(words) != 2:
		return fmt.Errorf("%s takes 1 word, not %d", name, len(words)-1)
	}
	once := name // what may stand in one line alone
	if name == "set" {
		once, _, _ = strings.Cut("set "+value, "=")
	}
	if before := s.lineOf[once]; before > 0 {
		return fmt.Errorf("%s is given in line %d already", once, before)
	}
	s.lineOf[once] = number
	s.lineOf[name] = cmp.Or(s.lineOf[name], number)
	count := func(most int) int {
		n, e := strconv.Atoi(value)
		if e != nil || n < 1 || n > most {
			err = fmt.Errorf("%s %q: want a number from 1 to %d", name, value, most)
		}
		return n
	}
	switch name {
	case "algorithm":
		s.Algorithm = value
	case "nodes":
		s.Nodes = count(maxNodes)
	case "sequenced":
		s.Sequenced = true
	case "violates":
		s.Violates = vnet.Property(value)
	case "bypass":
		s.Bypass = count(math.MaxInt32)
	case "repeats":
		s.Repeats = count(math.MaxInt32)
	case "seed":
		if s.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			err = fmt.Errorf("%q is not a seed: want a number from 0 on", value)
		}
	case "set":
		key, value, ok := strings.Cut(value, "=")
		if s.Set[key] = value; !ok {
			return errors.New("want set KEY=VALUE")
		}
	case "absent":
		if s.Absent, err = dme.ParseNodes(value); err == nil && int(s.Absent[len(s.Absent)-1]) > s.Nodes {
			err = fmt.Errorf("%v is not one of the nodes 1 to %d", s.Absent[len(s.Absent)-1], s.Nodes)
		}
	}
	return err
}

// Settings begin the lines that say what a scenario is played on.
var Settings = []string{"algorithm", "nodes", "set", "absent", "seed", "sequenced", "bypass", "violates", "repeats"}

var properties = []vnet.Property{
	vnet.Exclusion, vnet.Asked, vnet.Overtaking, vnet.Sanity, check.Progress, check.Liveness, starvation, check.Rest,
}

// A property of whole schedules is judged when all commands have been carried out.
const starvation vnet.Property = "freedom from starvation" // a node waits for ever, while others enter

// watch leaves the invariants that judge: the one to be broken, none for another property, or all.
func (s *Scenario) watch(m *vnet.Model) error {
	if s.Violates == "" || slices.Contains(properties, s.Violates) {
		if s.Violates != "" {
			m.Invariants = nil
		}
		return nil
	}
	var names []string
	for _, p := range properties {
		names = append(names, string(p))
	}
	for _, i := range m.Invariants {
		if i.Name == string(s.Violates) {
			m.Invariants = []dme.Invariant{i}
			return nil
		}
		names = append(names, i.Name)
	}
	return s.at(s.lineOf["violates"], fmt.Errorf("%q is not a property; there are %s", s.Violates, strings.Join(names, ", ")))
}

// NameOf returns the name of a scenario in a file: the algorithm's folder, and the file's.
func NameOf(file string) string {
	folder := strings.TrimSuffix(path.Dir(file), "/testdata")
	return path.Base(folder) + "/" + strings.TrimSuffix(path.Base(file), ".txt")
}

// IsScenario reports whether a text is one, and not a graph or a coterie.
func IsScenario(text []byte) bool {
	for l := range strings.Lines(string(text)) {
		if strings.HasPrefix(l, "algorithm ") {
			return true
		}
	}
	return false
}

// Counterexample is a schedule that breaks a property.
type Counterexample struct {
	Algorithm *dme.Algorithm
	Nodes     int
	Set       map[string]string
	Seed      uint64
	Sequenced bool
	Bypass    int
	Violates  vnet.Property
	Verdict   string // in a sentence, for the title
	Replay    string // the command that found it; "" for none
	Steps     []vnet.Step
	Repeats   int // how many of the last steps go round for ever; 0: that is not what is wrong
	ReadFile  func(string) ([]byte, error)
}

// Of is the counterexample that a search with these options has found; seed is the
// algorithm's.
func Of(a *dme.Algorithm, o check.Options, sequenced bool, t *check.Trace, seed uint64) Counterexample {
	x := Counterexample{
		Algorithm: a, Nodes: o.Nodes, Set: o.Set, Seed: seed, Sequenced: sequenced, Bypass: o.Bypass,
		Violates: t.Violation.Property, Verdict: t.Violation.Verdict, Steps: t.Steps(), Repeats: t.Repeats, ReadFile: o.ReadFile,
	}
	switch x.Violates {
	case check.Starvation: // a scenario plays one schedule: it cannot judge starvation
		x.Violates, x.Bypass = vnet.Overtaking, t.Bypass
	case vnet.Overtaking:
		x.Bypass = t.Bypass
	}
	return x
}

// Save writes a counterexample as a scenario, which breaks the same property when it is played:
// that has been tried. It names a message by its link and its kind, and by its fields only if
// another of that kind was sent before it, so that it can be played after a change of the algorithm
// too.
func Save(name string, x Counterexample) ([]byte, error) {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# %s on %d nodes: %s", x.Algorithm.Title, x.Nodes, strings.Join(strings.Fields(x.Verdict), " "))
	if x.Replay != "" {
		line("# found by: %s", x.Replay)
	}
	line("algorithm %s", x.Algorithm.Name)
	line("nodes %d", x.Nodes)
	for _, key := range slices.Sorted(maps.Keys(x.Set)) {
		line("set %s=%s", key, x.Set[key])
	}
	if x.Seed != 1 {
		line("seed %d", x.Seed)
	}
	if x.Sequenced {
		line("sequenced")
	}
	if x.Bypass > 0 {
		line("bypass %d", x.Bypass)
	}
	line("violates %s", x.Violates)
	if x.Repeats > 0 {
		line("repeats %d", x.Repeats)
	}
	line("")
	if err := x.commands(name, b.String(), line); err != nil {
		return nil, err
	}
	s, err := Parse(name, []byte(b.String()))
	if err != nil {
		return nil, err
	}
	played, err := s.Play(x.Algorithm, x.ReadFile)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(string(played.Text), "\n  violation: ") {
		return nil, errors.New("trace: the schedule does not break the property when it is played as a scenario")
	}
	return played.Text, nil
}

// commands writes a command for each step in the network that the head describes.
func (x *Counterexample) commands(name, head string, line func(format string, args ...any)) error {
	s, err := Parse(name, []byte(head))
	if err != nil {
		return err
	}
	for _, step := range x.Steps { // decides whether nodes come and go
		s.lines = append(s.lines, bare(step))
	}
	model, err := s.model(x.Algorithm, x.ReadFile)
	if err != nil {
		return err
	}
	n := vnet.New(model)
	for i, step := range x.Steps {
		if step.Kind != dme.Stop && !n.Possible(step) {
			return fmt.Errorf("trace: step %d, %v, cannot be played as a scenario", i+1, step)
		}
		line("%s", Command(n, step))
		n.Do(step)
	}
	return nil
}

func bare(x vnet.Step) line { return line{command: command{event: x.Kind}} }

// Command is the line of a scenario that means a step, which is possible in n.
func Command(n *vnet.Network, step vnet.Step) string {
	word := wordOf(step.Kind)
	switch step.Kind {
	case dme.PeerDown, dme.PeerUp:
		return fmt.Sprintf("%s %d->%d", word, step.From, step.Node)
	case dme.Receive, dme.Copy, dme.Lose:
		return fmt.Sprintf("%s %d->%d%s", word, step.From, step.Node, which(n, step))
	case dme.Timeout:
		return fmt.Sprintf("%s %d %d", word, step.Node, step.Timer)
	}
	return fmt.Sprintf("%s %d", word, step.Node)
}

// which says which message of a link is meant: its kind, and its fields if an earlier one of that
// kind is another.
func which(n *vnet.Network, step vnet.Step) string {
	a, all := n.Algorithm, n.OnTheWay(step.From, step.Node)
	meant := &all[step.Index]
	kind := a.KindName(meant.Kind)
	text := vnet.DescribeMessage(a, meant)
	for i := range all[:step.Index] {
		if a.KindName(all[i].Kind) == kind && vnet.DescribeMessage(a, &all[i]) != text {
			return " " + text
		}
	}
	return " " + kind
}
