package link

import (
	"time"
)

// Fate is what happens to one frame of a link.
type Fate struct {
	Lost        bool // dropped
	Partitioned bool // and that for a partition
	Reordered   bool // held back, so that later frames may pass
	Repeated    bool // arrives twice

	Departure time.Duration // when it leaves for the network
	Repeat    time.Duration // when its duplicate does
}

// Conditioner decides on the frames of one link. The draw for the k-th frame follows
// from the seed, the link and k alone.
type Conditioner struct {
	config *Config
	link   Link
	rules  []*Rule // the rules for this link
	way    way     // between the sites of its nodes

	frames uint64        // frames sent
	last   time.Duration // when the latest leaves that keeps the order
	busy   time.Duration // until when the link is busy with what was sent
}

// Conditioner returns the one of a link. The configuration must stay as it is.
func (c *Config) Conditioner(l Link) *Conditioner {
	return &Conditioner{config: c, link: l, rules: c.rulesOf(l), way: c.Sites.way(l)}
}

// Next decides on the next frame of the link, which is sent at the time now: since Start,
// and not before the frame before it.
func (c *Conditioner) Next(now time.Duration, bytes int) Fate {
	x := c.conditions(now)
	drawn := x.luck(c.config.Seed, c.link, c.frames, c.way)
	c.frames++
	f := Fate{Reordered: drawn.reordered, Repeated: drawn.repeated}
	f.Partitioned = c.config.separates(c.link, now)
	if f.Lost = drawn.lost || f.Partitioned; f.Lost {
		return f
	}
	f.Departure = now
	if x.Bandwidth > 0 {
		c.busy = max(c.busy, now) + x.transmission(bytes)
		f.Departure = c.busy
	}
	f.Departure += drawn.delay
	if f.Reordered {
		f.Departure += drawn.holding
	} else {
		c.last = max(c.last, f.Departure)
		f.Departure = c.last
	}
	f.Repeat = max(f.Departure, now+drawn.repeat)
	return f
}

func (c *Conditioner) conditions(now time.Duration) *Conditions {
	for _, r := range c.rules {
		if r.inForce(now) {
			return &r.Conditions
		}
	}
	return &c.config.All
}

type luck struct {
	lost, repeated, reordered bool
	delay                     time.Duration // of the frame
	holding                   time.Duration // and longer if it is reordered
	repeat                    time.Duration // of the duplicate
}

// luck draws for the k-th frame of a link.
func (c *Conditions) luck(seed uint64, l Link, k uint64, w way) luck {
	d := newDraws(seed, l, k)
	// Always all of them and in this order: each draw has one meaning.
	f := luck{
		lost:      d.unit() < c.Loss,
		repeated:  d.unit() < c.Duplication,
		reordered: d.unit() < c.Reordering,
	}
	f.delay = c.Delay.draw(d.unit()) + scaled(c.Jitter, d.unit())
	f.holding = scaled(c.holding(), d.unit())
	after := scaled(c.holding(), d.unit())
	f.delay += w.delay + scaled(w.jitter, d.unit())
	f.repeat = f.delay + after
	return f
}

func scaled(d time.Duration, u float64) time.Duration { return time.Duration(float64(d) * u) }

// draws is the random numbers of one frame: SplitMix64 (Steele, Lea and Flood 2014), from a
// place of the frame's own.
type draws struct{ x uint64 }

func newDraws(seed uint64, l Link, k uint64) draws {
	x := mix(seed)
	x = mix(x ^ uint64(l.From)<<32 ^ uint64(l.To))
	return draws{mix(x ^ k)}
}

// unit returns a number in [0, 1).
func (d *draws) unit() float64 {
	d.x += 0x9e3779b97f4a7c15
	return float64(mix(d.x)>>11) / (1 << 53)
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
