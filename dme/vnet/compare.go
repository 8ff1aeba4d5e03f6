package vnet

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"dmebench/dme"
)

// clockSteps of a walk lead the clocks of a few nodes far from where they began.
const clockSteps = 300

// CompareClocks looks for a state in which a node does something else if clocks are lower that have
// the same order, so that [Classes] say nothing of the system. Nodes that ask without end take
// steps, and from each state the same step is taken from the representative of its class: what
// comes of it must be of one of the classes that [Classes] says. It takes random walks, and that many
// steps from the states that are nearest to the first. The states examined are a function of its
// arguments. The error names the handler, the state and the clocks that the node shows.
func CompareClocks(m *Model, walks, near int) error {
	if m.Algorithm.Clocks == nil {
		return nil
	}
	c := m.Config
	c.Requests, c.Bypass, c.Watch = nil, 0, WatchNothing
	m, err := NewModel(c)
	if err != nil {
		return err
	}
	x := &comparison{Network: New(m), space: NewSpace(m)}
	x.walker, x.classes = x.space.NewWalker(), x.space.NewClasses()
	v, _ := x.space.Of(x.Network)
	first := compared{x.Save(nil), slices.Clone(x.classes.Of(v))}
	err = x.near(first, near)
	for k := 0; k < walks && err == nil; k++ {
		if err = x.Load(first.saved); err == nil {
			err = x.walk(first.rep, rand.New(rand.NewPCG(m.Seed+uint64(k), uint64(m.Nodes))))
		}
	}
	return err
}

type comparison struct {
	*Network
	space   *Space
	walker  *Walker
	classes *Classes
}

type compared struct {
	saved []byte
	rep   []uint32
}

func (c *comparison) walk(here []uint32, rng *rand.Rand) error {
	for range clockSteps {
		steps, _ := c.walker.Enabled(here, nil)
		if len(steps) == 0 {
			return nil
		}
		next, err := c.take(here, steps[rng.IntN(len(steps))])
		if err != nil || next == nil {
			return err
		}
		here = next
	}
	return nil
}

// near takes the given number of steps from the states that are nearest to the first.
func (c *comparison) near(first compared, most int) error {
	todo, seen, taken := []compared{first}, map[Hash]bool{}, 0
	for ; len(todo) > 0; todo = todo[1:] {
		steps, _ := c.walker.Enabled(todo[0].rep, nil)
		for _, x := range steps {
			if taken++; taken > most {
				return nil
			}
			if err := c.Load(todo[0].saved); err != nil {
				return err
			}
			next, err := c.take(todo[0].rep, x)
			if err != nil {
				return err
			}
			if _, h := c.space.Of(c.Network); next != nil && !seen[h] {
				seen[h] = true
				todo = append(todo, compared{c.Save(nil), next})
			}
		}
	}
	return nil
}

// take takes a step of the representative here, and the network takes it too. It returns the
// representative of the network's state; nil if a property is broken for both, which others look
// into.
func (c *comparison) take(here []uint32, x Step) (next []uint32, err error) {
	real, ok := c.classes.In(c.Network, here, x)
	if !ok {
		return nil, fmt.Errorf("%s on %d nodes, seed %d: %v is possible only if clocks are lower", c.Algorithm.Name, c.Nodes, c.Seed, x)
	}
	var expected [][]uint32
	low := c.classes.Step(c.walker, here, x, func(v []uint32) { expected = append(expected, slices.Clone(v)) })
	before, clocks := c.States(), c.clocksOf(x.Node)
	e := c.Do(real)
	bad := c.Violation
	differs := func(format string, args ...any) error {
		return fmt.Errorf("%s on %d nodes, seed %d: %s of node %d %s, from\n%s\nto\n%s\n"+
			"It does more with a clock that it shows (%s, or one in a message) than compare it, copy it, or set it to a successor. "+
			"Show the number by Visitor.Uint; or, if Visitor.Rising shows it and no arithmetic is done, by Visitor.Clock",
			c.Algorithm.Name, c.Nodes, c.Seed, c.handler(e), x.Node, fmt.Sprintf(format, args...),
			strings.Join(before, "\n"), strings.Join(c.States(), "\n"), clocks)
	}
	if low != nil && bad == nil || bad != nil && bad.Property != Exclusion {
		if low == nil || bad == nil {
			return nil, differs("does something else if clocks are lower: %v, and then %v", bad, low)
		}
		return nil, nil
	}
	after, _ := c.space.Of(c.Network)
	if i := slices.IndexFunc(expected, func(v []uint32) bool { return c.classes.Covers(v, after) }); i >= 0 {
		return expected[i], nil
	}
	if low != nil && c.classes.Ordered() {
		return nil, nil // not all classes were yielded
	}
	return nil, differs("does something else if clocks are lower, in the same order")
}

var handlers = map[dme.EventKind]string{
	dme.Request: "Request", dme.RequestShared: "RequestShared", dme.Exit: "Release", dme.Receive: "Receive", dme.Copy: "Receive",
	dme.Timeout: "Timeout",
}

func (c *comparison) handler(e *Event) string {
	name := cmp.Or(handlers[e.Kind], e.Kind.String())
	if e.ofMessage() {
		name += " (" + c.Algorithm.KindName(e.Msg.Kind) + ")"
	}
	return name
}

func (c *comparison) clocksOf(id dme.NodeID) string {
	var names []string
	dme.VisitClocks(c.Node(id), func(x dme.ClockVariable) {
		if x.Name != "" && !slices.Contains(names, x.Name) {
			names = append(names, x.Name)
		}
	})
	return cmp.Or(strings.Join(names, ", "), "none")
}
