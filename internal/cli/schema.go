package cli

import (
	"encoding/json"
	"strings"
)

// object is a part of a schema.
type object = map[string]any

// schemaJSON returns the JSON Schema of a result, as a file. Objects stay open: keys are
// added to results without a new version.
func schemaJSON() ([]byte, error) {
	ofResult, others, err := resultSchema()
	if err != nil {
		return nil, err
	}
	root := structure()
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "dmebench result"
	root["description"] = "What one run found out."
	describeKeys(root, ofResult)
	all := object{}
	for _, d := range others {
		s := structure()
		s["description"] = d.meaning
		describeKeys(s, d.fields)
		all[d.name] = s
	}
	root["$defs"] = all
	b, err := json.MarshalIndent(root, "", "  ")
	return append(b, '\n'), err
}

func describeKeys(root object, all []schemaField) {
	for _, f := range all {
		parent := root
		path := strings.Split(f.key, ".")
		for _, key := range path[:len(path)-1] {
			parent = parent["properties"].(object)[key].(object)
			if items, ok := parent["items"]; ok {
				parent = items.(object)
			}
		}
		f.key = path[len(path)-1]
		f.addTo(parent)
	}
}

// typed is a schema of values of a JSON type, or of what a definition says.
func typed(name string) object {
	for _, d := range schemaDefinitions() {
		if d.name == name {
			return object{"$ref": "#/$defs/" + name}
		}
	}
	return object{"type": name}
}

func structure() object {
	return object{"type": "object", "properties": object{}, "required": []string{}}
}

// addTo adds the field to the schema of the object that it belongs to.
func (f schemaField) addTo(parent object) {
	kind, optional := strings.CutSuffix(f.kind, ", or absent")
	if !optional {
		parent["required"] = append(parent["required"].([]string), f.key)
	}
	kind, nullable := strings.CutSuffix(kind, " or null")
	of, element, _ := strings.Cut(kind, " of ")
	s := typed(of)
	switch of {
	case "array":
		s["items"] = typed(element)
		if element, nullable := strings.CutSuffix(element, " or null"); nullable {
			s["items"] = object{"type": []any{element, "null"}}
		}
		if element == "object" {
			s["items"] = structure()
		}
	case "object":
		if element == "" {
			s = structure()
		} else {
			s["additionalProperties"] = object{"type": element}
		}
	}
	if nullable && s["$ref"] != nil {
		s = object{"oneOf": []any{s, object{"type": "null"}}}
	} else if nullable {
		s["type"] = []any{of, "null"}
	}
	s["description"] = f.meaning
	parent["properties"].(object)[f.key] = s
}
