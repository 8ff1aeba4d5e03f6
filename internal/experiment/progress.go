package experiment

import (
	"fmt"
	"io"
	"time"

	"dmebench/internal/experiment/live"
	"dmebench/runs"
)

// quiet is how long a sweep that goes well says nothing except on a terminal.
const quiet = 5 * time.Second

// progress shows how far a sweep is and how long it will still take: on a board, on a terminal as a
// table, and elsewhere in lines.
type progress struct {
	out      io.Writer
	board    *live.Board
	table    *live.Table // nil if the output is not a terminal
	now      func() time.Time
	last     time.Time
	done     int
	planned  int
	todo     int
	ran      int
	estimate estimate
	between  func()
}

func newProgress(plan *Plan, set *runs.Set, todo []Cell, s *Summary, opt Options) *progress {
	p := &progress{
		out: opt.Progress, board: opt.Board, now: opt.Now, planned: s.Planned, done: s.Found, todo: len(todo),
		estimate: newEstimate(todo), between: func() {},
	}
	if opt.Between != nil {
		p.between = func() { opt.Between(set, p.ran == p.todo) }
	}
	if s.Found > 0 {
		fmt.Fprintf(p.out, "%d of %d runs are there already\n", s.Found, s.Planned)
	}
	if opt.Interactive && len(todo) > 0 {
		if p.board == nil {
			p.board = live.NewBoard()
		}
		p.table = live.NewTable(p.board, opt.Progress)
	}
	p.board.Plan(plan.File.Name, plan.board(todo), s.Counts)
	p.between()
	return p
}

// board returns the cells of a plan with how many of their runs are there, by the numbers
// of their configurations.
func (p *Plan) board(todo []Cell) []live.Cell {
	var all []live.Cell
	for _, c := range p.Cells {
		for len(all) <= c.config {
			all = append(all, live.Cell{})
		}
		cell := &all[c.config]
		cell.Label, cell.Nodes = c.Label, c.Spec.Nodes
		cell.Planned++
		cell.Done++
	}
	for _, c := range todo {
		all[c.config].Done--
	}
	return all
}

// begins names the run that is under way.
func (p *progress) begins(c Cell) { p.board.Begin(c.config, c.String()) }

// finished reports one run. Anything but success always gets a line.
func (p *progress) finished(c Cell, r *runs.Result, took time.Duration) {
	p.done++
	p.ran++
	p.estimate.add(c, took)
	left, about := time.Duration(0), ""
	if p.ran < p.todo {
		left = p.estimate.left()
		about = ", about " + roundly(left) + " left"
	}
	bad := r.Status != runs.OK
	line := fmt.Sprintf("%d/%d %s: %s in %s%s", p.done, p.planned, c, outcome(r), roundly(took), about)
	p.board.Finish(r, line, left)
	switch now := p.now(); {
	case p.table != nil && bad:
		p.table.Above(line)
	case p.table != nil:
	case bad || p.ran == 1 || p.ran == p.todo || now.Sub(p.last) >= quiet:
		fmt.Fprintln(p.out, line)
		p.last = now
	}
	p.between()
}

func (p *progress) end() { p.table.Close() }

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

// left sums up the means of what is to come, by configuration if that has run.
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
