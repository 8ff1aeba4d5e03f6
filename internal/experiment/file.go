// Package experiment turns an experiment file into runs and keeps their results.
//
// A [File] is the strict reading of a YAML file: what is to be compared, on how many nodes, over
// which transports, under which workloads, how often. [File.Expand] makes a [Plan] of it: one
// [Cell] for each run, every one of them resolved, so that what can be checked beforehand does not
// fail after an hour. [Sweep] carries the plan out with a [Runner] that it is handed, into a
// [runs.Store].
//
// Guarantees: a result is on disk, whole, before the next run starts; a sweep that was interrupted,
// at any byte, continues where it stopped and repeats only what is missing or failed; two sweeps
// never write to one folder; results of different files, or of one file whose meaning has changed,
// never mix.
//
// The package does not know how a run is carried out, judges no result and draws no picture.
package experiment

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"dmebench/internal/platform"
	"dmebench/internal/platform/fileio"
	"dmebench/internal/runtime/foreign"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
	"dmebench/transport/link"
	"dmebench/workload/fault"
)

// SchemaVersion is the version of the experiment file's format.
const SchemaVersion = 1

// Defaults of a file.
const (
	DefaultRepetitions = 10
	DefaultSeed        = runs.DefaultSeed
)

// Bounds of a file, against slips of the pen.
const (
	maxNodes    = 1 << 20
	maxRequests = 1 << 30
	maxRuns     = 100_000
	maxLabel    = 64 // characters
)

const noFolder = "name %q becomes a folder: want letters, digits, '.', '_' and '-', at most 64, the first a letter or digit"

// File is an experiment file. It says what is to be compared; it knows nothing
// yet of whether the names in it exist.
type File struct {
	runs.Experiment        // with defaults, and a label for every entry
	Path            string // as given
	Text            []byte // as read: equal text is what lets a sweep continue

	document document
	tooMany  bool // combinations to look at each of them
}

// Load reads an experiment file.
func Load(path string) (File, error) {
	text, err := fileio.Read(path, fileio.MostText)
	var large *fileio.TooLarge
	if errors.As(err, &large) {
		return File{}, refuse(BadFile, "%w", err)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, refuse(NoFile,
			"there is no file %s; name an experiment with --file, such as experiments/quickstart.yaml", path)
	}
	if err != nil {
		return File{}, refuse(NoFile, "cannot read %s: %w", path, cause(err))
	}
	return Parse(path, text)
}

// Parse reads an experiment file's text strictly and reports its faults, each
// with path and line. The file is returned nevertheless, so that [File.AllFaults] can add
// what is wrong with the rest of it.
func Parse(path string, text []byte) (File, error) {
	f := File{
		Experiment: runs.Experiment{Repetitions: DefaultRepetitions, Seed: DefaultSeed},
		Path:       path, Text: text, document: document{flaws: flaws{path: path}},
	}
	if !f.document.decode(text, &f.Experiment) {
		return File{}, f.document.err()
	}
	f.complete()
	return f, f.document.err()
}

// AllFaults returns everything that is wrong with a file that [Parse] has refused: its own faults,
// and what the catalog says about the names and values that could be read. readFile serves settings
// that name a file; nil reads the file system. It returns nil if there is nothing to add.
func (f File) AllFaults(catalog run.Catalog, readFile func(string) ([]byte, error)) error {
	if f.document.root == nil || len(f.document.list) == 0 {
		return nil
	}
	_, err := f.Expand(catalog, readFile)
	return err
}

