// Package exit holds the codes with which the program ends, and errors that
// carry one.
package exit

import "dmebench/result"

// The codes of the program.
const (
	Held        = 0   // everything held
	Broken      = 1   // violated, or stalled though the links met the needs
	Unknown     = 2   // failed: it could not be told
	Usage       = 64  // flags or arguments are wrong
	Data        = 65  // an input file is wrong
	NoInput     = 66  // an input file is not there
	Unavailable = 69  // the environment lacks something
	CantCreate  = 73  // an output cannot be written
	Interrupted = 130 // Ctrl-C
)

// OfRun is the code with which «run» ends after a run with this status.
func OfRun(status result.Status, linksMetNeeds bool) int {
	switch status {
	case result.OK:
		return Held
	case result.Violated:
		return Broken
	case result.Stalled:
		if linksMetNeeds {
			return Broken
		}
	}
	return Unknown
}
