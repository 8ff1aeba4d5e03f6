package export

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"dmebench/report"
	"dmebench/report/cells"
	"dmebench/result"
)

// Benchfmt writes the Go benchmark format that benchstat reads: a line for each
// repetition, BenchmarkDME/algorithm=…/nodes=…/transport=…/workload=…, with the
// number of entries as iterations. metrics are named as in summary.csv; what a
// run has no sample of is left out of its line.
//
// The machine stands in goos, goarch and cpu as in «go test -bench». The version
// of the program does not: benchstat compares only what has equal settings.
func Benchfmt(w io.Writer, runs []report.Run, metrics []string) error {
	var chosen []report.Metric
	for _, name := range metrics {
		i := slices.IndexFunc(report.Metrics(), func(m report.Metric) bool { return m.Name == name })
		if i < 0 {
			return fmt.Errorf("export: no metric %q; summary.csv has a column for each", name)
		}
		chosen = append(chosen, report.Metrics()[i])
	}
	groups, err := usable(runs)
	if err != nil {
		return err
	}
	out := benchfmt.NewWriter(w)
	for _, m := range chosen {
		value := better(m.Name)
		if value == "" {
			continue
		}
		metadata := &benchfmt.UnitMetadata{
			UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: Unit(m.Name), Key: "better"}, OrigUnit: Unit(m.Name), Value: value,
		}
		if err := out.Write(metadata); err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	for _, c := range groups {
		for _, r := range c.runs {
			if err := out.Write(c.line(r.Result, chosen)); err != nil {
				return fmt.Errorf("export: %w", err)
			}
		}
	}
	return nil
}

func (c *cell) line(r *result.Result, metrics []report.Metric) *benchfmt.Result {
	line := &benchfmt.Result{Name: benchfmt.Name(c.benchmark()), Iters: int(r.Entries)}
	for _, fact := range []struct{ key, value string }{
		{"pkg", "dmebench"}, {"goos", r.Environment["os"]}, {"goarch", r.Environment["arch"]}, {"cpu", r.Environment["cpu"]},
	} {
		if fact.value != "" {
			line.Config = append(line.Config, benchfmt.Config{Key: fact.key, Value: []byte(fact.value), File: true})
		}
	}
	for _, m := range metrics {
		if x := m.Of(r); x != nil {
			line.Values = append(line.Values, benchfmt.Value{Value: *x, Unit: Unit(m.Name)})
		}
	}
	return line
}

// benchmark is the name with its sub-names. The workload stands last: a name
// that ended in «-4» would be taken for one of GOMAXPROCS.
func (c *cell) benchmark() string {
	parts := []string{"DME"}
	add := func(key, value string) {
		if value != "" {
			parts = append(parts, word(key)+"="+word(value))
		}
	}
	add("algorithm", c.spec.Algorithm)
	if c.label != c.spec.Algorithm {
		add("label", c.label)
	}
	settings := make(map[string]string)
	for _, d := range cells.Dimensions() {
		settings[d.Name] = d.Of(c.spec)
	}
	for _, key := range slices.Sorted(maps.Keys(c.spec.Set)) {
		add(key, c.spec.Set[key])
	}
	for _, key := range []string{"nodes", "cs", "rate", "total_rate", "requests", "duration", "nodes_per_worker", "warmup", "transport", "workload"} {
		if key == "nodes_per_worker" && settings[key] == "1" || key == "warmup" && settings[key] == result.DefaultWarmup {
			continue // the defaults go without saying
		}
		add(key, settings[key])
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

// Unit names a metric as a unit: times as «response-p50-ns», which benchstat
// scales, and everything else by what is divided by what.
func Unit(metric string) string {
	switch metric {
	case "messages_per_cs":
		return "msgs/CS"
	case "messages_per_cs_steady":
		return "steady-msgs/CS"
	case "transmissions_per_cs":
		return "transmissions/CS"
	case "throughput_cs_per_s":
		return "CS/s"
	case "offered_cs_per_s":
		return "offered-CS/s"
	case "sync_delay_over_t":
		return "sync-delay/T"
	}
	return strings.ReplaceAll(strings.Replace(metric, "_time_", "_", 1), "_", "-")
}

// better says in which direction a metric improves; "" where it is a condition
// of the run.
func better(metric string) string {
	switch metric {
	case "throughput_cs_per_s", "jain_index":
		return "higher"
	case "offered_cs_per_s", "cs_ns", "t_ns":
		return ""
	}
	return "lower"
}
