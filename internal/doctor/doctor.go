// Package doctor examines a host before it takes part in runs: whether its clock is
// kept, whether limits, buffers and ports are enough for the run that is meant, how
// busy it is with other things, and whether processes on it reach one another at the
// address where transports listen. For several hosts it judges what their agents
// measured between each other, and says in what they differ.
//
// Everything found is a [Finding]: a level, what was found, and what to do. What is
// read of a host and what is made of it are apart: [Examine] reads and judges, and
// tests judge readings of hosts that they do not have.
//
// An examination changes nothing on its host, and takes about two seconds.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"
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
	Do    string `json:"do,omitempty"` // what to do; "" where nothing is to be done

	// Of a finding between hosts: from which one, and to which one. One of them
	// alone where it is about a host and all the others.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// Need is what the run that is meant takes of one host. The zero Need is that of no
// run at all.
type Need struct {
	Nodes       int    `json:"nodes"`       // of the whole run
	Processes   int    `json:"processes"`   // on this host
	Threads     uint64 `json:"threads"`     // of all processes on this host
	Descriptors uint64 `json:"descriptors"` // of the process that has the most
	Memory      uint64 `json:"memory"`      // bytes, of all processes on this host
	Connections uint64 `json:"connections"` // that processes on this host make
}

// Share is what one of several hosts takes of a run that needs n, where nodes are
// spread evenly.
func (n Need) Share(hosts int) Need {
	part := func(all uint64) uint64 { return (all + uint64(hosts) - 1) / uint64(hosts) }
	n.Processes = int(part(uint64(n.Processes)))
	n.Threads, n.Memory, n.Connections = part(n.Threads), part(n.Memory), part(n.Connections)
	return n
}

// Options say for what a host is examined.
type Options struct {
	Need Need `json:"need"`

	// Listen is the address, HOST:PORT, at which transports will listen; port 0 for
	// any that is free. "" means the loopback.
	Listen string `json:"listen"`

	// Several says that the run has other hosts, too: clocks matter more.
	Several bool `json:"several,omitempty"`

	// Results is the folder in which results will be kept; "" where none are.
	Results string `json:"results,omitempty"`

	// Watch is for how long the host's load is looked at; 0 means a second.
	Watch time.Duration `json:"watch_ns,omitempty"`
}

const (
	defaultListen = "127.0.0.1:0"
	defaultWatch  = time.Second

	// patience is how long one process on this host may take to reach another.
	patience = 2 * time.Second
)

// Examine examines this host. It ends early, with less to tell, when ctx does.
func Examine(ctx context.Context, o Options) []Finding {
	if o.Listen == "" {
		o.Listen = defaultListen
	}
	if o.Watch == 0 {
		o.Watch = defaultWatch
	}
	return read(ctx, o).judge(o)
}

// Worst returns the highest level among findings.
func Worst(findings []Finding) Level {
	worst := OK
	for _, f := range findings {
		worst = max(worst, f.Level)
	}
	return worst
}
