package experiment

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"dmebench/dme"
	"dmebench/result"
)

// row is what a line of the table of a plan stands for: an algorithm over a
// transport under a workload, on all the numbers of nodes that it runs on.
type row struct {
	label, transport, workload string
	nodes                      []string
	spec                       result.Spec // of the smallest one
	declared                   []dme.Option
	runs, there                int
}

// write prints the plan: what every run will be, how many there are, how many
// are there already.
func (p *Plan) write(to io.Writer, root, dir string, todo []Cell) error {
	f := p.File
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", f.Path, f.Name)
	if f.Description != "" {
		fmt.Fprintf(&b, "%s\n", strings.TrimSpace(f.Description))
	}
	if dir != "" {
		fmt.Fprintf(&b, "continues %s\n", dir)
	} else {
		fmt.Fprintf(&b, "starts a new folder in %s\n", root)
	}
	s := p.Cells[0].Spec
	fmt.Fprintf(&b, "%d repetitions with the seeds %d to %d; nodes per worker %d, warm-up %s, stalled after %s\n\n",
		f.Repetitions, f.Seed, f.Seed+uint64(f.Repetitions-1), s.NodesPerWorker, s.Warmup, s.StallAfter)

	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ALGORITHM\tTRANSPORT\tWORKLOAD\tNODES\tRUNS\tTHERE\tSETTINGS")
	for _, r := range p.rows(todo) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%s\n", r.label, r.transport, r.workload,
			strings.Join(r.nodes, " "), r.runs, r.there, strings.Join(p.settings(r), " "))
	}
	if err := w.Flush(); err != nil {
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
	waiting := make(map[result.RunKey]bool, len(todo))
	for _, c := range todo {
		waiting[c.Key()] = true
	}
	type key struct{ label, transport, workload string }
	byKey := make(map[key]*row)
	var rows []*row
	for _, c := range p.Cells {
		k := key{c.Label, c.Transport, c.Workload}
		r := byKey[k]
		if r == nil {
			r = &row{label: k.label, transport: k.transport, workload: k.workload, spec: c.Spec, declared: c.declared}
			byKey[k] = r
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

// settings lists everything that decides what a run is, defaults included. The
// names have been looked up before.
func (p *Plan) settings(r *row) []string {
	s := r.spec
	var out []string
	for _, x := range []struct{ kind, label, name string }{
		{"algorithm", r.label, s.Algorithm}, {"transport", r.transport, s.Transport}, {"workload", r.workload, s.Workload},
	} {
		if x.label != x.name {
			out = append(out, x.kind+"="+x.name)
		}
	}
	out = append(out, "cs="+s.CS)
	for _, w := range p.File.Workloads {
		if w.Label != r.workload {
			continue
		}
		switch {
		case w.RequestsPerNode > 0:
			out = append(out, fmt.Sprintf("requests=%d·N", w.RequestsPerNode))
		case w.Requests > 0:
			out = append(out, fmt.Sprintf("requests=%d", w.Requests))
		case s.Requests > 0:
			out = append(out, "requests=100·N")
		}
	}
	if s.Rate > 0 {
		out = append(out, fmt.Sprintf("rate=%v/s", s.Rate))
	}
	if s.TotalRate > 0 {
		out = append(out, fmt.Sprintf("total_rate=%v/s", s.TotalRate))
	}
	if s.Duration > 0 {
		out = append(out, "duration="+s.Duration.String())
	}
	for _, o := range r.declared {
		value, given := s.Set[o.Name]
		if !given {
			value = o.Default
		}
		if value != "" {
			out = append(out, o.Name+"="+value)
		}
	}
	return out
}

// leastTime adds up how long workloads make requests, where they say so and
// time is real.
func leastTime(todo []Cell) time.Duration {
	var sum time.Duration
	for _, c := range todo {
		if c.Spec.Transport != result.Sim {
			sum += c.Spec.Duration.Std()
		}
	}
	return sum
}
