package workload

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"dmebench/dme"
)

// Distribution is a duration: constant, or exponentially distributed.
type Distribution struct {
	Mean        time.Duration
	Exponential bool
}

// ParseDistribution reads "100us" or "exp:100us".
func ParseDistribution(s string) (Distribution, error) {
	mean, exponential := strings.CutPrefix(s, "exp:")
	d, err := time.ParseDuration(mean)
	if err != nil {
		return Distribution{}, errors.New("not a duration")
	}
	if d < 0 {
		return Distribution{}, errors.New("a duration must not be negative")
	}
	return Distribution{Mean: d, Exponential: exponential}, nil
}

func (d Distribution) String() string {
	if d.Exponential {
		return "exp:" + d.Mean.String()
	}
	return d.Mean.String()
}

func validDistribution(s string) error {
	_, err := ParseDistribution(s)
	return err
}

func validDuration(s string) error {
	d, err := ParseDistribution(s)
	if err == nil && d.Exponential {
		err = errors.New("not a duration")
	}
	return err
}

func validCount(s string) error {
	if n, err := strconv.Atoi(s); err != nil || n < 1 {
		return errors.New("not a positive number")
	}
	return nil
}

func validFraction(s string) error {
	if x, err := strconv.ParseFloat(s, 64); err != nil || !(x > 0 && x <= 1) {
		return errors.New("not a number above 0 and at most 1")
	}
	return nil
}

func validPart(s string) error {
	_, err := parsePart(s)
	return err
}

func parsePart(s string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x >= 0 && x <= 1) {
		return 0, errors.New("not a number from 0 to 1")
	}
	return x, nil
}

// sampler draws durations from a distribution.
type sampler struct {
	d   Distribution
	rng *rand.Rand
}

func newSampler(d Distribution, rng *rand.Rand) *sampler { return &sampler{d: d, rng: rng} }

func (s *sampler) next() time.Duration {
	if !s.d.Exponential {
		return s.d.Mean
	}
	return time.Duration(s.rng.ExpFloat64() * float64(s.d.Mean))
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
