package run

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"dmebench/internal/platform/layout"
	"dmebench/internal/runtime/noderun"
	"dmebench/units"
)

// State is where a run stands.
type State struct {
	Elapsed  time.Duration // since the workload began; virtual in a simulation
	Duration time.Duration // for which requests are made; 0 if nothing says so
	Entries  uint64        // so far
	Of       uint64        // in all; 0 if that is not known
	Waiting  int           // nodes that wait for the critical section
	Waits    noderun.WaitCounts
}

// done is the part of the run that is over, by whichever of its limits is nearer.
func (s *State) done() float64 {
	part := 0.0
	if s.Of > 0 {
		part = float64(s.Entries) / float64(s.Of)
	}
	if s.Duration > 0 {
		part = max(part, float64(s.Elapsed)/float64(s.Duration))
	}
	return min(part, 1)
}

const (
	every  = 100 * time.Millisecond // between two lines, at least
	window = time.Second            // over which the rate is computed
)

// Reading is what a run has measured so far. It is for the eye: percentiles are exact to
// within a sixteenth, the rate is that of the latest second or so, and the figures of a
// result come from elsewhere. Unknown numbers are 0.
type Reading struct {
	Entries  uint64 // so far
	Of       uint64 // in all
	Left     time.Duration
	Rate     float64 // entries per second of the run's own time
	P50, P99 int64   // waiting time, in nanoseconds
	Waiting  int     // nodes that wait
}

// Line is a line on a terminal that shows what a run has measured so far, at most ten
// times a second; nil shows nothing. Its methods may be called from several goroutines.
type Line struct {
	mu    sync.Mutex
	pass  func(Reading) // in place of a terminal
	over  bool          // nothing but what Say has said is shown any more
	out   io.Writer
	width int
	now   func() time.Time
	begun time.Time
	shown time.Time
	wrote int // columns of the latest line
	seen  []moment
}

type moment struct {
	at      time.Time
	elapsed time.Duration
	entries uint64
}

// NewLine returns a line on out, or nil if that is no terminal.
func NewLine(out io.Writer) *Line {
	if !layout.IsTerminal(out) {
		return nil
	}
	return &Line{out: out, width: layout.StyleOf(out).Width, now: time.Now}
}

// NewFeed returns a line that is not shown: pass is called with its readings.
func NewFeed(pass func(Reading)) *Line { return &Line{pass: pass, now: time.Now} }

// locked does something at a time, with the lock held. At the first time the run begins.
func (l *Line) locked(do func(now time.Time)) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if l.begun.IsZero() {
		l.begun = now
	}
	do(now)
}

// Look shows where the run stands, if it is time for that; look is called only then.
func (l *Line) Look(look func() State) {
	l.locked(func(now time.Time) {
		if now.Sub(l.shown) >= every {
			l.shown = now
			s := look()
			l.put(&s, now)
		}
	})
}

// Show shows where the run stands. The caller limits how often.
func (l *Line) Show(s *State) {
	l.locked(func(now time.Time) {
		if l.begun == now {
			l.begun = now.Add(-s.Elapsed) // a run that is not simulated goes on in real time
		}
		l.put(s, now)
	})
}

// put shows a state, or passes it on.
func (l *Line) put(s *State, now time.Time) {
	switch r := l.read(s, now); {
	case l.pass == nil:
		l.write(r.describe(l.width))
	case !l.over:
		l.pass(r)
	}
}

// Say shows a text from now on, and nothing else.
func (l *Line) Say(text string) {
	l.locked(func(time.Time) {
		l.write(text)
		l.over = true
	})
}

// Done takes the line away for good.
func (l *Line) Done() {
	l.locked(func(time.Time) {
		l.clear()
		l.over = true
	})
}

func (l *Line) clear() {
	if l.wrote > 0 {
		fmt.Fprintf(l.out, "\r%s\r", strings.Repeat(" ", l.wrote))
		l.wrote = 0
	}
}

func (l *Line) write(text string) {
	if l.over || l.pass != nil {
		return
	}
	columns := utf8.RuneCountInString(text)
	fmt.Fprintf(l.out, "\r%s%s", text, strings.Repeat(" ", max(0, l.wrote-columns)))
	l.wrote = columns
}

// read says where the run stands.
func (l *Line) read(s *State, now time.Time) Reading {
	r := Reading{Entries: s.Entries, Of: s.Of, Waiting: s.Waiting, Rate: l.rate(s, now), Left: l.left(s, now)}
	r.P50, _ = s.Waits.Quantile(0.5)
	r.P99, _ = s.Waits.Quantile(0.99)
	return r
}

