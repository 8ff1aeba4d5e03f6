package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"dmebench/internal/exit"
	"dmebench/result"

	"go.yaml.in/yaml/v3"
)

// SchemaVersion is the version of the experiment file's format.
const SchemaVersion = 1

// Defaults of a file.
const (
	DefaultRepetitions = 10
	DefaultSeed        = result.DefaultSeed
)

// Bounds of a file, against slips of the pen.
const (
	maxNodes       = 1 << 20
	maxRepetitions = 10_000
	maxRequests    = 1 << 30
	maxRuns        = 100_000
	maxLabel       = 64 // characters
)

// File is an experiment file. It says what is to be compared; it knows nothing
// yet of whether the names in it exist.
type File struct {
	Path string // as given
	Text []byte // as read: equal text is what lets a sweep continue

	Name        string // of the folder of its results
	Description string
	Algorithms  []Entry
	Nodes       []int
	Transports  []Entry
	Workloads   []Workload
	Repetitions int
	Seed        uint64 // of the first repetition

	NodesPerWorker int
	Warmup         string
	StallAfter     result.Duration
	AllowMismatch  bool // run algorithms over transports that lack what they need
	SkipInvalid    bool // leave out what cannot run instead of refusing the file

	lines map[string]int // of top-level keys
	sizes []int          // line of each element of Nodes
}

// Entry is an algorithm or a transport with its settings.
type Entry struct {
	Name     string
	Label    string // unique among its kind
	Set      map[string]string
	MaxNodes int // leave out larger systems; 0 for no limit
	Line     int
}

// Workload is a workload with its settings.
type Workload struct {
	Entry
	CS              string
	Rate, TotalRate float64 // requests per second, of a node or of the system; 0 where not given
	Requests        int     // 0 where not given
	RequestsPerNode int     // 0 where not given
	Duration        result.Duration
}

// Load reads an experiment file.
func Load(path string) (File, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, refuse(exit.NoInput, "there is no file %s; name an experiment with --file, such as experiments/quickstart.yaml", path)
	}
	if err != nil {
		return File{}, refuse(exit.NoInput, "cannot read %s: %w", path, cause(err))
	}
	return Parse(path, text)
}

// Parse reads an experiment file's text strictly and reports all its faults,
// each with path and line.
func Parse(path string, text []byte) (File, error) {
	d := &decoder{faults{path: path}}
	f := File{
		Path: path, Text: text, Repetitions: DefaultRepetitions, Seed: DefaultSeed,
		lines: make(map[string]int),
	}
	root := d.document(text)
	if root == nil {
		return File{}, d.err()
	}
	if !d.version(root) {
		return File{}, d.err()
	}
	d.file(root, &f)
	f.complete(d)
	if err := d.err(); err != nil {
		return File{}, err
	}
	return f, nil
}

// version checks schema_version alone: a file of another version may look like
// anything else, and faults found in it would mislead.
func (d *decoder) version(root *yaml.Node) bool {
	if root.Kind != yaml.MappingNode {
		d.add(root.Line, "the file is %s; want a mapping of keys to values", describe(root))
		return false
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != "schema_version" {
			continue
		}
		v := resolveAlias(root.Content[i+1])
		if v.Value != strconv.Itoa(SchemaVersion) {
			d.add(v.Line, "schema_version is %s; this program reads version %d", describe(v), SchemaVersion)
			return false
		}
		return true
	}
	d.add(root.Line, "schema_version is missing; write schema_version: %d", SchemaVersion)
	return false
}

