package claim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dmebench/dme"
)

// List is what papers claim about one algorithm. It is the [dme.Claims] of every algorithm here.
type List []Claim

// Of returns the claims of an algorithm; nil if it has none.
func Of(a *dme.Algorithm) List {
	list, _ := a.Claims.(List)
	return list
}

// SpeaksOf reports whether one of the claims is about a quantity.
func (l List) SpeaksOf(q Quantity) bool {
	return slices.ContainsFunc(l, func(c Claim) bool { return c.Quantity == q })
}

// Check implements [dme.Claims].
func (l List) Check(a *dme.Algorithm) error {
	var errs []error
	fault := func(ok bool, what string) {
		if !ok {
			errs = append(errs, fmt.Errorf("algorithm %q: %s", a.Name, what))
		}
	}
	ids := make(map[string]bool)
	for _, c := range l {
		if err := c.check(); err != nil {
			errs = append(errs, fmt.Errorf("algorithm %q: %w", a.Name, err))
		}
		for _, kind := range []string{c.Quantity.Kind, c.Quantity.Per} {
			fault(kind == "" || slices.Contains(a.Kinds, kind), "claim "+c.Formula+": there are no "+kind+" messages")
		}
		id := c.ID(a)
		fault(!ids[id], "two claims "+id+": a Name has to tell them apart")
		ids[id] = true
	}
	for _, g := range a.Gauges {
		speaks := slices.ContainsFunc(l, func(c Claim) bool { return c.Quantity.ID == g.Quantity })
		fault(speaks, "a gauge of "+g.Quantity+", of which no claim speaks")
	}
	return errors.Join(errs...)
}

// ID identifies a claim of a in every version of the program:
// "maekawa/messages-per-cs/light/exact". Its last part is the claim's Name, or
// else its kind with the links and the options that it is restricted to.
func (c Claim) ID(a *dme.Algorithm) string {
	last := c.Name
	if last == "" {
		last = hyphenated(string(c.Kind))
		if c.FIFO {
			last += ",fifo"
		}
		for _, option := range slices.Sorted(maps.Keys(c.Set)) {
			last += "," + option + "=" + c.Set[option]
		}
	}
	return strings.Join([]string{a.Name, c.Quantity.ID, hyphenated(string(c.Load)), last}, "/")
}

// Asked returns the nodes whose permission node id asks for in a new system, itself included, in
// ascending order: those its first request sends something to. It examines constructions that do
// not say their request sets.
func Asked(s dme.Setting, id dme.NodeID) []dme.NodeID {
	var out dme.Outbox
	s.System.Node(id).Request(&out)
	asked := []dme.NodeID{id}
	for _, e := range out.Effects() {
		switch e.Kind {
		case dme.Send:
			asked = append(asked, e.To)
		case dme.Broadcast:
			asked = slices.AppendSeq(asked, dme.Others(s.Nodes, id))
		}
	}
	slices.Sort(asked)
	return slices.Compact(asked)
}

// AskedByAll returns how many nodes are asked by a node, on average over all
// of them, the node itself included: K. It is a measure of a [QuorumSize].
func AskedByAll(s dme.Setting) (mean float64, ok bool) {
	for id := dme.NodeID(1); int(id) <= s.Nodes; id++ {
		mean += float64(len(Asked(s, id))) / float64(s.Nodes)
	}
	return mean, true
}
