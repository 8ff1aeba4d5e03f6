package dmebench

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/internal/run"
	"dmebench/internal/sim"
	"dmebench/result"
)

// A real result is what its schema says, and stops being so where a key is
// missing or a value is of another type.
func TestResultsMatchTheirSchema(t *testing.T) {
	b, err := os.ReadFile("docs/result.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(b, &schema); err != nil {
		t.Fatal(err)
	}
	for _, load := range []string{"saturate", "serial"} {
		spec := result.Spec{Algorithm: "maekawa", Nodes: 7, Transport: "sim", Workload: load, Requests: 70, Set: map[string]string{"quorum": "plane"}}
		job, err := run.Resolve(spec, catalog.All(), os.ReadFile)
		if err != nil {
			t.Fatal(err)
		}
		result, err := sim.Run(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		value := func() map[string]any {
			encoded, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			var v map[string]any
			if err := json.Unmarshal(encoded, &v); err != nil {
				t.Fatal(err)
			}
			return v
		}
		if faults := mismatches(schema, schema, value(), "result"); faults != nil {
			t.Errorf("%s: %s", load, strings.Join(faults, "\n"))
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
			v := value()
			if spoil(v); mismatches(schema, schema, v, "result") == nil {
				t.Errorf("%s: %s is not noticed", load, name)
			}
		}
	}
}

// mismatches checks a value by the part of JSON Schema that the schema uses.
func mismatches(root, schema map[string]any, value any, at string) (faults []string) {
	if ref, ok := schema["$ref"].(string); ok {
		return mismatches(root, root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any), value, at)
	}
	if choices, ok := schema["oneOf"].([]any); ok {
		matching := 0
		for _, c := range choices {
			if mismatches(root, c.(map[string]any), value, at) == nil {
				matching++
			}
		}
		if matching != 1 {
			return []string{fmt.Sprintf("%s matches %d of %d choices", at, matching, len(choices))}
		}
		return nil
	}
	types, ok := schema["type"].([]any)
	if !ok {
		types = []any{schema["type"]}
	}
	if !slices.ContainsFunc(typesOf(value), func(t string) bool { return slices.Contains(types, any(t)) }) {
		return []string{fmt.Sprintf("%s is %v, want %v", at, value, types)}
	}
	switch value := value.(type) {
	case []any:
		for i, x := range value {
			faults = append(faults, mismatches(root, schema["items"].(map[string]any), x, fmt.Sprintf("%s[%d]", at, i))...)
		}
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		required, _ := schema["required"].([]any)
		for _, key := range required {
			if _, ok := value[key.(string)]; !ok {
				faults = append(faults, fmt.Sprintf("%s lacks %s", at, key))
			}
		}
		for key, x := range value {
			of, ok := properties[key].(map[string]any)
			if !ok {
				of, ok = schema["additionalProperties"].(map[string]any)
			}
			if !ok {
				faults = append(faults, fmt.Sprintf("%s has %s, which the schema does not know", at, key))
				continue
			}
			faults = append(faults, mismatches(root, of, x, at+"."+key)...)
		}
	}
	return faults
}

func typesOf(value any) []string {
	switch value := value.(type) {
	case nil:
		return []string{"null"}
	case string:
		return []string{"string"}
	case bool:
		return []string{"boolean"}
	case float64:
		if value == math.Trunc(value) {
			return []string{"number", "integer"}
		}
		return []string{"number"}
	case []any:
		return []string{"array"}
	}
	return []string{"object"}
}
