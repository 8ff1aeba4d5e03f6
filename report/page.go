// Package report turns the results of an experiment into pictures and one page
// that can be trusted: report.html, which needs nothing but a browser,
// plots/*.{svg,png,pdf} with their captions, tables/*.tex and summary.csv.
//
// It is handed results and claims, and knows neither networks nor algorithms.
// Guarantees: a run that did not end well is in no median and in no figure, but
// is named on the page; every figure says over which workload and network it
// was measured; every median stands with its interval, or with the reason why
// there is none; the same input gives the same bytes. Files are written
// beside their place and renamed, so that a reader never sees half of one.
//
// It does not judge claims: it shows predictions beside measurements and says
// where the two are equal.
package report

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/units"
)

// Input is an experiment and what came of it.
type Input struct {
	runs.Set

	// Claims returns the claims of an algorithm. It may be nil.
	Claims func(algorithm string) claim.List

	// Setting prepares the system that a claim's prediction is evaluated on, and says to what claims
	// its runs belong; ok is false if there is no such system. It may be nil: then there are no
	// predictions, and all links keep order and broadcast.
	Setting func(spec runs.Spec) (setting dme.Setting, c claims.Circumstance, ok bool)

	// Picture draws the wait-for graph of a run that has stalled, as an SVG; nil if that is not
	// known. It may be nil: then nothing is drawn.
	Picture func(*runs.Result) []byte

	// Plots also writes figures for papers beside the page, with captions and tables.
	Plots bool

	// Formats are those in which plots are written beside the page, svg, png or
	// pdf; nil for all of them. In the page they are there in any case.
	Formats []plots.Format

	// Only chooses figures by patterns of their names, as [path.Match] has them; nil for
	// those that have something to say. So also what a report leaves out can be drawn.
	Only []string

	// Size is how large the files of the plots are drawn. In the page figures are as
	// large as a screen wants them.
	Size plots.Size
}

// Build writes the report into dir, which it creates if it is missing, and returns the path of the
// page. A page is made of any results; an error means that a file could not be written,
// and names it.
func Build(in Input, dir string) (page string, err error) {
	files, err := in.files()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "report.html"), writeAll(dir, files)
}

// files makes those of a report.
func (in Input) files() ([]File, error) {
	if in.Formats == nil {
		in.Formats = plots.Formats()
	}
	if err := in.Size.Check(); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	c := collect(in)
	data, err := c.page()
	if err != nil {
		return nil, err
	}
	html, err := data.Render()
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	files := []File{{"summary.csv", c.csv()}, {"report.html", html}}
	if in.Plots || in.Only != nil {
		plots, err := c.plotFiles()
		if err != nil {
			return nil, err
		}
		files = append(files, plots...)
	}
	return files, nil
}

// fact is a line of the environment's table.
type fact struct{ Name, Value string }

// Facts counts in how many environments each fact has which value.
func Facts(environments []map[string]string) map[string]map[string]int {
	facts := make(map[string]map[string]int)
	for _, e := range environments {
		for k, v := range e {
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
	var found []map[string]string
	for _, r := range c.runs {
		found = append(found, r.Result.Environment)
	}
	values := Facts(found)
	for k, v := range c.in.Header.Environment {
		if values[k] == nil {
			values[k] = make(map[string]int)
		}
		values[k][v] += 0 // of no run, as yet
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
			parts = append(parts, fmt.Sprintf("%s (%s)", v, units.Counted(runs[v], "run")))
		}
	}
	return strings.Join(parts, "; ")
}
