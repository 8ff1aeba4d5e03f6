package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"dmebench/internal/runtime/run"
	"dmebench/runs"
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

// String names the cell for people, who count from 1.
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

// header is the first line of the plan's store.
func (p *Plan) header(started time.Time, environment map[string]string) runs.Header {
	return runs.Header{
		Started: started.UTC(), Experiment: p.File.Experiment, File: string(p.File.Text),
		Files: p.Files, Plan: p.digest(), Planned: len(p.Cells), Environment: environment,
	}
}

// digest is equal for plans that mean the same, whatever their files say.
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
