package experiment

import (
	"bytes"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"dmebench/result"

	"go.yaml.in/yaml/v3"
)

// decoder reads a YAML tree by hand. The library's own decoding into structs
// stops at the first fault of a value and knows no line for most of them.
type decoder struct{ faults }

// field is one key that a mapping may have, and what reads its value.
type field struct {
	key  string
	read func(*yaml.Node)
}

var syntaxLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// document returns the only document of text, or nil after a fault.
func (d *decoder) document(text []byte) *yaml.Node {
	in := yaml.NewDecoder(bytes.NewReader(text))
	var first, second yaml.Node
	err := in.Decode(&first)
	if err == nil {
		err = in.Decode(&second)
	}
	switch {
	case errors.Is(err, io.EOF) && len(first.Content) == 1:
		return first.Content[0]
	case errors.Is(err, io.EOF):
		d.add(1, "the file is empty; it must say at least schema_version, name, algorithms and nodes")
	case err == nil:
		d.add(second.Line, "a second document begins here; an experiment is one document, put the other into a file of its own")
	default:
		line, text := 1, err.Error()
		if m := syntaxLine.FindStringSubmatch(text); m != nil {
			line, _ = strconv.Atoi(m[1])
			text = m[2]
		}
		d.add(line, "not YAML: %s", text)
	}
	return nil
}

func resolveAlias(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// mapping reads the keys of n; what is unknown or comes twice is a fault.
func (d *decoder) mapping(n *yaml.Node, where string, fields []field) {
	if n = resolveAlias(n); n.Kind != yaml.MappingNode {
		d.add(n.Line, "%sis %s; want a mapping of keys to values", where, describe(n))
		return
	}
	seen := make(map[string]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if line, twice := seen[key.Value]; twice && key.Kind == yaml.ScalarNode {
			d.add(key.Line, "%skey %q comes twice; it is on line %d already", where, key.Value, line)
			continue
		}
		seen[key.Value] = key.Line
		if f := lookup(fields, key); f != nil {
			f.read(value)
			continue
		}
		var known []string
		for _, f := range fields {
			known = append(known, f.key)
		}
		d.add(key.Line, "%sunknown key %s; known here: %s", where, describe(key), strings.Join(known, ", "))
	}
}

func lookup(fields []field, key *yaml.Node) *field {
	if key.Kind != yaml.ScalarNode {
		return nil
	}
	for i := range fields {
		if fields[i].key == key.Value {
			return &fields[i]
		}
	}
	return nil
}

// list reads every item of a sequence that must not be empty.
func (d *decoder) list(n *yaml.Node, key string, item func(i int, n *yaml.Node)) {
	if n = resolveAlias(n); n.Kind != yaml.SequenceNode {
		d.add(n.Line, "%s is %s; want a list such as [a, b]", key, describe(n))
		return
	}
	if len(n.Content) == 0 {
		d.add(n.Line, "%s is empty; there must be at least one", key)
	}
	for i, c := range n.Content {
		item(i, resolveAlias(c))
	}
}

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	if n.ShortTag() == "!!null" {
		return "empty"
	}
	return strconv.Quote(n.Value)
}

// scalar returns n's text if n is a single value of one of the tags; any value
// but null where no tag is given.
func (d *decoder) scalar(n *yaml.Node, what, want string, tags ...string) (string, bool) {
	n = resolveAlias(n)
	ok := n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null"
	if ok && len(tags) > 0 {
		ok = false
		for _, t := range tags {
			ok = ok || n.ShortTag() == t
		}
	}
	if !ok {
		d.add(n.Line, "%s is %s; want %s", what, describe(n), want)
	}
	return n.Value, ok
}

func (d *decoder) text(what, want string, to *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if s, ok := d.scalar(n, what, want); ok {
			*to = s
		}
	}
}

func (d *decoder) warmup(to *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		const want = "auto or a number of entries"
		s, ok := d.scalar(n, "warmup", want)
		if x, err := strconv.Atoi(s); ok && s != result.DefaultWarmup && (err != nil || x < 0) {
			d.add(n.Line, "warmup is %q; want %s", s, want)
		}
		*to = s
	}
}

func (d *decoder) boolean(what string, to *bool) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if s, ok := d.scalar(n, what, "true or false", "!!bool"); ok {
			*to = strings.EqualFold(s, "true")
		}
	}
}

// count reads a whole number from 1 to limit.
func (d *decoder) count(what string, limit int, to *int) func(*yaml.Node) {
	return func(n *yaml.Node) {
		want := "a whole number from 1 to " + strconv.Itoa(limit)
		if s, ok := d.scalar(n, what, want, "!!int"); ok {
			x, err := strconv.Atoi(s)
			if err != nil || x < 1 || x > limit {
				d.add(n.Line, "%s is %s; want %s", what, s, want)
				return
			}
			*to = x
		}
	}
}

func (d *decoder) seed(what string, to *uint64) func(*yaml.Node) {
	return func(n *yaml.Node) {
		// Zero means "the default" to a run, and would be the seed 1 again.
		const limit = math.MaxInt64
		want := "a whole number from 1 to " + strconv.FormatUint(limit, 10)
		if s, ok := d.scalar(n, what, want, "!!int"); ok {
			x, err := strconv.ParseUint(s, 10, 64)
			if err != nil || x < 1 || x > limit {
				d.add(n.Line, "%s is %s; want %s", what, s, want)
				return
			}
			*to = x
		}
	}
}

func (d *decoder) rate(what string, to *float64) func(*yaml.Node) {
	return func(n *yaml.Node) {
		const want = "a number of requests per second above 0"
		if s, ok := d.scalar(n, what, want, "!!int", "!!float"); ok {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil || !(x > 0) || math.IsInf(x, 0) {
				d.add(n.Line, "%s is %s; want %s", what, s, want)
				return
			}
			*to = x
		}
	}
}

func (d *decoder) duration(what string, to *result.Duration) func(*yaml.Node) {
	return func(n *yaml.Node) {
		const want = "a duration above 0 such as 500ms or 10s"
		if s, ok := d.scalar(n, what, want); ok {
			x, err := time.ParseDuration(s)
			if err != nil || x <= 0 {
				d.add(n.Line, "%s is %q; want %s", what, s, want)
				return
			}
			*to = result.Duration(x)
		}
	}
}

// settings reads a mapping of option names to values, which stay text: what
// they mean is for the option to say.
func (d *decoder) settings(where string, to *map[string]string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n = resolveAlias(n); n.Kind != yaml.MappingNode {
			d.add(n.Line, "%sset is %s; want a mapping such as {quorum: grid}", where, describe(n))
			return
		}
		*to = make(map[string]string)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			name, ok := d.scalar(key, where+"an option's name", "a word")
			if !ok {
				continue
			}
			if _, twice := (*to)[name]; twice {
				d.add(key.Line, "%soption %q is set twice", where, name)
				continue
			}
			value, ok := d.scalar(n.Content[i+1], where+"option "+name, "one value")
			if ok {
				(*to)[name] = value
			}
		}
	}
}
