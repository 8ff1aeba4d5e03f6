// Package survival is the table of what each algorithm survives: which kinds of
// fault leave it safe and live, and what recovery costs.
package survival

import "dmebench/claims"

// Answer is yes, no, or unknown.
type Answer string

// The answers to 'is it safe?' and 'is it live?'.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	Unknown Answer = "unknown" // not tried, or what was tried could not be carried out
)

// Evidence is what an answer stands on.
type Evidence string

// The kinds of evidence. For a yes, the strongest first: all states of the small system
// were visited; a part of them was, and random schedules; there were runs alone.
const (
	ByStates    Evidence = "states"
	BySchedules Evidence = "schedules"
	ByRuns      Evidence = "runs"
	BySearch    Evidence = "search" // of a no: it found a schedule, and no run shows it
)

// Cell is what became of an algorithm under one kind of fault.
type Cell struct {
	Algorithm string `json:"algorithm"`
	Fault     string `json:"fault"`
	Title     string `json:"title"`
	WhyNot    string `json:"why_not,omitempty"` // why it was not tried

	Safe Answer `json:"safe"` // in all runs, and in the search
	Live Answer `json:"live"` // the requests of the nodes that were there were served

	// Updates says whether every update of a shared resource is kept, even if two nodes are inside
	// at once; it is asked of algorithms that can have fencing tokens.
	Updates Answer `json:"updates,omitempty"`

	SafeBy Evidence `json:"safe_by,omitempty"`
	LiveBy Evidence `json:"live_by,omitempty"`
	Only   []string `json:"only,omitempty"` // conditions under which alone it is safe

	Runs     int      `json:"runs"`
	Struck   int      `json:"struck"`         // runs in which the fault struck
	Unsafe   int      `json:"unsafe"`         // runs with two nodes in the critical section at once
	Lost     int      `json:"lost,omitempty"` // runs in which an update was lost
	Stopped  int      `json:"stopped"`        // runs in which a node waited for ever
	Recovery *Measure `json:"recovered_ns"`
	Served   *Measure `json:"served_ns"`
	Messages *Measure `json:"messages"`
	Witness  string   `json:"witness,omitempty"` // the command that shows the first run that was not safe or not live
	Why      []string `json:"why,omitempty"`     // what it stopped for

	Search *Search `json:"search,omitempty"`
}

// Measure is a median over runs, with its 95% confidence interval.
type Measure struct {
	Median float64  `json:"median"`
	Low    *float64 `json:"low"` // null if there are too few runs for an interval
	High   *float64 `json:"high"`
	Count  int      `json:"count"`
}

// Search is what a search of schedules said of the fault at any moment. The states that it has
// visited count for safety, also behind standstills.
type Search struct {
	Safe     Answer   `json:"safe"`
	Live     Answer   `json:"live"`
	Nodes    int      `json:"nodes"`
	States   uint64   `json:"states"`
	Complete bool     `json:"complete"` // all states of the small system were visited
	Random   uint64   `json:"schedules"`
	Verdict  string   `json:"verdict,omitempty"`
	Why      []string `json:"why,omitempty"`
	Witness  string   `json:"witness,omitempty"`
}

// Document is the whole table.
type Document struct {
	SchemaVersion int               `json:"schema_version"`
	Nodes         int               `json:"nodes"`
	Networks      []string          `json:"networks"`
	Repetitions   int               `json:"repetitions"`
	Seed          uint64            `json:"seed"`
	Environment   map[string]string `json:"environment"`
	Cells         []Cell            `json:"cells"`  // by algorithm, then by fault
	Claims        []claims.Verdict  `json:"claims"` // on what the texts say of failures
}
