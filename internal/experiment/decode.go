package experiment

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"dmebench/result"

	"go.yaml.in/yaml/v3"
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
func (d *document) decode(text []byte, e *result.Experiment) (ok bool) {
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
