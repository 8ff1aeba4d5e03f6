package tables

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWriteFitted(t *testing.T) {
	table := New("NAME", "OPTIONS", "PAPER")
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
