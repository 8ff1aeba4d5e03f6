package experiment

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	"dmebench/internal/exit"
	"dmebench/internal/run"
	"dmebench/result"
)

// Cell is one run of an experiment: a specification, and which of the file's
// entries and repetitions it belongs to.
type Cell struct {
	Spec       result.Spec // with defaults
	Label      string      // of the algorithm
	Transport  string      // label
	Workload   string      // label
	Repetition int         // from 0; the run's seed is the file's plus this
	Hash       string      // identity

	// LinksMet says that the transport has what the algorithm needs.
	LinksMet bool

	config int // number of its configuration: what its repetitions have in common
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

	catalog run.Catalog // in which its names were looked up
}

// Expand makes the plan. Every cell is resolved, and all faults are reported at
// once, each with the entry that it concerns. readFile serves settings that
// name a file; nil reads the file system.
func (f File) Expand(catalog run.Catalog, readFile func(string) ([]byte, error)) (*Plan, error) {
	if readFile == nil {
		readFile = os.ReadFile
	}
	p := &Plan{File: f, Files: make(map[string]string), catalog: catalog}
	r := &resolver{
		file: f, catalog: catalog, plan: p,
		readFile: func(name string) ([]byte, error) {
			b, err := readFile(name)
			if err == nil {
				sum := sha256.Sum256(b)
				p.Files[name] = hex.EncodeToString(sum[:])
			}
			return b, err
		},
	}
	r.path = f.Path
	configs := r.configurations()
	if err := r.err(); err != nil {
		return nil, err
	}
	if len(configs) == 0 {
		return nil, refuse(exit.Data, "%s: no run is left: max_nodes or skip_invalid leaves everything out", f.Path)
	}
	for repetition := range f.Repetitions {
		start := repetition * len(configs) / f.Repetitions
		for k := range configs {
			c := configs[(start+k)%len(configs)]
			c.Repetition = repetition
			c.Spec.Seed = f.Seed + uint64(repetition)
			c.Hash = c.identity()
			p.Cells = append(p.Cells, c)
		}
	}
	return p, nil
}

// spec returns the specification of one configuration in the first repetition.
func (f File) spec(algorithm Entry, nodes int, transport Entry, w Workload) result.Spec {
	s := result.Spec{
		Algorithm: algorithm.Name, Nodes: nodes, Transport: transport.Name, Workload: w.Name,
		Rate: w.Rate, TotalRate: w.TotalRate, CS: w.CS,
		Requests: w.Requests + w.RequestsPerNode*nodes, Duration: w.Duration,
		Seed: f.Seed, NodesPerWorker: f.NodesPerWorker, Warmup: f.Warmup, StallAfter: f.StallAfter,
		AllowMismatch: f.AllowMismatch,
	}
	for _, set := range []map[string]string{algorithm.Set, transport.Set, w.Set} {
		for name, value := range set {
			if s.Set == nil {
				s.Set = make(map[string]string)
			}
			s.Set[name] = value
		}
	}
	return s.WithDefaults()
}

// identity returns the first 16 hexadecimal digits of the SHA-256 of the cell's
// canonical JSON: keys sorted, no white space, labels that equal a name and
// settings at their defaults left out. It does not depend on the cell's place in
// the plan.
func (c Cell) identity() string {
	id := struct {
		Spec       result.Spec `json:"spec"`
		Label      string      `json:"label"`
		Transport  string      `json:"transport_label,omitempty"`
		Workload   string      `json:"workload_label,omitempty"`
		Repetition int         `json:"repetition"`
	}{Spec: c.Spec, Label: c.Label, Repetition: c.Repetition}
	if c.Transport != c.Spec.Transport {
		id.Transport = c.Transport
	}
	if c.Workload != c.Spec.Workload {
		id.Workload = c.Workload
	}
	sum := sha256.Sum256(canonicalJSON(id))
	return hex.EncodeToString(sum[:8])
}

// canonicalJSON sorts keys by passing through maps: the order of a struct's
// fields is nobody's promise.
func canonicalJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err == nil {
		var tree any
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		if err = d.Decode(&tree); err == nil {
			b, err = json.Marshal(tree)
		}
	}
	if err != nil {
		panic("experiment: a cell has no JSON form: " + err.Error())
	}
	return b
}
