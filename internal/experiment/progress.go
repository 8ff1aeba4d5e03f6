package experiment

import (
	"fmt"
	"io"
	"time"

	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

// quiet is how long a sweep that goes well says nothing except on a terminal.
const quiet = 5 * time.Second

// progress tells how far a sweep is and how long it will still take.
type progress struct {
	out      io.Writer
	bar      *run.Counter // nil where the output is not a terminal
	now      func() time.Time
	last     time.Time
	done     int
	planned  int
	todo     int
	ran      int
	estimate estimate
}

func newProgress(todo []Cell, planned, found int, opt Options) *progress {
	p := &progress{
		out: opt.Progress, now: opt.Now, planned: planned, done: found, todo: len(todo),
		estimate: newEstimate(todo),
	}
	if found > 0 {
		fmt.Fprintf(p.out, "%d of %d runs are there already\n", found, planned)
	}
	if opt.Interactive && len(todo) > 0 {
		p.bar = run.NewCounter(opt.Progress, uint64(planned), "runs")
		p.bar.Set(uint64(found))
	}
	return p
}

func (p *progress) begins(c Cell) {
	if p.bar == nil {
		return
	}
	text := c.String()
	if left := p.estimate.left(); left > 0 {
		text += ", about " + roundly(left) + " left"
	}
	p.bar.Describe(text)
}

// finished tells of one run. What did not go well always gets a line.
func (p *progress) finished(c Cell, r *runs.Result, took time.Duration) {
	p.done++
	p.ran++
	p.estimate.add(c, took)
	left := ""
	if p.ran < p.todo {
		left = ", about " + roundly(p.estimate.left()) + " left"
	}
	bad := r.Status != runs.OK
	line := fmt.Sprintf("%d/%d %s: %s in %s%s", p.done, p.planned, c, outcome(r), roundly(took), left)
	if p.bar != nil {
		if bad {
			p.bar.Above(line)
		}
		p.bar.Set(uint64(p.done))
		return
	}
	if now := p.now(); bad || p.ran == 1 || p.ran == p.todo || now.Sub(p.last) >= quiet {
		fmt.Fprintln(p.out, line)
		p.last = now
	}
}

func (p *progress) end() {
	p.bar.Done()
}

func outcome(r *runs.Result) string {
	if r.Error != "" {
		return fmt.Sprintf("%s (%s)", r.Status, r.Error)
	}
	return string(r.Status)
}

func roundly(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}

// estimate predicts from what each configuration has taken so far. A plan runs
// all configurations once before it repeats any, so after the first repetition
// every one is known.
type estimate map[int]*pace

type pace struct {
	took       time.Duration // in all
	runs, todo int
}

func newEstimate(todo []Cell) estimate {
	e := make(estimate)
	for _, c := range todo {
		if e[c.config] == nil {
			e[c.config] = new(pace)
		}
		e[c.config].todo++
	}
	return e
}

func (e estimate) add(c Cell, took time.Duration) {
	p := e[c.config]
	p.took += took
	p.runs++
	p.todo--
}

// left sums up the means of what is to come, by configuration where that has run.
func (e estimate) left() time.Duration {
	var all pace
	for _, p := range e {
		all.took += p.took
		all.runs += p.runs
	}
	var left time.Duration
	for _, p := range e {
		like := p
		if p.runs == 0 {
			like = &all
		}
		left += time.Duration(p.todo) * like.took / time.Duration(max(1, like.runs))
	}
	return left
}
