package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"dmebench/claims"
	"dmebench/internal/platform/layout"
	"dmebench/report/cells"
	"dmebench/runs"
	"dmebench/units"
)

// File is a file of a report, to be written as a whole.
type File struct {
	Name string
	Data []byte
}

// Validation returns the files of a validation: for programs, for a repository
// and for a browser.
func Validation(d *claims.Document) ([]File, error) {
	b, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return nil, fmt.Errorf("report: validation: %w", err)
	}
	html, err := ClaimsPage(d).Render()
	if err != nil {
		return nil, fmt.Errorf("report: validation: %w", err)
	}
	return []File{
		{"validate.json", append(b, '\n')},
		{"validate.md", validationMarkdown(d)},
		{"validate.html", html},
		{"validate.csv", validationCSV(d)},
	}, nil
}

func conditionsText(d *claims.Document) string {
	text := fmt.Sprintf("mode %s · network %s · seed %d · started %s", d.Mode, d.Transport, d.Seed, d.Started)
	if len(d.Controls) > 0 {
		text += " · not validated, because known to be wrong as published: " + strings.Join(d.Controls, ", ")
	}
	return text
}

// span writes the least and the greatest value of a point.
func span(p claims.Point) string {
	switch {
	case p.Min == nil || p.Max == nil:
		return ""
	case *p.Max == *p.Min:
		return units.Number(*p.Min)
	}
	return units.Number(*p.Min) + " … " + units.Number(*p.Max)
}

func placeText(transport, condition string) string {
	if transport == "" && condition == "" {
		return "construction"
	}
	return claims.Place(transport, condition)
}

func count(n int) string { return units.Count(uint64(n)) }

// sizesText says at how many numbers of nodes something was measured: "12: 7 … 993".
func sizesText(sizes []int) string {
	if len(sizes) == 0 {
		return units.Missing
	}
	return fmt.Sprintf("%d: %s … %s", len(sizes), count(sizes[0]), count(sizes[len(sizes)-1]))
}

func boundsText(b *claims.Bounds) string {
	switch {
	case b == nil:
		return units.Missing
	case b.Lo == nil || b.Hi == nil:
		return units.Number(b.Value) + " (unbounded)"
	case *b.Lo == *b.Hi:
		return units.Number(b.Value)
	}
	return fmt.Sprintf("%s [%s, %s]", units.Number(b.Value), units.Number(*b.Lo), units.Number(*b.Hi))
}

// rankingText lists growths by how well they fit, each with by how much it is worse than
// the best: "√N, log N (+12), …".
func rankingText(ranking []claims.Ranked) string {
	var parts []string
	for i, r := range ranking {
		switch {
		case r.AICc == nil:
			parts = append(parts, r.Growth+" (exact)")
		case i == 0:
			parts = append(parts, r.Growth)
		case r.Delta == nil: // the best is exact
			parts = append(parts, r.Growth+" (+∞)")
		default:
			parts = append(parts, r.Growth+" (+"+units.Number(*r.Delta)+")")
		}
	}
	return strings.Join(parts, ", ")
}

// validationMarkdown is the document as a page of a repository.
func validationMarkdown(d *claims.Document) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Do the papers' claims hold?\n\n%s\n\n%s\n", ValidationSummary(d), conditionsText(d))
	if growth := growthTable(d, nil); len(growth.Rows) > 0 {
		fmt.Fprintf(&b, "\n## How messages grow\n\n%s\n\n", growth.Note)
		t := layout.NewTable()
		for _, c := range growth.Columns {
			t.Extend(c.Title)
		}
		for _, r := range growth.Rows {
			t.Add()
			for _, v := range r.Values {
				t.Extend(cmp.Or(v.Text, units.Missing))
			}
		}
		_ = t.WriteMarkdown(&b) // a Builder takes everything
	}
	for _, of := range cells.Grouped(d.Claims, func(v claims.Verdict) string { return v.Algorithm }) {
		fmt.Fprintf(&b, "\n## %s\n\n", of[0].Algorithm)
		t := layout.NewTable("claim", "source", "load", "predicted", "measured", "verdict")
		for _, v := range of {
			t.Add(claimCells(v)...)
		}
		_ = t.WriteMarkdown(&b)
	}
	return []byte(b.String())
}

// validationCSV has a row for each claim at each point, and one for a claim that has
// none.
func validationCSV(d *claims.Document) []byte {
	rows := [][]string{runs.TableHead("algorithm", "set", "transport", "nodes", "claim", "quantity", "formula", "load", "kind", "source",
		"verdict", "condition", "standing", "runs", "predicted", "mean", "mean_ci999_low", "mean_ci999_high", "min", "max",
		"closest", "tolerance", "tolerance_for", "evidence")}
	for _, v := range d.Claims {
		about := []string{v.ID, v.Quantity, v.Formula, string(v.Load), string(v.Kind), v.Source, string(v.Verdict)}
		subject := []string{v.Algorithm, runs.Settings(v.Set)}
		if len(v.Points) == 0 {
			row := append(append(subject, "", ""), about...)
			rows = append(rows, append(row, make([]string, len(rows[0])-len(row))...))
		}
		for _, p := range v.Points {
			row := append(append([]string{}, subject...), p.Transport, strconv.Itoa(p.Nodes))
			row = append(append(row, about...), p.Condition, string(p.Standing), strconv.Itoa(p.Runs), number(p.Predicted))
			var tolerance *float64
			if p.Tolerance > 0 {
				tolerance = &p.Tolerance
			}
			for _, x := range []*float64{p.Mean, p.Lo, p.Hi, p.Min, p.Max, p.Closest, tolerance} {
				text := ""
				if x != nil {
					text = number(*x)
				}
				row = append(row, text)
			}
			rows = append(rows, append(row, p.ToleranceFor, evidence(p)))
		}
	}
	return layout.CSV(rows)
}

// evidence says what a point rests on.
func evidence(p claims.Point) string {
	switch {
	case p.Source != "":
		return p.Source
	case p.Transport == "":
		return "construction"
	}
	return "runs"
}
