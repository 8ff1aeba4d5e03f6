package cli

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"dmebench/dme"
	"dmebench/internal/runtime/live"
	"dmebench/internal/search/check"
)

// reach is how far a search goes, and who asks in it.
type reach struct {
	states     uint64
	memory     check.Bytes
	bitstate   check.Bytes
	time       time.Duration
	reduce     bool
	unjudged   bool // by invariants
	requesters []dme.NodeID
}

// reachOf reads the flags. What is wrong is refused.
func reachOf(c *cli.Context, refuse func(bad bool, format string, args ...any)) reach {
	r := reach{states: cmp.Or(c.Uint64("states"), check.DefaultStates), time: c.Duration("for"), unjudged: !c.Bool("invariants")}
	r.reduce = c.Bool("exhaustive") && c.Bool("reduce")
	refuse(c.IsSet("states") && c.Uint64("states") < 1, "--states 0: there must be at least 1")
	refuse(c.IsSet("for") && r.time <= 0, "--for %v: must be above 0", r.time)
	for _, name := range []string{"reduce", "bitstate"} {
		refuse(c.IsSet(name) && !c.Bool("exhaustive"), "--%s is for --exhaustive; leave it out", name)
	}
	for _, name := range []string{"states", "memory"} {
		refuse(c.IsSet(name) && !c.Bool("exhaustive") && !c.Bool("liveness"),
			"--%s is for --exhaustive; random schedules are limited by --schedules and --for", name)
	}
	refuse(c.IsSet("requesters") && c.Bool("liveness"), "--requesters does not go with --liveness, in which every node may ask; leave one out")
	var err error
	r.memory, err = memoryFor(c)
	refuse(err != nil, "%v", err)
	if c.IsSet("bitstate") {
		r.bitstate, err = check.ParseBytes(c.String("bitstate"))
		refuse(err != nil, "--bitstate: %v", err)
	}
	r.requesters, err = requestersOf(c)
	refuse(err != nil, "%v", err)
	return r
}

// set adds it to options.
func (r *reach) set(o *check.Options) {
	o.States, o.Memory, o.Bitstate, o.Time, o.Reduce, o.WithoutInvariants = r.states, r.memory, r.bitstate, r.time, r.reduce, r.unjudged
	if o.Requesters = r.requesters; r.requesters != nil {
		o.Requests, o.Vary = o.Requests/max(1, o.Nodes)*len(r.requesters), false
	}
}

// requestersOf reads the nodes that ask; nil where all do.
func requestersOf(c *cli.Context) ([]dme.NodeID, error) {
	if !c.IsSet("requesters") {
		return nil, nil
	}
	var ids []dme.NodeID
	for _, word := range strings.Split(c.String("requesters"), ",") {
		id, err := strconv.ParseUint(strings.TrimSpace(word), 10, 31)
		if err != nil || id == 0 {
			return nil, fmt.Errorf("--requesters %s: %q is no node; write node numbers like 2,4", c.String("requesters"), word)
		}
		ids = append(ids, dme.NodeID(id))
	}
	return ids, nil
}

// reachNotes says what was asked for and cannot be.
func reachNotes(c *cli.Context, s *check.Search) []string {
	if why := s.WhyNotReduced(); c.IsSet("reduce") && s.Reduce && why != "" {
		return []string{"not reduced: " + why}
	}
	return nil
}

// showReach shows how far an exhaustive search is.
func showReach(bar *live.Counter, r check.Reached, limit check.Bytes) {
	text := r.Held.String()
	if r.Layer > 0 {
		text = fmt.Sprintf("layer %d, %d to expand, %s", r.Layer, r.Open, text)
	}
	if limit > 0 {
		text += " of " + limit.String()
	}
	bar.Set(r.States)
	bar.Describe(text)
}

// reachResult is how far an exhaustive search went, and who asked in any.
type reachResult struct {
	Requesters []dme.NodeID    `json:"requesters,omitempty"` // who asks; all where it is not given
	Reduced    *bool           `json:"reduced,omitempty"`    // exhaustive: orders of steps, or states, that make no difference were left out
	Reduction  string          `json:"reduction,omitempty"`  // of which kind they are
	Bitstate   *check.Bitstate `json:"bitstate,omitempty"`   // exhaustive: where only a few bits of each state were kept
}

// Kinds of reduction, and what they leave out.
const (
	forcedArrivals = "forced arrivals"
	clockClasses   = "classes of clocks"
)

var leftOut = map[string]string{
	forcedArrivals: "orders of steps that make no difference are left out; --reduce=false searches them too",
	clockClasses:   "of states that differ in the values of clocks alone, one is visited; --reduce=false visits them all",
}

func reachedBy(o check.Options, exhaustive bool, r check.Report) reachResult {
	x := reachResult{Requesters: o.Requesters, Bitstate: r.Bitstate}
	if exhaustive {
		if x.Reduced = &r.Reduced; r.Reduced {
			x.Reduction = forcedArrivals
		}
		if r.ByClass {
			x.Reduction = clockClasses
		}
	}
	return x
}

func (x *reachResult) print(line func(name, format string, args ...any)) {
	if x.Reduction != "" {
		line("reduced", "%s", leftOut[x.Reduction])
	}
	if b := x.Bitstate; b != nil {
		line("bitstate", "%d bits for each state, in %v of which %.3g%% is filled: "+
			"at the end a new state is taken for an old one with probability %.2g", b.Bits, b.Size, 100*b.Filled, b.Last)
	}
}

// distance is what the farthest state is counted by. What is forced is no choice.
func (x *reachResult) distance() string {
	if x.Reduction != "" {
		return "choices"
	}
	return "steps"
}

// askers are the nodes that ask, as they are written in a flag.
func (x *reachResult) askers() string {
	var words []string
	for _, id := range x.Requesters {
		words = append(words, id.String())
	}
	return strings.Join(words, ",")
}

// whose says whose the requests are, where they are not everybody's.
func (x *reachResult) whose() string {
	switch len(x.Requesters) {
	case 0:
		return ""
	case 1:
		return " of node " + x.askers()
	}
	return " of nodes " + x.askers()
}
