// Package faults finds out what each algorithm survives: it injects every kind
// of fault into runs, searches schedules for what a run may miss, and makes a
// table of the outcomes.
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

// Kind is a kind of fault: a row of the table.
type Kind struct {
	Name  string
	Title string

	// applies says why the algorithm cannot be hit so; "" if it can.
	applies func(subject) string
	// faults is the schedule of a run on n nodes, in which d is long against the
	// delay of a message.
	faults func(n int, d string) []string
	// set holds options of the network.
	set map[string]string
	// idle: it strikes nodes that do not ask, and under heavy load all do.
	idle bool
	// link: it is a fault of links. Nodes may crash as well.
	link bool
	// search adds the fault to the options of a search; nil if no search can see it.
	search func(*check.Options)
	// wider: the search has the fault at other moments too, so that only what it does not
	// find says something of this kind.
	wider bool
	// unbounded: the fault is a long delay. A search has those anyway, but not of an
	// algorithm that relies on a bound.
	unbounded bool
}

type subject struct {
	algorithm *dme.Algorithm
	system    dme.System
	node      dme.Node
}

func (s subject) rooted() string {
	if s.algorithm.Root != dme.None {
		return ""
	}
	return "there is no root"
}

func (s subject) tokened() string {
	if s.algorithm.HasToken != nil {
		return ""
	}
	return "there is no token"
}

func (s subject) restarts() string {
	if _, ok := s.node.(dme.Restarter); ok {
		return ""
	}
	return "nodes cannot restart"
}

func always(subject) string { return "" }

// The fault strikes once the run is well under way.
const strikes = "@entry:20"

func once(what string) func(int, string) []string {
	return func(int, string) []string { return []string{what + " " + strikes} }
}

func crashes(o *check.Options) { o.Faults = 1 }

// Kinds lists the faults, in the order of the table.
func Kinds() []Kind {
	// At an entry the token is never with an idle node; at a request it mostly is.
	idle := crashOf("idle", "crash of an idle node", "", always)
	idle.idle, idle.faults = true, func(int, string) []string { return []string{"kill idle @request:20"} }
	last := crashOf("last", "crash of node N (of trees a leaf)", "", always)
	last.faults = func(n int, _ string) []string { return []string{fmt.Sprintf("kill %d %s", n, strikes)} }
	return []Kind{
		{Name: "crash", Title: "crash of any node, at any moment", applies: always, faults: once("kill random"), search: crashes},
		idle,
		crashOf("waiting", "crash of a node that waits", "kill waiting", always),
		crashOf("holder", "crash in the critical section", "kill holder", always),
		crashOf("root", "crash of the root or coordinator", "kill root", subject.rooted),
		crashOf("token", "crash of the token's holder", "kill token", subject.tokened),
		last,
		restart(),
		{
			Name: "pause", Title: "pause in the critical section", applies: always,
			faults: func(_ int, d string) []string { return []string{"pause holder " + strikes + "+" + d} },
			search: func(*check.Options) {}, unbounded: true,
		},
		{
			Name: "partition", Title: "partition into halves, and healing", applies: always,
			faults: func(n int, d string) []string {
				return []string{fmt.Sprintf("partition 1-%d|%d-%d %s+%s", n/2, n/2+1, n, strikes, d)}
			},
			// One that lasts as long as a single message is lost. Two may be lost in two partitions.
			search: func(o *check.Options) { o.Lose = 1 }, link: true,
		},
		{
			Name: "loss", Title: "loss of 1 message in 50", applies: always, set: map[string]string{"loss": "0.02"},
			search: func(o *check.Options) { o.Lose = 2 }, link: true,
		},
		{
			Name: "duplication", Title: "duplication of 1 message in 20", applies: always, set: map[string]string{"dup": "0.05"},
			search: func(o *check.Options) { o.Duplicate = true }, link: true,
		},
		{
			Name: "reordering", Title: "reordering of 1 message in 10", applies: always, set: map[string]string{"reorder": "0.1"},
			search: func(o *check.Options) { o.Unordered = true }, link: true,
		},
	}
}

// restart is the kind that claims on nodes that come back are judged by, too.
func restart() Kind {
	return Kind{
		Name: "restart", Title: "crash in the critical section, and restart", applies: subject.restarts, search: crashes,
		faults: func(_ int, d string) []string { return []string{"kill holder " + strikes, "restart holder @+" + d} },
	}
}

func crashOf(whom, title, what string, applies func(subject) string) Kind {
	return Kind{Name: "crash-" + whom, Title: title, applies: applies, faults: once(what), search: crashes, wider: true}
}

// sizes are the systems that are searched: every state of a small one, as far as the
// limit lets it, with few requests and with more, and random schedules of a larger one.
var sizes = []struct {
	nodes, requests int
	all             bool
}{{3, 3, true}, {3, 5, true}, {5, 15, false}}

const searchTime = 20 * time.Second // at most, for each

// search searches schedules in which faults strike at any moment. If it meets a standstill it goes
// on for safety alone: what stands still may yet let two nodes in.
func (o *trial) search(ctx context.Context, faults ...func(*check.Options)) (*survival.Search, error) {
	base := check.Options{
		Set: o.with, Unordered: !o.algorithm.Needs(o.set).FIFO, Seed: o.Seed, States: o.States, Schedules: o.Schedules, Time: searchTime,
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
		s.Witness = check.NewResult(a, x, all, r).Replay
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

// judge reads the answers off a report. Unsafe comes before standing still; a search that ended
// with anything else has not looked at the rest.
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

// and returns what two answers come to: one no is a no.
func and(a, b survival.Answer) survival.Answer {
	switch {
	case a == survival.No || b == survival.No:
		return survival.No
	case a == survival.Unknown || b == survival.Unknown:
		return survival.Unknown
	}
	return survival.Yes
}

// decide returns what runs and a search say together, and by which evidence.
func decide(s *survival.Search, runs, search survival.Answer) (survival.Answer, survival.Evidence) {
	switch {
	case runs == survival.No:
		return survival.No, survival.ByRuns
	case search == survival.No:
		return survival.No, survival.BySearch
	case runs == survival.Unknown:
		return survival.Unknown, ""
	case search == survival.Yes && s.Complete:
		return survival.Yes, survival.ByStates
	case search == survival.Yes:
		return survival.Yes, survival.BySchedules
	}
	return survival.Yes, survival.ByRuns
}

// absence returns what a search says that has the fault at other moments too: what it did
// not find is not there, and what it found speaks of those other moments. nil: nothing.
func absence(s *survival.Search) *survival.Search {
	if s.Safe != survival.Yes {
		return nil
	}
	only := &survival.Search{
		Safe: survival.Yes, Live: survival.Unknown, Nodes: s.Nodes, States: s.States, Complete: s.Complete, Random: s.Random,
	}
	if s.Live == survival.Yes {
		only.Live = survival.Yes
	}
	return only
}
