package cli

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"dmebench/report/compare"
	"dmebench/report/rank"
	"dmebench/runs"
)

type object = map[string]any

// definitions are objects that stand in several places, and documents that other commands print.
var definitions = []struct {
	name, meaning string
	of            reflect.Type
}{
	{"times", "a distribution of times", reflect.TypeFor[runs.Quantiles]()},
	{"cell", "everything that runs were asked to do, but for their seeds", reflect.TypeFor[compare.Cell]()},
	{"sample", "the repetitions of a cell", reflect.TypeFor[compare.Sample]()},
	{"comparison", "what 'dmebench compare --json A B' prints", reflect.TypeFor[compare.Comparison]()},
	{"columns", "what 'dmebench compare --col DIMENSION --json DIR' prints", reflect.TypeFor[compare.Columns]()},
	{"ranking", "what 'dmebench rank --json DIR' prints", reflect.TypeFor[rank.Ranking]()},
}

// meanings has a line 'key: meaning' for each key of a result, and one of
// 'NAME.key: meaning' for each key of a definition. Keys of objects within an object
// follow it, with a dot between.
//
//go:embed meanings.txt
var meanings string

// schemaJSON returns the JSON Schema of a result, as a file. Objects stay open: keys are
// added to results without a new version. It fails where a key has no meaning, or a
// meaning has no key.
func schemaJSON() ([]byte, error) {
	s := &schema{meaning: make(map[string]string)}
	for line := range strings.Lines(meanings) {
		key, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		s.meaning[key] = text
	}
	root := s.object(reflect.TypeFor[runs.Result](), "")
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "dmebench result"
	root["description"] = "What one run found out."
	all := object{}
	for _, d := range definitions {
		o := s.object(d.of, d.name+".")
		o["description"] = d.meaning
		all[d.name] = o
	}
	root["$defs"] = all
	for key := range s.meaning {
		s.errs = append(s.errs, fmt.Errorf("schema: %s has a meaning and does not exist", key))
	}
	b, err := json.MarshalIndent(root, "", "  ")
	return append(b, '\n'), errors.Join(append(s.errs, err)...)
}

type schema struct {
	meaning map[string]string // of the keys that have not been described yet
	errs    []error
}

// object describes a Go struct, whose keys have a prefix in the meanings.
func (s *schema) object(t reflect.Type, prefix string) object {
	properties, required := object{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || f.Anonymous {
			continue // keys of an embedded struct are the object's own
		}
		key := prefix + name
		p := s.value(f.Type, key+".")
		if strings.Contains(options, "omitempty") {
			p = notNull(p)
		} else {
			required = append(required, name)
		}
		if p["description"] = s.meaning[key]; s.meaning[key] == "" {
			s.errs = append(s.errs, fmt.Errorf("schema: %s has no meaning", key))
		}
		delete(s.meaning, key)
		properties[name] = p
	}
	return object{"type": "object", "properties": properties, "required": required}
}

var textual = reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()

func (s *schema) value(t reflect.Type, prefix string) object {
	for _, d := range definitions {
		if d.of == t {
			return object{"$ref": "#/$defs/" + d.name}
		}
	}
	if t.Implements(textual) {
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return orNull(s.value(t.Elem(), prefix))
	case reflect.Slice:
		return orNull(object{"type": "array", "items": s.value(t.Elem(), prefix)})
	case reflect.Map:
		return orNull(object{"type": "object", "additionalProperties": s.value(t.Elem(), prefix)})
	case reflect.Struct:
		return s.object(t, prefix)
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return object{"type": "integer"}
	}
	panic("schema: no JSON type for " + t.String())
}

var null = object{"type": "null"}

func orNull(p object) object {
	if p["$ref"] != nil {
		return object{"oneOf": []any{p, null}}
	}
	p["type"] = []any{p["type"], "null"}
	return p
}

// notNull describes a value that is absent if it would be null.
func notNull(p object) object {
	if alternatives, ok := p["oneOf"].([]any); ok {
		return alternatives[0].(object)
	}
	if types, ok := p["type"].([]any); ok {
		p["type"] = types[0]
	}
	return p
}
