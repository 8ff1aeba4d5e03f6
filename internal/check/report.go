package check

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// Report is what a search has found out.
type Report struct {
	Violation *vnet.Violation // nil: none was found
	Trace     *Trace          // how it came about; nil where there is none
	Seed      uint64          // of the schedule that broke the property; for an exhaustive search the search's own

	// Complete: everything that was to be searched has been. A search that was
	// broken off has found nothing out about the rest.
	Complete bool
	Stopped  string // why it is not complete, "" where it is or where a violation ended it

	Schedules uint64 // random: up to the one that broke a property
	Steps     uint64 // random: taken in all of these; exhaustive: taken from all states
	Entries   uint64 // random: into the critical section, in these steps
	MaxBypass int    // most entries of others between a request and its entry, in these steps; exhaustive: only where Options.Bypass bounds it
	States    uint64 // exhaustive: distinct ones
	Depth     int    // exhaustive: steps to the farthest state; with reduction, without those that were forced

	Reduced  bool      // exhaustive: orders of steps that make no difference were left out or, if ByClass, states that do
	ByClass  bool      // exhaustive: of states that differ in the values of clocks alone, one was visited
	Bitstate *Bitstate // exhaustive: what is known where only bits of states were kept; else nil

	NeverSent []string // exhaustive: kinds of messages; nothing is known of what comes of them

	// Refused counts the messages that nodes refused: in an exhaustive search
	// once for each local state and message.
	Refused uint64
	Refusal string // the reason of one of them

	// Starved counts the random schedules in which a node starved, of an algorithm that
	// is not claimed to be free of starvation.
	Starved  int
	Starving string // what the first of them showed

	Workers int
	Elapsed time.Duration
}

// Err says what a search has found, or why it is not complete; nil where all that
// was to be searched is as it should be. A message that a node had to refuse is a
// fault here, as it is where links lose and repeat nothing.
func (r Report) Err() error {
	switch {
	case r.Violation != nil:
		return fmt.Errorf("seed %d: %v", r.Seed, r.Violation)
	case !r.Complete:
		return errors.New(r.Stopped)
	case r.Refused > 0:
		return fmt.Errorf("%d messages refused: %s", r.Refused, r.Refusal)
	}
	return nil
}

// Random searches a by random schedules; see [Search.Random].
func Random(ctx context.Context, a *dme.Algorithm, o Options) (Report, error) {
	s, err := New(a, o)
	if err != nil {
		return Report{}, err
	}
	return s.Random(ctx), nil
}

// Exhaustive searches all states of a; see [Search.Exhaustive].
func Exhaustive(ctx context.Context, a *dme.Algorithm, o Options) (Report, error) {
	s, err := New(a, o)
	if err != nil {
		return Report{}, err
	}
	return s.Exhaustive(ctx)
}
