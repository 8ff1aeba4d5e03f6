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
		"verdict", "condition", "standing", "runs", "predicted", "mean", "mean_ci999_low", "mean_ci999_high", "min", "max")}
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
			for _, x := range []*float64{p.Mean, p.Lo, p.Hi, p.Min, p.Max} {
				text := ""
				if x != nil {
					text = number(*x)
				}
				row = append(row, text)
			}
			rows = append(rows, row)
		}
	}
	var out bytes.Buffer
	_ = csv.NewWriter(&out).WriteAll(rows) // a bytes.Buffer takes everything
	return out.Bytes()
}
