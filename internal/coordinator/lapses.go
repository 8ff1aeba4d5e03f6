package coordinator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dmebench/internal/lapse"
	"dmebench/internal/measure"
)

// lapseEvery is how often the coordinator looks whether it was held up.
const lapseEvery = 250 * time.Millisecond

// held is a process that did not run for a while.
type held struct {
	who   string
	worst lapse.Lapse
}

// lapsed notes when a process did not run.
func (c *coordinator) lapsed(who string, lapses []lapse.Lapse) {
	if len(lapses) == 0 {
		return
	}
	worst := slices.MaxFunc(lapses, func(a, b lapse.Lapse) int { return int(a.For - b.For) })
	c.held = append(c.held, held{who, worst})
}

// tellLapses warns where processes did not run for a while: times are longer by
// that, and that is not the algorithm's doing.
func (c *coordinator) tellLapses(o *measure.Observation) {
	if c.start == 0 {
		return
	}
	c.lapsed("the coordinator", c.lapses.Since(c.start))
	if c.held == nil {
		return
	}
	slices.SortStableFunc(c.held, func(a, b held) int { return int(b.worst.For - a.worst.For) })
	const most = 8
	var parts []string
	for _, h := range c.held[:min(most, len(c.held))] {
		parts = append(parts, fmt.Sprintf("%s for %v until %v after the start", h.who,
			h.worst.For.Round(10*time.Millisecond), time.Duration(h.worst.Until-c.start).Round(10*time.Millisecond)))
	}
	if more := len(c.held) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	o.Warnings = append(o.Warnings, "processes did not run for a second or more, stopped by a signal or for want of a core, "+
		"and times include that: "+strings.Join(parts, "; "))
}
