// Package faults finds out what each algorithm survives: it injects every kind
// of fault into runs, searches schedules for what a run may miss, and makes a
// table of the outcomes.
package faults

import (
	"fmt"

	"dmebench/dme"
	"dmebench/internal/check"
)

// Kind is a kind of fault: a row of the table.
type Kind struct {
	Name  string
	Title string

	// applies says why the algorithm cannot be hit so; "" where it can.
	applies func(subject) string
	// faults is the schedule of a run on n nodes, in which d is long against the
	// delay of a message.
	faults func(n int, d string) []string
	// set holds options of the network.
	set map[string]string
	// poisson has nodes ask at random times, so that some are idle; else all
	// always ask.
	poisson bool
	// search adds the fault to the options of a search; nil where schedules have
	// it anyway: delays are arbitrary there.
	search func(*check.Options)
}

// subject is what is hit.
type subject struct {
	algorithm *dme.Algorithm
	system    dme.System
	node      dme.Node
}

func (s subject) rooted() string {
	if _, ok := s.system.(dme.Rooted); ok {
		return ""
	}
	return "there is no root"
}

func (s subject) tokened() string {
	if _, ok := s.node.(dme.TokenHolder); ok {
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
	return []Kind{
		{Name: "crash", Title: "crash of any node, at any moment", applies: always, faults: once("kill random"), search: crashes},
		{
			Name: "crash-idle", Title: "crash of an idle node", applies: always, faults: once("kill idle"), poisson: true,
		},
		{Name: "crash-waiting", Title: "crash of a node that waits", applies: always, faults: once("kill waiting")},
		{Name: "crash-holder", Title: "crash in the critical section", applies: always, faults: once("kill holder")},
		{Name: "crash-root", Title: "crash of the root or coordinator", applies: subject.rooted, faults: once("kill root")},
		{Name: "crash-token", Title: "crash of the token's holder", applies: subject.tokened, faults: once("kill token")},
		{
			Name: "crash-last", Title: "crash of node N (of trees a leaf)", applies: always,
			faults: func(n int, _ string) []string { return []string{fmt.Sprintf("kill %d %s", n, strikes)} },
		},
		{
			Name: "restart", Title: "crash in the critical section, and restart", applies: subject.restarts, search: crashes,
			faults: func(_ int, d string) []string { return []string{"kill holder " + strikes, "restart holder @+" + d} },
		},
		{
			Name: "pause", Title: "pause in the critical section", applies: always,
			faults: func(_ int, d string) []string { return []string{"pause holder " + strikes + "+" + d} },
		},
		{
			Name: "partition", Title: "partition into halves, and healing", applies: always,
			faults: func(n int, d string) []string {
				return []string{fmt.Sprintf("partition 1-%d|%d-%d %s+%s", n/2, n/2+1, n, strikes, d)}
			},
			search: func(o *check.Options) { o.Lose = 2 },
		},
		{
			Name: "loss", Title: "loss of 1 message in 50", applies: always, set: map[string]string{"loss": "0.02"},
			search: func(o *check.Options) { o.Lose = 1 },
		},
		{
			Name: "duplication", Title: "duplication of 1 message in 20", applies: always, set: map[string]string{"dup": "0.05"},
			search: func(o *check.Options) { o.Duplicate = true },
		},
		{
			Name: "reordering", Title: "reordering of 1 message in 10", applies: always, set: map[string]string{"reorder": "0.1"},
			search: func(o *check.Options) { o.Unordered = true },
		},
	}
}
