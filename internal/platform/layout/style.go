// Package layout says how text is shown where it is written: how wide it may be, whether
// it may have colours, and how tables look on a terminal, a Markdown page and in LaTeX.
package layout

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Style is how text is shown. The zero Style is that of a file or a pipe: lines
// are as long as they are, and there are no colours.
type Style struct {
	Width  int // in columns; 0 if lines are not broken
	Colour bool
}

const narrowestLine = 40

// StyleOf returns the style of what is written to w. Colours are left out if NO_COLOR is set
// (no-color.org), and on terminals that have none.
func StyleOf(w io.Writer) Style {
	if !IsTerminal(w) {
		return Style{}
	}
	s := Style{Colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	if width, _, err := term.GetSize(int(w.(*os.File).Fd())); err == nil && width > 0 {
		s.Width = max(width, narrowestLine)
	}
	return s
}

// HeightOf returns how many lines of what is written to w can be seen; 0 for any number.
func HeightOf(w io.Writer) int {
	if !IsTerminal(w) {
		return 0
	}
	_, height, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil {
		return 0
	}
	return height
}

// CanRedraw says whether w is a terminal on which lines can be written over.
func CanRedraw(w io.Writer) bool { return IsTerminal(w) && os.Getenv("TERM") != "dumb" }

func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Good, Doubtful and Bad colour what held, what needs a look and what failed; Strong and Muted mark
// what matters most and least.
func (s Style) Good(text string) string     { return s.colour("32", text) }
func (s Style) Doubtful(text string) string { return s.colour("33", text) }
func (s Style) Bad(text string) string      { return s.colour("31", text) }
func (s Style) Strong(text string) string   { return s.colour("1", text) }
func (s Style) Muted(text string) string    { return s.colour("2", text) }

func (s Style) colour(code, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Wrap breaks a text without colours between words, so that its lines fit the
// width. Lines after the first are indented by hang columns, where the first begins.
func (s Style) Wrap(text string, hang int) string {
	if s.Width == 0 {
		return text
	}
	var b strings.Builder
	column := hang
	for i, word := range strings.Fields(text) {
		length := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+length > s.Width:
			b.WriteString("\n" + strings.Repeat(" ", hang))
			column = hang
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += length
	}
	return b.String()
}

// Cut shortens a text without colours to a number of columns; 0 is any number.
func Cut(text string, columns int) string {
	if columns <= 0 || utf8.RuneCountInString(text) <= columns {
		return text
	}
	return string([]rune(text)[:columns-1]) + "…"
}
