package conformance

import (
	"strings"
	"testing"

	"dmebench/dme"
)

// ticker asks its neighbour, which lets it in whatever the time and says whether it
// was late. It is no algorithm for mutual exclusion: clocks are all that counts.
type ticker struct {
	me, n  dme.NodeID
	clock  uint64
	last   uint64 // of the last request
	asking bool
	fault  string
}

func (c *ticker) Request(out *dme.Outbox) {
	c.clock++
	if c.fault == "doubles" {
		c.clock *= 2
	}
	c.asking, c.last = true, c.clock
	out.Send(c.me%c.n+1, dme.Message{Kind: 1, Clock: c.clock})
}

func (c *ticker) Release(*dme.Outbox) { c.asking = false }

func (c *ticker) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	late := m.Clock < c.last
	switch c.fault {
	case "parity":
		late = m.Clock%2 == 0
	case "distance":
		late = m.Clock+2 < c.clock
	case "dead": // last is said to be looked at only while it asks
	case "":
		late = late && c.asking
	}
	c.clock = max(c.clock, m.Clock)
	switch m.Kind {
	case 2:
		out.Enter(dme.Stamp{})
		return
	case 3:
		return
	}
	if late {
		out.Send(from, dme.Message{Kind: 3, Clock: c.clock})
	}
	out.Send(from, dme.Message{Kind: 2, Clock: c.clock})
}

func (c *ticker) State(v *dme.Visitor) {
	v.Clock("clock", &c.clock)
	v.Bool("asking", &c.asking)
	v.ClockWhile(c.asking, dme.None, "last", &c.last)
}

// A node that does more with its clocks than it says is found out.
func TestClocksAreOnlyCompared(t *testing.T) {
	tick := func(fault string) error {
		a := &dme.Algorithm{
			Name: "ticker", Kinds: []string{"ASK", "GO", "LATE"}, Needs: dme.Always(dme.Needs{Reliable: true, FIFO: true}),
			Clocks:  dme.ClockInMessages,
			Prepare: dme.Unshared(func(n int, id dme.NodeID) dme.Node { return &ticker{me: id, n: dme.NodeID(n), fault: fault} }),
		}
		for seed := range uint64(20) {
			if err := checkClocks(a, 3, nil, seed); err != nil {
				return err
			}
		}
		return nil
	}
	for _, fault := range []string{"parity", "distance", "dead", "doubles"} {
		if err := tick(fault); err == nil || !strings.Contains(err.Error(), "where clocks are lower") {
			t.Errorf("%s: %v", fault, err)
		}
	}
	if err := tick(""); err != nil {
		t.Error(err)
	}
}
