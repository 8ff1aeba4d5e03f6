package tables

import (
	"fmt"
	"io"
	"strings"
)

// WriteLaTeX writes the table as a tabular with the rules of the package booktabs; its
// first row is the head. The cells are written as they are: what is not meant for LaTeX
// goes through [LaTeX] first. The columns say how each is aligned, as in "lrr"; a row
// with fewer cells is filled up, and one with more is an error.
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

// LaTeX writes a text so that LaTeX prints it: signs that mean something to it, and
// signs of formulas that its fonts for text do not have.
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
