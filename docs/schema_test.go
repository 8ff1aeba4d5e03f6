package docs_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"dmebench/internal/cli"
)

// A real result is what its schema says, and stops being so where a key is
// missing or a value is of another type. Keys that the schema does not know are
// allowed: but those of today it knows.
func TestResultsMatchTheirSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(read(t, "result.schema.json"))))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("result.schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("result.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, load := range []string{"saturate", "serial"} {
		args := "run --algorithm maekawa --nodes 7 --transport sim --requests 70 --set quorum=plane --json --quiet --workload " + load
		encoded := say(t, cli.Held, strings.Fields(args)...)
		decoded := func() map[string]any {
			var v map[string]any
			if err := json.Unmarshal(encoded, &v); err != nil {
				t.Fatal(err)
			}
			return v
		}
		if err := schema.Validate(decoded()); err != nil {
			t.Errorf("%s: %v", load, err)
		}
		if unknown := unknownKeys(schema, decoded(), "result"); unknown != nil {
			t.Errorf("%s: the schema does not know %s", load, strings.Join(unknown, ", "))
		}
		for name, spoil := range map[string]func(map[string]any){
			"a missing key":      func(v map[string]any) { delete(v, "entries") },
			"a missing inner":    func(v map[string]any) { delete(v["response_time_ns"].(map[string]any), "p99") },
			"a string":           func(v map[string]any) { v["nodes"] = "seven" },
			"half a node":        func(v map[string]any) { v["nodes"] = 3.5 },
			"null":               func(v map[string]any) { v["status"] = nil },
			"a list of strings":  func(v map[string]any) { v["work"].(map[string]any)["sent_by_node"] = []any{"1"} },
			"another map":        func(v map[string]any) { v["messages"].(map[string]any)["by_kind"] = map[string]any{"REQUEST": "1"} },
			"times are a number": func(v map[string]any) { v["waiting_time_ns"] = 3.0 },
		} {
			v := decoded()
			if spoil(v); schema.Validate(v) == nil {
				t.Errorf("%s: %s is not noticed", load, name)
			}
		}
	}
}

// So are comparisons and rankings what the schema says of them.
func TestComparisonsMatchTheirSchema(t *testing.T) {
	out := t.TempDir()
	say(t, cli.Held, append(strings.Fields("sweep -a raymond,maekawa -n 3,7 --transport sim --repetitions 6 --requests-per-node 5 "+
		"--quiet --name small --out"), out)...)
	small := filepath.Join(out, "small")
	for definition, args := range map[string][]string{
		"comparison": {"compare", "--json", small, small},
		"columns":    {"compare", "--json", "--col", "algorithm", small},
		"ranking":    {"rank", "--json", small},
	} {
		schema, err := jsonschema.NewCompiler().Compile("result.schema.json#/$defs/" + definition)
		if err != nil {
			t.Fatal(err)
		}
		printed := make(map[string]any)
		if err := json.Unmarshal(say(t, cli.Held, args...), &printed); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(printed); err != nil {
			t.Errorf("%s: %v", definition, err)
		}
		if unknown := unknownKeys(schema, printed, definition); unknown != nil {
			t.Errorf("the schema does not know %s", strings.Join(unknown, ", "))
		}
		if delete(printed, "alpha"); schema.Validate(printed) == nil {
			t.Errorf("%s: a missing key is not noticed", definition)
		}
	}
}

// unknownKeys lists the keys of an object for which its schema has no property.
func unknownKeys(schema *jsonschema.Schema, object map[string]any, at string) (unknown []string) {
	for key, x := range object {
		property, ok := schema.Properties[key]
		if !ok && schema.AdditionalProperties == nil {
			unknown = append(unknown, at+"."+key)
		}
		if inner, isObject := x.(map[string]any); isObject && ok {
			for _, choice := range property.OneOf {
				if choice.Ref != nil {
					property = choice.Ref
				}
			}
			unknown = append(unknown, unknownKeys(property, inner, at+"."+key)...)
		}
	}
	return unknown
}
