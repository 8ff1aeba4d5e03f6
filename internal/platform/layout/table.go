package layout

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// Table is rows of cells, which may differ in number. The zero Table is empty.
type Table struct{ rows [][]string }

func NewTable(head ...string) *Table { return &Table{[][]string{head}} }

func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *Table) Extend(cells ...string) {
	last := &t.rows[len(t.rows)-1]
	*last = append(*last, cells...)
}

func (t *Table) WriteText(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range t.rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// WriteAligned writes the table with its columns two spaces apart, aligned as in "llrl";
// further ones to the right, as figures are. A row of a single cell stands across all
// columns. No line ends in spaces.
func (t *Table) WriteAligned(out io.Writer, columns string) error {
	return t.write(out, t.widths(), columns, func(cell string, _ int) []string { return []string{cell} })
}

// write writes the table with columns of these widths, aligned as in "llrl". divide makes lines of a cell.
func (t *Table) write(out io.Writer, widths []int, columns string, divide func(cell string, width int) []string) error {
	var b strings.Builder
	for _, row := range t.rows {
		if len(row) == 1 {
			b.WriteString(row[0] + "\n")
			continue
		}
		cells := make([][]string, len(row))
		height := 1
		for i, cell := range row {
			cells[i] = divide(cell, widths[i])
			height = max(height, len(cells[i]))
		}
		for k := range height {
			var line strings.Builder
			for i := range cells {
				text := ""
				if k < len(cells[i]) {
					text = cells[i][k]
				}
				pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
				if i < len(columns) && columns[i] == 'l' {
					line.WriteString(text + pad + "  ")
				} else {
					line.WriteString(pad + text + "  ")
				}
			}
			b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// Width is how many columns of a terminal the table takes, without rows of a single cell.
func (t *Table) Width() int {
	sum := 0
	for i, w := range t.widths() {
		sum += w
		if i > 0 {
			sum += 2
		}
	}
	return sum
}

func (t *Table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		if len(row) == 1 {
			continue
		}
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// WriteMarkdown writes the table as Markdown has it; its first row is the head.
func (t *Table) WriteMarkdown(out io.Writer) error {
	var b strings.Builder
	for i, row := range t.rows {
		for _, cell := range row {
			fmt.Fprintf(&b, "| %s ", strings.ReplaceAll(cell, "|", "\\|"))
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func CSV(rows [][]string) []byte {
	var out bytes.Buffer
	_ = csv.NewWriter(&out).WriteAll(rows) // a bytes.Buffer takes everything
	return out.Bytes()
}

const narrowestColumn = 12

// WriteFitted writes the table in at most width columns, if that is not 0: the widest columns are
// made narrower, and their cells go on in further lines: broken between words, or after one of |,-=
// within a word, and anywhere if that is still too long.
func (t *Table) WriteFitted(out io.Writer, width int) error {
	if width == 0 || t.Width() <= width {
		return t.WriteText(out)
	}
	widths := fit(t.widths(), width)
	return t.write(out, widths, strings.Repeat("l", len(widths)), broken)
}

// fit returns the widths of columns, two apart, that add up to at most: narrow ones stay, and the
// others share the rest equally.
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
		fitted[i] = min(fitted[i], max(share, narrowestColumn))
	}
	return fitted
}

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

// WriteLaTeX writes the table as a tabular with the rules of the package booktabs; its
// first row is the head. Cells are LaTeX; plain text goes through [LaTeX] first. The columns
// say how each is aligned, as in "lrr".
func (t *Table) WriteLaTeX(out io.Writer, columns string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\\begin{tabular}{%s}\n\\toprule\n", columns)
	for i, row := range t.rows {
		if len(row) > len(columns) {
			return fmt.Errorf("tables: row %d has %d cells for %d columns", i+1, len(row), len(columns))
		}
		row = append(row[:len(row):len(row)], make([]string, len(columns)-len(row))...)
		b.WriteString(strings.Join(row, " & ") + " \\\\\n")
		if i == 0 {
			b.WriteString("\\midrule\n")
		}
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// LaTeX writes a text so that LaTeX prints it.
func LaTeX(s string) string {
	s = strings.ToValidUTF8(s, "?")
	s = latexSigns.Replace(s)
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

var latexSigns = strings.NewReplacer(
	`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "$", `\$`, "&", `\&`, "%", `\%`, "#", `\#`, "_", `\_`,
	"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `\textless{}`, ">", `\textgreater{}`, `"`, `''`, "|", `\textbar{}`,
	"−", "$-$", "–", "--", "…", `\ldots{}`, "·", `$\cdot$`, "×", `$\times$`, "≤", `$\leq$`, "≥", `$\geq$`, "≈", `$\approx$`,
	"±", `$\pm$`, "µ", `$\mu$`, "μ", `$\mu$`, "√", `$\surd$`, "∛", `$\sqrt[3]{\,}$`, "⌈", `$\lceil$`, "⌉", `$\rceil$`, "⌊", `$\lfloor$`,
	"⌋", `$\rfloor$`, "→", `$\rightarrow$`, "∞", `$\infty$`, "Σ", `$\Sigma$`, "²", `$^2$`, "³", `$^3$`, "½", `$\frac12$`, "⅓", `$\frac13$`,
	"₂", `$_2$`, "∈", `$\in$`, "¬", `$\neg$`, "§", `\S{}`, "’", "'", "‘", "`", "“", "``", "”", "''", "\u00a0", "~",
)
