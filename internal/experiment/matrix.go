package experiment

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"dmebench/dme"
	"dmebench/internal/run"
	"dmebench/internal/suggest"
	"dmebench/result"
	"dmebench/workload"
)

// CommandLine is the path of an experiment that flags describe in place of a file.
const CommandLine = "command line"

// DefaultMatrix is the name of an experiment that flags describe.
const DefaultMatrix = "matrix"

// Matrix is an experiment as flags describe it: everything crossed with
// everything. Zero values stand for the defaults of a file.
type Matrix struct {
	Name        string
	Algorithms  []string
	Nodes       []int
	Transports  []string
	Workloads   []string
	Repetitions int
	Seed        uint64

	// Of every workload.
	CS              string
	Rate, TotalRate float64
	Requests        int // in all
	RequestsPerNode int
	Duration        result.Duration

	Set map[string]string // options; each goes to every entry that has it

	NodesPerWorker             int
	Warmup                     string
	StallAfter                 result.Duration
	AllowMismatch, SkipInvalid bool
	Faults                     []string
	Resource                   string
}

// File returns the experiment as a file would describe it: its Text is one that
// means the same.
func (m Matrix) File(catalog run.Catalog) (File, error) {
	text, err := m.yaml(catalog)
	if err != nil {
		return File{}, err
	}
	return Parse(CommandLine, text)
}

// yaml writes the matrix as a file, without what is at its default.
func (m Matrix) yaml(catalog run.Catalog) ([]byte, error) {
	used := make(map[string]bool)
	var known []string
	settings := func(declared []dme.Option) map[string]string {
		var set map[string]string
		for name, value := range dme.Canonical(m.Set, declared) {
			for _, o := range declared {
				if o.Name != name {
					continue
				}
				if set == nil {
					set = make(map[string]string)
				}
				set[name] = value
			}
		}
		for given := range m.Set {
			for _, o := range declared {
				if strings.EqualFold(o.Name, given) {
					used[given] = true
				}
			}
		}
		for _, o := range declared {
			known = append(known, o.Name)
		}
		return set
	}
	y := matrixFile{
		SchemaVersion: SchemaVersion, Name: m.Name, Nodes: m.Nodes, Repetitions: m.Repetitions, Seed: m.Seed,
		NodesPerWorker: m.NodesPerWorker, Warmup: m.Warmup, StallAfter: duration(m.StallAfter), AllowMismatch: m.AllowMismatch,
		SkipInvalid: m.SkipInvalid, Faults: m.Faults, Resource: m.Resource,
	}
	// What does not exist is refused with everything else that is wrong.
	for _, name := range m.Algorithms {
		e := matrixEntry{Name: name}
		if a, err := catalog.Lookup(name); err == nil {
			e = matrixEntry{a.Name, settings(a.Options)}
		}
		y.Algorithms = append(y.Algorithms, e)
	}
	for _, name := range m.Transports {
		e := matrixEntry{Name: name}
		if n, err := run.LookupNetwork(name); err == nil {
			e = matrixEntry{n.Name, settings(n.Options)}
		}
		y.Transports = append(y.Transports, e)
	}
	if m.Transports == nil {
		n, err := run.LookupNetwork(result.DefaultTransport)
		if err != nil {
			return nil, err
		}
		y.Transports = append(y.Transports, matrixEntry{n.Name, settings(n.Options)})
	}
	workloads := m.Workloads
	if workloads == nil {
		workloads = []string{result.DefaultWorkload}
	}
	rated := slices.ContainsFunc(workloads, func(name string) bool {
		kind, err := workload.Lookup(name)
		return err == nil && kind.Rated
	})
	for _, name := range workloads {
		w := matrixWorkload{
			Name: name, CS: m.CS, Requests: m.Requests, RequestsPerNode: m.RequestsPerNode, Duration: duration(m.Duration),
		}
		if kind, err := workload.Lookup(name); err == nil {
			w.Name, w.Set = kind.Name, settings(kind.Options)
			if kind.Rated || !rated { // where none has a rate, that is refused
				w.Rate, w.TotalRate = m.Rate, m.TotalRate
			}
		}
		y.Workloads = append(y.Workloads, w)
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(m.Set)) {
		if !used[name] {
			errs = append(errs, fmt.Errorf("--set: %w", suggest.Unknown("option", name, known, "nothing of this matrix has it")))
		}
	}
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	var text bytes.Buffer
	out := yaml.NewEncoder(&text)
	out.SetIndent(2)
	if err := out.Encode(y); err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	return text.Bytes(), nil
}

// duration writes one as a file has it, "" for none.
func duration(d result.Duration) string {
	if d == 0 {
		return ""
	}
	return d.Std().String()
}

// matrixFile is an experiment file without what is not given.
type matrixFile struct {
	SchemaVersion  int              `yaml:"schema_version"`
	Name           string           `yaml:"name"`
	Algorithms     []matrixEntry    `yaml:"algorithms"`
	Nodes          []int            `yaml:"nodes,flow"`
	Transports     []matrixEntry    `yaml:"transports"`
	Workloads      []matrixWorkload `yaml:"workloads"`
	Repetitions    int              `yaml:"repetitions,omitempty"`
	Seed           uint64           `yaml:"seed,omitempty"`
	NodesPerWorker int              `yaml:"nodes_per_worker,omitempty"`
	Warmup         string           `yaml:"warmup,omitempty"`
	StallAfter     string           `yaml:"stall_after,omitempty"`
	AllowMismatch  bool             `yaml:"allow_mismatch,omitempty"`
	SkipInvalid    bool             `yaml:"skip_invalid,omitempty"`
	Faults         []string         `yaml:"faults,omitempty"`
	Resource       string           `yaml:"resource,omitempty"`
}

type matrixEntry struct {
	Name string            `yaml:"name"`
	Set  map[string]string `yaml:"set,omitempty,flow"`
}

type matrixWorkload struct {
	Name            string            `yaml:"name"`
	CS              string            `yaml:"cs,omitempty"`
	Rate            float64           `yaml:"rate,omitempty"`
	TotalRate       float64           `yaml:"total_rate,omitempty"`
	Requests        int               `yaml:"requests,omitempty"`
	RequestsPerNode int               `yaml:"requests_per_node,omitempty"`
	Duration        string            `yaml:"duration,omitempty"`
	Set             map[string]string `yaml:"set,omitempty,flow"`
}
