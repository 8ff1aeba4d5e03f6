package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"dmebench/report/units"
	"dmebench/result"
)

// conditions says in words under which conditions a run was made, other than
// algorithm, number of nodes, seed, network and workload. Runs that differ in
// them never share a figure.
func (c *collection) conditions(s result.Spec) []string {
	_, others := c.divide(s)
	return conditions(s, others)
}

// conditions is the same, others being the options that are not the algorithm's.
func conditions(s result.Spec, others map[string]string) []string {
	var about []string
	add := func(given bool, format string, args ...any) {
		if given {
			about = append(about, fmt.Sprintf(format, args...))
		}
	}
	add(s.Rate > 0, "%s requests/s per node", units.Number(s.Rate))
	add(s.TotalRate > 0, "%s requests/s in all", units.Number(s.TotalRate))
	add(s.CS != "", "CS %s", distribution(s.CS))
	add(s.Duration > 0, "for %s", units.Time(float64(s.Duration)))
	add(s.NodesPerWorker > 1, "%d nodes per process", s.NodesPerWorker)
	add(s.Warmup != "" && s.Warmup != result.DefaultWarmup, "warm-up %s entries", s.Warmup)
	add(len(others) > 0, "%s", join(others))
	return about
}

// distribution writes "exp:100us" for a reader.
func distribution(s string) string {
	text, exponential := strings.CutPrefix(s, "exp:")
	d, err := time.ParseDuration(text)
	if err != nil {
		return s
	}
	if exponential {
		return "exponential, mean " + units.Time(float64(d))
	}
	return units.Time(float64(d))
}

// splitByRequests divides runs that differ in the number of requests alone,
// where the same cell has several numbers. Elsewhere a number that depends on N
// belongs to one experiment.
func splitByRequests(runs []Run) [][]Run {
	number := make(map[place]int)
	ambiguous := false
	for _, r := range runs {
		at := place{r.Label, r.Result.Nodes}
		if n, ok := number[at]; ok && n != r.Result.Spec.Requests {
			ambiguous = true
		}
		number[at] = r.Result.Spec.Requests
	}
	if !ambiguous {
		return [][]Run{runs}
	}
	var keys []string
	parts := make(map[string][]Run)
	for _, r := range runs {
		key := requestsOf([]Run{r})
		if parts[key] == nil {
			keys = append(keys, key)
		}
		parts[key] = append(parts[key], r)
	}
	var split [][]Run
	for _, key := range keys {
		split = append(split, parts[key])
	}
	return split
}

// requestsOf says how many requests runs made: per node or in all, "" where
// they have no number in common.
func requestsOf(runs []Run) string {
	first := runs[0].Result.Spec
	perNode, inAll := first.Requests%first.Nodes == 0, true
	for _, r := range runs {
		s := r.Result.Spec
		perNode = perNode && s.Requests*first.Nodes == first.Requests*s.Nodes
		inAll = inAll && s.Requests == first.Requests
	}
	switch {
	case first.Requests == 0:
		return ""
	case perNode:
		return units.Count(uint64(first.Requests/first.Nodes)) + " requests per node"
	case inAll:
		return units.Count(uint64(first.Requests)) + " requests"
	}
	return ""
}

// name gives the sets names for their files: network and workload, and where
// that is not enough, everything that tells them apart, or a number.
func name(sets []*set) {
	count := make(map[string]int)
	for _, s := range sets {
		s.slug = slug(s.transport + "-" + s.workload)
		count[s.slug]++
	}
	taken := make(map[string]bool)
	for _, s := range sets {
		if count[s.slug] > 1 {
			s.slug = slug(strings.Join(append([]string{s.slug}, s.about...), "-"))
		}
		base := s.slug
		for i := 2; taken[s.slug]; i++ {
			s.slug = base + "-" + strconv.Itoa(i)
		}
		taken[s.slug] = true
	}
}

// slug keeps of s what every file system and every URL can hold.
func slug(s string) string {
	s = strings.ReplaceAll(strings.ToLower(s), "µ", "u")
	words := strings.FieldsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.')
	})
	s = strings.Join(words, "-")
	if len(s) > 80 {
		s = s[:80]
	}
	return strings.Trim(s, "-.")
}
