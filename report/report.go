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
	"cmp"
	"fmt"
	"path/filepath"

	"dmebench/dme"
	"dmebench/report/plots"
	"dmebench/report/units"
	"dmebench/result"
)

// Input is an experiment and what came of it.
type Input struct {
	result.Set

	// Claims returns the claims of an algorithm. It may be nil.
	Claims func(algorithm string) []dme.Claim

	// Setting prepares the system that a claim's prediction is evaluated on; ok
	// is false where there is no such system. It may be nil: then there are no
	// predictions.
	Setting func(spec result.Spec) (setting dme.Setting, ok bool)

	// KeepsOrder reports whether the links of a run keep order, for claims that are
	// made of such links only. It may be nil: then all do.
	KeepsOrder func(spec result.Spec) bool

	// Picture draws who waits for whom in a run that has stalled, as an SVG; nil where
	// that is not known. It may be nil: then nothing is drawn.
	Picture func(*result.Result) []byte

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

// Outcome says how a run ended: [result.OK] for one whose numbers are used, else
// the status by which it is left out.
func Outcome(r *result.Result) string {
	if r.Status == result.OK && !result.Usable(r) {
		return string(result.Violated) // whatever it says of itself
	}
	return cmp.Or(string(r.Status), "unknown")
}

// Build writes the report into dir, which it creates where it is missing, and
// returns the path of the page. Whatever the results hold, a page is made; an
// error means that a file could not be written, and names it.
func Build(in Input, dir string) (page string, err error) {
	if in.Formats == nil {
		in.Formats = plots.Formats()
	}
	if err := in.Size.Check(); err != nil {
		return "", fmt.Errorf("report: %w", err)
	}
	f := folder{dir: dir, formats: in.Formats, size: in.Size, only: in.Only, taken: make(units.Names), found: make(map[string]bool)}
	c := collect(in)
	html, err := c.view(&f).page()
	if err != nil {
		return "", fmt.Errorf("report: page: %w", err)
	}
	if err := f.unknown(); err != nil {
		return "", err
	}
	f.put("summary.csv", c.csv())
	f.put("captions.txt", f.captionsText())
	f.put("captions.tex", f.captionsTeX())
	f.put("report.html", html)
	return filepath.Join(dir, "report.html"), f.writeAll()
}
