package claims

import (
	"fmt"

	"dmebench/dme"
	"dmebench/result"
)

const (
	// evenJain is the Jain's index below which nodes that ask equally often were served
	// unevenly: two of them, of which one entered twice as often as the other, have 0.9.
	evenJain = 0.9

	// fewTurns is how many entries of each node there must be: fewer are uneven by where a
	// run begins and ends.
	fewTurns = 10
)

// Unfair says what is alarming about how nodes were served in a run, a line each: that
// one was overtaken more often than it may be, and unequal shares under a load under
// which all nodes ask all the time. It says nothing of runs with faults.
func (c Circumstance) Unfair(all []dme.Claim, s dme.Setting, r *result.Result) []string {
	var lines []string
	if line := Overtaken(dme.OvertakingBound(all, s, c.Ordered), r); line != "" {
		lines = append(lines, line)
	}
	if Uneven(r) {
		lines = append(lines, "uneven: all nodes ask all the time, and "+shares(r.Work.EntriesByNode))
	}
	return lines
}

// shares says who entered most and least often.
func shares(entries []uint64) string {
	if len(entries) == 0 {
		return "some entered much more often than others"
	}
	most, least := 0, 0
	for i, n := range entries {
		if n > entries[most] {
			most = i
		}
		if n < entries[least] {
			least = i
		}
	}
	if entries[most] == entries[least] { // of runs in which each node had its number of requests
		return "until the first had no requests left, some entered much more often than others"
	}
	return fmt.Sprintf("node %d entered %d times, node %d %d times", most+1, entries[most], least+1, entries[least])
}
