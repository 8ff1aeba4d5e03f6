package experiment

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"dmebench/internal/suggest"
	"dmebench/result"
	"dmebench/workload/fault"

	"go.yaml.in/yaml/v3"
)

// document is an experiment file as YAML: where its values stand.
type document struct {
	flaws
	root *yaml.Node // nil for an experiment that was not read from YAML
}

// decode reads the text into e, which holds the defaults. The library checks
// keys and types; what it lets pass is checked before.
func (d *document) decode(text []byte, e *result.Experiment) error {
	if !d.read(text) || !d.version() {
		return d.err()
	}
	d.values("", "", "", d.root, 0)
	in := yaml.NewDecoder(bytes.NewReader(text))
	in.KnownFields(true)
	err := in.Decode(e)
	if wrong := (*yaml.TypeError)(nil); errors.As(err, &wrong) {
		for _, text := range wrong.Errors {
			d.addFromYAML(text)
		}
	} else if err != nil && len(d.list) == 0 {
		d.addFromYAML(err.Error())
	}
	return d.err()
}

// read finds the only document of text.
func (d *document) read(text []byte) bool {
	in := yaml.NewDecoder(bytes.NewReader(text))
	var first, second yaml.Node
	err := in.Decode(&first)
	if err == nil {
		err = in.Decode(&second)
	}
	switch {
	case errors.Is(err, io.EOF) && len(first.Content) == 1:
		d.root = first.Content[0]
		return true
	case errors.Is(err, io.EOF):
		d.add(1, "the file is empty; it must say at least schema_version, name, algorithms and nodes")
	case err == nil:
		d.add(second.Line, "a second document begins here; an experiment is one document, put the other into a file of its own")
	default:
		line, text := atLine(err.Error())
		d.add(line, "not YAML: %s", text)
	}
	return false
}

// version checks schema_version alone: a file of another version may look like
// anything else, and faults found in it would mislead.
func (d *document) version() bool {
	if d.root.Kind != yaml.MappingNode {
		d.add(d.root.Line, "the file is no mapping of keys to values")
		return false
	}
	switch v := at(d.root, "schema_version"); {
	case v == nil:
		d.add(d.root.Line, "schema_version is missing; write schema_version: %d", SchemaVersion)
	case v.Value != strconv.Itoa(SchemaVersion):
		d.add(v.Line, "schema_version is %q; this program reads version %d", v.Value, SchemaVersion)
	default:
		return true
	}
	return false
}

// at returns the value at a path of keys and indices; nil where there is none.
func at(n *yaml.Node, path ...any) *yaml.Node {
	for _, step := range path {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		var next *yaml.Node
		switch step := step.(type) {
		case string:
			for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == step {
					next = n.Content[i+1]
				}
			}
		case int:
			if n.Kind == yaml.SequenceNode && step < len(n.Content) {
				next = n.Content[step]
			}
		}
		if next == nil {
			return nil
		}
		n = next
	}
	return n
}

// line returns the line of the value at a path, or of what it would stand in.
func (d *document) line(path ...any) int {
	for ; d.root != nil && len(path) > 0; path = path[:len(path)-1] {
		if n := at(d.root, path...); n != nil {
			return n.Line
		}
	}
	return 1
}

var (
	yamlLine     = regexp.MustCompile(`(?s)^(?:yaml: )?(?:line (\d+): )?(.*)$`)
	unknownField = regexp.MustCompile(`^field (.*) not found in type (.*)$`)
	otherType    = regexp.MustCompile("^cannot unmarshal !!(\\w+) (?:`.*` )?into (.*)$")
)

// wanted says in words what the library names by Go's types.
var wanted = map[string]string{
	"string": "text", "bool": "true or false", "int": "a whole number", "uint64": "a whole number", "float64": "a number",
	"[]string":          "a list such as [kill holder @entry:100, restart holder @+500ms]",
	"map[string]string": "a mapping such as {quorum: grid}", "map[string]float64": `a mapping such as {"radiating:3": 3}`,
}

// atLine takes an error of the library apart.
func atLine(text string) (line int, what string) {
	m := yamlLine.FindStringSubmatch(text)
	line, _ = strconv.Atoi(m[1])
	return line, m[2]
}