func (d *decoder) file(root *yaml.Node, f *File) {
	fields := []field{
		{"schema_version", func(*yaml.Node) {}},
		{"name", d.text("name", "a word", &f.Name)},
		{"description", d.text("description", "text", &f.Description)},
		{"algorithms", func(n *yaml.Node) {
			d.list(n, "algorithms", func(i int, n *yaml.Node) {
				f.Algorithms = append(f.Algorithms, d.entry(n, where("algorithms", i)))
			})
		}},
		{"nodes", func(n *yaml.Node) {
			d.list(n, "nodes", func(i int, n *yaml.Node) {
				var size int
				d.count("nodes, entry "+strconv.Itoa(i+1), maxNodes, &size)(n)
				if size > 0 && slices.Contains(f.Nodes, size) {
					d.add(n.Line, "nodes: %d comes twice", size)
				}
				f.Nodes, f.sizes = append(f.Nodes, size), append(f.sizes, n.Line)
			})
		}},
		{"transports", func(n *yaml.Node) {
			d.list(n, "transports", func(i int, n *yaml.Node) {
				f.Transports = append(f.Transports, d.entry(n, where("transports", i)))
			})
		}},
		{"workloads", func(n *yaml.Node) {
			d.list(n, "workloads", func(i int, n *yaml.Node) {
				f.Workloads = append(f.Workloads, d.workload(n, where("workloads", i)))
			})
		}},
		{"repetitions", d.count("repetitions", maxRepetitions, &f.Repetitions)},
		{"seed", d.seed("seed", &f.Seed)},
		{"nodes_per_worker", d.count("nodes_per_worker", maxNodes, &f.NodesPerWorker)},
		{"warmup", d.warmup(&f.Warmup)},
		{"stall_after", d.duration("stall_after", &f.StallAfter)},
		{"allow_mismatch", d.boolean("allow_mismatch", &f.AllowMismatch)},
		{"skip_invalid", d.boolean("skip_invalid", &f.SkipInvalid)},
	}
	for i, line := range fields {
		fields[i].read = func(n *yaml.Node) {
			f.lines[line.key] = n.Line
			line.read(n)
		}
	}
	d.mapping(root, "", fields)
}

func where(list string, i int) string { return fmt.Sprintf("%s, entry %d: ", list, i+1) }

// entry reads NAME or {name: NAME, set: …, label: …, max_nodes: …}.
func (d *decoder) entry(n *yaml.Node, where string) Entry {
	e := Entry{Line: n.Line}
	if n.Kind == yaml.MappingNode {
		d.mapping(n, where, []field{
			d.name(where, &e), {"set", d.settings(where, &e.Set)}, d.label(where, &e),
			{"max_nodes", d.count(where+"max_nodes", maxNodes, &e.MaxNodes)},
		})
	} else {
		d.text(where+"a name", "a name, or {name: …, set: {…}, label: …}", &e.Name)(n)
	}
	d.named(n, where, e)
	return e
}

// workload reads NAME or {name: NAME, cs: …, …}.
func (d *decoder) workload(n *yaml.Node, where string) Workload {
	w := Workload{Entry: Entry{Line: n.Line}}
	if n.Kind == yaml.MappingNode {
		d.mapping(n, where, []field{
			d.name(where, &w.Entry), d.label(where, &w.Entry),
			{"cs", d.text(where+"cs", "a duration such as 100us or exp:100us", &w.CS)},
			{"rate", d.rate(where+"rate", &w.Rate)},
			{"total_rate", d.rate(where+"total_rate", &w.TotalRate)},
			{"requests", d.count(where+"requests", maxRequests, &w.Requests)},
			{"requests_per_node", d.count(where+"requests_per_node", maxRequests, &w.RequestsPerNode)},
			{"duration", d.duration(where+"duration", &w.Duration)},
			{"set", d.settings(where, &w.Set)},
		})
	} else {
		d.text(where+"a name", "a name, or {name: …, cs: …, requests: …}", &w.Name)(n)
	}
	d.named(n, where, w.Entry)
	if w.Requests > 0 && w.RequestsPerNode > 0 {
		d.add(n.Line, "%sgive requests or requests_per_node, not both", where)
	}
	return w
}

func (d *decoder) name(where string, e *Entry) field {
	return field{"name", d.text(where+"name", "a name", &e.Name)}
}

func (d *decoder) label(where string, e *Entry) field {
	return field{"label", d.text(where+"label", "text", &e.Label)}
}

