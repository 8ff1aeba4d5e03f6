package link

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// MaxDelay is the longest delay that a frame can have: a draw beyond it is cut.
const MaxDelay = time.Minute

// Delay is a distribution of delays. The zero value is none.
type Delay struct {
	Shape Shape
	Mean  time.Duration
	// Spread is by how much a Uniform delay differs from its mean at most.
	Spread time.Duration
	// Index is the tail index of a Pareto delay, above 1: the smaller, the
	// heavier the tail. Below 2 the variance is infinite.
	Index float64
}

// Shape is the kind of a distribution.
type Shape uint8

// The shapes.
const (
	Constant Shape = iota
	Uniform
	Exponential
	Pareto
)

// ParseDelay reads DURATION, uniform:FROM:TO, exp:MEAN or pareto:MEAN:INDEX.
func ParseDelay(s string) (Delay, error) {
	words := strings.Split(s, ":")
	duration := func(i int) time.Duration {
		d, err := time.ParseDuration(words[i])
		if err != nil || d < 0 {
			return -1
		}
		return d
	}
	d := Delay{Mean: -1}
	switch {
	case len(words) == 1 && s == "0":
		d = Delay{}
	case len(words) == 1:
		d.Mean = duration(0)
	case words[0] == "exp" && len(words) == 2:
		d = Delay{Shape: Exponential, Mean: duration(1)}
	case words[0] == "uniform" && len(words) == 3:
		from, to := duration(1), duration(2)
		if from >= 0 && to >= from {
			d = Delay{Shape: Uniform, Mean: from + (to-from)/2, Spread: (to - from) / 2}
		}
	case words[0] == "pareto" && len(words) == 3:
		d = Delay{Shape: Pareto, Mean: duration(1)}
		d.Index, _ = strconv.ParseFloat(words[2], 64)
	}
	if d.Mean < 0 {
		return Delay{}, errors.New("not a delay; say for example --set delay=exp:1ms")
	}
	return d, d.check()
}

func (d *Delay) check() error {
	switch {
	case d.Mean < 0 || d.Mean > MaxDelay:
		return fmt.Errorf("link: mean delay %v: want one from 0 to %v", d.Mean, MaxDelay)
	case d.Shape > Pareto:
		return fmt.Errorf("link: unknown shape %d of a delay", d.Shape)
	case d.Shape == Uniform && (d.Spread < 0 || d.Spread > d.Mean):
		return fmt.Errorf("link: delays from %v to %v: want none below 0", d.Mean-d.Spread, d.Mean+d.Spread)
	case d.Shape == Pareto && !(d.Index > 1 && d.Index <= 1000):
		return fmt.Errorf("link: tail index %v of a delay: want one above 1, such as 1.5, and at most 1000; at 1 the mean is infinite", d.Index)
	}
	return nil
}

// draw returns the delay at u, from 0 to 1 without 1, of the distribution.
func (d *Delay) draw(u float64) time.Duration {
	mean := float64(d.Mean)
	var x float64
	switch d.Shape {
	case Constant:
		x = mean
	case Uniform:
		x = mean + float64(d.Spread)*(2*u-1)
	case Exponential:
		x = -mean * math.Log1p(-u)
	case Pareto:
		least := mean * (d.Index - 1) / d.Index
		x = least * math.Pow(1-u, -1/d.Index)
	}
	return time.Duration(min(x, float64(MaxDelay)))
}

// longest returns the longest delay of the distribution; it is bounded unless
// the distribution has a tail.
func (d *Delay) longest() (longest time.Duration, bounded bool) {
	switch d.Shape {
	case Constant:
		return d.Mean, true
	case Uniform:
		return d.Mean + d.Spread, true
	}
	return MaxDelay, false
}
