package units

import (
	"math"
	"strconv"
)

// Bounded writes a time of ns nanoseconds whose error has a bound: "50.0124 ms ± 42 µs".
// The value has as many digits as the bound gives a meaning to, and the bound, with
// two digits, is rounded up. Without a bound it is [Time].
func Bounded(ns, bound float64) string {
	if !finite(ns) || !finite(bound) || bound <= 0 {
		return Time(ns)
	}
	s := TimeScale(max(math.Abs(ns), bound))
	unit := math.Pow(10, math.Floor(math.Log10(bound))-1) // of the bound's second digit
	decimals := max(0, int(math.Ceil(math.Log10(s.Divisor/unit)-1e-9)))
	value := group(strconv.FormatFloat(ns/s.Divisor, 'f', decimals, 64))
	if math.Abs(ns)/s.Divisor < 0.5*math.Pow10(-decimals) {
		value = "0" // and no −0.00
	}
	return value + " " + s.Unit + " ± " + Time(math.Ceil(bound/unit*(1-1e-12))*unit)
}
