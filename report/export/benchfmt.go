package export

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"dmebench/runs"
)

// Benchfmt writes the Go benchmark format that benchstat reads: a line for each
// repetition, BenchmarkDME/algorithm=…/nodes=…/transport=…/workload=…, with the
// number of entries as iterations. Quantities that a run has no sample of are left out of its
// line.
//
// The machine stands in goos, goarch and cpu as in 'go test -bench'. The version
// of the program does not: benchstat compares only what has equal settings.
func Benchfmt(w io.Writer, set *runs.Set, metrics []runs.Metric) error {
	groups, err := usable(set)
	if err != nil {
		return err
	}
	var records []benchfmt.Record
	for _, m := range metrics {
		if m.Better != runs.Neither {
			key := benchfmt.UnitMetadataKey{Unit: m.Unit, Key: "better"}
			records = append(records, &benchfmt.UnitMetadata{UnitMetadataKey: key, OrigUnit: m.Unit, Value: string(m.Better)})
		}
	}
	for _, c := range groups {
		for _, r := range c.Good {
			records = append(records, c.line(r, metrics))
		}
	}
	out := benchfmt.NewWriter(w)
	for _, record := range records {
		if err := out.Write(record); err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	return nil
}

func (c cell) line(r *runs.Result, metrics []runs.Metric) *benchfmt.Result {
	line := &benchfmt.Result{Name: benchfmt.Name(c.benchmark()), Iters: int(r.Entries)}
	for _, fact := range []struct{ key, value string }{
		{"pkg", "dmebench"}, {"goos", r.Environment["os"]}, {"goarch", r.Environment["arch"]}, {"cpu", r.Environment["cpu"]},
	} {
		if fact.value != "" {
			line.Config = append(line.Config, benchfmt.Config{Key: fact.key, Value: []byte(fact.value), File: true})
		}
	}
	for _, m := range metrics {
		if x := m.Read(r); x != nil {
			line.Values = append(line.Values, benchfmt.Value{Value: *x, Unit: m.Unit})
		}
	}
	return line
}

// benchmark is the name with its sub-names. The workload stands last: a name
// that ended in '-4' would be taken for one of GOMAXPROCS.
func (c cell) benchmark() string {
	parts, spec := []string{"DME"}, c.First.Result.Spec
	add := func(key, value string) {
		if value != "" {
			parts = append(parts, word(key)+"="+word(value))
		}
	}
	add("algorithm", spec.Algorithm)
	if c.Label != spec.Algorithm {
		add("label", c.Label)
	}
	for _, key := range slices.Sorted(maps.Keys(spec.Set)) {
		add(key, spec.Set[key])
	}
	for _, d := range []string{
		"nodes", "cs", "rate", "total_rate", "requests", "duration", "nodes_per_worker", "warmup", "hosts", "transport", "workload",
		"resource",
	} {
		value := c.Key.Get(d)
		if d == "nodes_per_worker" && value == "1" || d == "warmup" && value == runs.DefaultWarmup {
			continue // the defaults go without saying
		}
		add(d, value)
	}
	return strings.Join(parts, "/")
}

// word makes one word of s, as the format demands.
func word(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '/' || r == '=' || r == 0x7f || r == 0xa0 || r == 0x85 {
			return '_'
		}
		return r
	}, s)
}
