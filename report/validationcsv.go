package report

import (
	"bytes"
	"encoding/csv"
	"strconv"

	"dmebench/claims"
	"dmebench/report/columns"
	"dmebench/result"
)

// validationCSV has a row for each claim at each point, and one for a claim that has
// none.
func validationCSV(d *claims.Document) []byte {
	rows := [][]string{columns.Header("algorithm", "set", "transport", "nodes", "claim", "quantity", "formula", "load", "kind", "source",
		"verdict", "condition", "standing", "runs", "predicted", "mean", "mean_ci999_low", "mean_ci999_high", "min", "max",
		"closest", "tolerance", "tolerance_for", "evidence")}
	for _, v := range d.Claims {
		about := []string{v.ID, v.Quantity, v.Formula, string(v.Load), string(v.Kind), v.Source, string(v.Verdict)}
		subject := []string{v.Algorithm, result.Settings(v.Set)}
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
	var out bytes.Buffer
	_ = csv.NewWriter(&out).WriteAll(rows) // a bytes.Buffer takes everything
	return out.Bytes()
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
