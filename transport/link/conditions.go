package link

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/transport"
)

// Conditions are what a link does to its frames. The zero value does nothing.
type Conditions struct {
	Delay       Delay         // of each frame
	Jitter      time.Duration // up to which, uniformly, each frame takes longer still
	Loss        float64       // probability that a frame vanishes
	Duplication float64       // probability that a frame arrives twice
	Reordering  float64       // probability that a frame is held back while others pass
	Bandwidth   int           // bytes per second; 0 means no limit

	// Holding is up to which, uniformly, a frame that is reordered is held back, and
	// a duplicate follows; 0 means DefaultHolding.
	Holding time.Duration
}

const DefaultHolding = time.Millisecond

type Link struct{ From, To dme.NodeID }

type Config struct {
	Seed       uint64
	All        Conditions // of every link for which no rule is in force
	Rules      []Rule     // of single links; the first that is in force holds
	Sites      *Sites     // nil: all nodes are at one
	Partitions []Partition
	Cut        *Cut // partitions that are made at run time; nil: none will be

	// LargestFrame is the size in bytes of the largest frame that the transport
	// beneath carries; 0 means transport.MaxFrame.
	LargestFrame int
}

func (c *Config) each(f func(Conditions)) {
	f(c.All)
	for i := range c.Rules {
		f(c.Rules[i].Conditions)
	}
}

// Idle reports whether the configuration leaves every frame alone.
func (c *Config) Idle() bool {
	idle := len(c.Partitions) == 0 && c.Cut == nil && c.Sites == nil
	c.each(func(x Conditions) {
		x.Holding = 0
		idle = idle && x == Conditions{}
	})
	return idle
}

// Guarantees is what is left of the guarantees of the transport beneath.
func (c *Config) Guarantees(g transport.Guarantees) transport.Guarantees {
	if c.Idle() {
		return g
	}
	g.Broadcast, g.SequencedBroadcast = false, false
	if len(c.Partitions) > 0 || c.Cut != nil {
		g.Reliable = false
	}
	c.each(func(x Conditions) {
		if x.Loss > 0 || x.Duplication > 0 {
			g.Reliable = false
		}
		if x.Reordering > 0 || x.Duplication > 0 {
			g.FIFO = false
		}
	})
	return g
}

// Longest returns for how long a frame waits at most; that has no bound for delays with a
// tail, and if frames queue for bandwidth.
func (c *Config) Longest() (longest time.Duration, bounded bool) {
	bounded = true
	c.each(func(x Conditions) {
		d, ok := x.Delay.longest()
		bounded = bounded && ok && x.Bandwidth == 0
		longest = max(longest, d+x.Jitter+x.holds()+c.Sites.longest())
	})
	return longest, bounded
}

// Typical returns about how long a frame of that many bytes takes on the slowest link.
func (c *Config) Typical(bytes int) (typical time.Duration) {
	c.each(func(x Conditions) {
		typical = max(typical, x.Delay.Mean+x.Jitter+x.holds()+x.transmission(bytes)+c.Sites.longest())
	})
	return typical
}

// Steady reports whether every frame of a link takes as long as any other.
func (c *Config) Steady() bool {
	steady := c.Sites.steady()
	c.each(func(x Conditions) {
		steady = steady && x.Delay.Shape == Constant && x.Jitter == 0 && x.holds() == 0 && x.Bandwidth == 0
	})
	return steady
}

func (c *Conditions) holding() time.Duration { return cmp.Or(c.Holding, DefaultHolding) }

func (c *Conditions) holds() time.Duration {
	if c.Reordering == 0 && c.Duplication == 0 {
		return 0
	}
	return c.holding()
}

func (c *Conditions) transmission(bytes int) time.Duration {
	if c.Bandwidth == 0 {
		return 0
	}
	return time.Duration(float64(bytes) / float64(c.Bandwidth) * float64(time.Second))
}

// MaxDelay is the longest delay that a frame can have: longer ones are cut.
const MaxDelay = time.Minute

type Delay struct {
	Shape  Shape
	Mean   time.Duration
	Spread time.Duration
	// Index is the tail index of a Pareto delay, above 1; below 2 the variance is infinite.
	Index float64
}

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
		if d, err := time.ParseDuration(words[i]); err == nil {
			return d
		}
		return -1
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
	case d.Mean > MaxDelay:
		return fmt.Errorf("link: mean delay %v: want one from 0 to %v", d.Mean, MaxDelay)
	case d.Shape == Pareto && !(d.Index > 1 && d.Index <= 1000):
		return fmt.Errorf("link: tail index %v of a delay: want one above 1, such as 1.5, and at most 1000; at 1 the mean is infinite", d.Index)
	}
	return nil
}

// draw returns the delay at u, in [0, 1), of the distribution.
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

func (d *Delay) longest() (longest time.Duration, bounded bool) {
	switch d.Shape {
	case Constant:
		return d.Mean, true
	case Uniform:
		return d.Mean + d.Spread, true
	}
	return MaxDelay, false
}

// Impairment takes a frame to wait, with limited bandwidth, for as many others as a window
// of 128 KiB holds.
func (t *Transport) Impairment(a, b dme.NodeID) transport.Impairment {
	t.mu.Lock()
	now := t.clock()
	t.mu.Unlock()
	return t.config.impairment(Link{a, b}, now)
}

func (c *Config) impairment(l Link, now time.Duration) (x transport.Impairment) {
	passes := 1.0
	for _, l := range []Link{l, {l.To, l.From}} {
		at := c.Conditioner(l).conditions(now)
		passes *= 1 - at.Loss
		x.Delay += at.slowest() + c.Sites.way(l).longest()
	}
	if c.separates(l, now) {
		passes = 0
	}
	x.Loss = 1 - passes
	return x
}

// slowest is what no frame but one in a billion waits longer than.
func (c *Conditions) slowest() time.Duration {
	const window = 128 << 10
	return c.Delay.draw(1-1e-9) + c.Jitter + c.holds() + c.transmission(window)
}
