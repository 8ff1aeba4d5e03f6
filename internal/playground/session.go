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
	"fmt"
	"hash/fnv"
	"io/fs"
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

	model   *vnet.Model
	network *vnet.Network
	steps   []vnet.Step // taken until now
	taken   []takenView // the same, and what came of them
	tape    *recording.Tape
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

// open begins a play of a scenario, whose commands become the steps that are proposed.
func (s *Session) open(text string) (opened answer, err error) {
	scenario, err := trace.Parse("play", []byte(text))
	if err != nil {
		return opened, err
	}
	a, err := s.Catalog.algorithm(scenario.Algorithm)
	if err != nil {
		return opened, err
	}
	scenario.Faults = true
	played, err := scenario.Play(a, s.Catalog.readFile)
	if err != nil {
		return opened, err
	}
	s.model = played.Model
	for id := range s.model.IDs() {
		if a.RequestSet != nil {
			opened.Quorums = append(opened.Quorums, append([]dme.NodeID{}, a.RequestSet(s.model.System, id)...))
		}
	}
	layout := NewLayout(a, s.model.System, s.model.Nodes)
	opened.Algorithm, opened.Title, opened.Nodes, opened.Kinds = a.Name, a.Title, s.model.Nodes, a.Kinds
	opened.Lines, opened.Shape, opened.Taken, opened.State = played.Lines, &layout, s.restart(), s.state()
	opened.Source = strings.TrimPrefix(fmt.Sprintf("%T", dme.Unwrap(s.model.System.Node(1))), "*")
	return opened, nil
}

// restart makes the network of the first state, and returns what the nodes do at their start.
func (s *Session) restart() (started []takenView) {
	s.network, s.tape, s.steps, s.taken = vnet.New(s.model), recording.NewTape(s.model.Algorithm), nil, nil
	for i := range s.network.Started {
		started = append(started, s.record(&s.network.Started[i], "", s.tape.Start))
	}
	return started
}

// record has what happened noted down.
func (s *Session) record(e *vnet.Event, command string, note func(*vnet.Event)) takenView {
	before := len(s.tape.Events)
	note(e)
	return takenView{e.Step, command, e.Describe(s.model.Algorithm), s.tape.Events[before:len(s.tape.Events):len(s.tape.Events)]}
}

// do takes steps, until one is not possible.
func (s *Session) do(steps []vnet.Step) error {
	n := s.network
	for _, x := range steps {
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
	}
	return nil
}

// goTo plays the first k steps again: nodes are deterministic, so the state is as it was then.
func (s *Session) goTo(k int) error {
	if k < 0 || k > len(s.steps) {
		return fmt.Errorf("there are %d steps, not %d", len(s.steps), k)
	}
	steps := s.steps[:k]
	s.restart()
	return s.do(steps)
}

// hash identifies the state.
func (s *Session) hash() string {
	h := fnv.New128a()
	h.Write(s.network.Save(nil))
	return fmt.Sprintf("%x", h.Sum(nil))
}

// verdict says what is broken in this state, "" if nothing is: a standstill, in which a node waits
// and nothing can happen but that others ask or fail, is.
func (s *Session) verdict() (property, text string, nodes []dme.NodeID) {
	n := s.network
	switch {
	case n.Violation != nil:
		return string(n.Violation.Property), strings.Join(strings.Fields(n.Violation.Verdict), " "), n.Violation.Nodes
	case n.Stuck() && len(n.Waiting()) > 0:
		return string(check.Progress), check.Wait(n.Waiting()) + ", and nothing moves", n.Waiting()
	}
	return "", "", nil
}
