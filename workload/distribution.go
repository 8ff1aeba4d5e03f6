package workload

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"dmebench/dme"
)

// MaxDuration bounds every duration that a run is given. All sums
// of a few of them, and products with a number of nodes to learn when to lose
// patience, stay within 64 bits of nanoseconds, which are 292 years.
const MaxDuration = 2400 * time.Hour

// maxHeld bounds the time that all critical sections of a run take together.
const maxHeld = 200 * 365 * 24 * time.Hour

// Distribution is a duration: constant, or exponentially distributed.
type Distribution struct {
	Mean        time.Duration
	Exponential bool
}

// ParseDistribution reads "100us" or "exp:100us".
func ParseDistribution(s string) (Distribution, error) {
	mean, exponential := strings.CutPrefix(s, "exp:")
	d, err := dme.ParseDuration(mean)
	if err != nil {
		return Distribution{}, err
	}
	if d < 0 {
		return Distribution{}, errors.New("a duration must not be negative")
	}
	if d > MaxDuration {
		return Distribution{}, fmt.Errorf("longer than %v, the longest duration of anything in a run", MaxDuration)
	}
	return Distribution{Mean: d, Exponential: exponential}, nil
}

func (d Distribution) String() string {
	if d.Exponential {
		return "exp:" + d.Mean.String()
	}
	return d.Mean.String()
}

func parseDuration(s string) (time.Duration, error) {
	d, err := ParseDistribution(s)
	if err == nil && d.Exponential {
		err = errors.New("not a duration")
	}
	return d.Mean, err
}

var parseCount = dme.Whole(1, math.MaxInt)

// parseShare reads a fraction above 0.
func parseShare(s string) (float64, error) {
	x, err := dme.Fraction(s)
	if err == nil && x == 0 {
		err = errors.New("not above 0")
	}
	return x, err
}

// draw draws a duration. Only that of an exponential distribution needs rng.
func (d Distribution) draw(rng *rand.Rand) time.Duration {
	if !d.Exponential {
		return d.Mean
	}
	return time.Duration(rng.ExpFloat64() * float64(d.Mean))
}

// purpose separates the random streams of one node.
type purpose uint64

const (
	holds purpose = iota + 1
	arrivals
	steps
	modes
)

// stream returns the random numbers of node id for one purpose.
func (p *Plan) stream(why purpose, id dme.NodeID) *rand.Rand {
	return rand.New(rand.NewPCG(p.seed, uint64(why)<<56|uint64(id)))
}
