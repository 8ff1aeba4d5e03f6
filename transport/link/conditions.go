package link

import (
	"errors"
	"fmt"
	"time"

	"dmebench/algorithms"
	"dmebench/transport"
)

// Conditions are what a link does to its frames. The zero value does nothing.
type Conditions struct {
	Delay       Delay         // that each frame has
	Jitter      time.Duration // up to which, uniformly, each frame takes longer still
	Loss        float64       // probability that a frame vanishes
	Duplication float64       // probability that a frame arrives twice
	Reordering  float64       // probability that a frame is held back while others pass
	Holding     time.Duration // up to which, uniformly, a frame that is reordered is held back, and a duplicate follows; 0 means DefaultHolding
	Bandwidth   int           // bytes per second; 0 means no limit
}

// DefaultHolding is for how long a reordered frame is held back at most.
const DefaultHolding = time.Millisecond

// Link is an ordered pair of nodes.
type Link struct{ From, To algorithms.NodeID }

// Config says what is to be done to which links.
type Config struct {
	Seed       uint64
	All        Conditions          // of every link that Links does not name
	Links      map[Link]Conditions // of single links
	Partitions []Partition

	// LargestFrame is the size in bytes of the largest frame that the transport
	// beneath carries; 0 means transport.MaxFrame.
	LargestFrame int
}

// of returns the conditions of a link.
func (c *Config) of(l Link) Conditions {
	if own, ok := c.Links[l]; ok {
		return own
	}
	return c.All
}

// each calls f for all conditions.
func (c *Config) each(f func(Conditions)) {
	f(c.All)
	for _, own := range c.Links {
		f(own)
	}
}

// Idle reports whether the configuration leaves every frame alone.
func (c *Config) Idle() bool {
	idle := len(c.Partitions) == 0
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
	if len(c.Partitions) > 0 {
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

// check reports every fault of the configuration.
func (c *Config) check() error {
	var errs []error
	c.each(func(x Conditions) { errs = append(errs, x.check()) })
	for _, p := range c.Partitions {
		errs = append(errs, p.check())
	}
	return errors.Join(errs...)
}

func (c *Conditions) check() error {
	var errs []error
	for _, p := range []struct {
		name  string
		value float64
	}{{"loss", c.Loss}, {"duplication", c.Duplication}, {"reordering", c.Reordering}} {
		if !(p.value >= 0 && p.value <= 1) {
			errs = append(errs, fmt.Errorf("link: %s %v: want a probability from 0 to 1", p.name, p.value))
		}
	}
	if c.Jitter < 0 || c.Jitter > MaxDelay || c.Holding < 0 || c.Holding > MaxDelay {
		errs = append(errs, fmt.Errorf("link: jitter %v, holding %v: want durations from 0 to %v", c.Jitter, c.Holding, MaxDelay))
	}
	if c.Bandwidth < 0 {
		errs = append(errs, fmt.Errorf("link: bandwidth of %d bytes per second: want 0 or more", c.Bandwidth))
	}
	return errors.Join(append(errs, c.Delay.check())...)
}

// fate is what is going to happen to one frame.
type fate struct {
	lost, repeated, reordered bool
	delay                     time.Duration // of the frame
	holding                   time.Duration // and longer where it is reordered
	repeat                    time.Duration // of the duplicate
}

// fate draws the fate of the k-th frame of a link.
func (c *Conditions) fate(seed uint64, l Link, k uint64) fate {
	d := newDraws(seed, l, k)
	holding := c.Holding
	if holding == 0 {
		holding = DefaultHolding
	}
	// Always all of them and in this order: each draw has one meaning.
	f := fate{
		lost:      d.unit() < c.Loss,
		repeated:  d.unit() < c.Duplication,
		reordered: d.unit() < c.Reordering,
	}
	f.delay = c.Delay.draw(d.unit()) + scaled(c.Jitter, d.unit())
	f.holding = scaled(holding, d.unit())
	f.repeat = f.delay + scaled(holding, d.unit())
	return f
}

func scaled(d time.Duration, u float64) time.Duration { return time.Duration(float64(d) * u) }

// draws is the random numbers of one frame: a sequence of SplitMix64 (Steele,
// Lea and Flood 2014) that begins at a place of the frame's own.
type draws struct{ x uint64 }

func newDraws(seed uint64, l Link, k uint64) draws {
	x := mix(seed)
	x = mix(x ^ uint64(l.From)<<32 ^ uint64(l.To))
	return draws{mix(x ^ k)}
}

// unit returns a number from 0 to 1, without 1.
func (d *draws) unit() float64 {
	d.x += 0x9e3779b97f4a7c15
	return float64(mix(d.x)>>11) / (1 << 53)
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
