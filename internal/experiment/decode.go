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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"dmebench/runs"
	"dmebench/units"
	"dmebench/workload/fault"
)

// document is an experiment file as YAML: where its values stand, and which of
// them are wrong.
type document struct {
	flaws
	root     *yaml.Node // nil for an experiment that was not read from YAML
	wrong    map[*yaml.Node]bool
	doubtful map[place]bool
}

// place is an entry of a list of the file.
type place struct {
	list string
	i    int
}

// doubt notes that something is wrong with an entry, so that nothing is concluded
// from what it says.
func (d *document) doubt(list string, i int) {
	if d.doubtful == nil {
		d.doubtful = make(map[place]bool)
	}
	d.doubtful[place{list, i}] = true
}

// decode reads the text into e, which holds the defaults. Faults in single values do
// not keep the others from being read: ok is false where nothing can be.
func (d *document) decode(text []byte, e *runs.Experiment) (ok bool) {
	if !d.read(text) || !d.version() {
		return false
	}
	d.wrong = make(map[*yaml.Node]bool)
	d.values("", "", "", d.root, 0)
	rest := d.withoutWrong("", d.root)
	err := rest.Decode(e)
	if wrong := (*yaml.TypeError)(nil); errors.As(err, &wrong) {
		for _, text := range wrong.Errors {
			d.addFromYAML(text)
		}
	} else if err != nil && len(d.list) == 0 {
		d.addFromYAML(err.Error())
	}
	if len(d.list) > 0 {
		d.entries(rest, e)
	}
	return true
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
	yamlLine  = regexp.MustCompile(`(?s)^(?:yaml: )?(?:line (\d+): )?(.*)$`)
	otherType = regexp.MustCompile("^cannot unmarshal !!(\\w+) (?:`.*` )?into (.*)$")
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
	if other := otherType.FindStringSubmatchIndex(text); other != nil {
		want := cmp.Or(wanted[text[other[4]:other[5]]], "a list of entries, each a name or {name: …}")
		text = strings.TrimSuffix(text[:other[4]], " into ") + "; want " + want
	}
	d.add(line, "%s", text)
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

// flaws collects everything that is wrong with a file, so that a person
// repairs it in one go.
type flaws struct {
	path string
	list []flaw
}

type flaw struct {
	line int
	text string
}

func (f *flaws) add(line int, format string, args ...any) {
	f.list = append(f.list, flaw{max(line, 1), fmt.Sprintf(format, args...)})
}

// err tells the flaws in the order of their lines.
func (f *flaws) err() error {
	slices.SortStableFunc(f.list, func(a, b flaw) int { return a.line - b.line })
	var lines []string
	if f.path == CommandLine && len(f.list) > 0 { // nobody has seen its lines
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

// cause strips a file operation's error of the path, which is often that of a
// temporary file.
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

// knownKeys lists the keys of the mappings of a file, by the key of the list that
// they are entries of; "" is the file itself. Elsewhere any key may stand.
var knownKeys = map[string][]string{
	"": keysOf(runs.Experiment{}), "algorithms": keysOf(runs.Entry{}), "transports": keysOf(runs.Entry{}),
	"workloads": keysOf(runs.Workload{}), "axes": keysOf(runs.Axis{}), "figures": keysOf(runs.Figure{}),
}

func keysOf(mapping any) (keys []string) {
	for t, i := reflect.TypeOf(mapping), 0; i < t.NumField(); i++ {
		keys = append(keys, t.Field(i).Tag.Get("yaml"))
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

// values checks keys, and what the library lets pass: values that are empty or out
// of range, fractions of whole numbers, and durations, at which it would stop. The
// value n is that of key, or an element of its list; what names it in a fault,
// and where what lies below it.
func (d *document) values(where, what, key string, n *yaml.Node, depth int) {
	before := len(d.list)
	switch {
	case depth > maxDepth:
	case n.Kind == yaml.AliasNode && n.Alias.Kind == yaml.ScalarNode:
		// Under another key it must pass another check.
		d.values(where, what, key, n.Alias, depth)
		if len(d.list) > before {
			d.wrong[n] = true
		}
	case n.Kind == yaml.MappingNode:
		d.mapping(where, key, n, depth)
	case n.Kind == yaml.SequenceNode:
		if len(n.Content) == 0 {
			d.refuseValue(n, "%s is empty; there must be at least one", what)
		}
		for i, item := range n.Content {
			entry := fmt.Sprintf("%s, entry %d", key, i+1)
			before := len(d.list)
			d.values(entry+": ", entry, key, item, depth+1)
			if len(d.list) > before && depth == 1 {
				d.doubt(key, i)
			}
		}
	case n.ShortTag() == "!!null":
		d.refuseValue(n, "%s is empty", what)
	case depth == 1 && (knownKeys[key] != nil || key == "nodes"):
		d.refuseValue(n, "%s is %s, and no list; write %s: [%s]", what, n.Value, key, n.Value)
	case key == "faults":
		if _, err := fault.Parse(n.Value); err != nil {
			d.refuseValue(n, "%s: %v%s", what, err, quotes(n))
		}
	default:
		if want := wrong(key, n); want != "" {
			d.refuseValue(n, "%s is %s; want %s", what, n.Value, want)
		}
	}
}

// refuseValue adds a fault of a value, which is not read then.
func (d *document) refuseValue(n *yaml.Node, format string, args ...any) {
	d.wrong[n] = true
	d.add(n.Line, format, args...)
}

// mapping checks the keys of a mapping, and its values.
func (d *document) mapping(where, key string, n *yaml.Node, depth int) {
	known, strict := knownKeys[key]
	if free := key == "set" || key == "values"; free || strings.Contains(key, " ") {
		strict = false // whose names are not keys
	}
	first := make(map[string]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, name := n.Content[i], n.Content[i].Value
		line, twice := first[name]
		switch {
		case k.Kind != yaml.ScalarNode:
			d.refuseValue(k, "cannot unmarshal %s; want text", k.ShortTag())
		case k.ShortTag() == "!!null":
			d.refuseValue(k, "%sa key is empty", where)
		case twice:
			d.refuseValue(k, "mapping key %q already defined at line %d", name, line)
		case strict && name != "<<" && !slices.Contains(known, name):
			d.refuseValue(k, "%v", units.UnknownName("key", name, known, "known here: "+strings.Join(known, ", ")))
		default:
			first[name] = k.Line
			below := name
			if key == "set" || key == "values" {
				below = key + " " + name
			}
			d.values(where, where+below, below, n.Content[i+1], depth+1)
		}
	}
}

// withoutWrong returns a value without what is wrong in it, so that the rest can be
// read: keys are left out, and elements of a list empty, so that the others keep
// their numbers.
func (d *document) withoutWrong(key string, n *yaml.Node) *yaml.Node {
	rest := *n
	rest.Content = nil
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, value := n.Content[i], n.Content[i+1]
			if !d.wrong[k] && !d.wrong[value] && !(k.Value == "faults" && slices.ContainsFunc(value.Content, d.isWrong)) {
				rest.Content = append(rest.Content, k, d.withoutWrong(k.Value, value))
			}
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if d.wrong[item] {
				item = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: item.Line, Column: item.Column}
			}
			rest.Content = append(rest.Content, d.withoutWrong(key, item))
		}
	default:
		rest.Content = n.Content
	}
	return &rest
}

func (d *document) isWrong(n *yaml.Node) bool { return d.wrong[n] }

// entries reads the lists again, each entry by itself: the library leaves out an entry
// with a value of another type, and those after it would be taken for it.
func (d *document) entries(rest *yaml.Node, e *runs.Experiment) {
	for key, list := range map[string]*runs.List[runs.Entry]{"algorithms": &e.Algorithms, "transports": &e.Transports} {
		*list = nil
		d.each(rest, key, func(n *yaml.Node) error {
			var x runs.Entry
			err := entry(n, &x, &x.Name)
			*list = append(*list, x)
			return err
		})
	}
	e.Workloads, e.Figures, e.Nodes = nil, nil, nil
	d.each(rest, "workloads", func(n *yaml.Node) error {
		var x runs.Workload
		err := entry(n, &x, &x.Name)
		e.Workloads = append(e.Workloads, x)
		return err
	})
	d.each(rest, "figures", func(n *yaml.Node) error {
		var x runs.Figure
		err := entry(n, &x, &x.Show)
		e.Figures = append(e.Figures, x)
		return err
	})
	d.each(rest, "nodes", func(n *yaml.Node) error {
		var x int
		err := n.Decode(&x)
		e.Nodes = append(e.Nodes, x)
		return err
	})
}

// entry decodes an entry, or its name alone.
func entry(n *yaml.Node, x any, name *string) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(name)
	}
	return n.Decode(x)
}

// each calls read for each entry of a list. One that cannot be read is in doubt.
func (d *document) each(rest *yaml.Node, key string, read func(*yaml.Node) error) {
	list := at(rest, key)
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	for i, n := range list.Content {
		if read(n) != nil {
			d.doubt(key, i)
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
		if x, err := strconv.Atoi(n.Value); n.Value != runs.DefaultWarmup && (err != nil || x < 0) {
			return "auto or a number of entries"
		}
	}
	return ""
}
