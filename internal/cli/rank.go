package cli

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/report/rank"
	"dmebench/runs"
	"dmebench/stats"
)

func (p *program) rankCommand() *cli.Command {
	return &cli.Command{
		Name:      "rank",
		Usage:     "which algorithm is best, for each load and number of nodes, and how sure that is",
		ArgsUsage: "DIR",
		UsageText: "dmebench rank results/quickstart\n" +
			"dmebench rank results/quickstart --metric p99 --only nodes=7\n" +
			"dmebench rank results/scaling --along nodes",
		Description: "A table for each load and number of nodes, the best first, and what it says in words. In every column\n" +
			"each algorithm is compared with the best by the two-sided Mann-Whitney test over repetitions, with\n" +
			"Holm's correction. Throughput decides under saturate, messages per critical section under serial, the\n" +
			"99th percentile of the waiting time under loads with a rate. --along says at which values each\n" +
			"may be best, and between which values one becomes better than another.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "file", Aliases: []string{"f"}, Usage: "results in `DIR`, of an experiment or of one sweep; or in a file"},
			&cli.StringSliceFlag{Name: "metric", Usage: "a table of each `METRIC`, a column of summary.csv; the first decides"},
			&cli.StringSliceFlag{Name: "only", Usage: "rank only `KEY=VALUE`, such as algorithm=maekawa, label=ma* or nodes=7"},
			&cli.Float64Flag{Name: "alpha", Value: stats.Alpha, Usage: "call a difference significant below `P`"},
			&cli.StringFlag{Name: "along", Usage: "show where one algorithm becomes better than another as `KEY` grows: nodes, total_rate, …"},
			jsonFlag("print the ranking as one JSON object"),
		},
		Action: p.rank,
	}
}

func (p *program) rank(c *cli.Context) error {
	opt := rank.Options{Alpha: c.Float64("alpha"), Metrics: c.StringSlice("metric")}
	if opt.Alpha == 0 { // zero stands for the default elsewhere
		return usage("--alpha 0: must lie between 0 and 1, such as %v", stats.Alpha)
	}
	if _, err := opt.Check(); err != nil {
		return failWith(Usage, err)
	}
	if c.String("file") == "" {
		return usage("rank: --file is missing: which results? Name a folder such as results/quickstart")
	}
	keep, err := readOnly(c.StringSlice("only"))
	if err != nil {
		return err
	}
	results, err := p.readSomeResults(c.String("file"))
	if err != nil {
		return err
	}
	if err := keep.narrow(results); err != nil {
		return err
	}
	if along := c.String("along"); along != "" {
		crossings, err := rank.FindCrossings(results, along, opt)
		if err != nil {
			return failWith(Usage, err)
		}
		return p.print(c, "crossings", crossings, func() error { return crossings.WriteText(p.stdout, p.printed()) })
	}
	ranking, err := rank.Of(results, opt)
	if err != nil {
		return failWith(Usage, err)
	}
	return p.print(c, "ranking", ranking, func() error { return ranking.WriteText(p.stdout, p.printed()) })
}

// only keeps some of many runs: for each key, one of its patterns must match.
type only map[string][]string

// readOnly reads "nodes=7" and the like.
func readOnly(texts []string) (only, error) {
	keep := make(only)
	keys := append([]string{"label"}, runs.Dimensions()...)
	for _, text := range texts {
		key, pattern, ok := strings.Cut(text, "=")
		if !ok || pattern == "" {
			return nil, usage("--only %s: want KEY=VALUE, such as nodes=7", text)
		}
		if !slices.Contains(keys, key) {
			return nil, usage("--only %s: there is no key %q; there are %s", text, key, strings.Join(keys, ", "))
		}
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, usage("--only %s: %q is not a pattern; a value may hold * and ?", text, pattern)
		}
		keep[key] = append(keep[key], pattern)
	}
	return keep, nil
}

// narrow leaves in the set what is kept; if that is nothing, it says what there is.
func (o only) narrow(set *runs.Set) error {
	there := make(map[string][]string)
	all := set.Runs
	set.Runs = nil
	for _, r := range all {
		kept := true
		for key, patterns := range o {
			values := valuesOf(r, key)
			for _, v := range values {
				if v != "" && !slices.Contains(there[key], v) {
					there[key] = append(there[key], v)
				}
			}
			kept = kept && slices.ContainsFunc(patterns, func(pattern string) bool {
				return slices.ContainsFunc(values, func(v string) bool { ok, _ := path.Match(pattern, v); return ok })
			})
		}
		if kept {
			set.Runs = append(set.Runs, r)
		}
	}
	if len(set.Runs) > 0 {
		return nil
	}
	var parts []string
	for _, key := range append([]string{"label"}, runs.Dimensions()...) {
		if o[key] != nil {
			parts = append(parts, fmt.Sprintf("%s is %s", key, strings.Join(there[key], ", ")))
		}
	}
	return usage("--only: no run is left; in %s %s", set.Name(), strings.Join(parts, "; "))
}

// valuesOf are those of a run for a key: of networks and workloads name and label.
func valuesOf(r runs.Run, key string) []string {
	if key == "label" {
		return []string{r.Label}
	}
	values := []string{r.Result.Key().Get(key)}
	switch key {
	case "transport":
		values = append(values, r.Transport)
	case "workload":
		values = append(values, r.Workload)
	}
	return values
}
