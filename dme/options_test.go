package dme

import (
	"errors"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCanonical(t *testing.T) {
	declared := []Option{
		{Name: "quorum", Default: "plane", Words: []string{"plane", "grid"}, Forms: []string{"file:F"},
			Valid: func(v string) error {
				if v == "plane" || v == "grid" || strings.HasPrefix(v, "file:") {
					return nil
				}
				return errors.New("no such construction")
			}},
		{Name: "repair", Default: "numbered", Words: []string{"numbered", "directed"}},
	}
	for _, x := range []struct{ set, want map[string]string }{
		{nil, nil},
		{map[string]string{"quorum": "grid"}, map[string]string{"quorum": "grid"}},
		{map[string]string{"Quorum": "GRID", "REPAIR": "Directed"}, map[string]string{"quorum": "grid", "repair": "directed"}},
		{map[string]string{"quorum": "DIRECTED"}, map[string]string{"quorum": "DIRECTED"}}, // a word of the other option
		{map[string]string{"quorum": "File:Sets.TXT"}, map[string]string{"quorum": "file:Sets.TXT"}},
		{map[string]string{"quorum": "star", "other": "X"}, map[string]string{"quorum": "star", "other": "X"}},
		{map[string]string{"quorum": "grid", "Quorum": "plane"}, map[string]string{"quorum": "grid", "Quorum": "plane"}},
	} {
		for range 20 { // in any order of the set
			got := Canonical(x.set, declared[:1], declared[1:])
			if !maps.Equal(got, x.want) || (got == nil) != (x.want == nil) {
				t.Fatalf("%v: %v, want %v", x.set, got, x.want)
			}
		}
	}
	if opt, err := ResolveOptions(declared, map[string]string{"QUORUM": "Grid"}); err != nil || opt.Get("quorum") != "grid" {
		t.Errorf("%v, %v", opt, err)
	}
	_, err := ResolveOptions(declared[:1], map[string]string{"age": "3"})
	if err == nil || !strings.HasSuffix(err.Error(), "there are quorum") {
		t.Errorf("of one option: %v", err)
	}
	free := Option{Name: "name", Words: []string{"Auto"}, Forms: []string{"NAME"}, Valid: func(string) error { return nil }}
	if got := Canonical(map[string]string{"name": "auto"}, []Option{free}); got["name"] != "auto" {
		t.Errorf("a value that is accepted as it is became %v", got)
	}
	for set, want := range map[string]string{
		"repair=direct":   `repair=direct: want numbered|directed; did you mean 'directed'?`,
		"quorum=gird":     `did you mean 'grid'?`,
		"quorm=grid":      `unknown option "quorm"; did you mean 'quorum'?`,
		"colour=red":      `unknown option "colour"; there are quorum, repair`,
		"quorum=triangle": `want plane|grid|file:F)`,
	} {
		name, value, _ := strings.Cut(set, "=")
		_, err := ResolveOptions(declared, map[string]string{name: value})
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want … %s", set, err, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"5ms": 5 * time.Millisecond, "0": 0, "1m30s": 90 * time.Second, "-2us": -2 * time.Microsecond,
	} {
		if d, err := ParseDuration(text); d != want || err != nil {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
	for text, want := range map[string]string{
		"5": "5 has no unit; write 5ms, 5us or 5s", "0.5": "0.5 has no unit; write 0.5ms, 0.5us or 0.5s",
		"": "not a duration", "soon": "not a duration", "5 ms": "not a duration",
	} {
		if _, err := ParseDuration(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestBounds(t *testing.T) {
	for _, x := range []struct {
		read          func(string) error
		takes, leaves []string
		says          string
	}{
		{Valid(Whole(1, 9)), []string{"1", "9", "007"}, []string{"0", "10", "-1", "+5", "1.5", "1e0", "", "x"}, "not a whole number from 1 to 9"},
		{Valid(Whole(2, math.MaxInt)), []string{"2", "9223372036854775807"}, []string{"1", "9223372036854775808"},
			"not a whole number of at least 2"},
		{Valid(Lasting(1, time.Minute)), []string{"1ns", "1m"}, []string{"0", "-1s", "61s"}, "not a duration above 0 and at most 1m0s"},
		{Valid(Lasting(0, time.Minute)), []string{"0", "60s"}, []string{"-1ns", "61s"}, "not a duration from 0s to 1m0s"},
		{Valid(Lasting(0, math.MaxInt64)), []string{"0", "2000000h"}, []string{"-1ns"}, "not a duration of at least 0s"},
		{Valid(Fraction), []string{"0", "1", "0.25", "1e-3"}, []string{"-0.1", "1.1", "NaN", "half", ""}, "not a number from 0 to 1"},
		{Valid(Fraction), nil, []string{"25%"}, "not a number from 0 to 1, such as 0.25"},
	} {
		for _, text := range x.takes {
			if err := x.read(text); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
		for _, text := range x.leaves {
			if err := x.read(text); err == nil || err.Error() != x.says {
				t.Errorf("%q: %v, want %s", text, err, x.says)
			}
		}
	}
}

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

func TestListsOfNodes(t *testing.T) {
	for text, want := range map[string][]NodeID{
		"1": {1}, "7,2": {2, 7}, "3-5": {3, 4, 5}, "4-4": {4}, "1,3-5": {1, 3, 4, 5}, "2-4,3,1-2": {1, 2, 3, 4},
		"": nil, "0": nil, "0-2": nil, "5-3": nil, "x": nil, "1-x": nil, "x-1": nil, "1,": nil, "-3": nil, "3-": nil, "1-2-3": nil,
		"1048575": {1<<20 - 1}, "1048576": nil, "1-1048576": nil, // nobody means so many
	} {
		if got, err := ParseNodes(text); !slices.Equal(got, want) || (err != nil) != (want == nil) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

// What is written of any nodes is read as these, and has a range wherever there is one.
func TestListsOfNodesAreWritten(t *testing.T) {
	for want, nodes := range map[string][]NodeID{
		"": {}, "3": {3}, "1-2": {1, 2}, "1,3": {1, 3}, "1-3,5,7-8": {1, 2, 3, 5, 7, 8}, "9-12": {9, 10, 11, 12},
	} {
		if got := FormatNodes(nodes); got != want {
			t.Errorf("%v: %q, want %q", nodes, got, want)
		}
	}
	for some := 1; some < 1<<7; some++ {
		var nodes []NodeID
		for id := range NodeID(7) {
			if some>>id&1 == 1 {
				nodes = append(nodes, id+1)
			}
		}
		if got, err := ParseNodes(FormatNodes(nodes)); err != nil || !slices.Equal(got, nodes) {
			t.Errorf("%v became %q and then %v, %v", nodes, FormatNodes(nodes), got, err)
		}
	}
}
