// Package schema says what the JSON form of a result holds: every key with its
// type, which comes from the Go types, and its meaning. It writes them as a JSON
// Schema.
package schema

import (
	_ "embed"
	"fmt"
	"reflect"
	"strings"

	"dmebench/result"
)

// Field is a key of a JSON object. Keys of objects within it follow it, with a
// dot between.
type Field struct {
	Key     string
	Kind    string // "integer", "array of string or null", "number, or absent", …
	Meaning string
}

// Times is the kind of a distribution of times, which stands in several places.
const Times = "times"

// meanings has a line 'key: meaning' for each key of a result, and one of
// 'times.key: meaning' for each key of a distribution of times.
//
//go:embed meanings.txt
var meanings string

// Result lists the keys of a result, and those of a distribution of times. It
// fails where a key has no meaning, or a meaning has no key.
func Result() (ofResult, ofTimes []Field, err error) {
	meaning := make(map[string]string)
	for line := range strings.Lines(meanings) {
		key, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		meaning[key] = text
	}
	ofResult = Fields(reflect.TypeFor[result.Result](), map[reflect.Type]string{reflect.TypeFor[result.Quantiles](): Times})
	ofTimes = Fields(reflect.TypeFor[result.Quantiles](), nil)
	for _, x := range []struct {
		prefix string
		fields []Field
	}{{"", ofResult}, {Times + ".", ofTimes}} {
		for i := range x.fields {
			key := x.prefix + x.fields[i].Key
			if x.fields[i].Meaning = meaning[key]; meaning[key] == "" {
				return nil, nil, fmt.Errorf("schema: %s has no meaning", key)
			}
			delete(meaning, key)
		}
	}
	for key := range meaning {
		return nil, nil, fmt.Errorf("schema: %s has a meaning and does not exist", key)
	}
	return ofResult, ofTimes, nil
}

// Fields lists the keys of the JSON form of a Go struct, without their meanings.
// Objects of the named types stand for themselves and are not unfolded.
func Fields(t reflect.Type, named map[reflect.Type]string) []Field { return fields(t, "", named) }

func fields(t reflect.Type, prefix string, named map[reflect.Type]string) []Field {
	var all []Field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		if f.Anonymous && name == "" { // its keys are the object's own
			all = append(all, fields(f.Type, prefix, named)...)
			continue
		}
		kind, object := kindOf(f.Type, named)
		if strings.Contains(options, "omitempty") {
			kind = strings.TrimSuffix(kind, " or null") + ", or absent"
		}
		all = append(all, Field{Key: prefix + name, Kind: kind})
		if object != nil {
			all = append(all, fields(object, prefix+name+".", named)...)
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
