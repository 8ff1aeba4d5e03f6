package live

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

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
	end   chan struct{}
	ended sync.WaitGroup
}

// NewTable shows a board on a terminal until Close.
func NewTable(b *Board, out io.Writer) *Table {
	t := &Table{board: b, out: out, style: layout.StyleOf(out), high: layout.HeightOf(out), end: make(chan struct{})}
	changed, stop := b.watch()
	t.ended.Go(func() {
		defer stop()
		for {
			select {
			case <-changed:
				t.draw("")
			case <-t.end:
				return
			}
			select {
			case <-time.After(redrawn):
			case <-t.end:
				return
			}
		}
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
	close(t.end)
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
	t.board.look(func(s *Status) { lines = s.lines(t.style, t.high) })
	t.mu.Lock()
	defer t.mu.Unlock()
	out := bytes.NewBuffer(t.away())
	out.WriteString(text)
	for _, l := range lines {
		out.WriteString(l + "\n")
	}
	t.lines = len(lines)
	_, _ = t.out.Write(out.Bytes()) // at once, lest it flicker
}

// troubles are the ends of runs that a reader should know of.
var troubles = []runs.Status{runs.Violated, runs.Stalled, runs.Failed}

// mostWarned is how many kinds of warnings a terminal shows.
const mostWarned = 3

// lines is the status for a terminal of so many lines, 0 for any number: how far the
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
		head += ", about " + roundly(time.Duration(s.Left*1e9)) + " left"
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
	for i, w := range s.Warnings {
		text := fmt.Sprintf("%s: %s", plural(w.Runs, "run"), w.Text)
		if i == mostWarned {
			text = "and " + plural(len(s.Warnings)-i, "other warning")
		}
		bottom = append(bottom, style.Doubtful(fit(text)))
		if i == mostWarned {
			break
		}
	}
	room := 0
	if high > 0 {
		room = max(3, high-len(top)-len(bottom)-1) // the last line is where the cursor is
	}
	return slices.Concat(top, s.rows(style, room), bottom)
}

// rows has a row for each algorithm and a column for each number of nodes: "5/12" runs
// done. At most so many rows are shown, those around the run in progress; 0 for all.
func (s *Status) rows(style layout.Style, room int) []string {
	var labels []string
	var sizes []int
	sums := make(map[Cell]*Cell)
	current := 0
	for i, c := range s.Cells {
		at := slices.Index(labels, c.Label)
		if at < 0 {
			at, labels = len(labels), append(labels, c.Label)
		}
		if s.Run != nil && s.Run.cell == i {
			current = at
		}
		if !slices.Contains(sizes, c.Nodes) {
			sizes = append(sizes, c.Nodes)
		}
		key := Cell{Label: c.Label, Nodes: c.Nodes}
		sum := sums[key]
		if sum == nil {
			sum = new(Cell)
			sums[key] = sum
		}
		sum.Planned += c.Planned
		sum.Done += c.Done
		sum.Bad += c.Bad
		sum.Warned += c.Warned
	}
	slices.Sort(sizes)
	first, last := 0, len(labels)
	if room > 0 && len(labels)+1 > room {
		shown := max(1, room-2)
		first = min(max(0, current-shown/2), len(labels)-shown)
		last = first + shown
	}
	wide := utf8.RuneCountInString("algorithm")
	for _, l := range labels {
		wide = max(wide, utf8.RuneCountInString(l))
	}
	if style.Width > 0 {
		wide = min(wide, style.Width/2)
	}
	column := 0
	for _, n := range sizes {
		column = max(column, len("N=")+len(strconv.Itoa(n)))
	}
	for _, c := range sums {
		column = max(column, len(fmt.Sprintf("%d/%d", c.Planned, c.Planned)))
	}
	column++ // for a mark
	if style.Width > 0 {
		sizes = sizes[:min(len(sizes), max(1, (style.Width-wide-2)/(column+1)))]
	}
	head := pad("algorithm", wide+1)
	for _, n := range sizes {
		head += fmt.Sprintf(" %*s ", column-1, "N="+strconv.Itoa(n))
	}
	lines := []string{style.Muted(strings.TrimRight(head, " "))}
	for _, label := range labels[first:last] {
		line := pad(layout.Cut(label, wide), wide+1)
		for _, n := range sizes {
			line += " " + sums[Cell{Label: label, Nodes: n}].text(style, column)
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	if more := len(labels) - (last - first); more > 0 {
		lines = append(lines, style.Muted(fmt.Sprintf("and %s more", plural(more, "algorithm"))))
	}
	return lines
}

// text is a cell of the table, with a mark where runs did not end well or carry
// warnings. nil is one that there is not.
func (c *Cell) text(style layout.Style, wide int) string {
	if c == nil {
		return strings.Repeat(" ", wide)
	}
	text := fmt.Sprintf("%*s", wide-1, fmt.Sprintf("%d/%d", c.Done, c.Planned))
	switch {
	case c.Bad > 0:
		return style.Bad(text + "!")
	case c.Warned > 0:
		return style.Doubtful(text + "?")
	case c.Done == c.Planned:
		return style.Good(text) + " "
	}
	return text + " "
}

// String says where the run stands: "120 of 350 entries, 4100 CS/s, waited p99 2 ms".
func (r Reading) String() string {
	var parts []string
	switch {
	case r.Of > 0:
		parts = append(parts, fmt.Sprintf("%d of %d entries", r.Entries, r.Of))
	case r.Entries > 0:
		parts = append(parts, fmt.Sprintf("%d entries", r.Entries))
	}
	if r.Rate > 0 {
		parts = append(parts, fmt.Sprintf("%.4g CS/s", r.Rate))
	}
	if r.P99 > 0 {
		parts = append(parts, "waited p99 "+units.Time(float64(r.P99)))
	}
	return strings.Join(parts, ", ")
}

func pad(text string, wide int) string {
	return text + strings.Repeat(" ", max(0, wide-utf8.RuneCountInString(text)))
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// roundly writes a duration with the precision that a person can use.
func roundly(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}
