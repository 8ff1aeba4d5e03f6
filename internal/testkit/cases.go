package testkit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Cases runs the cases of a file and compares what comes of them with what the file
// says. A case is comments, which begin with #, lines of input, a line of four dashes,
// and the output of run, up to an empty line. Comments alone are a heading.
// With -rewrite the outputs are written anew.
func Cases(t *testing.T, file string, run func(t *testing.T, input []string) (output string)) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		head, _, _ := strings.Cut(block, "\n----")
		var input []string
		for line := range strings.SplitSeq(head, "\n") {
			if !strings.HasPrefix(line, "#") {
				input = append(input, line)
			}
		}
		if input != nil {
			head += "\n----\n" + strings.TrimSpace(run(t, input))
		}
		blocks = append(blocks, strings.TrimSpace(head))
	}
	FileMustBe(t, file, []byte(strings.Join(blocks, "\n\n")+"\n"))
}

var index = regexp.MustCompile(`\[(\d+)\]`)

// Set sets what a path such as Nodes[1].Requests leads to from *root, "" to itself, to a
// value in JSON. Pointers and slices on the way are made as the path needs them.
func Set(t *testing.T, root any, path, value string) {
	t.Helper()
	v := reflect.ValueOf(root).Elem()
	for name := range strings.SplitSeq(index.ReplaceAllString(path, ".$1"), ".") {
		for v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		if i, err := strconv.Atoi(name); err != nil && name != "" {
			v = v.FieldByName(name)
		} else if err == nil {
			for v.Kind() == reflect.Slice && i >= v.Len() {
				v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			}
			v = v.Index(i)
		}
		if !v.IsValid() {
			t.Fatalf("%s: %s leads nowhere", t.Name(), path)
		}
	}
	d := json.NewDecoder(strings.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(v.Addr().Interface()); err != nil {
		t.Fatalf("%s: %s %s: %v", t.Name(), path, value, err)
	}
}

// Lines writes what JSON makes of a value, a line for each of its parts, in the order of
// their paths: "safety.violations 1". Numbers that belong together share a line. They have
// that many digits, since processors may differ in the last; what is null, false, zero or
// empty is left out.
func Lines(t *testing.T, x any, digits int) []string {
	t.Helper()
	text, err := json.Marshal(x)
	var tree any
	if err == nil {
		err = json.Unmarshal(text, &tree)
	}
	if err != nil {
		t.Fatal(err)
	}
	return lines("", tree, digits)
}

func lines(path string, x any, digits int) (all []string) {
	var flat []string
	deep := path == ""
	part := func(below, prefix string, x any) {
		text := scalar(x, digits)
		if text != "" || prefix == "" {
			flat = append(flat, prefix+cmp.Or(text, "-"))
		}
		switch x.(type) {
		case map[string]any, []any, string:
			deep = true
		}
		all = append(all, lines(below, x, digits)...)
	}
	switch x := x.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(x)) {
			part(strings.TrimPrefix(path+"."+key, "."), key+"=", x[key])
		}
	case []any:
		for i, y := range x {
			part(fmt.Sprintf("%s[%d]", path, i), "", y)
		}
	default:
		flat, deep = []string{scalar(x, digits)}, false
	}
	if text := strings.Join(flat, " "); !deep {
		return slices.DeleteFunc([]string{path + " " + text}, func(string) bool { return text == "" })
	}
	return all
}

func scalar(x any, digits int) string {
	switch x := x.(type) {
	case string:
		return x
	case bool:
		if x {
			return "true"
		}
	case float64:
		if x != 0 {
			return strconv.FormatFloat(x, 'g', digits, 64)
		}
	}
	return ""
}
