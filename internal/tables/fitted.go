package tables

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// narrowest is how narrow a column of words may get.
const narrowest = 12

// WriteFitted writes the table as WriteText does, where it is not wider than width
// columns, or width is 0. Otherwise the widest columns are made narrower, and their
// cells go on in further lines: broken between words, or after one of |,-= within a
// word, and anywhere where that is still too long.
func (t *Table) WriteFitted(out io.Writer, width int) error {
	if width == 0 || t.Width() <= width {
		return t.WriteText(out)
	}
	widths := fit(t.widths(), width)
	var b strings.Builder
	for _, row := range t.rows {
		cells := make([][]string, len(row))
		height := 1
		for i, cell := range row {
			cells[i] = broken(cell, widths[i])
			height = max(height, len(cells[i]))
		}
		for k := range height {
			var line strings.Builder
			for i := range cells {
				text := ""
				if k < len(cells[i]) {
					text = cells[i][k]
				}
				line.WriteString(text + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)+2))
			}
			b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// fit returns the widths of columns, two apart, that come to so much at most: those
// that are narrow stay, and the others have the same width. None becomes narrower than
// narrowest, if that is too wide.
func fit(widths []int, most int) []int {
	room := most - 2*(len(widths)-1)
	order := slices.Clone(widths)
	slices.Sort(order)
	share := 0
	for i, w := range order { // the narrowest first: what they leave is for the others
		share = room / (len(order) - i)
		if w > share {
			break
		}
		room -= w
	}
	fitted := slices.Clone(widths)
	for i := range fitted {
		fitted[i] = min(fitted[i], max(share, narrowest))
	}
	return fitted
}

// broken divides a text into lines of at most so many characters.
func broken(text string, width int) (lines []string) {
	line := ""
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0: // with the spaces that it begins with
			line = text[:strings.Index(text, word)] + word
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
		for utf8.RuneCountInString(line) > width {
			head := string([]rune(line)[:width])
			if at := strings.LastIndexAny(head, "|,-="); at > 0 {
				head = head[:at+1]
			}
			lines = append(lines, head)
			line = line[len(head):]
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
