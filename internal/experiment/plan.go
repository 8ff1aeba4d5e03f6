package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
	"dmebench/workload"
)

// Cell is one run of an experiment: a specification, and which of the file's
// entries and repetitions it belongs to.
type Cell struct {
	Spec       runs.Spec `json:"spec"` // with defaults
	Label      string    `json:"label"`
	Transport  string    `json:"transport"`
	Workload   string    `json:"workload"`
	Repetition int       `json:"repetition"` // from 0; the run's seed is the file's plus this

	// LinksMet says that the transport has what the algorithm needs.
	LinksMet bool `json:"-"`

	config   int      // number of its configuration: what its repetitions have in common
	settings []string // options at their values
}

// Key identifies the cell among those of its plan, and its result in a store.
func (c Cell) Key() runs.RunKey {
	return runs.RunKey{
		Label: c.Label, Transport: c.Transport, Workload: c.Workload,
		Cell: runs.KeyOf(c.Spec), Repetition: c.Repetition,
	}
}

// String names the cell for people, counting from 1.
func (c Cell) String() string {
	return fmt.Sprintf("%s, %d nodes, %s, %s, repetition %d", c.Label, c.Spec.Nodes, c.Transport, c.Workload, c.Repetition+1)
}

// Plan is what an experiment file comes to: its runs, in the order in which
// they are carried out.
//
// The repetition is the outermost loop, so that a machine that slows down in
// the course of an hour slows all configurations alike, and an interrupted
// sweep has some repetitions of everything. Within a repetition the order is
// transports, workloads, nodes, algorithms, each as in the file: algorithms
// that are to be compared under the same conditions run one right after the
// other. Each repetition begins at another configuration and wraps around, so
// that none is always the first.
//
// All configurations of a repetition have the same seed, hence the same
// arrivals: their results are paired.
type Plan struct {
	File  File
	Cells []Cell

	// LeftOut says which combinations cannot run and were left out, as
	// skip_invalid asks.
	LeftOut []string

	// Files holds the SHA-256 of every file that a setting names: a run's
	// meaning depends on their contents too.
	Files map[string]string
}

// Expand makes the plan. Every cell is resolved, and all faults are reported at
// once, each with the entry that it concerns. readFile serves settings that
// name a file; nil reads the file system.
func (f File) Expand(catalog run.Catalog, readFile func(string) ([]byte, error)) (*Plan, error) {
	return f.expand(Options{Catalog: catalog, ReadFile: readFile}.withDefaults())
}

func (f File) expand(opt Options) (*Plan, error) {
	p := &Plan{File: f, Files: make(map[string]string)}
	r := &resolver{
		document: f.document, file: f, catalog: opt.Catalog, fits: opt.Fits, plan: p,
		readFile: func(name string) ([]byte, error) {
			b, err := opt.ReadFile(name)
			if err == nil {
				p.Files[name] = digest(b)
			}
			return b, err
		},
	}
	for _, e := range f.Algorithms {
		p.noteProgram(e)
	}
	configs := r.configurations()
	if err := r.err(); err != nil {
		return nil, err
	}
	if r.noRoom != nil {
		return nil, refuse(Unavailable, "%s: %w", f.Path, errors.Join(r.noRoom...))
	}
	if len(configs) == 0 {
		return nil, refuse(BadFile, "%s: no run is left: max_nodes or skip_invalid leaves everything out", f.Path)
	}
	for repetition := range f.Repetitions {
		start := repetition * len(configs) / f.Repetitions
		for k := range configs {
			c := configs[(start+k)%len(configs)]
			c.Repetition = repetition
			c.Spec.Seed = f.Seed + uint64(repetition)
			p.Cells = append(p.Cells, c)
		}
	}
	return p, nil
}

// spec returns the specification of one configuration in the first repetition.
func (f File) spec(algorithm runs.Entry, nodes int, transport runs.Entry, w runs.Workload) runs.Spec {
	s := runs.Spec{
		Algorithm: algorithm.Name, Nodes: nodes, Transport: transport.Name, Workload: w.Name,
		Rate: w.Rate, TotalRate: w.TotalRate, CS: w.CS,
		Requests: w.Requests + w.RequestsPerNode*nodes, Duration: w.Duration,
		Seed: f.Seed, NodesPerWorker: f.NodesPerWorker, Warmup: f.Warmup, StallAfter: f.StallAfter,
		AllowMismatch: f.AllowMismatch,
		Faults:        slices.Concat(f.Faults, w.Faults), Resource: f.Resource,
	}
	if len(algorithm.Set)+len(transport.Set)+len(w.Set) > 0 {
		s.Set = make(map[string]string)
	}
	for _, set := range []map[string]string{algorithm.Set, transport.Set, w.Set} {
		maps.Copy(s.Set, set)
	}
	return s.WithDefaults()
}

