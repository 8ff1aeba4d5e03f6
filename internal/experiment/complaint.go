package experiment

import (
	"slices"
	"strconv"
	"strings"
)

// combination is one choice from each list of a file, by index.
type combination struct{ algorithm, size, transport, workload int }

// complaints groups combinations by what is wrong with them, so that a fault of
// one entry is told once and not for every combination that it is part of.
type complaints struct {
	texts []string // in the order of their first appearance
	at    map[string][]combination
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

// axis is one list of a file, as complaints refer to it.
type axis struct {
	names []string
	lines []int
	pick  func(combination) int
}

func (f File) axes() []axis {
	algorithms := axis{pick: func(c combination) int { return c.algorithm }}
	for _, e := range f.Algorithms {
		algorithms.add(e.Label, e.Line)
	}
	sizes := axis{pick: func(c combination) int { return c.size }}
	for i, n := range f.Nodes {
		sizes.add(strconv.Itoa(n)+" nodes", f.sizes[i])
	}
	transports := axis{pick: func(c combination) int { return c.transport }}
	for _, e := range f.Transports {
		transports.add(e.Label, e.Line)
	}
	workloads := axis{pick: func(c combination) int { return c.workload }}
	for _, w := range f.Workloads {
		workloads.add(w.Label, w.Line)
	}
	return []axis{algorithms, sizes, transports, workloads}
}

func (a *axis) add(name string, line int) {
	a.names = append(a.names, name)
	a.lines = append(a.lines, line)
}

// concerned returns the entries of the axis that appear among the combinations;
// nil where all do, so that the axis explains nothing.
func (a axis) concerned(at []combination) []int {
	var in []int
	for _, c := range at {
		if i := a.pick(c); !slices.Contains(in, i) {
			in = append(in, i)
		}
	}
	if len(in) == len(a.names) {
		return nil
	}
	return in
}

// report tells each complaint with the entries that it is particular to, on the
// line of the first of them.
func (c *complaints) report(f File, to *faults) {
	axes := f.axes()
	for _, text := range c.texts {
		line := 0
		var who []string
		for _, a := range axes {
			for k, i := range a.concerned(c.at[text]) {
				who = append(who, a.names[i])
				if line == 0 && k == 0 {
					line = a.lines[i]
				}
			}
		}
		if line == 0 {
			line = spokenOf(text, axes)
		}
		if len(who) > 0 {
			text = strings.Join(who, ", ") + ": " + text
		}
		to.add(line, "%s", text)
	}
}

// spokenOf returns the line of the entry whose name a message begins with, for
// a complaint that no list narrows down; else that of the first algorithm.
func spokenOf(text string, axes []axis) int {
	for _, a := range axes {
		for i, name := range a.names {
			if strings.HasPrefix(text, name) {
				return a.lines[i]
			}
		}
	}
	return axes[0].lines[0]
}
