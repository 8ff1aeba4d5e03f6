package chaudhurikaraata

import (
	"math"

	"dmebench/dme"
)

// SpaceBits is the space of a corner as the paper counts it: 3 log m bits for each
// REQUEST that waits, and mutex.
var SpaceBits = dme.Quantity{ID: "space-bits", Name: "bits that a node needs"}

// spaceBound is the paper's bound, which is O(n^(2/3) log n).
func spaceBound(m float64) float64 { return 3*m*(m+1)*math.Log2(m) + 1 }

func newSpace(s dme.Setting) dme.Meter {
	side := meshOf(s).sizes[0]
	return dme.Largest(func(x dme.Moment) (float64, bool) {
		n, ok := x.Node.(*node)
		if !ok {
			return 0, false
		}
		return 3*math.Log2(float64(side))*float64(n.QueueLength()) + 1, true
	})
}
