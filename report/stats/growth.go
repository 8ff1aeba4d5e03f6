package stats

import (
	"fmt"
	"math"
)

// Growth is a function of the number of nodes that a quantity may grow with.
type Growth struct {
	Name string                  // as on a page: "N^(2/3)"
	Of   func(n float64) float64 // finite for every n ≥ 1
}

// The growths that papers of the field speak of, from the slowest on. Constant
// is the growth of what does not grow.
func Constant() Growth   { return Growth{"constant", func(float64) float64 { return 1 }} }
func Log() Growth        { return Growth{"log N", math.Log} }
func CubeRoot() Growth   { return Growth{"N^(1/3)", math.Cbrt} }
func SquareRoot() Growth { return Growth{"N^(1/2)", math.Sqrt} }
func TwoThirds() Growth {
	return Growth{"N^(2/3)", func(n float64) float64 { x := math.Cbrt(n); return x * x }}
}
func Linear() Growth { return Growth{"N", func(n float64) float64 { return n }} }

// Growths returns them all, from the slowest on.
func Growths() []Growth {
	return []Growth{Constant(), Log(), CubeRoot(), SquareRoot(), TwoThirds(), Linear()}
}

// Power is the growth with the p-th power of N, for any exponent p.
func Power(p float64) Growth {
	return Growth{fmt.Sprintf("N^%.4g", p), func(n float64) float64 { return math.Pow(n, p) }}
}
