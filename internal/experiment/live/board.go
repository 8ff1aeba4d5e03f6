// Package live shows a sweep while it goes on: a Board holds where it stands, a Table
// draws that on a terminal, and a Server has it in a browser and for Prometheus.
//
// The server only ever answers GET and HEAD. It links no network that runs are made
// over and makes no page itself: it is handed one, between two runs, so that nothing is
// put together while something is measured.
package live

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"dmebench/internal/platform"
	"dmebench/runs"
)

// Status is where a sweep stands. Its JSON form is sent to pages.
type Status struct {
	Name      string              `json:"name"`
	Planned   int                 `json:"planned"` // runs
	Done      int                 `json:"done"`    // of these, also those that did not end well
	Counts    map[runs.Status]int `json:"counts"`
	Cells     []Cell              `json:"-"`
	CellCount int                 `json:"cells"`
	CellsDone int                 `json:"cells_done"` // with all their repetitions
	Left      float64             `json:"left_s"`     // approximate seconds until the end; 0 if not known
	Run       *Run                `json:"run"`        // in progress; null if there is none
	Warnings  []Warning           `json:"warnings"`   // the latest first
	Bad       []string            `json:"bad"`        // runs that did not end well, the latest last
	Ended     string              `json:"ended"`      // what the sweep came to; "" while it goes on
}

// Cell is the runs that differ in nothing but their repetition.
type Cell struct {
	Label string
	Nodes int

	Planned, Done, Bad, Warned int // runs
}

// Run is the run in progress.
type Run struct {
	What string `json:"what"`
	Reading
	cell int
	name string
}

// Reading is what is known of a run that goes on. Unknown numbers are 0.
type Reading struct {
	Entries uint64        `json:"entries"`
	Of      uint64        `json:"of"`
	Left    time.Duration `json:"left_ns"`
	Rate    float64       `json:"rate"` // entries per second of the run's own time
	P50     int64         `json:"waiting_p50_ns"`
	P99     int64         `json:"waiting_p99_ns"`
	Waiting int           `json:"waiting"` // nodes
}

// Warning is a warning of some runs, with the numbers of the latest.
type Warning struct {
	Text string `json:"text"`
	Runs int    `json:"runs"`

	kind string
}

// mostBad is how many runs that did not end well are named.
const mostBad = 20

// Board is where a sweep stands, for its viewers. Its methods may be called from several
// goroutines; those of nil do nothing.
type Board struct {
	mu      sync.Mutex
	status  Status
	watched map[chan struct{}]bool
}

// NewBoard returns a board of no sweep yet.
func NewBoard() *Board {
	return &Board{status: Status{Counts: make(map[runs.Status]int)}, watched: make(map[chan struct{}]bool)}
}

// Plan says what the sweep comes to, and what is there already.
func (b *Board) Plan(name string, cells []Cell, counts map[runs.Status]int) {
	b.change(func(s *Status) {
		s.Name, s.Cells = name, cells
		maps.Copy(s.Counts, counts)
		s.count()
	})
}

// count adds up the cells.
func (s *Status) count() {
	s.Planned, s.Done, s.CellsDone, s.CellCount = 0, 0, 0, len(s.Cells)
	for _, c := range s.Cells {
		s.Planned += c.Planned
		s.Done += c.Done
		if c.Done >= c.Planned {
			s.CellsDone++
		}
	}
}

// Begin notes which run of which cell is in progress.
func (b *Board) Begin(cell int, what string) {
	b.change(func(s *Status) { s.Run = &Run{What: what, cell: cell, name: what} })
}

// Delay says why the run has not begun yet, until it is read.
func (b *Board) Delay(why string) {
	b.change(func(s *Status) {
		if s.Run != nil {
			s.Run.What = s.Run.name + ": " + why
		}
	})
}

// Read says where the run in progress stands.
func (b *Board) Read(r Reading) {
	b.change(func(s *Status) {
		if s.Run != nil {
			s.Run.Reading, s.Run.What = r, s.Run.name
		}
	})
}

// Finish says what came of the run in progress, in a line, and how long the others will
// take.
func (b *Board) Finish(r *runs.Result, line string, left time.Duration) {
	b.change(func(s *Status) {
		if s.Run == nil {
			return
		}
		c := &s.Cells[s.Run.cell]
		c.Done++
		s.Counts[r.Status]++
		if r.Status != runs.OK {
			c.Bad++
			s.Bad = append(s.Bad, line)
			s.Bad = s.Bad[max(0, len(s.Bad)-mostBad):]
		}
		if len(r.Warnings) > 0 {
			c.Warned++
		}
		s.warn(r.Warnings)
		s.Run, s.Left = nil, left.Seconds()
		s.count()
	})
}

// warn adds the warnings of a run. Those that differ in numbers alone are one.
func (s *Status) warn(texts []string) {
	for _, text := range texts {
		w := Warning{Text: text, kind: numbers().ReplaceAllString(text, ""), Runs: 1}
		if i := slices.IndexFunc(s.Warnings, func(o Warning) bool { return o.kind == w.kind }); i >= 0 {
			w.Runs += s.Warnings[i].Runs
			s.Warnings = slices.Delete(s.Warnings, i, i+1)
		}
		s.Warnings = slices.Insert(s.Warnings, 0, w)
	}
}

// numbers are what two warnings of one kind differ in.
var numbers = platform.Pattern(`[\d.,]+`)

// Have takes over what a file of results holds, whichever process writes it.
func (b *Board) Have(set *runs.Set) {
	next := Status{Name: set.Header.Experiment.Name, Planned: set.Header.Planned, Counts: make(map[runs.Status]int)}
	for _, r := range set.Runs {
		next.Done++
		next.Counts[r.Result.Status]++
		next.warn(r.Result.Warnings)
	}
	next.Planned = max(next.Planned, next.Done)
	b.change(func(s *Status) { *s = next })
}

// End says what the sweep came to.
func (b *Board) End(what string) {
	b.change(func(s *Status) { s.Run, s.Left, s.Ended = nil, 0, what })
}

func (b *Board) change(f func(*Status)) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.status)
	for c := range b.watched {
		select {
		case c <- struct{}{}:
		default: // has not looked yet
		}
	}
}

// look calls f with the status, which it must not keep.
func (b *Board) look(f func(*Status)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.status)
}

// follow calls f at once, then after changes, but at most once per every, and after quiet without
// one, until f returns false or ctx ends.
func (b *Board) follow(ctx context.Context, every, quiet time.Duration, f func() bool) {
	changed := make(chan struct{}, 1)
	b.mu.Lock()
	b.watched[changed] = true
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		delete(b.watched, changed)
		b.mu.Unlock()
	}()
	for f() {
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return
		}
		select {
		case <-changed:
		case <-time.After(quiet):
		case <-ctx.Done():
			return
		}
	}
}
