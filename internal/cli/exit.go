package cli

import (
	"errors"

	"dmebench/internal/experiment"
	"dmebench/runs"
)

// The codes with which the program ends.
const (
	Held        = 0   // everything held
	Broken      = 1   // violated, or stalled though the links met the needs
	Unknown     = 2   // failed: it could not be told
	Crossed     = 3   // a threshold of the user's was crossed
	Usage       = 64  // flags or arguments are wrong
	Data        = 65  // an input file is wrong
	NoInput     = 66  // an input file is not there
	Unavailable = 69  // the environment lacks something
	CantCreate  = 73  // an output cannot be written
	Interrupted = 130 // Ctrl-C, a request to end, or a terminal that was closed
	Pipe        = 141 // standard output is a pipe that nobody reads any more
)

// coded is an error with the code with which the program ends because of it.
type coded struct {
	code int
	error
}

func (e *coded) Unwrap() error { return e.error }

func failWith(code int, err error) error { return &coded{code, err} }

// codeOf returns the code with which the program ends because of an error.
func codeOf(err error) int {
	if c := (*coded)(nil); errors.As(err, &c) {
		return c.code
	}
	if r := (*experiment.Refused)(nil); errors.As(err, &r) {
		return map[experiment.Cause]int{
			experiment.BadFlags: Usage, experiment.BadFile: Data, experiment.NoFile: NoInput,
			experiment.Unavailable: Unavailable, experiment.CannotWrite: CantCreate,
		}[r.Cause]
	}
	return Unknown
}

// ofOutcome is the code of a command that ran something with this outcome.
func ofOutcome(o runs.Outcome) int {
	return map[runs.Outcome]int{runs.Held: Held, runs.Broken: Broken, runs.Unknown: Unknown}[o]
}

// ofThresholds is the code with which a command ends that would have ended with code:
// thresholds change it only where everything held. One that was crossed is said
// before one that could not be judged.
func ofThresholds(code int, crossed, unknown bool) int {
	switch {
	case code != Held:
	case crossed:
		return Crossed
	case unknown:
		return Unknown
	}
	return code
}
