package claim

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"dmebench/dme"
)

// List is what papers claim about one algorithm. It is the [dme.Claims] of every algorithm here.
type List []Claim

// Of returns the claims of an algorithm; nil if it has none.
func Of(a *dme.Algorithm) List {
	switch claims := a.Claims.(type) {
	case List:
		return claims
	case Lazy:
		return claims()
	}
	return nil
}

// Lazy lists claims when they are asked for. A process that runs one algorithm has no use for those
// of all, which would take a good part of its start.
type Lazy func() List

// Check implements [dme.Claims].
func (l Lazy) Check(a *dme.Algorithm) error { return l().Check(a) }

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

// TurnsOfOthers is how many entries each node of the system may make before the request of one that
// waits, if no paper promises fewer and each node is served again and again. A node that serves
// requests in the order in which it hears of them lets each other node go first once; one that
// passes a token along a fixed route, or that lets a group of nodes take turns first, some times
// more. None of the built-in algorithms lets others go first more than three times on average, on
// up to 64 nodes.
const TurnsOfOthers = 10

// OrdinaryTrip is how many entries a node makes while a message to it is on its way, where
// each of the steps that are possible is as likely as any other.
const OrdinaryTrip = 10

// Overtaking says how many entries of others a request may see before its own.
type Overtaking struct {
	Nodes int

	// Claim is the one that promises a bound, and Claimed that bound; nil and 0 if none does.
	Claim   *Claim
	Claimed int
}

// OvertakingBound says how often a node that has asked may be overtaken: by what the claims promise
// for every run, of bounds on [Bypass] under any load the smallest, those for links that keep order
// where ordered says that they do; or else by what [Overtaking.Most] allows if none promises
// anything.
func OvertakingBound(all List, s dme.Setting, ordered bool) Overtaking {
	bound := Overtaking{Nodes: s.Nodes}
	for i := range all {
		c := &all[i]
		if c.Quantity != Bypass || c.Kind != UpperBound && c.Kind != Exact || c.KnownFalse != "" || c.FIFO && !ordered ||
			c.Load != AnyLoad && c.Load != Worst {
			continue
		}
		most, ok := c.Prediction(s)
		if !ok || math.IsNaN(most) || most < 0 || most > math.MaxInt32 {
			continue
		}
		if bound.Claim == nil || int(most) < bound.Claimed {
			bound.Claim, bound.Claimed = c, int(most)
		}
	}
	return bound
}

// Most returns how many entries of others a request may see at most: what is claimed, or else
// N(TurnsOfOthers+trip), which grows like the number N of nodes.
//
// trip is how many entries a single node can make while one message is on its way. No node can
// serve a request before hearing of it: while the request travels, over at most N links, a node
// that holds a token, or has all permissions, may enter as often as it asks again. An algorithm
// that lets more entries pass does not serve in any order in which a request gets nearer to its
// turn.
func (o Overtaking) Most(trip int) int {
	if o.Claim != nil {
		return o.Claimed
	}
	return o.Nodes * (TurnsOfOthers + trip)
}

// Describe says how many are allowed, and why: "at most 2(N−1) = 8 are claimed by …".
func (o Overtaking) Describe(trip int) string {
	if o.Claim == nil {
		return fmt.Sprintf("at most %d for each of %d nodes would be in keeping with turns", TurnsOfOthers+trip, o.Nodes)
	}
	return fmt.Sprintf("at most %s = %d are claimed by %s", o.Claim.Formula, o.Claimed, o.Claim.Source)
}
