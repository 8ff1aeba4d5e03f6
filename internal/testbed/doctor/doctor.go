// Package doctor examines a host before it takes part in runs: whether its clock is
// kept, whether limits, buffers and ports are enough for the run that is meant, how
// busy it is with other things, and whether processes on it reach one another at the
// address where transports listen. For several hosts it judges what their agents
// measured between each other, and says in what they differ.
//
// Everything found is a [Finding]: a level, what was found, and what to do. Reading a
// host and judging it are separate steps of [Examine], so that tests can judge
// readings of hosts that they do not have.
//
// An examination changes nothing on its host, and takes a few seconds.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"dmebench/internal/platform/environment"
)

// Level says how much a finding matters.
type Level int

// The levels, in ascending order.
const (
	OK      Level = iota
	Note          // worth knowing
	Warning       // figures will say less, or something may fail
	Problem       // runs will fail
)

var levelNames = []string{"ok", "note", "warning", "problem"}

func (l Level) String() string { return levelNames[l] }

// MarshalText writes the name of the level.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the name of a level.
func (l *Level) UnmarshalText(text []byte) error {
	i := slices.Index(levelNames, string(text))
	if i < 0 {
		return fmt.Errorf("doctor: no level %q; there are %v", text, levelNames)
	}
	*l = Level(i)
	return nil
}

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

// fine is a finding of something that is as it should be, unless it is raised.
func fine(check, format string, args ...any) Finding {
	return Finding{Check: check, Found: fmt.Sprintf(format, args...)}
}

// raise returns the finding as grave as level at least, with more to do, if when holds.
func (f Finding) raise(when bool, level Level, do string) Finding {
	if !when {
		return f
	}
	if f.Do != "" {
		do = f.Do + "; " + do
	}
	f.Level, f.Do = max(f.Level, level), do
	return f
}

// notKnown is a finding of what cannot be looked at.
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

// Share is what each of several hosts takes of a run that needs n, with its nodes
// spread evenly.
func (n Need) Share(hosts int) Need {
	part := func(all uint64) uint64 { return (all + uint64(hosts) - 1) / uint64(hosts) }
	n.Processes = int(part(uint64(n.Processes)))
	n.Threads, n.Memory = part(n.Threads), part(n.Memory)
	return n
}

// Options say for what a host is examined.
type Options struct {
	Need Need

	// Listen is the address, HOST:PORT, at which transports will listen; port 0 for
	// any that is free. "" means the loopback.
	Listen string

	Several bool   // the run has other hosts, too: clocks matter more
	Results string // the folder in which results will be kept; "" for none
}

const loopback = "127.0.0.1:0"

// readings is what was read of a host. What could not be read has the zero value, and
// judges say that it is not known.
type readings struct {
	program    environment.Program
	clock      clockReading
	source     sourceReading
	processors processorReading
	load       loadReading
	limits     environment.Limits
	network    networkReading
	results    resultsReading
}

// Examine examines this host. It ends early, with less to tell, when ctx does.
func Examine(ctx context.Context, o Options) []Finding {
	if o.Listen == "" {
		o.Listen = loopback
	}
	var r readings
	var wait sync.WaitGroup
	wait.Go(func() { r.network = readNetwork(ctx, o.Listen) })
	facts := environment.Describe()
	r.watch(ctx, facts)
	r.program, _ = environment.ThisProgram() // what is not known is told
	r.source = readSource(facts["clock_source"])
	r.limits = environment.HostLimits()
	if o.Results != "" {
		r.results = readResults(o.Results)
	}
	wait.Wait()
	return r.judge(o)
}

// judge says what the readings mean for the run that is meant.
func (r *readings) judge(o Options) []Finding {
	all := []Finding{
		fine("program", "%v", r.program).raise(r.program.Commit == "", Note, "the commit is not known, or the sources were changed: "+
			"to trace results back to sources commit, and build in a clone of the repository (go build)"),
		r.clock.judge(o.Several), r.clock.judgeRate(o.Several), r.source.judge(),
		r.processors.judge(o.Need.Processes), r.processors.judgeFrequency(), r.load.judge(r.processors), r.load.judgeStolen(),
	}
	all = append(all, judgeLimits(r.limits, o.Need)...)
	all = append(all, r.network.judge(o.Listen)...)
	if o.Results != "" {
		all = append(all, r.results.judge(o.Results))
	}
	return all
}

// plural counts things: "1 host", "2 hosts", "3 processes".
func plural(n int, thing string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(thing, "s"):
		thing += "es"
	default:
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}
