package doctor

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Style is how a report is written for people.
type Style struct {
	Width  int  // columns; no line is longer
	Colour bool // levels have colours, too
}

// leastWidth is what a line needs at least to be read.
const leastWidth = 40

// colours of the levels, for terminals; the word of the level stands there in any
// case.
var colours = map[Level]string{Problem: "\x1b[1;31m", Warning: "\x1b[33m", Note: "\x1b[36m", OK: "\x1b[32m"}

const plain = "\x1b[0m"

// WriteText writes the report for people. Of several hosts, what is fine is only
// named, and what is to be done is said where it comes first.
func (r *Report) WriteText(out io.Writer, style Style) error {
	w := &writer{width: max(style.Width, leastWidth), colour: style.Colour, said: make(map[string]bool)}
	several := len(r.Hosts) > 1
	for i, h := range r.Hosts {
		if several {
			if i > 0 {
				w.line("")
			}
			heading := strings.TrimSpace(h.Name + " " + h.Address)
			if h.Coordinator {
				heading = h.Name + ", from which the others are examined"
			}
			w.wrapped("", heading)
		}
		w.findings(h.Findings, several)
	}
	for _, m := range r.matrices() {
		w.line("")
		m.write(w)
	}
	if len(r.Differences) > 0 {
		w.line("")
		w.line("the hosts differ")
		for _, d := range r.Differences {
			w.wrapped("  ", d)
		}
	}
	if len(r.Between) > 0 {
		w.line("")
		w.line("between the hosts")
		w.findings(r.Between, false)
	}
	w.line("")
	w.wrapped("", r.summary())
	_, err := io.WriteString(out, w.text.String())
	return err
}

func (r *Report) summary() string {
	var parts []string
	for _, x := range []struct {
		n    int
		word string
	}{{r.Problems, "problem"}, {r.Warnings, "warning"}, {r.Notes, "note"}} {
		if x.n > 0 {
			parts = append(parts, plural(x.n, x.word))
		}
	}
	if parts == nil {
		return "nothing is wrong"
	}
	return strings.Join(parts, ", ")
}

// writer gathers lines of at most its width.
type writer struct {
	text   strings.Builder
	width  int
	colour bool
	said   map[string]bool // what to do
}

func (w *writer) line(text string) { w.text.WriteString(strings.TrimRight(text, " ") + "\n") }

// findings writes findings as a table; with brief, the gravest first, and those that
// are fine are only named.
func (w *writer) findings(findings []Finding, brief bool) {
	if brief {
		findings = slices.SortedStableFunc(slices.Values(findings), func(a, b Finding) int { return int(b.Level - a.Level) })
	}
	const levelWidth, gap = 7, 2
	checkWidth := 0
	for _, f := range findings {
		checkWidth = max(checkWidth, len(f.Check))
	}
	indent := strings.Repeat(" ", levelWidth+gap+checkWidth+gap)
	var fine []string
	for _, f := range findings {
		if brief && f.Level == OK {
			fine = append(fine, f.Check)
			continue
		}
		level := pad(f.Level.String(), levelWidth)
		if w.colour {
			level = colours[f.Level] + level + plain
		}
		head := level + "  " + pad(f.Check, checkWidth+gap)
		for i, l := range wrap(f.Found, w.width-len(indent)) {
			if i > 0 {
				head = indent
			}
			w.line(head + l)
		}
		if f.Do != "" {
			const do = "do: "
			what := f.Do
			if w.said[what] {
				what = "as above"
			}
			w.said[f.Do] = true
			for i, l := range wrap(what, w.width-len(indent)-len(do)) {
				mark := do
				if i > 0 {
					mark = strings.Repeat(" ", len(do))
				}
				w.line(indent + mark + l)
			}
		}
	}
	if len(fine) > 0 {
		level := pad(OK.String(), levelWidth)
		if w.colour {
			level = colours[OK] + level + plain
		}
		for i, l := range wrap(strings.Join(fine, ", "), w.width-levelWidth-gap) {
			if i > 0 {
				level = strings.Repeat(" ", levelWidth)
			}
			w.line(level + "  " + l)
		}
	}
}

// wrapped writes a text in lines that begin with an indentation.
func (w *writer) wrapped(indent, text string) {
	for _, l := range wrap(text, w.width-len(indent)) {
		w.line(indent + l)
	}
}

// wrap breaks a text into lines of at most width characters, between words where
// that is possible.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		for utf8.RuneCountInString(word) > width {
			if line != "" {
				lines, line = append(lines, line), ""
			}
			runes := []rune(word)
			lines, word = append(lines, string(runes[:width])), string(runes[width:])
		}
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	if line != "" || lines == nil {
		lines = append(lines, line)
	}
	return lines
}

// pad fills a text up to a width with spaces; padLeft does so in front of it.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

func padLeft(text string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text))) + text
}
