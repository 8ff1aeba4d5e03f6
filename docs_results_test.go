package dmebench

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dmebench/report/compare"
	"dmebench/report/export"
	"dmebench/result"
)

// field is a key of a JSON object, as a table of docs/results-format.md has it.
type field struct{ key, kind, meaning string }

// documented reads the tables below a heading of the page: rows of key, type and
// meaning, or of key and meaning.
func documented(t *testing.T, page, heading string) []field {
	t.Helper()
	_, rest, ok := strings.Cut(page, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("docs/results-format.md has no heading %q", heading)
	}
	section, _, _ := strings.Cut(rest, "\n## ")
	var fields []field
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		key := strings.TrimSpace(cells[0])
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		f := field{key: strings.Trim(key, "`"), meaning: strings.TrimSpace(cells[len(cells)-1])}
		if len(cells) > 2 {
			f.kind = strings.TrimSpace(cells[1])
		}
		fields = append(fields, f)
	}
	return fields
}

// described lists the keys of a Go type's JSON form with their types. Objects
// that stand in several places are named, not unfolded.
func described(t reflect.Type, prefix string, named map[reflect.Type]string) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		kind, inner := kindOf(f.Type, named)
		if strings.Contains(options, "omitempty") {
			kind = strings.TrimSuffix(kind, " or null") + ", or absent"
		}
		fields = append(fields, field{key: prefix + name, kind: kind})
		if inner != nil {
			fields = append(fields, described(inner, prefix+name+".", named)...)
		}
	}
	return fields
}

var textual = reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()

func kindOf(t reflect.Type, named map[reflect.Type]string) (kind string, inner reflect.Type) {
	switch {
	case named[t] != "":
		return named[t], nil
	case t.Implements(textual):
		return "string", nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		kind, inner = kindOf(t.Elem(), named)
		return kind + " or null", inner
	case reflect.Slice:
		kind, inner = kindOf(t.Elem(), named)
		return "array of " + kind + " or null", inner
	case reflect.Map:
		kind, inner = kindOf(t.Elem(), named)
		return "object of " + kind + " or null", inner
	case reflect.Struct:
		return "object", t
	case reflect.String:
		return "string", nil
	case reflect.Bool:
		return "boolean", nil
	case reflect.Float64:
		return "number", nil
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "integer", nil
	}
	panic("no JSON type for " + t.String())
}

// sameFields compares a table of the page with what the program has.
func sameFields(t *testing.T, heading string, page, program []field) {
	t.Helper()
	byKey := make(map[string]field)
	for _, f := range page {
		if byKey[f.key] != (field{}) {
			t.Errorf("%s: %s is documented twice", heading, f.key)
		}
		if f.meaning == "" {
			t.Errorf("%s: %s has no meaning", heading, f.key)
		}
		byKey[f.key] = f
	}
	for _, f := range program {
		switch have, ok := byKey[f.key]; {
		case !ok:
			t.Errorf("%s: %s (%s) is not documented", heading, f.key, f.kind)
		case have.kind != f.kind:
			t.Errorf("%s: %s is documented as %q, and is %q", heading, f.key, have.kind, f.kind)
		}
		delete(byKey, f.key)
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		t.Errorf("%s: %s is documented and does not exist", heading, key)
	}
}

