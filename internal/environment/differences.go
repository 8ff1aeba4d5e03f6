package environment

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// compared are the facts of [Describe] in the order in which differences between
// hosts are told: first what changes what is run, then how fast. Facts that are not
// in it follow by name.
var compared = []string{
	"program", "go", "os", "arch", "cores", "cpu_quota", "gomaxprocs", "cpu", "governor", "memory", "clock_source", "kernel",
}

// ofEachHost are facts in which hosts may differ without a difference to what is
// measured on them: how busy they were, and the numbers of their processors; and
// what the program's line tells already.
var ofEachHost = []string{"load_average", "cpu_affinity", "commit", "tree"}

// alike is the ratio up to which two sizes of memory are the same: the kernels of
// two equal machines keep different amounts for themselves.
const alike = 1.05

// Differences compares the environments of several hosts, as [Describe] returns
// them, by name of host. It returns a sentence for each fact in which some of them
// differ, such as "cores: 2 on a and b; 4 on c"; none where all are alike. The value
// that most hosts have comes first.
func Differences(hosts map[string]map[string]string) []string {
	facts := slices.Clone(compared)
	known := make(map[string]bool)
	for _, facts := range hosts {
		for fact := range facts {
			known[fact] = true
		}
	}
	for _, fact := range slices.Sorted(maps.Keys(known)) {
		if !slices.Contains(facts, fact) {
			facts = append(facts, fact)
		}
	}
	var all []string
	for _, fact := range facts {
		if !known[fact] || slices.Contains(ofEachHost, fact) {
			continue
		}
		by := make(map[string][]string) // value: hosts
		for _, host := range slices.Sorted(maps.Keys(hosts)) {
			value := cmp.Or(hosts[host][fact], "not known")
			by[value] = append(by[value], host)
		}
		if len(by) > 1 && !(fact == "memory" && sameMemory(slices.Collect(maps.Keys(by)))) {
			all = append(all, fact+": "+valuesByHost(by))
		}
	}
	return all
}

// valuesByHost writes who has which value, the most frequent one first.
func valuesByHost(by map[string][]string) string {
	values := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(by[b]), len(by[a])), strings.Compare(by[a][0], by[b][0]))
	})
	var parts []string
	for _, value := range values {
		parts = append(parts, fmt.Sprintf("%s on %s", value, enumerate(by[value])))
	}
	return strings.Join(parts, "; ")
}

// mostNamed is how many hosts are named where more have the same value.
const mostNamed = 4

func enumerate(hosts []string) string {
	if len(hosts) > mostNamed {
		return fmt.Sprintf("%s and %d more", strings.Join(hosts[:mostNamed-1], ", "), len(hosts)-mostNamed+1)
	}
	last := len(hosts) - 1
	if last == 0 {
		return hosts[0]
	}
	return strings.Join(hosts[:last], ", ") + " and " + hosts[last]
}

// sameMemory reports whether sizes such as "4026824 kB" are the same, about.
func sameMemory(sizes []string) bool {
	var all []float64
	for _, size := range sizes {
		n, err := strconv.ParseFloat(strings.TrimSuffix(size, " kB"), 64)
		if err != nil {
			return false
		}
		all = append(all, n)
	}
	return slices.Max(all) <= alike*slices.Min(all)
}
