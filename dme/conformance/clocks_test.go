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
		if err := tick(fault); err == nil || !strings.Contains(err.Error(), "if clocks are lower") {
			t.Errorf("%s: %v", fault, err)
		}
	}
	if err := tick(""); err != nil {
		t.Error(err)
	}
}

// riser asks its neighbour with a timestamp, which lets it in whatever the time and
// says with its clock whether it has asked before. Leaving, it says so, and the
// neighbour notes whether that is later than its own request. It is no algorithm for
// mutual exclusion either.
type riser struct {
	me, n   dme.NodeID
	clock   uint64
	request dme.Stamp
	later   bool
	fault   string
}

func (r *riser) Request(out *dme.Outbox) {
	r.clock++
	r.request = dme.Stamp{Clock: r.clock, Node: r.me}
	out.Send(r.me%r.n+1, dme.Message{Kind: 1, Clock: r.clock})
}

func (r *riser) Release(out *dme.Outbox) {
	r.request = dme.Stamp{}
	r.clock++
	out.Send(r.me%r.n+1, dme.Message{Kind: 4, Clock: r.said()})
}

func (r *riser) said() uint64 {
	if r.fault == "boasts" {
		return r.clock + 3
	}
	return r.clock
}

func (r *riser) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	mine, other := r.request, dme.Stamp{Clock: m.Clock, Node: from}
	if r.fault == "compares clocks" {
		mine = dme.Stamp{Clock: r.clock, Node: r.me}
	}
	early := mine.Precedes(other) && mine != dme.Stamp{}
	switch r.fault {
	case "copies":
		r.clock = max(r.clock, m.Clock)
	case "falls":
		r.clock = m.Clock
	case "parity":
		early = m.Clock%2 == 0
	}
	if r.fault != "copies" && r.fault != "falls" {
		r.clock = max(r.clock, m.Clock) + 1
	}
	if m.Kind == 4 {
		r.later = early
		return
	}
	if m.Kind != 1 {
		if early == (m.Kind == 2) {
			out.Enter(r.request)
		}
		return
	}
	kind := dme.Kind(2)
	if early {
		kind = 3
	}
	out.Send(from, dme.Message{Kind: kind, Clock: r.said()})
}

func (r *riser) State(v *dme.Visitor) {
	v.Rising("clock", r.me, &r.clock)
	v.Stamp("request", &r.request)
	v.Bool("later", &r.later)
}

// A node whose clock does more than rise, though it says so, is found out.
func TestClocksOnlyRise(t *testing.T) {
	run := func(fault string) error {
		a := &dme.Algorithm{
			Name: "riser", Kinds: []string{"ASK", "EARLY", "LATE", "LEFT"}, Needs: dme.Always(dme.Needs{Reliable: true, FIFO: true}),
			Clocks: func(_ int, from dme.NodeID, m *dme.Message, v *dme.Visitor) {
				if m.Kind == 1 {
					v.Timestamp("", from, &m.Clock)
				} else {
					v.Rising("", from, &m.Clock)
				}
			},
			Prepare: dme.Unshared(func(n int, id dme.NodeID) dme.Node { return &riser{me: id, n: dme.NodeID(n), fault: fault} }),
		}
		for seed := range uint64(20) {
			if err := checkClocks(a, 3, nil, seed); err != nil {
				return err
			}
		}
		return nil
	}
	for _, fault := range []string{"copies", "falls", "parity", "boasts", "compares clocks"} {
		if err := run(fault); err == nil || !strings.Contains(err.Error(), "if clocks are lower") {
			t.Errorf("%s: %v", fault, err)
		}
	}
	if err := run(""); err != nil {
		t.Error(err)
	}
}
