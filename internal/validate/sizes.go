package validate

import (
	"cmp"
	"math"
	"slices"

	"dmebench/algorithms/quorum"
)

// rungs returns count sizes from lo to hi at equal ratios.
func rungs(count, lo, hi int) []int {
	var sizes []int
	for i := range count {
		step := float64(i) / float64(count-1)
		sizes = append(sizes, int(math.Round(float64(lo)*math.Pow(float64(hi)/float64(lo), step))))
	}
	return sizes
}

// near returns the sizes that may stand for a rung of a ladder, the nearest
// first: the rung, and sizes at which the constructions of the field are regular
// – complete binary trees, projective planes, squares, cubes – up to a factor of √2 away.
// Beyond manyNodes, where constructing takes long, it is trees, planes and cubes
// alone.
func near(rung int) []int {
	many := rung > manyNodes
	var sizes []int
	consider := func(n int) {
		if away := math.Abs(math.Log2(float64(n) / float64(rung))); n >= 3 && away <= 0.5 {
			sizes = append(sizes, n)
		}
	}
	if !many {
		consider(rung)
	}
	for n := 4; n <= 2*rung; n *= 2 {
		if !many {
			consider(n)
		}
		consider(n - 1)
	}
	for q := 2; q*q <= 2*rung; q++ { // all three families end before that
		if quorum.PrimePower(q) > 0 {
			consider(q*q + q + 1)
		}
		if !many {
			consider(q * q)
		}
		consider(q * q * q)
	}
	away := func(n int) float64 { return math.Abs(math.Log(float64(n) / float64(rung))) }
	slices.SortFunc(sizes, func(a, b int) int { return cmp.Or(cmp.Compare(away(a), away(b)), cmp.Compare(a, b)) })
	return slices.Compact(sizes)
}
