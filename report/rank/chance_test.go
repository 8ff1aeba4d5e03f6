package rank_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/report/rank"
	"dmebench/result"
)

// On sets in which all algorithms are the same, hardly ever is any difference named.
// Without a correction that is so in a quarter of all sets, and with one for the
// comparisons with the best alone, which is chosen after the fact, in 7 to 8%.
func TestNoDifferenceWhereThereIsNone(t *testing.T) {
	const sets, algorithms = 1000, 6
	for _, repetitions := range []int{6, 10} {
		rng := rand.New(rand.NewPCG(2026, uint64(repetitions)))
		named, uncorrected := 0, 0
		for range sets {
			var cells [][]result.Run
			for a := range algorithms {
				var values []float64
				for range repetitions {
					values = append(values, 1000+20*rng.NormFloat64())
				}
				cells = append(cells, cell(fmt.Sprint("a", a), 4, values...))
			}
			c := only(t, ranked(t, rank.Options{Metrics: []string{result.Throughput}}, cells...))
			if len(c.Best) < algorithms {
				named++
			}
			if slices.ContainsFunc(c.Entrants, func(e rank.Entrant) bool { p := e.Cells[0].P; return p != nil && *p <= 0.05 }) {
				uncorrected++
			}
		}
		if named > 65 || named < 5 {
			t.Errorf("%d repetitions: a difference is named in %d of %d sets, want at most 6.5%%, and some", repetitions, named, sets)
		}
		if uncorrected < 150 {
			t.Errorf("%d repetitions: p-values of one test are too large: %d of %d sets", repetitions, uncorrected, sets)
		}
	}
}

// A difference of twice the spread is found in most sets, and names the best.
func TestDifferencesAreFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(2026, 1))
	won := 0
	for range 200 {
		var cells [][]result.Run
		for a := range 5 {
			var values []float64
			for range 10 {
				values = append(values, 1000+float64(60*a)+20*rng.NormFloat64())
			}
			cells = append(cells, cell(fmt.Sprint("a", a), 4, values...))
		}
		if c := only(t, ranked(t, rank.Options{}, cells...)); c.Outcome == rank.Won && c.Best[0] == "a4" {
			won++
		}
	}
	if won < 190 {
		t.Errorf("the best of five is named in %d of 200 sets, want most", won)
	}
}

// The p-values of a column are corrected over all pairs of it, as R has it:
// pairwise.wilcox.test(x, g, p.adjust.method = "holm").
func TestCorrectionIsOverPairs(t *testing.T) {
	c := only(t, ranked(t, rank.Options{}, about("a", 4, 100, 6), about("b", 4, 200, 6), about("c", 4, 203, 6), about("d", 4, 400, 6)))
	x := c.Entrants[slices.IndexFunc(c.Entrants, func(e rank.Entrant) bool { return e.Label == "c" })].Cells[0]
	// Five of the six pairs are apart, each with 2 of 924 ways; Holm's steps end there.
	if math.Abs(*x.P-2./924) > 1e-12 || math.Abs(*x.PHolm-6*2./924) > 1e-12 {
		t.Errorf("p = %v, corrected %v", *x.P, *x.PHolm)
	}
	if c.Columns[0].Needed != 5 {
		t.Errorf("6 pairs need %d repetitions", c.Columns[0].Needed)
	}
}
