package claims

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/runs"
	"dmebench/workload"
)

const (
	// evenJain is the Jain's index below which nodes that ask equally often were served unevenly:
	// two nodes, one of which entered twice as often, have 0.9.
	evenJain = 0.9

	// fewTurns is how many entries of each node there must be: fewer are uneven by where a
	// run begins and ends.
	fewTurns = 10
)

// Unfair says what is alarming about how nodes were served in a run, a line each: that
// one was overtaken more often than it may be, and unequal shares under a load under
// which all nodes ask all the time. It says nothing of runs with faults.
func (c Circumstance) Unfair(all claim.List, s dme.Setting, r *runs.Result) []string {
	var lines []string
	if line := Overtaken(claim.OvertakingBound(all, s, c.Ordered), r); line != "" {
		lines = append(lines, line)
	}
	if Uneven(r) {
		lines = append(lines, "uneven: all nodes ask all the time, and "+shares(r.Work.EntriesByNode))
	}
	return lines
}

// shares says which nodes entered most and least often.
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

// Starved says that a node of a run starved, and why that follows: it was overtaken more often than
// bound allows, given how long the run's messages take. It returns "" if that does not follow: in
// runs with faults; and, if no claim promises a bound, on links without a bound on delay, and for
// critical sections of no length, any number of which fits into a delay.
//
// On a real network a process may be kept from running, and the others cannot wait for what it has
// not said: a hiccup counts as a delay that any message may have.
func Starved(bound claim.Overtaking, r *runs.Result) string {
	trip, known := tripOf(r, hiccup)
	if !overtaken(bound, r, trip, known) {
		return ""
	}
	return fmt.Sprintf("starving: a node that had asked saw %d entries of others before its own; %s",
		r.Fairness.MaxBypass, bound.Describe(trip))
}

// Overtaken is [Starved] for a single run that is looked at: it also says where a node was
// overtaken more often than the delays of messages explain, be it that its process was
// kept from running.
func Overtaken(bound claim.Overtaking, r *runs.Result) string {
	if line := Starved(bound, r); line != "" {
		return line
	}
	trip, known := tripOf(r, 0)
	if !overtaken(bound, r, trip, known) {
		return ""
	}
	return fmt.Sprintf("overtaken often: a node that had asked saw %d entries of others before its own, and the delays of "+
		"messages explain %d: it starved, or its process was kept from running", r.Fairness.MaxBypass, bound.Most(trip))
}

// hiccup is how long a process on a busy host may be kept from running.
const hiccup = 100 * time.Millisecond

func overtaken(bound claim.Overtaking, r *runs.Result, trip int, known bool) bool {
	undisturbed := len(r.Faults)+len(r.Spec.Faults) == 0
	return undisturbed && (known || bound.Claim != nil) && r.Fairness.MaxBypass > uint64(bound.Most(trip))
}

// tripOf returns how many entries a node can make in the run while a message is on its
// way: with the message's delay and the mean duration of a critical section, and never
// more than there were.
func tripOf(r *runs.Result, hiccup time.Duration) (entries int, known bool) {
	spread, bounded := spreadOf(r.Spec.Set)
	if !bounded || r.Delay() == nil || r.CS == nil || *r.CS <= 0 || r.Workload == "trace" {
		return
	}
	late := spread * *r.Delay()
	if r.Asked().Transport != runs.Sim {
		late = max(late, float64(hiccup))
	}
	return int(min(math.Ceil(late / *r.CS)+1, float64(r.Entries))), true
}

// spreadOf returns how many times the mean delay a message may take, by the options of the network;
// known is false if delays have no bound that a run keeps.
func spreadOf(set map[string]string) (times float64, known bool) {
	for _, scatters := range []string{"jitter", "loss", "dup", "reorder", "bandwidth", "links", "partition"} {
		if !slices.Contains([]string{"", "0", "0s", "none"}, set[scatters]) {
			return
		}
	}
	if readers, err := strconv.ParseFloat(set["readers"], 64); err == nil && readers > 0 {
		return // nodes that are inside together do not count as one entry after the other
	}
	switch set["delay"] {
	case "", "constant":
		return 1, true
	case "uniform":
		return 1.5, true // from T/2 to 3T/2
	case "exponential":
		return rareDelay, true
	}
	d, err := workload.ParseDistribution(set["delay"])
	switch {
	case err != nil:
		return
	case d.Exponential:
		return rareDelay, true
	}
	return 1, true
}

// rareDelay is how many times the mean an exponential delay takes once in 480 million
// messages, which is e to its power.
const rareDelay = 20

// Uneven reports whether nodes that all asked all the time were served so unequally, in a run
// without faults, that its times and its throughput are those of the nodes that were served.
func Uneven(r *runs.Result) bool {
	faults := len(r.Faults)+len(r.Spec.Faults) > 0
	asked := r.Asked()
	return !faults && asked.Workload == "saturate" && r.Entries >= uint64(fewTurns*asked.Nodes) &&
		r.Fairness.Jain != nil && *r.Fairness.Jain < evenJain
}
