// Mutate plants faults in this program and tells which tests notice them:
//
//	go run ./internal/mutation/mutate --group sim --count 45 --seed 1
//	go run ./internal/mutation/mutate --changed origin/main --for 60s
//
// See package mutation.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"slices"
	"strings"
	"time"

	"dmebench/internal/mutation"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// What the command's exit status says.
const (
	enough  = 0
	tooFew  = 1 // faults were noticed
	refused = 64
	failed  = 2
)

type flags struct {
	groups, files, changed, mutants, again, into string
	count                                        int
	seed                                         uint64
	limit                                        time.Duration
	atLeast                                      float64
	list, equivalent, quiet, own                 bool
	memory                                       int64
}

func run(args []string, stdout, stderr io.Writer) int {
	var f flags
	set := flag.NewFlagSet("mutate", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&f.groups, "group", "", "plant faults in these parts, separated by commas: "+strings.Join(names(), ", ")+" (default: all)")
	set.StringVar(&f.files, "file", "", "only in these files, separated by commas; `*` stands for any part of a name")
	set.StringVar(&f.changed, "changed", "", "only on lines that differ from this commit; without --count, all that can be planted there")
	set.StringVar(&f.mutants, "mutant", "", "only mutants whose name, as reports show it, has this text in it")
	set.StringVar(&f.again, "again", "", "only those that survived in this report, written by --json")
	set.StringVar(&f.into, "json", "", "write the whole report to this file, too")
	set.IntVar(&f.count, "count", 45, "how many mutants of each group; 0: all")
	set.Uint64Var(&f.seed, "seed", 1, "chooses the mutants")
	set.DurationVar(&f.limit, "for", 0, "stop after this time; what is not tried then counts neither way")
	set.Float64Var(&f.atLeast, "at-least", 0, "exit with 1 when a smaller share of a group is noticed, in percent")
	set.BoolVar(&f.list, "list", false, "print the mutants that would be planted, and stop")
	set.BoolVar(&f.equivalent, "equivalent", false, "plant those that are listed as equivalent, and no others: none should be noticed")
	set.BoolVar(&f.own, "own", false, "run the tests of a mutant's own package only: a quick look")
	set.BoolVar(&f.quiet, "quiet", false, "do not tell what is going on")
	set.Int64Var(&f.memory, "memory", 4<<10, "address space that a test may have, in MiB: a fault may allocate without end")
	if err := set.Parse(args); err != nil {
		return refused
	}
	if set.NArg() > 0 {
		fmt.Fprintf(stderr, "mutate: %q is no flag; see --help\n", set.Arg(0))
		return refused
	}
	counted := false
	set.Visit(func(g *flag.Flag) { counted = counted || g.Name == "count" })
	if !counted && f.changed+f.mutants+f.again != "" || !counted && f.equivalent {
		f.count = 0
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	code, err := f.mutate(ctx, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, err)
	}
	return code
}

func names() (all []string) {
	for _, g := range mutation.Groups {
		all = append(all, g.Name)
	}
	return all
}

func (f flags) mutate(ctx context.Context, stdout, stderr io.Writer) (int, error) {
	options := mutation.Options{Count: f.count, Seed: f.seed, Memory: f.memory << 20}
	if !f.quiet {
		options.Log = func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }
	}
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return refused, fmt.Errorf("mutate: %w; is this folder in the module?", err)
	}
	options.Root = strings.TrimSpace(string(root))
	groups, err := f.chosen()
	if err != nil {
		return refused, err
	}
	if options.Equivalent, err = mutation.Equivalents(); err != nil {
		return failed, err
	}
	if options.Keep, err = f.keep(options); err != nil {
		return refused, err
	}
	if f.equivalent {
		options.Equivalent = nil
	}
	var deadline time.Time
	if f.limit > 0 {
		deadline = time.Now().Add(f.limit)
	}
	code := enough
	var reports []*mutation.Report
	for _, g := range groups {
		if options.Group = g; f.own {
			options.Group.Tests = nil
		}
		if !deadline.IsZero() {
			options.For = max(time.Until(deadline), time.Nanosecond)
		}
		if f.list {
			if err := mutation.Preview(options, stdout); err != nil {
				return failed, err
			}
			continue
		}
		report, err := mutation.Run(ctx, options)
		if err != nil {
			return failed, err
		}
		if len(report.Mutants) == 0 && (f.changed != "" || f.mutants != "" || f.files != "" || f.again != "") {
			continue // of another group
		}
		if err := report.Write(stdout); err != nil {
			return failed, err
		}
		reports = append(reports, report)
		if report.Percent() < f.atLeast {
			code = tooFew
		}
	}
	if f.into != "" {
		text, err := json.MarshalIndent(reports, "", "\t")
		if err != nil {
			return failed, err
		}
		if err := os.WriteFile(f.into, append(text, '\n'), 0o666); err != nil {
			return failed, err
		}
	}
	return code, nil
}

func (f flags) chosen() (groups []mutation.Group, err error) {
	if f.groups == "" {
		return mutation.Groups, nil
	}
	for name := range strings.SplitSeq(f.groups, ",") {
		i := slices.IndexFunc(mutation.Groups, func(g mutation.Group) bool { return g.Name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("mutate: no group %q; there are %s", name, strings.Join(names(), ", "))
		}
		groups = append(groups, mutation.Groups[i])
	}
	return groups, nil
}

// keep says which mutants the flags leave.
func (f flags) keep(o mutation.Options) (func(*mutation.Mutant) bool, error) {
	var lines mutation.Lines
	if f.changed != "" {
		var err error
		if lines, err = mutation.Changed(o.Root, f.changed); err != nil {
			return nil, err
		}
	}
	var ids map[string]bool
	if f.again != "" {
		var err error
		if ids, err = survivors(f.again); err != nil {
			return nil, err
		}
	}
	var patterns []string
	if f.files != "" {
		patterns = strings.Split(f.files, ",")
		for _, p := range patterns {
			if _, err := path.Match(p, ""); err != nil {
				return nil, fmt.Errorf("mutate: --file %q: %w", p, err)
			}
		}
	}
	return func(m *mutation.Mutant) bool {
		_, listed := o.Equivalent[m.ID()]
		matches := func(p string) bool { ok, _ := path.Match(p, m.File); return ok }
		return (lines == nil || lines.Touches(m)) && (ids == nil || ids[m.ID()]) && (!f.equivalent || listed) &&
			strings.Contains(m.ID(), f.mutants) && (patterns == nil || slices.ContainsFunc(patterns, matches))
	}, nil
}

// survivors reads which mutants survived from a report.
func survivors(file string) (map[string]bool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("mutate: %w", err)
	}
	var reports []mutation.Report
	if err := json.Unmarshal(text, &reports); err != nil {
		return nil, fmt.Errorf("mutate: %s is no report: %w", file, err)
	}
	ids := make(map[string]bool)
	for _, r := range reports {
		for _, e := range r.Mutants {
			ids[e.ID] = ids[e.ID] || e.Status == mutation.Survived
		}
	}
	return ids, nil
}
