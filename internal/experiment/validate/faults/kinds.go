// Package faults finds out what each algorithm survives: it injects every kind
// of fault into runs, searches schedules for what a run may miss, and makes a
// table of the outcomes.
package faults

import (
	"fmt"

	"dmebench/dme"
	"dmebench/internal/search/check"
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
	// idle: it strikes who does not ask, and under heavy load everybody does.
	idle bool
	// link: it is a fault of links. Nodes may crash as well.
	link bool
	// search adds the fault to the options of a search; nil where no search can see it.
	search func(*check.Options)
	// wider: the search has the fault at other moments too, so that only what it does not
	// find says something of this kind.
	wider bool
	// unbounded: the fault is a long delay. A search has those anyway, but not of an
	// algorithm that relies on a bound.
	unbounded bool
}

// subject is what is hit.
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
	idle := crashOf("idle", "crash of an idle node", "kill idle", always)
	idle.idle = true
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

// crashOf is the crash of somebody in particular.
func crashOf(whom, title, what string, applies func(subject) string) Kind {
	return Kind{Name: "crash-" + whom, Title: title, applies: applies, faults: once(what), search: crashes, wider: true}
}
