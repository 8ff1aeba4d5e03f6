package layout

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestWrap(t *testing.T) {
	const text = "a claim that is  longer than the line"
	for _, c := range []struct {
		width, hang int
		want        string
	}{
		{0, 2, text},
		{80, 2, "a claim that is longer than the line"},
		{16, 2, "a claim that\n  is longer than\n  the line"},
		{10, 4, "a\n    claim\n    that\n    is\n    longer\n    than\n    the\n    line"},
		{3, 0, "a\nclaim\nthat\nis\nlonger\nthan\nthe\nline"},
	} {
		if got := (Style{Width: c.width}).Wrap(text, c.hang); got != c.want {
			t.Errorf("width %d, hang %d:\n%s\nwant\n%s", c.width, c.hang, got, c.want)
		}
	}
}

func TestColour(t *testing.T) {
	if got := (Style{}).Bad("no"); got != "no" {
		t.Errorf("a file gets %q", got)
	}
	if got := (Style{Colour: true}).Bad("no"); got != "\x1b[31mno\x1b[0m" {
		t.Errorf("a terminal gets %q", got)
	}
	if got := (Style{Colour: true}).Bad(""); got != "" {
		t.Errorf("nothing becomes %q", got)
	}
}

func TestFilesAndPipesArePlain(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, got := range map[string]Style{"a file": StyleOf(f), "a buffer": StyleOf(new(bytes.Buffer))} {
		if got != (Style{}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestCut(t *testing.T) {
	for _, x := range []struct {
		text    string
		columns int
		want    string
	}{
		{"3(√N − 1)", 9, "3(√N − 1)"}, {"3(√N − 1)", 5, "3(√N…"}, {"3(√N − 1)", 1, "…"}, {"3(√N − 1)", 0, "3(√N − 1)"},
	} {
		if got := Cut(x.text, x.columns); got != x.want {
			t.Errorf("%q in %d columns: %q, want %q", x.text, x.columns, got, x.want)
		}
	}
}
