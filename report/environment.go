package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dmebench/result"
)

// fact is a line of the environment's table.
type fact struct{ Name, Value string }

// Facts are the environments of runs: for each fact its values, each with the
// number of runs that have it.
func Facts(runs []*result.Result) map[string]map[string]int {
	facts := make(map[string]map[string]int)
	for _, r := range runs {
		for k, v := range r.Environment {
			if facts[k] == nil {
				facts[k] = make(map[string]int)
			}
			if v != "" {
				facts[k][v]++
			}
		}
	}
	return facts
}

// environment merges what is known of the experiment and of its runs: where
// runs differ, every value stands with its number of runs.
func (c *collection) environment() []fact {
	var runs []*result.Result
	for _, r := range c.runs {
		runs = append(runs, r.Result)
	}
	values := Facts(runs)
	for k, v := range c.in.Header.Environment {
		if values[k] == nil {
			values[k] = map[string]int{v: 0}
		} else if _, ok := values[k][v]; !ok {
			values[k][v] = 0
		}
	}
	var facts []fact
	for _, k := range slices.Sorted(maps.Keys(values)) {
		facts = append(facts, fact{k, differing(values[k])})
	}
	return facts
}

// mostValues is how many values of one thing are shown.
const mostValues = 4

// differing writes the values of one thing, each with its number of runs where
// there are several, the most frequent first.
func differing(runs map[string]int) string {
	all := slices.Sorted(maps.Keys(runs))
	if len(all) == 1 {
		return all[0]
	}
	slices.SortStableFunc(all, func(a, b string) int { return runs[b] - runs[a] })
	var parts []string
	for i, v := range all {
		if i == mostValues {
			parts = append(parts, fmt.Sprintf("and %d more values", len(all)-i))
			break
		}
		if runs[v] == 0 {
			parts = append(parts, v+" (experiment)")
		} else {
			parts = append(parts, fmt.Sprintf("%s (%s)", v, plural(runs[v], "run")))
		}
	}
	return strings.Join(parts, "; ")
}