// docs/results-format.md documents every key and every column that there is,
// and none that there is not.
func TestResultsFormatPage(t *testing.T) {
	b, err := os.ReadFile("docs/results-format.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	named := map[reflect.Type]string{
		reflect.TypeFor[result.Quantiles](): "times", reflect.TypeFor[compare.Cell](): "cell", reflect.TypeFor[compare.Sample](): "sample",
	}
	ofResult, times := documented(t, page, "## A result"), documented(t, page, "## Times")
	sameFields(t, "a result", ofResult, described(reflect.TypeFor[result.Result](), "", named))
	sameFields(t, "times", times, described(reflect.TypeFor[result.Quantiles](), "", named))

	// Of a comparison no array is ever null.
	var comparison []field
	for _, f := range described(reflect.TypeFor[compare.Comparison](), "", named) {
		if strings.HasPrefix(f.kind, "array") {
			f.kind = strings.TrimSuffix(f.kind, " or null")
		}
		comparison = append(comparison, f)
	}
	sameFields(t, "a comparison", documented(t, page, "## A comparison"), comparison)

	var dimensions, metrics []field
	for _, name := range result.Dimensions() {
		dimensions = append(dimensions, field{key: name})
	}
	sameFields(t, "dimensions", documented(t, page, "## The store"), dimensions)
	for _, m := range result.Metrics() {
		metrics = append(metrics, field{key: m.Name, kind: "`" + m.Unit + "`"})
	}
	sameFields(t, "metrics", documented(t, page, "## Metrics"), metrics)

	files, err := export.CSV(&result.Set{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		// Columns that stand in a table of their own.
		elsewhere := map[string][]field{
			"runs.csv":  append(append([]field{{key: "label"}}, dimensions...), metrics...),
			"times.csv": append([]field{{key: "label"}, {key: "repetition"}, {key: "seed"}}, dimensions...),
		}[f.Name]
		for _, m := range metrics {
			for _, suffix := range []string{"", "_ci95_low", "_ci95_high"} {
				elsewhere = append(elsewhere, field{key: m.key + suffix})
			}
		}
		header, err := csv.NewReader(bytes.NewReader(f.Data)).Read()
		if err != nil {
			t.Fatal(err)
		}
		var columns []field
		for _, name := range header {
			if !slices.ContainsFunc(elsewhere, func(f field) bool { return f.key == name }) {
				columns = append(columns, field{key: name})
			}
		}
		sameFields(t, f.Name, documented(t, page, "## "+f.Name), columns)
	}
	mustBe(t, "docs/result.schema.json", schema(ofResult, times))
}

// schema is the JSON Schema of a result, made of the tables of the page.
func schema(result, times []field) []byte {
	root := object()
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "dmebench result"
	root["description"] = "What one run found out. Made from docs/results-format.md."
	distribution := object()
	distribution["description"] = "a distribution of times"
	for _, f := range times {
		add(distribution, f.key, f)
	}
	for _, f := range result {
		parent := root
		path := strings.Split(f.key, ".")
		for _, key := range path[:len(path)-1] {
			parent = parent["properties"].(map[string]any)[key].(map[string]any)
		}
		add(parent, path[len(path)-1], f)
	}
	root["$defs"] = map[string]any{"times": distribution}
	b, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err)
	}
	return append(b, '\n')
}

func object() map[string]any {
	return map[string]any{"type": "object", "properties": map[string]any{}, "required": []string{}}
}

// add adds a property to an object's schema. Objects stay open: keys are added
// to results without a new version.
func add(parent map[string]any, key string, f field) {
	kind, optional := strings.CutSuffix(f.kind, ", or absent")
	parent["properties"].(map[string]any)[key] = typed(kind, strings.ReplaceAll(f.meaning, "`", ""))
	if !optional {
		parent["required"] = append(parent["required"].([]string), key)
	}
}

func typed(kind, meaning string) map[string]any {
	s := make(map[string]any)
	kind, nullable := strings.CutSuffix(kind, " or null")
	switch element, of := "", ""; {
	case kind == "times":
		s["$ref"] = "#/$defs/times"
		if nullable {
			s = map[string]any{"oneOf": []any{s, map[string]any{"type": "null"}}}
		}
		s["description"] = meaning
		return s
	case kind == "object":
		s = object()
	default:
		of, element, _ = strings.Cut(kind, " of ")
		s["type"] = of
		if of == "array" {
			s["items"] = map[string]any{"type": element}
		} else if of == "object" {
			s["additionalProperties"] = map[string]any{"type": element}
		}
	}
	if nullable {
		s["type"] = []any{s["type"], "null"}
	}
	s["description"] = meaning
	return s
}
