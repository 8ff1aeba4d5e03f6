package catalog_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"dmebench/algorithms/catalog"
	"dmebench/dme"
)

// claimSizes are the numbers of nodes at which claims are evaluated: small ones,
// and those of projective planes, complete trees, squares, and cubes.
var claimSizes = []int{2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 21, 25, 27, 31, 57, 63, 64, 91}

// settings returns what a claim can be evaluated on.
func settings(t *testing.T, a *dme.Algorithm, c dme.Claim) []dme.Setting {
	t.Helper()
	opt, err := a.Resolve(c.Set)
	if err != nil {
		t.Errorf("%s: %s %q: its options: %v", a.Name, c.Quantity, c.Formula, err)
		return nil
	}
	var all []dme.Setting
	for _, n := range claimSizes {
		if a.CheckNodes(n, opt) != nil {
			continue
		}
		sys, err := a.Prepare(dme.Config{Nodes: n, Seed: 1, Options: opt, Bound: 2 * time.Millisecond})
		if err != nil {
			t.Errorf("%s: N=%d: %s %q: %v", a.Name, n, c.Quantity, c.Formula, err)
			continue
		}
		s := dme.Setting{Nodes: n, Options: opt, System: sys, T: time.Millisecond, E: time.Millisecond}
		if c.Load != dme.Open {
			all = append(all, s)
			continue
		}
		s.Rate = 100 // far below what any algorithm can serve
		for _, s.Variability = range []float64{0, 1} {
			all = append(all, s)
		}
	}
	return all
}

// A claim must be made of some system, or nobody would notice that it is never
// judged; what the construction alone determines is judged here.
func TestClaims(t *testing.T) {
	for _, a := range catalog.All() {
		for i, c := range a.Claims {
			if slices.ContainsFunc(a.Claims[:i], func(d dme.Claim) bool { return same(c, d) }) {
				t.Errorf("%s: %s %q, %s: listed twice", a.Name, c.Quantity, c.Formula, c.Load)
			}
			if c.Load == dme.Static && c.Measure == nil {
				t.Errorf("%s: %s %q: nothing can be run to determine it, and nothing measures it", a.Name, c.Quantity, c.Formula)
			}
			applies, refuted := 0, false
			var ratios []float64
			for _, s := range settings(t, a, c) {
				want, ok := c.Predict(s)
				if !ok {
					continue
				}
				applies++
				if want < 0 || math.IsNaN(want) || math.IsInf(want, 0) {
					t.Errorf("%s: N=%d: %s %q predicts %v", a.Name, s.Nodes, c.Quantity, c.Formula, want)
				}
				if c.Measure == nil {
					continue
				}
				got, ok := c.Measure(s)
				if !ok {
					t.Errorf("%s: N=%d: %s %q predicts %v and measures nothing", a.Name, s.Nodes, c.Quantity, c.Formula, want)
					continue
				}
				if s.Nodes >= 7 {
					ratios = append(ratios, got/want)
				}
				if agree(c.Kind, got, want) {
					continue
				}
				refuted = true
				if c.KnownFalse == "" {
					t.Errorf("%s: N=%d: %s, %s %q: it is %v, not %v", a.Name, s.Nodes, c.Quantity, c.Kind, c.Formula, got, want)
				}
			}
			if applies == 0 {
				t.Errorf("%s: %s %q, %s, %v: it applies to no number of nodes", a.Name, c.Quantity, c.Formula, c.Load, c.Set)
			}
			if c.Measure == nil {
				continue
			}
			if c.Kind == dme.Asymptotic && slices.Max(ratios) > 2*slices.Min(ratios) {
				t.Errorf("%s: %s %q: it does not grow like that: %.2f times the formula", a.Name, c.Quantity, c.Formula, ratios)
			}
			if c.KnownFalse != "" && !refuted {
				t.Errorf("%s: %s %q is said to be false, and nothing measured here shows it", a.Name, c.Quantity, c.Formula)
			}
		}
	}
}

func agree(k dme.ClaimKind, got, want float64) bool {
	const rounding = 1e-9
	switch k {
	case dme.UpperBound:
		return got <= want+rounding
	case dme.LowerBound:
		return got >= want-rounding
	case dme.Asymptotic:
		return true // judged over all sizes
	}
	return math.Abs(got-want) <= rounding
}

// same reports whether two claims would be told by the same words.
func same(c, d dme.Claim) bool {
	return c.Quantity == d.Quantity && c.Formula == d.Formula && c.Load == d.Load && c.Kind == d.Kind
}
