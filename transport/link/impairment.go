package link

import (
	"fmt"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/transport"
)

var _ transport.Impaired = (*Transport)(nil)

// Impairment tells what is done to the frames of two nodes at present, there and back;
// see [transport.Impaired]. With limited bandwidth a frame is taken to wait for as
// many others as a window of 128 KiB holds.
func (t *Transport) Impairment(a, b dme.NodeID) transport.Impairment {
	t.mu.Lock()
	now := t.clock()
	t.mu.Unlock()
	return t.config.impairment(Link{a, b}, now)
}

func (c *Config) impairment(l Link, now time.Duration) transport.Impairment {
	var x transport.Impairment
	passes := 1.0
	var words []string
	note := func(word string) {
		if len(words) == 0 || words[len(words)-1] != word {
			words = append(words, word)
		}
	}
	for _, way := range []Link{l, {l.To, l.From}} {
		at := c.Conditioner(way).conditions(now)
		if passes *= 1 - at.Loss; at.Loss > 0 {
			note(fmt.Sprintf("loss=%v", at.Loss))
		}
		if slow := at.slowest(); slow > 0 {
			x.Delay += slow
			note(fmt.Sprintf("delays of up to %v", slow))
		}
	}
	for i := range c.Partitions {
		if p := &c.Partitions[i]; p.separates(l, now) {
			passes = 0
			words = append(words, fmt.Sprintf("partition=%s@%v-%v", formatGroups(p.Groups), p.From, p.Until))
		}
	}
	if groups := c.Cut.between(l); groups != nil {
		passes = 0
		words = append(words, "the partition "+formatGroups(groups))
	}
	x.Loss, x.What = 1-passes, strings.Join(words, ", ")
	return x
}

// slowest returns what no frame but one in a billion waits longer than.
func (c *Conditions) slowest() time.Duration {
	const window = 128 << 10
	return c.Delay.draw(1-1e-9) + c.Jitter + c.holds() + c.transmission(window)
}