func (p *Plan) header(started time.Time, environment map[string]string) runs.Header {
	return runs.Header{
		Started: started.UTC(), Experiment: p.File.Experiment, File: string(p.File.Text),
		Files: p.Files, Plan: p.digest(), Planned: len(p.Cells), Environment: environment,
	}
}

// digest is equal for plans that mean the same, whatever their files look like.
func (p *Plan) digest() string {
	b, err := json.Marshal(struct {
		Files map[string]string
		Cells []Cell
	}{p.Files, p.Cells})
	if err != nil {
		panic("experiment: the plan has no JSON form: " + err.Error())
	}
	return digest(b)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// resolver looks up what a file names, by entries and then by combinations.
type resolver struct {
	document
	file     File
	catalog  run.Catalog
	readFile func(string) ([]byte, error)
	fits     func(runs.Spec) error // may be nil
	plan     *Plan
	noRoom   []error // what does not fit

	algorithms, transports, workloads []candidate
	complaints                        complaints
}

// candidate is an entry that has been looked up; unless ok its combinations are not tried.
type candidate struct {
	runs.Entry
	ok       bool
	declared []dme.Option
}

// configurations returns one cell for each combination that is to run, in the
// order in which a repetition runs them.
func (r *resolver) configurations() []Cell {
	for i, e := range r.file.Algorithms {
		a, err := r.catalog.Runnable(e.Name)
		if err != nil {
			a = &dme.Algorithm{Name: e.Name}
		}
		e.Name = a.Name
		r.algorithms = append(r.algorithms, r.candidate("algorithms", i, e, a.Options, err))
	}
	for i, e := range r.file.Transports {
		n, err := run.LookupNetwork(e.Name)
		if err == nil {
			e.Name = n.Name
		}
		r.transports = append(r.transports, r.candidate("transports", i, e, n.Options, err))
	}
	r.file.Workloads = slices.Clone(r.file.Workloads)
	for i, w := range r.file.Workloads {
		kind, err := workload.Lookup(w.Name)
		if err == nil {
			r.file.Workloads[i].Name, r.file.Workloads[i].Set = kind.Name, dme.Canonical(w.Set, kind.Options)
		}
		c := r.candidate("workloads", i, runs.Entry{Name: w.Name, Label: w.Label, Set: w.Set}, kind.Options, err)
		if _, err := workload.ParseDistribution(w.CS); w.CS != "" && err != nil {
			c.ok = false
			r.refuse("workloads", i, fmt.Errorf("cs %q: %w; want a duration such as 100us or exp:100us", w.CS, err))
		}
		r.workloads = append(r.workloads, c)
	}
	r.axes()
	if r.file.tooMany {
		return nil
	}
	var configs []Cell
	for t := range r.transports {
		for w := range r.workloads {
			for n := range r.file.Nodes {
				for a := range r.algorithms {
					if c, ok := r.configuration(combination{a, n, t, w}); ok {
						c.config = len(configs)
						configs = append(configs, c)
					}
				}
			}
		}
	}
	r.complaints.report(r.file, &r.document)
	return configs
}

// candidate checks what can be seen of an entry by itself.
func (r *resolver) candidate(list string, i int, e runs.Entry, declared []dme.Option, err error) candidate {
	e.Set = dme.Canonical(e.Set, declared)
	c := candidate{Entry: e, declared: declared}
	if e.Name == "" {
		return c // reported missing
	}
	if err == nil {
		_, err = dme.ResolveOptions(declared, e.Set)
	}
	c.ok = err == nil && !r.doubtful[place{list, i}]
	r.refuse(list, i, err)
	return c
}

func (r *resolver) refuse(list string, i int, err error) {
	if err == nil {
		return
	}
	for text := range strings.SplitSeq(err.Error(), "\n") {
		r.add(r.line(list, i), "%s%s", where(list, i), text)
	}
}

// axes checks that what figures are to be drawn over is something that varies, and
// that the figures that are asked for are some.
func (r *resolver) axes() {
	// A plan says nothing of hosts: over them nothing varies.
	known := slices.DeleteFunc(runs.Dimensions(), func(name string) bool { return name == "hosts" })
	for _, c := range slices.Concat(r.algorithms, r.transports, r.workloads) {
		for _, o := range c.declared {
			known = append(known, o.Name)
		}
	}
	for i, a := range r.file.Axes {
		if a.Over != "" && !slices.Contains(known, a.Over) {
			r.refuse("axes", i, fmt.Errorf("over %q: no dimension of a run and no option of what is compared", a.Over))
		}
	}
	for i, f := range r.file.Figures {
		if !r.doubtful[place{"figures", i}] {
			r.refuse("figures", i, f.Check(&r.file.Experiment))
		}
	}
}

// configuration resolves one combination; ok is false unless it is to run.
func (r *resolver) configuration(at combination) (c Cell, ok bool) {
	alg, net, load := r.algorithms[at[ofAlgorithms]], r.transports[at[ofTransports]], r.workloads[at[ofWorkloads]]
	nodes := r.file.Nodes[at[ofNodes]]
	if nodes < 1 || r.doubtful[place{"nodes", at[ofNodes]}] {
		return c, false
	}
	if !alg.ok || !net.ok || !load.ok || exceeds(nodes, alg.MaxNodes) || exceeds(nodes, net.MaxNodes) {
		return c, false
	}
	c = Cell{
		Spec:  r.file.spec(alg.Entry, nodes, net.Entry, r.file.Workloads[at[ofWorkloads]]),
		Label: alg.Label, Transport: net.Label, Workload: load.Label,
	}
	if r.fits != nil {
		if err := r.fits(c.Spec); err != nil {
			r.noRoom = append(r.noRoom, err)
			return c, false
		}
	}
	r.complaints.try(at)
	err := r.resolve(&c)
	var cannot *run.CannotRun
	advice := ""
	switch {
	case err == nil:
		return c, true
	case !errors.As(err, &cannot):
	case r.file.SkipInvalid:
		r.leaveOut(c, cannot.Why)
		return c, false
	case cannot.Faults:
		advice = "; choose another algorithm or other faults, or set skip_invalid: true to leave it out"
	case cannot.Resource:
		advice = "; choose a real network, or set skip_invalid: true to leave it out"
	case cannot.Nodes:
		advice = "; choose another number of nodes or option, or set skip_invalid: true to leave it out"
	default:
		advice = "; choose another transport or option, set skip_invalid: true to leave it out, or allow_mismatch: true to see it fail"
	}
	if cannot != nil {
		err = cannot.Why
	}
	for text := range strings.SplitSeq(err.Error(), "\n") {
		r.complaints.add(text+advice, at)
	}
	return c, false
}

func exceeds(nodes, limit int) bool { return limit > 0 && nodes > limit }

// resolve resolves the first repetition of a configuration, from which the others differ only in
// the seed, and drops the job: thousands, each with its quorums, would not fit into memory.
func (r *resolver) resolve(c *Cell) error {
	job, err := run.Resolve(c.Spec, r.catalog, r.readFile)
	if err != nil {
		return err
	}
	c.LinksMet, c.settings = len(job.Missing) == 0, job.Settings()
	return nil
}

func (r *resolver) leaveOut(c Cell, why error) {
	line := fmt.Sprintf("%s, %d nodes, %s: %s", c.Label, c.Spec.Nodes, c.Transport, strings.ReplaceAll(why.Error(), "\n", "; "))
	if !slices.Contains(r.plan.LeftOut, line) { // once, not for every workload
		r.plan.LeftOut = append(r.plan.LeftOut, line)
	}
}

// The lists of a file, as a combination indexes them.
const (
	ofAlgorithms = iota
	ofNodes
	ofTransports
	ofWorkloads
	lists
)

type combination [lists]int

// complaints groups combinations by what is wrong with them, so that a fault of one entry is
// reported once and not for every combination with it.
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

// report reports each complaint with the entries particular to it, on the line of the first of
// them; if no list narrows it down, on that of the entry whose name it begins with, or of the first
// algorithm.
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
