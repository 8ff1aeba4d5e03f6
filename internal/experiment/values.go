package experiment

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"dmebench/internal/platform/suggest"
	"dmebench/runs"
	"dmebench/workload/fault"

	"go.yaml.in/yaml/v3"
)

// knownKeys lists the keys of the mappings of a file, by the key of the list that
// they are entries of; "" is the file itself. Elsewhere any key may stand.
var knownKeys = map[string][]string{
	"": keysOf(runs.Experiment{}), "algorithms": keysOf(runs.Entry{}), "transports": keysOf(runs.Entry{}),
	"workloads": keysOf(runs.Workload{}), "axes": keysOf(runs.Axis{}),
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
			d.refuseValue(k, "%v", suggest.Unknown("key", name, known, "known here: "+strings.Join(known, ", ")))
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
	e.Workloads, e.Nodes = nil, nil
	d.each(rest, "workloads", func(n *yaml.Node) error {
		var x runs.Workload
		err := entry(n, &x, &x.Name)
		e.Workloads = append(e.Workloads, x)
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
