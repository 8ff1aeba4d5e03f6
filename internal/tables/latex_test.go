package tables

import (
	"strings"
	"testing"
)

func TestLaTeX(t *testing.T) {
	for in, want := range map[string]string{
		"a_b & 50% of $5 #1": `a\_b \& 50\% of \$5 \#1`,
		`\input{x}^2~`:       `\textbackslash{}input\{x\}\textasciicircum{}2\textasciitilde{}`,
		"≤ 3(√N−1), 10 µs":   `$\leq$ 3($\surd$N$-$1), 10 $\mu$s`,
		"line\nbreak\x00":    "line break ",
		"Müller 1985 §4":     `Müller 1985 \S{}4`,
	} {
		if got := LaTeX(in); got != want {
			t.Errorf("%q becomes %s; want %s", in, got, want)
		}
	}
}

func TestWriteLaTeX(t *testing.T) {
	x := New("algorithm", "$N$")
	x.Add(LaTeX("a_b"), "3")
	x.Add("c")
	var out strings.Builder
	if err := x.WriteLaTeX(&out, "lr"); err != nil {
		t.Fatal(err)
	}
	want := `\begin{tabular}{lr}
\toprule
algorithm & $N$ \\
\midrule
a\_b & 3 \\
c &  \\
\bottomrule
\end{tabular}
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
	x.Add("1", "2", "3")
	if err := x.WriteLaTeX(&out, "lr"); err == nil {
		t.Error("three cells fit two columns")
	}
}
