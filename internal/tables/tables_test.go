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