// Words that become names of folders and files, of at most 64 characters. The expressions do not
// count those: every process of a run compiles them, and counting makes that ten times as long.
var (
	folder  = platform.Pattern(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	picture = platform.Pattern(`^[a-z0-9][a-z0-9-]*$`)
)

func isName(word *regexp.Regexp, s string) bool { return len(s) <= 64 && word.MatchString(s) }

// complete adds defaults and labels, and checks what spans several keys.
func (f *File) complete() {
	d := &f.document
	for _, list := range []struct {
		key   string
		empty bool
	}{{"name", f.Name == ""}, {"algorithms", f.Algorithms == nil}, {"nodes", f.Nodes == nil}} {
		if list.empty && !d.given(list.key) {
			d.add(1, "%s is missing", list.key)
		}
	}
	if f.Name != "" && !isName(folder(), f.Name) {
		d.add(d.line("name"), noFolder, f.Name)
	}
	if f.Transports == nil && !d.given("transports") {
		f.Transports = runs.List[runs.Entry]{{Name: runs.DefaultTransport}}
	}
	if f.Workloads == nil && !d.given("workloads") {
		f.Workloads = runs.List[runs.Workload]{{Name: runs.DefaultWorkload}}
	}
	for i, n := range f.Nodes {
		if n > 0 && slices.Contains(f.Nodes[:i], n) {
			d.add(d.line("nodes", i), "nodes: %d is listed twice", n)
		}
	}
	runs := f.Repetitions
	for _, n := range []int{len(f.Algorithms), len(f.Nodes), len(f.Transports), len(f.Workloads)} {
		runs = min(runs*max(n, 1), maxRuns+1)
	}
	if runs > maxRuns {
		f.tooMany = true
		d.add(d.line("repetitions"), "more than %d runs; divide the experiment among several files", maxRuns)
	}

	d.label("algorithms", named(f.Algorithms))
	d.label("transports", named(f.Transports))
	var workloads []namedEntry
	for i := range f.Workloads {
		w := &f.Workloads[i]
		workloads = append(workloads, namedEntry{w.Name, &w.Label, settingsOf(*w)})
		if w.Requests > 0 && w.RequestsPerNode > 0 {
			d.add(d.line("workloads", i), "%sgive requests or requests_per_node, not both", where("workloads", i))
		}
	}
	d.label("workloads", workloads)
	f.locate()
	d.schedules(f)
	for i, a := range f.Axes {
		if (!isName(picture(), a.Name) || a.Over == "") && !d.doubtful[place{"axes", i}] {
			d.add(d.line("axes", i), "%sname %q, over %q: want a name of small letters, digits and '-', and what varies",
				where("axes", i), a.Name, a.Over)
		}
	}
}

// locate gives each transport the settings that say where nodes are.
func (f *File) locate() {
	s := f.Sites
	if s == nil {
		return
	}
	if s.File == "" {
		f.document.add(f.document.line("sites"), "sites: file is missing; want the name of a file of lines 'from,to,delay', or regions")
		return
	}
	set := map[string]string{link.SitesOption: link.SitesIn(s.File)}
	if s.Place != "" {
		set[link.PlaceOption] = s.Place
	}
	for i := range f.Transports {
		t := &f.Transports[i]
		own := t.Set
		t.Set = maps.Clone(set)
		maps.Copy(t.Set, own) // what a transport says itself holds
	}
}

func where(list string, i int) string { return fmt.Sprintf("%s, entry %d: ", list, i+1) }

type namedEntry struct {
	name  string
	label *string
	given string // the settings
}

func named(entries []runs.Entry) []namedEntry {
	var all []namedEntry
	for i := range entries {
		e := &entries[i]
		e.Name = foreign.FullName(e.Name, e.Set)
		all = append(all, namedEntry{e.Name, &e.Label, runs.Settings(e.Set)})
	}
	return all
}

// given reports whether a key has a value, right or wrong.
func (d *document) given(key string) bool {
	n := at(d.root, key)
	return n != nil && !(n.Kind == yaml.ScalarNode && n.Value == "" && n.ShortTag() == "!!str")
}

// label names every entry of a list. An entry without a label is called by its name; if several
// share one, by its name and its settings.
func (d *document) label(list string, entries []namedEntry) {
	bare := make(map[string]int)
	for _, e := range entries {
		if *e.label == "" {
			bare[e.name]++
		}
	}
	taken := make(map[string]int)
	for i, e := range entries {
		line := d.line(list, i)
		if len([]rune(*e.label)) > maxLabel || strings.ContainsFunc(*e.label, unicode.IsControl) {
			d.add(line, "%slabel %q: want at most %d characters on one line", where(list, i), *e.label, maxLabel)
		}
		if e.name == "" {
			if !d.doubtful[place{list, i}] {
				d.add(line, "%sname is missing", where(list, i))
				d.doubt(list, i)
			}
			continue
		}
		if *e.label == "" {
			*e.label = e.name
			if bare[e.name] > 1 {
				*e.label = strings.TrimSpace(e.name + " " + e.given)
			}
		}
		if d.doubtful[place{list, i}] {
			continue // its settings, which may be its label, are not all known
		}
		if first, ok := taken[*e.label]; ok {
			d.add(line, "%sthe label %q is that of entry %d already; give one of them a label: of its own",
				where(list, i), *e.label, first+1)
			continue
		}
		taken[*e.label] = i
	}
}

func settingsOf(w runs.Workload) string {
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
	add(len(w.Faults) > 0, "faults", strings.Join(w.Faults, "; "))
	return strings.Join(append(s, runs.Settings(w.Set)), " ")
}

// schedules checks what the faults of a run, those of the experiment and then
// those of its workload, must have among themselves.
func (d *document) schedules(f *File) {
	if f.Faults == nil && d.given("faults") {
		return
	}
	for i, w := range f.Workloads {
		all, err := fault.ParseAll(slices.Concat(f.Faults, w.Faults))
		if err != nil {
			return // reported already
		}
		kills := all.Kills()
		for k, x := range all {
			if !x.AfterKill || kills[k] >= 0 || i > 0 && k < len(f.Faults) {
				continue
			}
			path := []any{"faults", k}
			if k >= len(f.Faults) {
				path = []any{"workloads", i, "faults", k - len(f.Faults)}
			}
			d.doubt("workloads", i)
			d.add(d.line(path...), "fault %q: no kill of %s comes before it", x, x.Whom())
		}
	}
}

//go:embed template.yaml
var template []byte

// Template returns an experiment file to begin with, in which every key is
// explained; file is what it is going to be called. The error says why the name
// cannot be that of a folder.
func Template(name, file string) ([]byte, error) {
	if !isName(folder(), name) {
		return nil, fmt.Errorf(noFolder, name)
	}
	text := bytes.ReplaceAll(template, []byte("NAME"), []byte(name))
	return bytes.ReplaceAll(text, []byte("sweep FILE"), []byte("sweep "+file)), nil
}

// noteProgram notes the contents of the files that a command names whose processes
// are nodes: results are continued only while these are the same. The files that they use in
// turn are not known.
func (p *Plan) noteProgram(e runs.Entry) {
	if !foreign.Is(e.Name) {
		return
	}
	words, err := foreign.Split(e.Set[foreign.CommandOption])
	if err != nil {
		return // reported elsewhere
	}
	for _, name := range words {
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if b, err := os.ReadFile(name); err == nil {
			p.Files[name] = digest(b)
		}
	}
}
