package trace

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

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

// Save writes a counterexample as a scenario, which breaks the same property when it
// is played: that has been tried. It names a message by its link and its kind, and
// by its fields only where another of that kind was sent before it, so that it can
// be played after a change of the algorithm too.
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
	played, err := s.Run(x.Algorithm, x.ReadFile)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(string(played.Text), "\n  violation: ") {
		return nil, errors.New("trace: the schedule does not break the property when it is played as a scenario")
	}
	return played.Text, nil
}

// commands writes a command for each step, in the network that the scenario with
// this head is played on.
func (x *Counterexample) commands(name, head string, line func(format string, args ...any)) error {
	s, err := Parse(name, []byte(head))
	if err != nil {
		return err
	}
	for _, step := range x.Steps { // which decides whether nodes come and go
		s.lines = append(s.lines, bare(step))
	}
	model, err := s.model(x.Algorithm, x.ReadFile)
	if err != nil {
		return err
	}
	n := vnet.New(model)
	for i, step := range x.Steps {
		if step.Kind != vnet.Stop && !n.Possible(step) {
			return fmt.Errorf("trace: step %d, %v, cannot be played as a scenario", i+1, step)
		}
		line("%s", x.command(n, step))
		n.Do(step)
	}
	return nil
}

// bare is a line with the verb of a step alone.
func bare(x vnet.Step) line { return line{command: command{verb: verbOf(x.Kind)}} }

func verbOf(kind vnet.StepKind) verb {
	if kind == vnet.Down || kind == vnet.Up {
		return deliver
	}
	for v, is := range verbs {
		if is.step == kind && kind != 0 {
			return v
		}
	}
	return ""
}

// command is the line that means a step of a network.
func (x *Counterexample) command(n *vnet.Network, step vnet.Step) string {
	v := verbOf(step.Kind)
	switch step.Kind {
	case vnet.Down, vnet.Up:
		return fmt.Sprintf("%s %d->%d", v, step.From, step.Node)
	case vnet.Deliver, vnet.Copy, vnet.Lose:
		return fmt.Sprintf("%s %d->%d%s", v, step.From, step.Node, x.which(n, step))
	case vnet.Fire:
		return fmt.Sprintf("%s %d %d", v, step.Node, step.Timer)
	}
	return fmt.Sprintf("%s %d", v, step.Node)
}

// which says which message of a link is meant: its kind, and its fields where an
// earlier one of that kind is another.
func (x *Counterexample) which(n *vnet.Network, step vnet.Step) string {
	all := n.OnTheWay(step.From, step.Node)
	meant := &all[step.Index]
	kind := x.Algorithm.KindName(meant.Kind)
	text := vnet.DescribeMessage(x.Algorithm, meant)
	for i := range all[:step.Index] {
		if x.Algorithm.KindName(all[i].Kind) == kind && vnet.DescribeMessage(x.Algorithm, &all[i]) != text {
			return " " + text
		}
	}
	return " " + kind
}
