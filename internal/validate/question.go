package validate

import (
	"maps"
	"slices"
	"strings"

	"dmebench/dme"
)

// question is a claim with the options under which it is asked.
type question struct {
	algorithm *dme.Algorithm
	claim     dme.Claim
	set       map[string]string
	meter     meter

	cells     []*cell
	predicted map[*cell]float64
	points    []Point // of what was determined without a run
	reason    string  // why it cannot be answered
}

// under reports whether a claim is asked under a condition: one that makes its
// load, on links for which it is made, and where times mean something if it
// speaks of times.
func (q *question) under(c *condition) bool {
	return c.makes(q.claim.Load) && (c.ordered() || !q.claim.FIFO) && (c.constant() || !q.claim.EqualDelays) && (c.timed || !q.meter.timed)
}

// everywhere reports whether the claim is about every run of the algorithm,
// whatever it was made for: that it is safe, or live.
func (q *question) everywhere() bool {
	return q.claim.Quantity == dme.Violations || q.claim.Quantity == dme.Unserved
}

// growth reports whether the claim is one about growth.
func (q *question) growth() bool { return q.claim.Kind == dme.Asymptotic }

// optionSets returns the options under which a claim may be asked, in the order
// in which they are tried: its own, or the defaults and then every other value
// of one option.
func optionSets(a *dme.Algorithm, c *dme.Claim) []map[string]string {
	if c.Set != nil {
		return []map[string]string{c.Set}
	}
	sets := []map[string]string{nil}
	for _, o := range a.Options {
		for word := range strings.SplitSeq(o.Values, "|") {
			// A parameter stands for a small number: «kary:K».
			if name, parameter, ok := strings.Cut(word, ":"); ok && parameter == "K" {
				word = name + ":3"
			}
			if word != o.Default && o.Accepts(word) == nil {
				sets = append(sets, map[string]string{o.Name: word})
			}
		}
	}
	return sets
}

// merged returns a with what b adds to it.
func merged(a, b map[string]string) map[string]string {
	if len(a)+len(b) == 0 {
		return nil
	}
	m := maps.Clone(a)
	if m == nil {
		m = make(map[string]string, len(b))
	}
	maps.Copy(m, b)
	return m
}

// Written is a set of options as on the command line: "form=notes tree=line".
func Written(set map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(set)) {
		parts = append(parts, name+"="+set[name])
	}
	return strings.Join(parts, " ")
}
