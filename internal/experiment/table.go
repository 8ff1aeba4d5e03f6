package experiment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"dmebench/dme"
	"dmebench/internal/platform/layout"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
	"dmebench/units"
	"dmebench/workload"
)

// row is what a line of the table of a plan stands for: an algorithm over a
// transport under a workload, on all the numbers of nodes that it runs on.
type row struct {
	first       Cell // of the smallest one
	nodes       []string
	runs, there int
}

// write prints the plan: what every run will be, how many there are, how many
// are there already. Its table is at most that many columns wide; 0 for any width.
func (p *Plan) write(to io.Writer, width int, root, dir string, todo []Cell) error {
	f := p.File
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", f.Path, f.Name)
	if f.Description != "" {
		fmt.Fprintf(&b, "%s\n", layout.Style{Width: width}.Wrap(strings.TrimSpace(f.Description), 0))
	}
	if dir != "" {
		fmt.Fprintf(&b, "continues %s\n", dir)
	} else {
		fmt.Fprintf(&b, "starts a new folder in %s\n", root)
	}
	s := p.Cells[0].Spec
	how := fmt.Sprintf("%d repetitions with the seeds %d to %d; nodes per worker %d, warm-up %s, stalled after %s",
		f.Repetitions, f.Seed, f.Seed+uint64(f.Repetitions-1), s.NodesPerWorker, s.Warmup, s.StallAfter)
	fmt.Fprintf(&b, "%s\n\n", layout.Style{Width: width}.Wrap(how, 0))

	t := layout.NewTable("ALGORITHM", "TRANSPORT", "WORKLOAD", "NODES", "RUNS", "THERE", "SETTINGS")
	for _, r := range p.rows(todo) {
		c := r.first
		t.Add(c.Label, c.Transport, c.Workload, strings.Join(r.nodes, " "), strconv.Itoa(r.runs), strconv.Itoa(r.there),
			strings.Join(append(p.asked(c), c.settings...), " "))
	}
	if err := t.WriteFitted(&b, width); err != nil {
		return err
	}
	for _, line := range p.LeftOut {
		fmt.Fprintf(&b, "left out: %s\n", line)
	}
	fmt.Fprintf(&b, "\n%d runs, %d there already, %d to run", len(p.Cells), len(p.Cells)-len(todo), len(todo))
	if least := leastTime(todo); least > 0 {
		fmt.Fprintf(&b, "; their durations alone add up to %s", least)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(to, b.String())
	return err
}

func (p *Plan) rows(todo []Cell) []*row {
	waiting := make(map[runs.RunKey]bool, len(todo))
	for _, c := range todo {
		waiting[c.Key()] = true
	}
	byLabels := make(map[[3]string]*row)
	var rows []*row
	for _, c := range p.Cells {
		labels := [3]string{c.Label, c.Transport, c.Workload}
		r := byLabels[labels]
		if r == nil {
			r = &row{first: c}
			byLabels[labels] = r
			rows = append(rows, r)
		}
		if c.Repetition == 0 {
			r.nodes = append(r.nodes, strconv.Itoa(c.Spec.Nodes))
		}
		r.runs++
		if !waiting[c.Key()] {
			r.there++
		}
	}
	return rows
}

// asked lists what a run is asked to do, defaults included, beside the options.
func (p *Plan) asked(c Cell) []string {
	s := c.Spec
	var out []string
	add := func(given bool, format string, args ...any) {
		if given {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(c.Label != s.Algorithm, "algorithm=%s", s.Algorithm)
	add(c.Transport != s.Transport, "transport=%s", s.Transport)
	add(c.Workload != s.Workload, "workload=%s", s.Workload)
	add(true, "cs=%s", s.CS)
	for _, w := range p.File.Workloads {
		if w.Label == c.Workload {
			add(w.RequestsPerNode > 0, "requests=%d·N", w.RequestsPerNode)
			add(w.Requests > 0, "requests=%d", w.Requests)
			add(w.Requests+w.RequestsPerNode == 0 && s.Requests > 0, "requests=100·N")
		}
	}
	add(s.Rate > 0, "rate=%v/s", s.Rate)
	add(s.TotalRate > 0, "total_rate=%v/s", s.TotalRate)
	add(s.Duration > 0, "duration=%s", s.Duration)
	add(len(s.Faults) > 0, "faults=%q", strings.Join(s.Faults, "; "))
	add(s.Resource != "", "resource=%s", s.Resource)
	return out
}

// leastTime adds up the durations of workloads in real time.
func leastTime(todo []Cell) time.Duration {
	var sum time.Duration
	for _, c := range todo {
		if c.Spec.Transport != runs.Sim {
			sum += c.Spec.Duration.Std()
		}
	}
	return sum
}

// CommandLine is the path of an experiment that flags describe in place of a file.
const CommandLine = "command line"

// DefaultMatrix is the name of an experiment that flags describe.
const DefaultMatrix = "matrix"

// Matrix returns the experiment that flags describe, everything crossed with everything, as
// a file would: its Text is one that means the same. A zero value has the default of a
// file. Each option of set goes to every entry that has it and does not set it itself.
func Matrix(e runs.Experiment, set map[string]string, catalog run.Catalog) (File, error) {
	used := make(map[string]bool)
	var known []string
	settings := func(declared []dme.Option) map[string]string {
		given, chosen := dme.Canonical(set, declared), make(map[string]string)
		for _, o := range declared {
			known = append(known, o.Name)
			if value, ok := given[o.Name]; ok {
				chosen[o.Name] = value
			}
			for name := range set {
				used[name] = used[name] || strings.EqualFold(o.Name, name)
			}
		}
		return chosen
	}
	e.SchemaVersion = SchemaVersion
	if e.Transports == nil {
		e.Transports = Entries([]string{runs.DefaultTransport})
	}
	if e.Workloads == nil {
		e.Workloads = runs.List[runs.Workload]{{Name: runs.DefaultWorkload}}
	}
	// Unknown names are refused together with all other errors.
	for i := range e.Algorithms {
		x := &e.Algorithms[i]
		if a, err := catalog.Runnable(x.Name); err == nil {
			own := x.Set
			x.Name, x.Set = a.Name, settings(a.Options)
			maps.Copy(x.Set, own)
		}
	}
	for i := range e.Transports {
		if n, err := run.LookupNetwork(e.Transports[i].Name); err == nil {
			e.Transports[i] = runs.Entry{Name: n.Name, Set: settings(n.Options)}
		}
	}
	rated := slices.ContainsFunc(e.Workloads, func(w runs.Workload) bool {
		kind, err := workload.Lookup(w.Name)
		return err == nil && kind.Rated
	})
	for i := range e.Workloads {
		w := &e.Workloads[i]
		kind, err := workload.Lookup(w.Name)
		if err == nil {
			w.Name, w.Set = kind.Name, settings(kind.Options)
		}
		if err != nil || rated && !kind.Rated { // if none has a rate, that is refused
			w.Rate, w.TotalRate = 0, 0
		}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if !used[name] {
			errs = append(errs, fmt.Errorf("--set: %w", units.UnknownName("option", name, known, "nothing in this matrix has it")))
		}
	}
	if errs != nil {
		return File{}, errors.Join(errs...)
	}
	var text bytes.Buffer
	out := yaml.NewEncoder(&text)
	out.SetIndent(2)
	if err := out.Encode(e); err != nil {
		return File{}, fmt.Errorf("experiment: %w", err)
	}
	return Parse(CommandLine, text.Bytes())
}

// Entries returns a list of entries that have names alone.
func Entries(names []string) (all runs.List[runs.Entry]) {
	for _, name := range names {
		all = append(all, runs.Entry{Name: name})
	}
	return all
}
