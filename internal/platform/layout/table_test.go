package layout

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTable(t *testing.T) {
	x := NewTable("NAME", "VALUES")
	x.Add("tree", "line|star")
	x.Add("a longer name", "5", "and more")
	var text, markdown strings.Builder
	if err := x.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := x.WriteMarkdown(&markdown); err != nil {
		t.Fatal(err)
	}
	if want := "NAME           VALUES\ntree           line|star\na longer name  5  and more\n"; text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &text, want)
	}
	if want := "| NAME | VALUES |\n|---|---|\n| tree | line\\|star |\n| a longer name | 5 | and more |\n"; markdown.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &markdown, want)
	}
}

// Figures stand below each other, and what is measured is what is written.
func TestAligned(t *testing.T) {
	x := NewTable("", "NAME", "VALUE")
	x.Add("a row of its own that is longer than all columns")
	x.Add("1", "ä longer one", "3 µs *")
	x.Add("2", "b", "10 µs  ")
	var out strings.Builder
	if err := x.WriteAligned(&out, "ll"); err != nil {
		t.Fatal(err)
	}
	want := "   NAME            VALUE\na row of its own that is longer than all columns\n1  ä longer one   3 µs *\n2  b             10 µs\n"
	if out.String() != want || x.Width() != 24 {
		t.Errorf("width %d, got\n%s\nwant\n%s", x.Width(), &out, want)
	}
}

func TestWriteFitted(t *testing.T) {
	table := NewTable("NAME", "OPTIONS", "PAPER")
	table.Add("maekawa", "quorum=plane|grid|majority|weighted", "A √N algorithm for mutual exclusion")
	table.Add("raymond", "-", "A tree")
	const want = `NAME     OPTIONS         PAPER
maekawa  quorum=plane|   A √N algorithm
         grid|majority|  for mutual
         weighted        exclusion
raymond  -               A tree
`
	var b strings.Builder
	if err := table.WriteFitted(&b, 40); err != nil || b.String() != want {
		t.Errorf("%v:\n%s\nwant\n%s", err, b.String(), want)
	}
	for _, width := range []int{0, 100} {
		var plain, fitted strings.Builder
		if table.WriteText(&plain) != nil || table.WriteFitted(&fitted, width) != nil || plain.String() != fitted.String() {
			t.Errorf("%d columns:\n%s", width, fitted.String())
		}
	}
	for width := 40; width < 90; width++ {
		var b strings.Builder
		if err := table.WriteFitted(&b, width); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns: a line of %d: %s", width, n, line)
			}
		}
	}
}

func TestFit(t *testing.T) {
	for _, x := range []struct {
		widths []int
		most   int
		want   []int
	}{
		{[]int{5, 50, 50}, 64, []int{5, 27, 27}},
		{[]int{5, 20, 50}, 64, []int{5, 20, 35}},
		{[]int{50, 50}, 10, []int{12, 12}},
		{[]int{3, 100}, 80, []int{3, 75}},
	} {
		if got := fit(x.widths, x.most); !slices.Equal(got, x.want) {
			t.Errorf("%v in %d: %v, want %v", x.widths, x.most, got, x.want)
		}
	}
}

func TestBroken(t *testing.T) {
	for text, want := range map[string][]string{
		"":                     nil,
		"one two three":        {"one two", "three"},
		"a|b|c|d|e|f|g":        {"a|b|c|d|", "e|f|g"},
		"abcdefghijklmn":       {"abcdefgh", "ijklmn"},
		"  x=1,2,3,4,5 second": {"  x=1,2,", "3,4,5", "second"},
	} {
		if got := broken(text, 8); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

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
	x := NewTable("algorithm", "$N$")
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
