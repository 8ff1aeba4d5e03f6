package run

import (
	"fmt"
	"io"
	"strings"
	"time"

	"dmebench/internal/platform/layout"
)

// Counter is a line that shows how much of a search or a sweep is done: "1200 of 5000
// schedules, 310/s". Its methods may be called from several goroutines; those of nil do
// nothing.
type Counter struct {
	line  *Line
	total uint64 // 0 where the end is not known
	what  string
	text  string
	done  uint64
}

// NewCounter returns a counter on out, which is taken for a terminal. It counts what,
// in the plural, up to total; 0 where the end is not known.
func NewCounter(out io.Writer, total uint64, what string) *Counter {
	return &Counter{line: &Line{out: out, width: layout.StyleOf(out).Width, now: time.Now}, total: total, what: what}
}

// Set shows how much is done, if it is time for that; the end is always shown.
func (c *Counter) Set(done uint64) { c.change(func() { c.done = done }, false) }

// Describe shows a text behind the count.
func (c *Counter) Describe(text string) { c.change(func() { c.text = text }, true) }

// Done takes the line away for good.
func (c *Counter) Done() {
	if c != nil {
		c.line.Done()
	}
}

func (c *Counter) change(set func(), atOnce bool) {
	if c == nil {
		return
	}
	l := c.line
	l.mu.Lock()
	defer l.mu.Unlock()
	set()
	now := l.now()
	if l.begun.IsZero() {
		l.begun = now
	}
	if !atOnce && now.Sub(l.shown) < every && c.done != c.total {
		return
	}
	l.shown = now
	l.write(c.describe(now))
}

// describe says how much is done, as much of it as there is room for.
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
