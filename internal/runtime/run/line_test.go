package run

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"dmebench/internal/runtime/noderun"
)

// line returns a line on a terminal of that many columns, and its clock.
func line(columns int) (l *Line, out *bytes.Buffer, now *time.Time) {
	out, now = new(bytes.Buffer), new(time.Time)
	*now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &Line{out: out, width: columns, now: func() time.Time { return *now }}, out, now
}

// screen is what stands on the line after all that was written.
func screen(t *testing.T, out *bytes.Buffer) string {
	t.Helper()
	var row []rune
	at := 0
	for _, r := range out.String() {
		switch {
		case r == '\r':
			at = 0
		case r < ' ':
			t.Fatalf("it writes %q", r)
		case at < len(row):
			row[at] = r
			at++
		default:
			row = append(row, r)
			at++
		}
	}
	return strings.TrimRight(string(row), " ")
}

func state(elapsed time.Duration, entries uint64) *State {
	var w noderun.Waits
	for range 99 {
		w.Add(1e6)
	}
	w.Add(5e6)
	s := &State{Elapsed: elapsed, Entries: entries, Waiting: 4}
	s.Waits.Take(&w)
	return s
}

func TestLine(t *testing.T) {
	l, out, now := line(120)
	s := state(time.Second, 100)
	s.Of = 1000
	*now = now.Add(time.Second)
	l.Show(s)
	if got := screen(t, out); got != "100 of 1000 entries, 9.0s left, waited p50 1 ms p99 5 ms, 4 nodes wait" {
		t.Errorf("%q", got)
	}
	*now = now.Add(500 * time.Millisecond)
	s.Elapsed, s.Entries, s.Waiting = 1500*time.Millisecond, 200, 1
	l.Show(s)
	if got := screen(t, out); !strings.Contains(got, "200 CS/s") || !strings.HasSuffix(got, " p50 1 ms p99 5 ms, 1 node waits") {
		t.Errorf("%q", got)
	}
	l.Say("it ends")
	l.Show(s)
	if got := screen(t, out); got != "it ends" {
		t.Errorf("%q", got)
	}
	l.Done()
	l.Say("too late")
	if got := screen(t, out); got != "" {
		t.Errorf("it leaves %q", got)
	}
}

// The end is told by the number of entries, by the duration, or by whichever is nearer.
func TestLeft(t *testing.T) {
	for _, c := range []struct {
		entries, of uint64
		elapsed     time.Duration
		duration    time.Duration
		want        time.Duration
	}{
		{entries: 10, of: 40, elapsed: 10 * time.Second, want: 30 * time.Second},
		{entries: 10, elapsed: 10 * time.Second, duration: 12 * time.Second, want: 2 * time.Second},
		{entries: 10, of: 40, elapsed: 10 * time.Second, duration: 20 * time.Second, want: 10 * time.Second},
		{entries: 10, elapsed: 10 * time.Second},
		{of: 40, elapsed: 10 * time.Second},
		{entries: 41, of: 40, elapsed: 10 * time.Second},
	} {
		l, _, now := line(0)
		l.begun = now.Add(-c.elapsed)
		got := l.left(&State{Entries: c.entries, Of: c.of, Elapsed: c.elapsed, Duration: c.duration}, *now)
		if got.Round(time.Millisecond) != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// The rate is that of the latest second, whatever was before.
func TestRate(t *testing.T) {
	l, _, now := line(0)
	for k := range 50 {
		*now = now.Add(100 * time.Millisecond)
		entries := uint64(min(1000*k, 20000+10*(k-20)))
		s := State{Elapsed: time.Duration(k) * 100 * time.Millisecond, Entries: entries}
		rate := l.rate(&s, *now)
		if k > 31 && math.Round(rate) != 100 || k > 2 && k <= 20 && math.Round(rate) != 10000 {
			t.Fatalf("after %d looks: %v", k, rate)
		}
	}
}

// A simulation is looked at no more than ten times a second, of the time outside.
func TestLooks(t *testing.T) {
	l, _, now := line(0)
	looks := 0
	for range 1000 {
		l.Look(func() State { looks++; return State{} })
		*now = now.Add(time.Millisecond)
	}
	if looks != 10 {
		t.Errorf("%d looks in a second", looks)
	}
	(*Line)(nil).Look(func() State { t.Error("nobody looks"); return State{} })
	(*Line)(nil).Show(nil)
	(*Line)(nil).Say("nothing")
	(*Line)(nil).Done()
	if NewLine(new(bytes.Buffer)) != nil {
		t.Error("a buffer is taken for a terminal")
	}
}

// What nobody sees is told instead, until it is over.
func TestFeed(t *testing.T) {
	var readings []Reading
	l := NewFeed(func(r Reading) { readings = append(readings, r) })
	s := state(time.Second, 100)
	l.Show(s)
	l.Say("it ends")
	l.Show(s)
	if len(readings) != 1 || readings[0].Entries != 100 || readings[0].P99 < 4e6 || readings[0].P99 > 6e6 || readings[0].Waiting != 4 {
		t.Errorf("told %+v", readings)
	}
}

// A line never reaches the end of the terminal's: it would not be overwritten.
func TestWidth(t *testing.T) {
	for columns := 12; columns < 120; columns++ {
		l, out, now := line(columns)
		*now = now.Add(time.Second)
		s := state(time.Second, 100)
		s.Of, s.Duration = 1000, time.Minute
		l.Show(s)
		got := screen(t, out)
		if len([]rune(got)) >= max(columns, 20) || !strings.HasPrefix(got, "100 of 1000 entries") {
			t.Errorf("%d columns: %q", columns, got)
		}
	}
}

func TestCounter(t *testing.T) {
	l, out, now := line(36)
	c := &Counter{line: l, total: 300, what: "runs"}
	at := func(want string) {
		t.Helper()
		if got := screen(t, out); got != want {
			t.Errorf("shows %q; want %q", got, want)
		}
	}
	c.Set(1)
	at("1 of 300 runs")
	c.Set(2) // at the same instant
	at("1 of 300 runs")
	*now = now.Add(every)
	c.Set(3)
	at("3 of 300 runs")
	c.Describe("raymond, 31 nodes, tcp, saturate")
	at("3 of 300 runs, raymond, 31 nodes, t") // as much as there is room for
	c.Describe("")
	c.Set(300) // the end is shown whenever it comes
	at("300 of 300 runs")
	c.Done()
	at("")
	c.Set(7)
	at("")

	l, out, now = line(0)
	c = &Counter{line: l, what: "states"}
	c.Set(0)
	*now = now.Add(time.Second)
	c.Set(1500)
	at("1500 states, 1500/s")
	(*Counter)(nil).Set(1)
}
