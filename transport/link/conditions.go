package link

import (
	"errors"
	"fmt"
	"time"

	"dmebench/dme"
	"dmebench/transport"
)

// Conditions are what a link does to its frames. The zero value does nothing.
type Conditions struct {
	Delay       Delay         // that each frame has
	Jitter      time.Duration // up to which, uniformly, each frame takes longer still
	Loss        float64       // probability that a frame vanishes
	Duplication float64       // probability that a frame arrives twice
	Reordering  float64       // probability that a frame is held back while others pass
	Bandwidth   int           // bytes per second; 0 means no limit

	// Holding is up to which, uniformly, a frame that is reordered is held back, and
	// a duplicate follows; 0 means DefaultHolding.
	Holding time.Duration
}

// DefaultHolding is for how long a reordered frame is held back at most.
const DefaultHolding = time.Millisecond

// Link is an ordered pair of nodes.
type Link struct{ From, To dme.NodeID }

// Config says what is to be done to which links.
type Config struct {
	Seed       uint64
	All        Conditions // of every link for which no rule is in force
	Rules      []Rule     // of single links; the first that is in force holds
	Partitions []Partition
	Cut        *Cut // partitions that are made at run time; nil: none will be

	// LargestFrame is the size in bytes of the largest frame that the transport
	// beneath carries; 0 means transport.MaxFrame.
	LargestFrame int
}

// each calls f for all conditions.
func (c *Config) each(f func(Conditions)) {
	f(c.All)
	for i := range c.Rules {
		f(c.Rules[i].Conditions)
	}
}

// Idle reports whether the configuration leaves every frame alone.
func (c *Config) Idle() bool {
	idle := len(c.Partitions) == 0 && c.Cut == nil
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

// Longest returns for how long a frame waits at most; bounded is false where
// that has no bound that can be told beforehand: delays with a tail, and links
// on which frames queue for bandwidth.
func (c *Config) Longest() (longest time.Duration, bounded bool) {
	bounded = true
	c.each(func(x Conditions) {
		d, ok := x.Delay.longest()
		bounded = bounded && ok && x.Bandwidth == 0
		longest = max(longest, d+x.Jitter+x.holds())
	})
	return longest, bounded
}

// Typical returns about how long a frame of so many bytes takes on the slowest
// link, for those who must know when to lose patience.
func (c *Config) Typical(bytes int) (typical time.Duration) {
	c.each(func(x Conditions) {
		typical = max(typical, x.Delay.Mean+x.Jitter+x.holds()+x.transmission(bytes))
	})
	return typical
}

// check reports every fault of the configuration.
func (c *Config) check() error {
	var errs []error
	c.each(func(x Conditions) { errs = append(errs, x.check()) })
	for i := range c.Rules {
		errs = append(errs, c.Rules[i].check())
	}
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

// holding is up to which a frame is held back where it is.
func (c *Conditions) holding() time.Duration {
	if c.Holding == 0 {
		return DefaultHolding
	}
	return c.Holding
}

// holds is how long a frame may be held back.
func (c *Conditions) holds() time.Duration {
	if c.Reordering == 0 && c.Duplication == 0 {
		return 0
	}
	return c.holding()
}

// transmission is how long the link is busy with so many bytes.
func (c *Conditions) transmission(bytes int) time.Duration {
	if c.Bandwidth == 0 {
		return 0
	}
	return time.Duration(float64(bytes) / float64(c.Bandwidth) * float64(time.Second))
}
