package catalog_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/internal/golden"
)

// predictedAt are the sizes at which predictions are written down: small ones, planes,
// complete trees, squares and a cube.
var predictedAt = []int{2, 3, 4, 7, 8, 9, 13, 15, 16, 27}

// TestPredictions holds what every claim predicts, number by number: a bound that is
// loosened keeps all measurements happy, and would otherwise go unnoticed.
func TestPredictions(t *testing.T) {
	var text strings.Builder
	for _, a := range catalog.All() {
		for _, c := range a.Claims {
			var values []string
			for _, s := range settings(t, a, c) {
				if !slices.Contains(predictedAt, s.Nodes) {
					continue
				}
				s.E = 3 * s.T / 10 // unlike T
				if value, ok := c.Predict(s); ok {
					values = append(values, fmt.Sprintf("%d:%s", s.Nodes, strconv.FormatFloat(value, 'g', 10, 64)))
				}
			}
			fmt.Fprintf(&text, "%s = %s\n  %s\n", a.ClaimID(c), c.Formula, strings.Join(values, " "))
		}
	}
	golden.MustBe(t, "testdata/predictions.txt", []byte(text.String()))
}
