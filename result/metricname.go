package result

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"dmebench/internal/suggest"
)

// short names metrics as people call them; a time that is called by its percentile
// alone is the waiting time.
var short = map[string]string{
	"p50":        WaitingP50,
	"p99":        WaitingP99,
	"throughput": Throughput,
	"messages":   MessagesPerCS,
	"jain":       JainIndex,
	"bypass":     MaxBypass,
	"sync-delay": SyncDelayP50,
}

// ShortNames lists the short names that [FindMetric] knows, each with the name of its
// metric, for help texts: "p99 (waiting_time_p99_ns)".
func ShortNames() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(short)) {
		all = append(all, name+" ("+short[name]+")")
	}
	return all
}

// FindMetric returns the metric that a person means by name: its name, in any case,
// with - for _, and without its unit or the word "time" where they say nothing
// ("response-p99"); or one of the short names. An error suggests what was meant.
func FindMetric(name string) (Metric, error) {
	if full, ok := short[strings.ToLower(name)]; ok {
		name = full
	}
	if m, ok := LookupMetric(name); ok {
		return m, nil
	}
	names := slices.Sorted(maps.Keys(short))
	for _, m := range metrics {
		if plain(m.Name) == plain(name) {
			return m, nil
		}
		names = append(names, m.Name)
	}
	if percentile.MatchString(name) {
		names = slices.DeleteFunc(names, func(n string) bool { return !percentile.MatchString(n) })
		return Metric{}, fmt.Errorf("unknown metric %q; the percentiles there are %s", name, strings.Join(names, ", "))
	}
	return Metric{}, suggest.Unknown("metric", name, names,
		"there are "+strings.Join(slices.Sorted(maps.Keys(short)), ", ")+", and every column of summary.csv such as response_time_p99_ns")
}

var percentile = regexp.MustCompile(`(?i)(^|[_-])p[0-9]`)

// plain is a name without what tells it from no other.
func plain(name string) string {
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
	for _, unit := range []string{"_ns", "_cs_per_s"} {
		name = strings.TrimSuffix(name, unit)
	}
	return strings.Replace(name, "_time_", "_", 1)
}
