package experiment

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"dmebench/internal/platform"
	"dmebench/runs"
	"dmebench/units"
	"dmebench/workload/fault"
)

// document is an experiment file as YAML: where values stand, and what is wrong.
type document struct {
	flaws
	root     *yaml.Node // nil for an experiment that was not read from YAML
	doubtful map[place]bool
}

type place struct {
	list string
	i    int
}

// doubt notes that nothing can be concluded from an entry.
func (d *document) doubt(list string, i int) {
	if d.doubtful == nil {
		d.doubtful = make(map[place]bool)
	}
	d.doubtful[place{list, i}] = true
}

// decode reads the text into e, which holds the defaults. Faults in single values do not keep the
// others from being read: ok is false if nothing can be.
func (d *document) decode(text []byte, e *runs.Experiment) (ok bool) {
	if !d.parse(text) || !d.version() {
		return false
	}
	d.value("", "", "", d.root, reflect.ValueOf(e).Elem(), 0)
	ofType := slices.DeleteFunc(slices.Clone(d.list), func(f flaw) bool { return !f.ofType })
	d.list = append(slices.DeleteFunc(d.list, func(f flaw) bool { return f.ofType }), ofType...)
	return true
}

func (d *document) parse(text []byte) bool {
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
		d.add(d.root.Line, "the file is not a mapping of keys to values")
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

// at returns the value at a path of keys and indices; nil if there is none.
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
	yamlLine  = platform.Pattern(`(?s)^(?:yaml: )?(?:line (\d+): )?(.*)$`)
	otherType = platform.Pattern("^cannot unmarshal !!(\\w+) (?:`.*` )?into (.*)$")
)

// wanted says in words what the library names by Go's types.
var wanted = map[string]string{
	"string": "text", "bool": "true or false", "int": "a whole number", "uint64": "a whole number", "float64": "a number",
	"[]string":          "a list such as [kill holder @entry:100, restart holder @+500ms]",
	"map[string]string": "a mapping such as {quorum: grid}", "map[string]float64": `a mapping such as {"radiating:3": 3}`,
}

func atLine(text string) (line int, what string) {
	m := yamlLine().FindStringSubmatch(text)
	line, _ = strconv.Atoi(m[1])
	return line, m[2]
}

// decodeInto reads a value as the library does, and adds a fault if it is of another type.
func (d *document) decodeInto(v reflect.Value, n *yaml.Node) {
	x := reflect.New(v.Type())
	err := n.Decode(x.Interface())
	if err == nil {
		v.Set(x.Elem())
		return
	}
	text := err.Error()
	if wrong := (*yaml.TypeError)(nil); errors.As(err, &wrong) {
		text = wrong.Errors[0]
	}
	_, text = atLine(text)
	if other := otherType().FindStringSubmatchIndex(text); other != nil {
		want := cmp.Or(wanted[text[other[4]:other[5]]], "a list of entries, each a name or {name: …}")
		text = strings.TrimSuffix(text[:other[4]], " into ") + "; want " + want
	}
	d.list = append(d.list, flaw{n.Line, true, text})
}

// Cause says what a sweep was refused for.
type Cause int

const (
	BadFlags    Cause = iota // the flags that describe the experiment are wrong
	BadFile                  // a file is wrong
	NoFile                   // a file cannot be read
	Unavailable              // the environment lacks something
	CannotWrite              // a result cannot be written
)

// Refused is the error of an experiment that is refused, or whose results cannot be kept.
type Refused struct {
	Cause Cause
	Err   error
}

func (r *Refused) Error() string { return r.Err.Error() }

// Unwrap returns the fault itself.
func (r *Refused) Unwrap() error { return r.Err }

func refuse(cause Cause, format string, args ...any) error {
	return &Refused{cause, fmt.Errorf("experiment: "+format, args...)}
}

// flaws collects everything that is wrong with a file.
type flaws struct {
	path string
	list []flaw
}

type flaw struct {
	line   int
	ofType bool // the library's, which is reported after others of its line
	text   string
}

func (f *flaws) add(line int, format string, args ...any) {
	f.list = append(f.list, flaw{max(line, 1), false, fmt.Sprintf(format, args...)})
}

// err tells the flaws in the order of their lines.
func (f *flaws) err() error {
	slices.SortStableFunc(f.list, func(a, b flaw) int { return a.line - b.line })
	var lines []string
	if f.path == CommandLine && len(f.list) > 0 { // the user has not seen its lines
		for _, x := range f.list {
			lines = append(lines, x.text)
		}
		return &Refused{BadFlags, errors.New(strings.Join(lines, "\n"))}
	}
	for _, x := range f.list {
		lines = append(lines, fmt.Sprintf("%s:%d: %s", f.path, x.line, x.text))
	}
	switch len(lines) {
	case 0:
		return nil
	case 1:
		return refuse(BadFile, "%s", lines[0])
	}
	return refuse(BadFile, "%s has %d faults:\n  %s", f.path, len(lines), strings.Join(lines, "\n  "))
}

// cause strips an error of the path, which is often that of a temporary file.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// Bounds of a file, against slips of the pen.
var largest = map[string]int{
	"nodes": maxNodes, "max_nodes": maxNodes, "nodes_per_worker": maxNodes, "repetitions": 10_000,
	"requests": maxRequests, "requests_per_node": maxRequests,
	// Zero means "the default" to a run, and would be the seed 1 again.
	"seed": math.MaxInt,
}

