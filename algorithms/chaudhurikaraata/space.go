package chaudhurikaraata

import (
	"math"

	"dmebench/dme"
)

// SpaceBits is the space of a corner as the paper counts it: 3 log m bits for each
// REQUEST that waits, and mutex.
var SpaceBits = dme.Quantity{ID: "space-bits", Name: "bits that a node needs"}

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
