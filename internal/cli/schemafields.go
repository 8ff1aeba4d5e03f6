package cli

import (
	"cmp"
	_ "embed"
	"fmt"
	"reflect"
	"strings"

	"dmebench/report/compare"
	"dmebench/report/rank"
	"dmebench/runs"
)

// schemaField is a key of the JSON form of a result, or of an object in it: its type comes
// from the Go types. Keys of objects within it follow it, with a dot between.
type schemaField struct {
	key     string
	kind    string // "integer", "array of string or null", "number, or absent", …
	meaning string
}

// schemaDefinition is an object that stands in several places, or a document that another
// command prints.
type schemaDefinition struct {
	name, meaning string
	fields        []schemaField
	of            reflect.Type
}

func schemaDefinitions() []schemaDefinition {
	return []schemaDefinition{
		{name: "times", meaning: "a distribution of times", of: reflect.TypeFor[runs.Quantiles]()},
		{name: "cell", meaning: "everything that runs were asked to do, but for their seeds", of: reflect.TypeFor[compare.Cell]()},
		{name: "sample", meaning: "the repetitions of a cell", of: reflect.TypeFor[compare.Sample]()},
		{name: "comparison", meaning: "what 'dmebench compare --json A B' prints", of: reflect.TypeFor[compare.Comparison]()},
		{name: "columns", meaning: "what 'dmebench compare --col DIMENSION --json DIR' prints", of: reflect.TypeFor[compare.Columns]()},
		{name: "ranking", meaning: "what 'dmebench rank --json DIR' prints", of: reflect.TypeFor[rank.Ranking]()},
	}
}

// meanings has a line 'key: meaning' for each key of a result, and one of
// 'NAME.key: meaning' for each key of a definition.
//
//go:embed meanings.txt
var meanings string

// resultSchema lists the keys of a result, and the definitions. It fails where a key has no
// meaning, or a meaning has no key.
func resultSchema() (ofResult []schemaField, others []schemaDefinition, err error) {
	meaning := make(map[string]string)
	for line := range strings.Lines(meanings) {
		key, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		meaning[key] = text
	}
	others = schemaDefinitions()
	named := make(map[reflect.Type]string)
	for _, d := range others {
		named[d.of] = d.name
	}
	explain := func(prefix string, all []schemaField) error {
		for i := range all {
			key := prefix + all[i].key
			if all[i].meaning = meaning[key]; meaning[key] == "" {
				return fmt.Errorf("schema: %s has no meaning", key)
			}
			delete(meaning, key)
		}
		return nil
	}
	ofResult = keysOf(reflect.TypeFor[runs.Result](), "", named)
	err = explain("", ofResult)
	for i := range others {
		d := &others[i]
		d.fields = keysOf(d.of, "", named)
		err = cmp.Or(err, explain(d.name+".", d.fields))
	}
	if err != nil {
		return nil, nil, err
	}
	for key := range meaning {
		return nil, nil, fmt.Errorf("schema: %s has a meaning and does not exist", key)
	}
	return ofResult, others, nil
}

// keysOf lists the keys of the JSON form of a Go struct, without their meanings.
// Objects of the named types stand for themselves and are not unfolded.
func keysOf(t reflect.Type, prefix string, named map[reflect.Type]string) []schemaField {
	var all []schemaField
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		if f.Anonymous && name == "" { // its keys are the object's own
			all = append(all, keysOf(f.Type, prefix, named)...)
			continue
		}
		kind, object := kindOf(f.Type, named)
		if strings.Contains(options, "omitempty") {
			kind = strings.TrimSuffix(kind, " or null") + ", or absent"
		}
		all = append(all, schemaField{key: prefix + name, kind: kind})
		if object != nil {
			all = append(all, keysOf(object, prefix+name+".", named)...)
		}
	}
	return all
}

var textual = reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()

// kindOf names the JSON form of a Go type, and returns the struct in it whose
// keys are to be unfolded.
func kindOf(t reflect.Type, named map[reflect.Type]string) (kind string, object reflect.Type) {
	switch {
	case named[t] != "":
		return named[t], nil
	case t.Implements(textual):
		return "string", nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		kind, object = kindOf(t.Elem(), named)
		return kind + " or null", object
	case reflect.Slice:
		kind, object = kindOf(t.Elem(), named)
		return "array of " + kind + " or null", object
	case reflect.Map:
		kind, object = kindOf(t.Elem(), named)
		return "object of " + kind + " or null", object
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
	panic("schema: no JSON type for " + t.String())
}
