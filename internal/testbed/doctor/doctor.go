// Package doctor examines a host before it takes part in runs: whether its clock is kept,
// whether limits, buffers and ports are enough for the run that is meant, how busy it is, and
// whether processes on it reach one another at the address where transports listen. For
// several hosts it judges what their agents measured between each other, and says in what they
// differ. An examination changes nothing on its host, and takes a few seconds.
//
// Everything found is a [Finding]. Reading a host and judging it are separate steps of
// [Examine], so that tests can judge readings of hosts that they do not have.
package doctor

import (
	"fmt"
	"slices"
)

// Level says how much a finding matters.
type Level string

// The levels, in ascending order.
const (
	OK      Level = "ok"
	Note    Level = "note"    // worth knowing
	Warning Level = "warning" // figures will say less, or something may fail
	Problem Level = "problem" // runs will fail
)

// rank is the place of a level among the others.
func (l Level) rank() int { return slices.Index([]Level{OK, Note, Warning, Problem}, l) }

// Finding is what was found out about one thing.
type Finding struct {
	Check string `json:"check"` // what was looked at, the same word on every host
	Level Level  `json:"level"`
	Found string `json:"found"`
	Do    string `json:"do,omitempty"` // what to do; "" if nothing is to be done

	// Of a finding between hosts: from which one, and to which one. Only one of them
	// is set if it is about a host and all the others.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// fine is a finding without a problem, unless it is raised.
func fine(check, format string, args ...any) Finding {
	return Finding{Check: check, Level: OK, Found: fmt.Sprintf(format, args...)}
}

// raise returns the finding as grave as level at least, with more to do, if when holds.
func (f Finding) raise(when bool, level Level, do string) Finding {
	if !when {
		return f
	}
	if f.Do != "" && f.Do != do {
		do = f.Do + "; " + do
	}
	f.Do = do
	if level.rank() > f.Level.rank() {
		f.Level = level
	}
	return f
}

func (f Finding) along(from, to string) Finding {
	f.From, f.To = from, to
	return f
}

func notKnown(check, why string) Finding { return Finding{Check: check, Level: Note, Found: why} }

// InUse is what is found of a host that has a run: an examination would disturb it.
func InUse(by string) Finding {
	return fine("in-use", "in use by %s; not examined, so as not to disturb the run", by).raise(true, Note, "look again when it has ended")
}

// Need is what the run that is meant takes of one host. The zero Need is that of no
// run at all.
type Need struct {
	Nodes       int    `json:"nodes"`       // of the whole run
	Processes   int    `json:"processes"`   // on this host
	Threads     uint64 `json:"threads"`     // of all processes on this host
	Descriptors uint64 `json:"descriptors"` // of the process that has the most
	Memory      uint64 `json:"memory"`      // bytes, of all processes on this host
}

// Options say for what a host is examined.
type Options struct {
	Need Need

	Listen  string // the address, HOST:PORT, at which transports will listen; port 0 for any that is free
	Several bool   // the run has other hosts, too: clocks matter more
	Results string // the folder in which results will be kept; "" for none
}
