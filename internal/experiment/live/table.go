package live

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"dmebench/internal/platform"
	"dmebench/internal/platform/layout"
	"dmebench/runs"
	"dmebench/units"
)

// redrawn is how often a table is drawn at most.
const redrawn = 100 * time.Millisecond

// Table is the board on a terminal, drawn over itself whenever it has changed.
type Table struct {
	board *Board
	style layout.Style
	high  int // lines of the terminal

	mu    sync.Mutex
	out   io.Writer
	lines int // of the table as it stands there
	end   context.CancelFunc
	ended sync.WaitGroup
}

// NewTable shows a board on a terminal until Close.
func NewTable(b *Board, out io.Writer) *Table {
	ctx, end := context.WithCancel(context.Background())
	t := &Table{board: b, out: out, style: layout.StyleOf(out), high: layout.HeightOf(out), end: end}
	t.ended.Go(func() {
		b.follow(ctx, redrawn, time.Hour, func() bool {
			t.draw("")
			return true
		})
	})
	return t
}

// Above writes a text that stays, above the table. That of nil does nothing.
func (t *Table) Above(text string) {
	if t != nil {
		t.draw(text + "\n")
	}
}

// Close takes the table away.
func (t *Table) Close() {
	if t == nil {
		return
	}
	t.end()
	t.ended.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.out.Write(t.away())
}

// away moves to where the table begins, and clears what is there.
func (t *Table) away() []byte {
	if t.lines == 0 {
		return nil
	}
	clear := fmt.Appendf(nil, "\x1b[%dA\r\x1b[J", t.lines)
	t.lines = 0
	return clear
}

// draw draws the table anew, below a text.
func (t *Table) draw(text string) {
	var lines []string
	t.board.look(func(s *Status) {
		if s.Planned > 0 {
			lines = s.lines(t.style, t.high)
		}
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	out := bytes.NewBuffer(t.away())
	out.WriteString(text)
	for _, l := range lines {
		out.WriteString(l + "\n")
	}
	t.lines = len(lines)
	_, _ = t.out.Write(out.Bytes()) // at once, or it flickers
}

// troubles are the ends of runs that a reader should know of.
var troubles = []runs.Status{runs.Violated, runs.Stalled, runs.Failed}

// mostWarned is how many kinds of warnings a terminal shows.
const mostWarned = 3

// lines is the status for a terminal of that many lines, 0 for any number: how far the
// sweep is, the run in progress, a row of cells for each algorithm, and the warnings.
func (s *Status) lines(style layout.Style, high int) []string {
	fit := func(text string) string { return layout.Cut(text, max(0, style.Width-1)) }
	head := fmt.Sprintf("%s: %d of %d runs", s.Name, s.Done, s.Planned)
	for _, status := range troubles {
		if n := s.Counts[status]; n > 0 {
			head += fmt.Sprintf(", %d %s", n, status)
		}
	}
	if s.Left > 0 {
		head += fmt.Sprintf(", about %v left", time.Duration(s.Left*1e9).Round(time.Second))
	}
	top := []string{style.Strong(fit(head))}
	if s.Run != nil {
		what := s.Run.What
		if text := s.Run.Reading.String(); text != "" {
			what += ": " + text
		}
		top = append(top, fit(what))
	}
	var bottom []string
	for _, w := range s.Warnings[:min(mostWarned, len(s.Warnings))] {
		bottom = append(bottom, style.Doubtful(fit(units.Counted(w.Runs, "run")+": "+w.Text)))
	}
	if more := len(s.Warnings) - mostWarned; more > 0 {
		bottom = append(bottom, style.Doubtful("and "+units.Counted(more, "other warning")))
	}
	room := 0
	if high > 0 {
		room = max(3, high-len(top)-len(bottom)-1) // the last line is where the cursor is
	}
	return slices.Concat(top, s.rows(style, room), bottom)
}

// sum is the cells of an algorithm on one number of nodes.
type sum struct {
	label string
	nodes int
}

// rows has a row for each algorithm and a column for each number of nodes: "5/12" runs
// done. At most that many rows are shown, those around the run in progress; 0 for all.
func (s *Status) rows(style layout.Style, room int) []string {
	var labels []string
	var sizes []int
	sums := make(map[sum]Cell)
	current := 0
	for i, c := range s.Cells {
		if !slices.Contains(labels, c.Label) {
			labels = append(labels, c.Label)
		}
		if !slices.Contains(sizes, c.Nodes) {
			sizes = append(sizes, c.Nodes)
		}
		if s.Run != nil && s.Run.cell == i {
			current = slices.Index(labels, c.Label)
		}
		x := sums[sum{c.Label, c.Nodes}]
		sums[sum{c.Label, c.Nodes}] = Cell{
			Planned: x.Planned + c.Planned, Done: x.Done + c.Done, Bad: x.Bad + c.Bad, Warned: x.Warned + c.Warned,
		}
	}
	slices.Sort(sizes)
	shown := labels
	if n := max(1, room-2); room > 0 && len(labels) >= room {
		first := min(max(0, current-n/2), len(labels)-n)
		shown = labels[first : first+n]
	}
	t := tableOf(shown, sizes, sums, style.Width/2)
	for n := len(sizes) - 1; n > 0 && style.Width > 0 && t.Width() >= style.Width; n-- {
		t = tableOf(shown, sizes[:n], sums, style.Width/2)
	}
	var out bytes.Buffer
	_ = t.WriteAligned(&out, "l") // a Buffer takes everything
	colours := map[byte]func(string) string{'!': style.Bad, '?': style.Doubtful}
	text := marked().ReplaceAllStringFunc(out.String(), func(cell string) string { return colours[cell[len(cell)-1]](cell) })
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if more := len(labels) - len(shown); more > 0 {
		lines = append(lines, style.Muted(fmt.Sprintf("and %s more", units.Counted(more, "algorithm"))))
	}
	return lines
}

// marked is a cell of the table whose runs did not all end well or carry warnings.
var marked = platform.Pattern(`\d+/\d+[!?]`)

// tableOf has the sums, with labels of at most that many letters, 0 for any number.
func tableOf(labels []string, sizes []int, sums map[sum]Cell, longest int) *layout.Table {
	t := layout.NewTable("algorithm")
	for _, n := range sizes {
		t.Extend(fmt.Sprintf("N=%d ", n))
	}
	for _, label := range labels {
		t.Add(layout.Cut(label, longest))
		for _, n := range sizes {
			c, mark := sums[sum{label, n}], " "
			switch {
			case c.Planned == 0:
				t.Extend("")
				continue
			case c.Bad > 0:
				mark = "!"
			case c.Warned > 0:
				mark = "?"
			}
			t.Extend(fmt.Sprintf("%d/%d%s", c.Done, c.Planned, mark))
		}
	}
	return t
}

// String says where the run stands: "120 of 350 entries, 4,100 CS/s, waited p99 2 ms".
func (r Reading) String() string {
	var parts []string
	switch {
	case r.Of > 0:
		parts = append(parts, fmt.Sprintf("%d of %d entries", r.Entries, r.Of))
	case r.Entries > 0:
		parts = append(parts, fmt.Sprintf("%d entries", r.Entries))
	}
	if r.Rate > 0 {
		parts = append(parts, units.Number(r.Rate)+" CS/s")
	}
	if r.P99 > 0 {
		parts = append(parts, "waited p99 "+units.Time(float64(r.P99)))
	}
	return strings.Join(parts, ", ")
}
