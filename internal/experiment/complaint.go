package experiment

import (
	"slices"
	"strconv"
	"strings"
)

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
