package cli

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"dmebench/dme"
	"dmebench/internal/runtime/run"
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
func showReach(bar *run.Counter, r check.Reached, limit check.Bytes) {
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
