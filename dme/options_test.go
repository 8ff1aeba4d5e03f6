package dme

import (
	"errors"
	"maps"
	"strings"
	"testing"
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
