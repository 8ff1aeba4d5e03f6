// Package playground lets a person be the network: the nodes of an algorithm are in memory, and
// nothing happens until the user chooses the next step. It is the model behind the page that
// 'dmebench playground' writes, where it runs as WebAssembly.
//
// A [Session] is a scenario of package trace that is still being written. Its steps are those of
// dmebench/dme/vnet, so that a play, a worked example and a counterexample of a search are the same
// thing, and each can be turned into the others. Requests and answers are JSON ([Session.Call]):
// the page needs one function.
//
// It imports nothing that a browser does not have.
package playground

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/record/recording"
	"dmebench/internal/search/check"
	"dmebench/internal/search/trace"
)

// Catalog is what there is to be played.
type Catalog struct {
	Algorithms []*dme.Algorithm
	Scenarios  []trace.BuiltIn // worked examples and counterexamples
}

// NewCatalog finds the scenarios in a file system, as package algorithms has it.
func NewCatalog(all []*dme.Algorithm, scenarios fs.FS) (Catalog, error) {
	found, err := trace.BuiltIns(scenarios, all)
	return Catalog{all, found}, err
}

// Session is a play. The zero value, with a Catalog, waits to be opened.
type Session struct {
	Catalog Catalog

	network *vnet.Network
	head    []string     // the lines of the scenario above the first command
	steps   []vnet.Step  // taken until now
	lines   []scriptLine // of the scenario that was opened
	taken   []takenView  // the same, and what came of them
	started []takenView  // what the nodes did at their start
	tape    *recording.Tape
	model   *vnet.Model
}

// scriptLine is a comment or a command of the scenario that was opened.
type scriptLine struct {
	Text  string     `json:"text"`
	Steps []stepView `json:"steps,omitempty"`
}

// algorithm returns the one of that name.
func (c *Catalog) algorithm(name string) (*dme.Algorithm, error) {
	for _, a := range c.Algorithms {
		if a.Name == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("there is no algorithm %q", name)
}

// readFile reads what the options of a scenario name: beside the scenarios that have
// files, under the names that these use.
func (c *Catalog) readFile(name string) ([]byte, error) {
	for _, x := range c.Scenarios {
		if x.ReadFile != nil {
			if b, err := x.ReadFile(name); err == nil {
				return b, nil
			}
		}
	}
	return nil, fmt.Errorf("there is no file %s here: choose another value of the option", name)
}

// open begins a play with the text of a scenario, whose commands become the steps that
// are proposed; none has been taken.
func (s *Session) open(text string) error {
	scenario, err := trace.Parse("play", []byte(text))
	if err != nil {
		return err
	}
	a, err := s.Catalog.algorithm(scenario.Algorithm)
	if err != nil {
		return err
	}
	scenario.Faults = true
	played, err := scenario.Play(a, s.Catalog.readFile)
	if err != nil {
		return err
	}
	s.head, s.lines, s.model = nil, nil, played.Model
	for line := range strings.Lines(text) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if slices.Contains(trace.Settings, word) && word != "violates" && word != "repeats" {
			s.head = append(s.head, strings.TrimSpace(line))
		}
	}
	for _, l := range played.Lines {
		line := scriptLine{Text: l.Text}
		for _, x := range l.Steps {
			line.Steps = append(line.Steps, viewOf(x))
		}
		s.lines = append(s.lines, line)
	}
	s.steps = nil
	s.restart()
	return nil
}

// restart makes the network of the first state.
func (s *Session) restart() {
	s.network, s.tape, s.taken, s.started = vnet.New(s.model), recording.NewTape(s.model.Algorithm), nil, nil
	for i := range s.network.Started {
		e := &s.network.Started[i]
		s.started = append(s.started, s.record(e, "", s.tape.Start))
	}
}

