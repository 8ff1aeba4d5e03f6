package experiment

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"dmebench/runs"
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

// The lists of a file, as a combination indexes them.
const (
	ofAlgorithms = iota
	ofNodes
	ofTransports
	ofWorkloads
	lists
)

// combination is one choice from each list of a file, by index.
type combination [lists]int

// complaints groups combinations by what is wrong with them, so that a fault of
// one entry is told once and not for every combination that it is part of.
type complaints struct {
	texts []string // in the order of their first appearance
	at    map[string][]combination
	tried [lists]map[int]bool // entries that were combined at all
}

func (c *complaints) try(at combination) {
	for list, i := range at {
		if c.tried[list] == nil {
			c.tried[list] = make(map[int]bool)
		}
		c.tried[list][i] = true
	}
}

func (c *complaints) add(text string, at combination) {
	if c.at == nil {
		c.at = make(map[string][]combination)
	}
	if len(c.at[text]) == 0 {
		c.texts = append(c.texts, text)
	}
	c.at[text] = append(c.at[text], at)
}

// names returns what the entries of each list are called.
func (f File) names() (names [lists][]string) {
	for _, e := range f.Algorithms {
		names[ofAlgorithms] = append(names[ofAlgorithms], e.Label)
	}
	for _, n := range f.Nodes {
		names[ofNodes] = append(names[ofNodes], strconv.Itoa(n)+" nodes")
	}
	for _, e := range f.Transports {
		names[ofTransports] = append(names[ofTransports], e.Label)
	}
	for _, w := range f.Workloads {
		names[ofWorkloads] = append(names[ofWorkloads], w.Label)
	}
	return names
}

// report tells each complaint with the entries that it is particular to, on the
// line of the first of them; where no list narrows it down, on that of the entry
// whose name it begins with, or of the first algorithm.
func (c *complaints) report(f File, to *document) {
	keys := [lists]string{"algorithms", "nodes", "transports", "workloads"}
	names := f.names()
	for _, text := range c.texts {
		line := 0
		var who []string
		for list, all := range names {
			var concerned []int
			for _, at := range c.at[text] {
				if i := at[list]; !slices.Contains(concerned, i) {
					concerned = append(concerned, i)
				}
			}
			if len(concerned) == len(c.tried[list]) {
				continue // the list explains nothing
			}
			if line == 0 {
				line = to.line(keys[list], concerned[0])
			}
			for _, i := range concerned {
				who = append(who, all[i])
			}
		}
		for list, all := range names {
			i := slices.IndexFunc(all, func(name string) bool { return strings.HasPrefix(text, name) })
			if line == 0 && i >= 0 {
				line = to.line(keys[list], i)
			}
		}
		if line == 0 {
			line = to.line("algorithms", 0)
		}
		if len(who) > 0 {
			text = strings.Join(who, ", ") + ": " + text
		}
		to.add(line, "%s", text)
	}
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
