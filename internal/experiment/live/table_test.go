package live

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"dmebench/internal/platform/layout"
	"dmebench/runs"
)

// boardOf is a sweep of so many algorithms in which one run is over, with a warning, and
// the next is in progress.
func boardOf(algorithms int) *Board {
	var cells []Cell
	for a := range algorithms {
		for _, n := range []int{3, 7} {
			cells = append(cells, Cell{Label: fmt.Sprintf("algorithm-%d", a+1), Nodes: n, Planned: 2})
		}
	}
	b := NewBoard()
	b.Plan("small", cells, nil)
	b.Begin(0, "algorithm-1, 3 nodes")
	b.Finish(&runs.Result{Status: runs.OK, Warnings: []string{"8 processes on 2 cores"}}, "1/4 ok", 90*time.Second)
	b.Begin(2*algorithms-1, fmt.Sprintf("algorithm-%d, 7 nodes", algorithms))
	b.Read(Reading{Entries: 120, Of: 700, Rate: 4100, P50: 1e6, P99: 2e6, Waiting: 3})
	return b
}

func linesOf(b *Board, style layout.Style, high int) (lines []string) {
	b.look(func(s *Status) { lines = s.lines(style, high) })
	return lines
}

func TestLines(t *testing.T) {
	b := boardOf(2)
	want := `small: 1 of 8 runs, about 1m30s left
algorithm-2, 7 nodes: 120 of 700 entries, 4,100 CS/s, waited p99 2 ms
algorithm    N=3   N=7
algorithm-1  1/2?  0/2
algorithm-2  0/2   0/2
1 run: 8 processes on 2 cores`
	if got := strings.Join(linesOf(b, layout.Style{}, 0), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	b.Delay("host b is gone")
	if got := linesOf(b, layout.Style{}, 0)[1]; !strings.HasPrefix(got, "algorithm-2, 7 nodes: host b is gone") {
		t.Errorf("a run that cannot begin: %s", got)
	}
	b.Read(Reading{Entries: 121})
	if got := linesOf(b, layout.Style{}, 0)[1]; strings.Contains(got, "gone") {
		t.Errorf("a run that has begun: %s", got)
	}
	b.Finish(&runs.Result{Status: runs.Stalled, Warnings: []string{"9 processes on 2 cores"}}, "2/4 stalled", 0)
	text := strings.Join(linesOf(b, layout.Style{}, 0), "\n")
	for _, part := range []string{"2 of 8 runs, 1 stalled\n", "algorithm-2  0/2   1/2!", "2 runs: 9 processes on 2 cores"} {
		if !strings.Contains(text, part) {
			t.Errorf("does not say %q:\n%s", part, text)
		}
	}
}

// On no terminal does a line reach the end of the terminal's, nor the table its height, and
// the algorithm of the run in progress is among those shown.
func TestLinesFit(t *testing.T) {
	colour := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for width := 40; width < 130; width += 9 {
		for high := 8; high < 40; high += 3 {
			lines := linesOf(boardOf(25), layout.Style{Width: width, Colour: true}, high)
			if len(lines) >= high {
				t.Errorf("%d lines on a terminal of %d", len(lines), high)
			}
			text := colour.ReplaceAllString(strings.Join(lines, "\n"), "")
			for line := range strings.Lines(text) {
				if n := utf8.RuneCountInString(line); n > width {
					t.Errorf("%d columns on a terminal of %d: %q", n-1, width, line)
				}
			}
			if !strings.Contains(text, "\nalgorithm-25 ") {
				t.Errorf("the run in progress is in none of the rows:\n%s", text)
			}
		}
	}
}

// What stays is above the table, and of the table nothing stays.
func TestTableIsDrawnOverItself(t *testing.T) {
	var out bytes.Buffer
	b := boardOf(3)
	table := NewTable(b, &out)
	table.Above("a run has failed")
	b.Read(Reading{Entries: 500, Of: 700})
	table.Above("another one has, too")
	table.mu.Lock() // it may be drawn meanwhile
	written := out.String()
	table.mu.Unlock()
	if got := screen(t, written); !strings.HasPrefix(got, "a run has failed\nanother one has, too\nsmall: 1 of 12 runs") {
		t.Errorf("there is\n%s", got)
	}
	table.Close()
	if got := screen(t, out.String()); got != "a run has failed\nanother one has, too\n" {
		t.Errorf("there remains\n%s", got)
	}
	(*Table)(nil).Above("nothing")
	(*Table)(nil).Close()
	(*Board)(nil).Begin(0, "nothing")
}

// screen is what stands on a terminal after all that was written.
func screen(t *testing.T, text string) string {
	t.Helper()
	up := regexp.MustCompile(`^\x1b\[(\d+)A\r\x1b\[J`)
	var rows []string
	for text != "" {
		if m := up.FindStringSubmatch(text); m != nil {
			n, _ := strconv.Atoi(m[1])
			rows, text = rows[:len(rows)-n], text[len(m[0]):]
			continue
		}
		row, rest, ended := strings.Cut(text, "\n")
		if !ended || strings.Contains(row, "\x1b") {
			t.Fatalf("it writes %q", text)
		}
		rows, text = append(rows, row), rest
	}
	return strings.Join(append(rows, ""), "\n")
}
