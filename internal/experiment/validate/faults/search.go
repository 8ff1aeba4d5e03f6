package faults

import (
	"context"
	"fmt"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/search/check"
	"dmebench/report/survival"
)

// sizes are the systems that are searched: every state of a small one, as far as the
// limit lets it, with few requests and with more, and random schedules of a larger one.
var sizes = []struct {
	nodes, requests int
	all             bool
}{{3, 3, true}, {3, 5, true}, {5, 15, false}}

const searchTime = 20 * time.Second // at most, for each

// search searches schedules in which faults strike at any moment. Where it meets a
// standstill it goes on for safety alone: what stands still may yet let two nodes in.
func (o *trial) search(ctx context.Context, faults ...func(*check.Options)) (*survival.Search, error) {
	base := check.Options{
		Unordered: !o.algorithm.Needs(o.set).FIFO, Seed: o.Seed, States: o.States, Schedules: o.Schedules, Time: searchTime,
	}
	for _, fault := range faults {
		fault(&base)
	}
	key := fmt.Sprint(base.Unordered, base.Faults, base.Lose, base.Duplicate)
	if s := o.searches[key]; s != nil {
		return s, nil
	}
	s := &survival.Search{Safe: survival.Yes, Live: survival.Yes}
	o.searches[key] = s
	for _, size := range sizes {
		x := base
		x.Requests = size.requests
		var err error
		if x.Nodes, err = o.admitted(size.nodes); err != nil {
			continue
		}
		for again := true; again && s.Safe == survival.Yes; {
			x.SafetyOnly = s.Live == survival.No
			if err := look(ctx, s, o.algorithm, x, size.all); err != nil {
				return nil, err
			}
			again = s.Live == survival.No && !x.SafetyOnly
		}
	}
	return s, ctx.Err()
}

// look makes one search, and adds what it finds.
func look(ctx context.Context, s *survival.Search, a *dme.Algorithm, x check.Options, all bool) error {
	search, err := check.New(a, x)
	if err != nil {
		s.Safe, s.Live, s.Verdict = survival.Unknown, survival.Unknown, err.Error()
		return nil
	}
	var r check.Report
	if all {
		if r, err = search.Exhaustive(ctx); err != nil {
			return err
		}
		if r.Complete || !s.Complete { // what is known of all states is worth more than more states
			s.Nodes, s.States, s.Complete = x.Nodes, r.States, r.Complete
		}
	} else {
		r = search.Random(ctx)
		s.Random = r.Schedules
	}
	judge(s, &r)
	if r.Violation != nil {
		s.Witness = commandOf(a, x, all, r.Seed)
	}
	return nil
}

// admitted returns the least number of nodes, from n on, on which the algorithm exists.
func (o *trial) admitted(n int) (m int, err error) {
	for m = n; m < 2*n+8; m++ {
		if err = o.algorithm.CheckNodes(m, o.set); err == nil {
			break
		}
	}
	return m, err
}

// judge reads the answers off a report. What is unsafe is told in place of what stands
// still; a search that ended with anything else has not looked at the rest.
func judge(s *survival.Search, r *check.Report) {
	if r.Violation == nil {
		return
	}
	s.Verdict, s.Why = r.Violation.Verdict, nil
	if r.Trace != nil {
		s.Why = r.Trace.Why()
	}
	switch r.Violation.Property {
	case check.Progress, check.Liveness, check.Rest:
		s.Live = survival.No
	case vnet.Exclusion, vnet.Asked:
		s.Safe = survival.No
		if s.Live == survival.Yes {
			s.Live = survival.Unknown
		}
	default:
		s.Safe = survival.Unknown
	}
}

// commandOf is the command line that shows the counterexample.
func commandOf(a *dme.Algorithm, o check.Options, exhaustive bool, seed uint64) string {
	text := fmt.Sprintf("dmebench check -a %s -n %d --requests %d", a.Name, o.Nodes, o.Requests)
	for _, flag := range []struct {
		yes  bool
		text string
	}{
		{o.Unordered, " --fifo=false"}, {o.Duplicate, " --duplicate"}, {o.Lose > 0, fmt.Sprintf(" --lose %d", o.Lose)},
		{o.SafetyOnly, " --safety-only"},
		{o.Faults > 0, fmt.Sprintf(" --faults %d", o.Faults)}, {exhaustive, " --exhaustive"}, {!exhaustive, " --schedules 1"},
	} {
		if flag.yes {
			text += flag.text
		}
	}
	return fmt.Sprintf("%s --seed %d", text, seed)
}