// describe says where the run stands, as far as there is room.
func (r *Reading) describe(width int) string {
	entries := fmt.Sprintf("%d entries", r.Entries)
	if r.Of > 0 {
		entries = fmt.Sprintf("%d of %d entries", r.Entries, r.Of)
	}
	parts := []string{entries}
	switch {
	case r.Left >= 10*time.Second:
		parts = append(parts, r.Left.Round(time.Second).String()+" left")
	case r.Left > 0:
		parts = append(parts, fmt.Sprintf("%.1fs left", r.Left.Seconds()))
	}
	if r.Rate > 0 {
		parts = append(parts, units.Number(r.Rate)+" CS/s")
	}
	if r.P99 > 0 {
		parts = append(parts, fmt.Sprintf("waited p50 %s p99 %s", short(r.P50), short(r.P99)))
	}
	nodes := "nodes wait"
	if r.Waiting == 1 {
		nodes = "node waits"
	}
	parts = append(parts, fmt.Sprintf("%d %s", r.Waiting, nodes))
	for len(parts) > 1 && width > 0 && utf8.RuneCountInString(strings.Join(parts, ", ")) >= width {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, ", ")
}

// short writes a time with the two digits that a histogram knows.
func short(ns int64) string {
	unit := int64(1)
	for ns/unit >= 100 {
		unit *= 10
	}
	return units.Time(float64((ns + unit/2) / unit * unit))
}

// rate is in entries per second of the run's own time; 0 if it is not known.
func (l *Line) rate(s *State, now time.Time) float64 {
	for len(l.seen) > 1 && now.Sub(l.seen[1].at) >= window {
		l.seen = l.seen[1:]
	}
	l.seen = append(l.seen, moment{now, s.Elapsed, s.Entries})
	first := l.seen[0]
	if s.Elapsed <= first.elapsed {
		return 0
	}
	return float64(s.Entries-first.entries) / (s.Elapsed - first.elapsed).Seconds()
}

// left is how long the run will still take if it goes on as it has so far; 0 if that is not known.
func (l *Line) left(s *State, now time.Time) time.Duration {
	part, took := s.done(), now.Sub(l.begun)
	if part == 0 || took < every {
		return 0
	}
	return time.Duration(float64(took) * (1 - part) / part)
}

// Counter is a line that shows how much of a search or a sweep is done: "1200 of 5000
// schedules, 310/s". Its methods may be called from several goroutines; those of nil do
// nothing.
type Counter struct {
	line  *Line
	total uint64 // 0 if the end is not known
	what  string
	text  string
	done  uint64
}

// NewCounter returns a counter on out, which is taken for a terminal. It counts what, in the
// plural, up to total; 0 if the end is not known.
func NewCounter(out io.Writer, total uint64, what string) *Counter {
	return &Counter{line: &Line{out: out, width: layout.StyleOf(out).Width, now: time.Now}, total: total, what: what}
}

// Set shows how much is done, if it is time for that; the end is always shown.
func (c *Counter) Set(done uint64) { c.change(func() { c.done = done }, false) }

// Describe shows a text behind the count.
func (c *Counter) Describe(text string) { c.change(func() { c.text = text }, true) }

func (c *Counter) Done() {
	if c != nil {
		c.line.Done()
	}
}

func (c *Counter) change(set func(), atOnce bool) {
	if c == nil {
		return
	}
	c.line.locked(func(now time.Time) {
		set()
		if atOnce || now.Sub(c.line.shown) >= every || c.done == c.total {
			c.line.shown = now
			c.line.write(c.describe(now))
		}
	})
}

func (c *Counter) describe(now time.Time) string {
	count := fmt.Sprintf("%d %s", c.done, c.what)
	if c.total > 0 {
		count = fmt.Sprintf("%d of %d %s", c.done, c.total, c.what)
	}
	parts := []string{count}
	if took := now.Sub(c.line.begun); c.total == 0 && took >= every {
		parts = append(parts, fmt.Sprintf("%.0f/s", float64(c.done)/took.Seconds()))
	}
	if c.text != "" {
		parts = append(parts, c.text)
	}
	text := []rune(strings.Join(parts, ", "))
	if width := c.line.width; width > 0 && len(text) >= width {
		text = text[:width-1]
	}
	return string(text)
}
