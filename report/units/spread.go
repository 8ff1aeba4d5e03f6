package units

import (
	"fmt"
	"math"
)

// Spread writes the larger half of the interval of a median, relative to the median:
// "2%". It is "∞" where there is no interval, as benchstat has it, "?" where the median
// is 0 and the interval is not, and "" where there is no median.
func Spread(median, lo, hi *float64) string {
	switch {
	case median == nil:
		return ""
	case lo == nil || hi == nil:
		return "∞"
	case *lo == *hi:
		return "0%"
	case *median == 0:
		return "?"
	}
	return fmt.Sprintf("%.0f%%", 100*math.Max(*hi-*median, *median-*lo)/math.Abs(*median))
}