func (d *decoder) named(n *yaml.Node, where string, e Entry) {
	if e.Name == "" && n.Kind == yaml.MappingNode {
		d.add(n.Line, "%sname is missing", where)
	}
	if len([]rune(e.Label)) > maxLabel || strings.ContainsFunc(e.Label, unicode.IsControl) {
		d.add(n.Line, "%slabel %q: want at most %d characters on one line", where, e.Label, maxLabel)
	}
}

// folder is what a name must look like, because it becomes one.
var folder = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// complete adds defaults and labels, and checks what spans several keys.
func (f *File) complete(d *decoder) {
	for _, key := range []string{"name", "algorithms", "nodes"} {
		if f.lines[key] == 0 {
			d.add(1, "%s is missing", key)
		}
	}
	if f.Name != "" && !folder.MatchString(f.Name) {
		d.add(f.lines["name"], "name %q becomes a folder: want letters, digits, «.», «_» and «-», at most 64, the first a letter or digit", f.Name)
	}
	if f.lines["transports"] == 0 {
		f.Transports = []Entry{{Name: result.DefaultTransport}}
	}
	if f.lines["workloads"] == 0 {
		f.Workloads = []Workload{{Entry: Entry{Name: result.DefaultWorkload}}}
	}
	runs := f.Repetitions
	for _, n := range []int{len(f.Algorithms), len(f.Nodes), len(f.Transports), len(f.Workloads)} {
		runs = min(runs*max(n, 1), maxRuns+1)
	}
	if runs > maxRuns {
		d.add(f.lines["repetitions"], "more than %d runs; divide the experiment among several files", maxRuns)
	}

	f.label(d, "algorithms", pointers(f.Algorithms))
	f.label(d, "transports", pointers(f.Transports))
	entries := make([]*Entry, len(f.Workloads))
	for i := range f.Workloads {
		entries[i] = &f.Workloads[i].Entry
	}
	f.label(d, "workloads", entries)
}

func pointers(entries []Entry) []*Entry {
	p := make([]*Entry, len(entries))
	for i := range entries {
		p[i] = &entries[i]
	}
	return p
}

// label names every entry of a list. An entry without a label is called by its
// name; where several share one, by its name and its settings.
func (f *File) label(d *decoder, list string, entries []*Entry) {
	bare := make(map[string]int)
	for _, e := range entries {
		if e.Label == "" {
			bare[e.Name]++
		}
	}
	taken := make(map[string]int)
	for i, e := range entries {
		if e.Label == "" {
			e.Label = e.Name
			if bare[e.Name] > 1 {
				given := settingsOf(e.Set)
				if list == "workloads" {
					given = f.Workloads[i].settings()
				}
				e.Label = strings.Join(append([]string{e.Name}, given...), " ")
			}
		}
		if e.Name == "" {
			continue // a fault already
		}
		if first, ok := taken[e.Label]; ok {
			d.add(e.Line, "%sthe label %q is that of entry %d already; give one of them a label: of its own", where(list, i), e.Label, first+1)
			continue
		}
		taken[e.Label] = i
	}
}

func settingsOf(set map[string]string) []string {
	var s []string
	for _, name := range slices.Sorted(maps.Keys(set)) {
		s = append(s, name+"="+set[name])
	}
	return s
}

// settings lists what the file says of the workload, as key=value.
func (w Workload) settings() []string {
	var s []string
	add := func(given bool, key string, value any) {
		if given {
			s = append(s, fmt.Sprintf("%s=%v", key, value))
		}
	}
	add(w.CS != "", "cs", w.CS)
	add(w.Rate > 0, "rate", w.Rate)
	add(w.TotalRate > 0, "total_rate", w.TotalRate)
	add(w.Requests > 0, "requests", w.Requests)
	add(w.RequestsPerNode > 0, "requests_per_node", w.RequestsPerNode)
	add(w.Duration > 0, "duration", w.Duration)
	return append(s, settingsOf(w.Set)...)
}
