package tables

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	x := New("NAME", "VALUES")
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
	x := New("", "NAME", "VALUE")
	x.Add("a row of its own that is longer than all columns")
	x.Add("1", "ä longer one", "3 µs *")
	x.Add("2", "b", "10 µs  ")
	var out strings.Builder
	if err := x.WriteAligned(&out, 2); err != nil {
		t.Fatal(err)
	}
	want := "   NAME            VALUE\na row of its own that is longer than all columns\n1  ä longer one   3 µs *\n2  b             10 µs\n"
	if out.String() != want || x.Width() != 24 {
		t.Errorf("width %d, got\n%s\nwant\n%s", x.Width(), &out, want)
	}
}