// addFromYAML adds a fault as the library tells it.
func (d *document) addFromYAML(text string) {
	line, text := atLine(text)
	if unknown := unknownField.FindStringSubmatch(text); unknown != nil {
		known := knownKeys[unknown[2]]
		text = suggest.Unknown("key", unknown[1], known, "known here: "+strings.Join(known, ", ")).Error()
	} else if other := otherType.FindStringSubmatchIndex(text); other != nil {
		want := cmp.Or(wanted[text[other[4]:other[5]]], "a list of entries, each a name or {name: …}")
		text = strings.TrimSuffix(text[:other[4]], " into ") + "; want " + want
	}
	d.add(line, "%s", text)
}

// knownKeys lists the keys of the mappings of a file, by the library's names of
// them.
var knownKeys = keysOf(result.Experiment{}, result.Entry{}, result.Workload{}, result.Axis{})

func keysOf(mappings ...any) map[string][]string {
	keys := make(map[string][]string)
	for _, m := range mappings {
		t := reflect.TypeOf(m)
		for i := range t.NumField() {
			keys[t.String()] = append(keys[t.String()], t.Field(i).Tag.Get("yaml"))
		}
	}
	return keys
}

// Bounds of a file, against slips of the pen.
var largest = map[string]int{
	"nodes": maxNodes, "max_nodes": maxNodes, "nodes_per_worker": maxNodes, "repetitions": 10_000,
	"requests": maxRequests, "requests_per_node": maxRequests,
	// Zero means "the default" to a run, and would be the seed 1 again.
	"seed": math.MaxInt,
}

// Depth of a value in a set, the deepest that there is.
const maxDepth = 4

// values checks what the library lets pass: values that are empty or out of
// range, fractions of whole numbers, and durations, at which it would stop. The
// value n is that of key, or an element of its list; what names it in a fault,
// and where what lies below it.
func (d *document) values(where, what, key string, n *yaml.Node, depth int) {
	switch {
	case depth > maxDepth:
	case n.Kind == yaml.AliasNode && n.Alias.Kind == yaml.ScalarNode:
		d.values(where, what, key, n.Alias, depth) // under another key it must pass another check
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i].Value
			if key == "set" || key == "values" { // whose names are not keys
				name = key + " " + name
			}
			d.values(where, where+name, name, n.Content[i+1], depth+1)
		}
	case n.Kind == yaml.SequenceNode:
		if len(n.Content) == 0 {
			d.add(n.Line, "%s is empty; there must be at least one", what)
		}
		for i, item := range n.Content {
			entry := fmt.Sprintf("%s, entry %d", key, i+1)
			d.values(entry+": ", entry, key, item, depth+1)
		}
	case n.ShortTag() == "!!null":
		d.add(n.Line, "%s is empty", what)
	case key == "faults":
		if _, err := fault.Parse(n.Value); err != nil {
			d.add(n.Line, "%s: %v%s", what, err, quotes(n))
		}
	default:
		if want := wrong(key, n); want != "" {
			d.add(n.Line, "%s is %s; want %s", what, n.Value, want)
		}
	}
}

// quotes is advice about a fault that YAML may have cut at a comma.
func quotes(n *yaml.Node) string {
	if len(strings.Fields(n.Value)) == 3 || n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		return ""
	}
	return "; in a list between brackets a fault with a comma needs quotes"
}

// wrong says what the value of a key should be, "" where it is. Of numbers it
// leaves to the library what is none.
func wrong(key string, n *yaml.Node) string {
	number := n.ShortTag() == "!!int" || n.ShortTag() == "!!float"
	if most, counts := largest[key]; counts {
		var x uint64
		if err := n.Decode(&x); number && (n.ShortTag() != "!!int" || err != nil || x < 1 || x > uint64(most)) {
			return fmt.Sprintf("a whole number from 1 to %d", most)
		}
		return ""
	}
	switch key {
	case "rate", "total_rate":
		var x float64
		if err := n.Decode(&x); number && (err != nil || !(x > 0) || math.IsInf(x, 0)) {
			return "a number of requests per second above 0"
		}
	case "duration", "stall_after":
		if x, err := time.ParseDuration(n.Value); err != nil || x <= 0 {
			return "a duration above 0 such as 500ms or 10s"
		}
	case "warmup":
		if x, err := strconv.Atoi(n.Value); n.Value != result.DefaultWarmup && (err != nil || x < 0) {
			return "auto or a number of entries"
		}
	}
	return ""
}
