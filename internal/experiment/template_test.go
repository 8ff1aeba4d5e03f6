package experiment

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/result"
)

// disabled is a key, or an entry of a list, that is commented out.
var disabled = regexp.MustCompile(`(?m)^( *)#( *- |[a-z])`)

// faulty are faults that the algorithms of the template do not bear.
var faulty = regexp.MustCompile(`(?m)^.*(faults: \[|resource:).*\n`)

func TestTemplate(t *testing.T) {
	text, err := Template("mine", "mine.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "NAME") || !strings.Contains(string(text), "dmebench sweep mine.yaml --dry-run") {
		t.Errorf("the name is not everywhere:\n%s", text)
	}
	f, err := Parse("mine.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := f.Expand(catalog.All(), nil); err != nil || f.Name != "mine" || len(p.Cells) != 3*3*2*6 {
		t.Errorf("%v", err)
	}
	// With everything that is commented out it is valid too.
	text = []byte(disabled.ReplaceAllString(string(text), "$1$2"))
	if f, err = Parse("all.yaml", text); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if f, err = Parse("all.yaml", faulty.ReplaceAll(text, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Expand(catalog.All(), nil); err != nil {
		t.Error(err)
	}
}

// Whoever adds a key explains it in the template.
func TestTemplateHasEveryKey(t *testing.T) {
	text := string(template)
	for _, of := range []any{result.Experiment{}, result.Entry{}, result.Workload{}, result.Axis{}} {
		for i, typ := 0, reflect.TypeOf(of); i < typ.NumField(); i++ {
			key := typ.Field(i).Tag.Get("yaml")
			if !regexp.MustCompile(`(?m)(^#?|[{,] ?|^# +)` + key + `(:|  |, )`).MatchString(text) {
				t.Errorf("%s: the template does not have %s", typ.Name(), key)
			}
		}
	}
}

func TestTemplateRefusesAName(t *testing.T) {
	for _, name := range []string{"", "a/b", "-x", "two words"} {
		if _, err := Template(name, "x.yaml"); err == nil {
			t.Errorf("%q is no folder, and was taken", name)
		}
	}
}