// record has what happened noted down.
func (s *Session) record(e *vnet.Event, command string, note func(*vnet.Event)) takenView {
	before := len(s.tape.Events)
	note(e)
	return takenView{viewOf(e.Step), command, e.Describe(s.model.Algorithm), s.tape.Events[before:len(s.tape.Events):len(s.tape.Events)]}
}

// do takes a step.
func (s *Session) do(x vnet.Step) error {
	n := s.network
	if n.Violation != nil {
		return fmt.Errorf("a property is broken, and nothing can come after that; go back")
	}
	if x.Kind != dme.Stop && !n.Possible(x) {
		return fmt.Errorf("%v is not possible now", x)
	}
	if trace.BeyondNeeds(n.Model, x) {
		n.Unwatch()
	}
	command := trace.Command(n, x)
	s.steps = append(s.steps, x)
	s.taken = append(s.taken, s.record(n.Do(x), command, s.tape.Add))
	return nil
}

// goTo plays the first k steps again: a node is deterministic, so that this is the
// same state as before.
func (s *Session) goTo(k int) error {
	if k < 0 || k > len(s.steps) {
		return fmt.Errorf("there are %d steps, not %d", len(s.steps), k)
	}
	steps := slices.Clone(s.steps[:k])
	s.steps = nil
	s.restart()
	for _, x := range steps {
		if err := s.do(x); err != nil {
			return err
		}
	}
	return nil
}

// next is the default next step: a node inside leaves, or the oldest message arrives; ok is false
// if everything rests.
func (s *Session) next() (x vnet.Step, ok bool) {
	n := s.network
	if n.Violation != nil {
		return x, false
	}
	if x, ok = n.Oldest(); ok {
		return x, true
	}
	if inside := n.Inside(); len(inside) > 0 {
		return vnet.Step{Kind: dme.Exit, Node: inside[0]}, true
	}
	return n.FirstTimer()
}

// random takes steps that are drawn from the seed, such as the algorithm's needs allow,
// until nothing is possible or something is broken.
func (s *Session) random(seed uint64, count int) {
	draw := rand.New(rand.NewPCG(seed, uint64(len(s.steps))))
	for range count {
		var steps []vnet.Step
		for _, x := range s.network.Enabled(nil) {
			switch x.Kind {
			case dme.Request, dme.RequestShared, dme.Exit, dme.Timeout, dme.PeerDown, dme.PeerUp, dme.Receive:
				if x.Index == 0 && !trace.BeyondNeeds(s.model, x) {
					steps = append(steps, x)
				}
			}
		}
		if s.network.Violation != nil || len(steps) == 0 || s.do(steps[draw.IntN(len(steps))]) != nil {
			return
		}
	}
}

// scenario is the play as the text of a scenario.
func (s *Session) scenario(title string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n%s\n", cmp.Or(title, "A play of "+s.model.Algorithm.Title), strings.Join(s.head, "\n"))
	if bad := s.network.Violation; bad != nil { // else it could not be played to its end
		fmt.Fprintf(&b, "violates %s\n", bad.Property)
	}
	b.WriteString("\n")
	for _, e := range s.taken {
		b.WriteString(e.Command + "\n")
	}
	return b.String()
}

// hash identifies the state.
func (s *Session) hash() string {
	h := fnv.New128a()
	h.Write(s.network.Save(nil))
	return hex.EncodeToString(h.Sum(nil))
}

// stuck reports a standstill: a node waits, and nothing can happen but that others ask or fail.
func (s *Session) stuck() bool { return s.network.Stuck() && len(s.network.Waiting()) > 0 }

// verdict says what is broken in this state, "" if nothing is.
func (s *Session) verdict() (property, text string, nodes []dme.NodeID) {
	n := s.network
	switch {
	case n.Violation != nil:
		return string(n.Violation.Property), strings.Join(strings.Fields(n.Violation.Verdict), " "), n.Violation.Nodes
	case s.stuck():
		return string(check.Progress), check.Wait(n.Waiting()) + ", and nothing moves", n.Waiting()
	}
	return "", "", nil
}
