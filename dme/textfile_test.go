package dme

import (
	"errors"
	"io/fs"
	"slices"
	"testing"
)

func TestReadLines(t *testing.T) {
	text := "# a file\n1 2\n\n  \t\r\n 3:4 # and so on\n#\nlast"
	got, err := ReadLines(func(string) ([]byte, error) { return []byte(text), nil }, "f")
	if want := []Line{{2, "1 2"}, {5, "3:4"}, {7, "last"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if _, err := ReadLines(func(string) ([]byte, error) { return nil, fs.ErrNotExist }, "f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := ReadLines(nil, "f"); err == nil {
		t.Error("a file was read without a way to")
	}
}

func TestParseNode(t *testing.T) {
	for word, want := range map[string]NodeID{
		"1": 1, "7": 7, "8": None, "0": None, "-1": None, "x": None, "": None, "4294967297": None,
	} {
		if got, err := ParseNode(word, 7); got != want || (err == nil) != (want != None) {
			t.Errorf("%q is %v, %v; want %v", word, got, err, want)
		}
	}
}

// A number is decimal, and one of 32 bits however many nodes there are.
func TestParseLargeNode(t *testing.T) {
	for word, want := range map[string]NodeID{"19": 19, "4294967295": 1<<32 - 1, "4294967296": None, "0x10": None, "a": None} {
		got, err := ParseNode(word, 1<<40)
		if got != want || (err == nil) != (want != None) {
			t.Errorf("%q is %v, %v; want %v", word, got, err, want)
		}
		if err == nil && got.String() != word {
			t.Errorf("%s is written %s", word, got)
		}
	}
}
