// Package exit holds the codes with which the program ends, and errors that
// carry one.
package exit

import (
	"fmt"

	"dmebench/runs"
)

// The codes of the program.
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

// OfRun is the code with which 'run' ends after a run with this status.
func OfRun(status runs.Status, linksMetNeeds bool) int {
	switch status {
	case runs.OK:
		return Held
	case runs.Violated:
		return Broken
	case runs.Stalled:
		if linksMetNeeds {
			return Broken
		}
	}
	return Unknown
}

// OfThresholds is the code with which a command ends that would have ended with code:
// thresholds change it only where everything held. One that was crossed is said
// before one that could not be judged.
func OfThresholds(code int, crossed, unknown bool) int {
	switch {
	case code != Held:
	case crossed:
		return Crossed
	case unknown:
		return Unknown
	}
	return code
}

// Error is an error with the code with which the program ends because of it.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the fault itself.
func (e *Error) Unwrap() error { return e.Err }

// With gives an error a code.
func With(code int, err error) error { return &Error{code, err} }

// Errorf makes an error with a code, as fmt.Errorf does.
func Errorf(code int, format string, args ...any) error {
	return With(code, fmt.Errorf(format, args...))
}
