// Package survival is the table of what each algorithm survives: which kinds of
// fault leave it safe and live, and what recovery costs.
package survival

import "dmebench/claims"

// Answer is yes, no, or that there is none.
type Answer string

// The answers to 'is it safe?' and 'is it live?'.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	Unknown Answer = "unknown" // nobody tried, or what was tried could not be carried out
)

// And returns what two answers come to: one no is a no.
func (a Answer) And(b Answer) Answer {
	switch {
	case a == No || b == No:
		return No
	case a == Unknown || b == Unknown:
		return Unknown
	}
	return Yes
}

// Unless returns what runs say, or no where a search has seen the contrary.
func (a Answer) Unless(search Answer) Answer {
	if search == No {
		return No
	}
	return a
}

// Cell is what became of an algorithm under one kind of fault.
type Cell struct {
	Algorithm string `json:"algorithm"`
	Fault     string `json:"fault"`
	Title     string `json:"title"`
	WhyNot    string `json:"why_not,omitempty"` // why it was not tried

	Safe Answer `json:"safe"` // in all runs, and in the search
	Live Answer `json:"live"` // the requests of the nodes that were there were served

	Runs     int      `json:"runs"`
	Struck   int      `json:"struck"`  // runs in which the fault struck
	Unsafe   int      `json:"unsafe"`  // runs with two nodes in the critical section at once
	Stopped  int      `json:"stopped"` // runs in which somebody waited for ever
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
	Low    *float64 `json:"low"` // null where there are too few runs for an interval
	High   *float64 `json:"high"`
	Count  int      `json:"count"`
}

// Search is what a search of schedules said of the fault at any moment.
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