// value reads n, the value of key or an element of its list, into v, and adds what is
// wrong with it: then v stays as it is, so that the rest can be read. Values that the library lets
// pass can be wrong, too: empty, out of range, or fractions of whole
// numbers. what names the value in a fault, and where what lies below it.
func (d *document) value(where, what, key string, n *yaml.Node, v reflect.Value, depth int) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	entry := v.Kind() == reflect.Struct
	switch {
	case n.Kind == yaml.MappingNode && (entry || v.Kind() == reflect.Map):
		d.mapping(where, key, n, v, depth)
	case n.Kind == yaml.SequenceNode && v.Kind() == reflect.Slice:
		d.sequence(what, key, n, v, depth)
	case n.Kind != yaml.ScalarNode:
		d.decodeInto(v, n)
	case n.ShortTag() == "!!null":
		d.add(n.Line, "%s is empty", what)
	case v.Kind() == reflect.Slice && key != "faults":
		d.add(n.Line, "%s is %s, and no list; write %s: [%s]", what, n.Value, key, n.Value)
	case key == "faults":
		if _, err := fault.Parse(n.Value); err != nil {
			d.add(n.Line, "%s: %v%s", what, err, quotes(n))
			return
		}
		d.decodeInto(v, n)
	case entry && v.Type() != reflect.TypeFor[runs.Axis](): // a name alone, the first field
		d.decodeInto(v.Field(0), n)
	default:
		if want := wrong(key, n); want != "" {
			d.add(n.Line, "%s is %s; want %s", what, n.Value, want)
			return
		}
		d.decodeInto(v, n)
	}
}

// sequence reads a list. An element in which something is wrong keeps its place.
func (d *document) sequence(what, key string, n *yaml.Node, v reflect.Value, depth int) {
	if len(n.Content) == 0 {
		d.add(n.Line, "%s is empty; there must be at least one", what)
		return
	}
	list := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	before := len(d.list)
	for i, item := range n.Content {
		entry, found := fmt.Sprintf("%s, entry %d", key, i+1), len(d.list)
		d.value(entry+": ", entry, key, item, list.Index(i), depth+1)
		if len(d.list) > found && depth == 1 {
			d.doubt(key, i)
		}
	}
	if key != "faults" || len(d.list) == before {
		v.Set(list)
	}
}

// maxDepth is how deep mappings are merged into one another.
const maxDepth = 8

func (d *document) mapping(where, key string, n *yaml.Node, v reflect.Value, depth int) {
	for i := 0; i+1 < len(n.Content) && depth < maxDepth; i += 2 {
		merged := []*yaml.Node{n.Content[i+1]}
		if merged[0].Kind == yaml.SequenceNode {
			merged = merged[0].Content
		}
		for _, m := range slices.Backward(merged) {
			if n.Content[i].ShortTag() == "!!merge" { // what stands here itself counts more
				d.value(where, where+"<<", key, m, v, depth+1)
			}
		}
	}
	fields := fieldsOf(v)
	first := make(map[string]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, name, value := n.Content[i], n.Content[i].Value, n.Content[i+1]
		line, twice := first[name]
		field, known := fields[name]
		switch {
		case k.Kind != yaml.ScalarNode:
			d.add(k.Line, "cannot unmarshal %s; want text", k.ShortTag())
		case k.ShortTag() == "!!null":
			d.add(k.Line, "%sa key is empty", where)
		case twice:
			d.add(k.Line, "mapping key %q already defined at line %d", name, line)
		case k.ShortTag() == "!!merge":
		case fields == nil: // a map's names are not keys
			first[name] = k.Line
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			element, found := reflect.New(v.Type().Elem()).Elem(), len(d.list)
			d.value(where, where+key+" "+name, key+" "+name, value, element, depth+1)
			if len(d.list) == found {
				v.SetMapIndex(reflect.ValueOf(name), element)
			}
		case !known:
			names := keysOf(v.Type())
			d.add(k.Line, "%v", units.UnknownName("key", name, names, "known here: "+strings.Join(names, ", ")))
		default:
			first[name] = k.Line
			d.value(where, where+name, name, value, field, depth+1)
		}
	}
}

// fieldsOf returns the fields of a struct by their keys; nil of a map.
func fieldsOf(v reflect.Value) map[string]reflect.Value {
	if v.Kind() != reflect.Struct {
		return nil
	}
	fields := make(map[string]reflect.Value)
	for i, key := range keysOf(v.Type()) {
		fields[key] = v.Field(i)
	}
	return fields
}

func keysOf(t reflect.Type) (keys []string) {
	for f := range t.Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		keys = append(keys, key)
	}
	return keys
}

// quotes is advice about a fault that YAML may have cut at a comma.
func quotes(n *yaml.Node) string {
	if len(strings.Fields(n.Value)) == 3 || n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		return ""
	}
	return "; in a list between brackets a fault with a comma needs quotes"
}

// wrong says what the value of a key should be, "" if it is. Words in place of numbers are left to
// the library.
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
		if x, err := strconv.Atoi(n.Value); n.Value != runs.DefaultWarmup && (err != nil || x < 0) {
			return "auto or a number of entries"
		}
	}
	return ""
}
