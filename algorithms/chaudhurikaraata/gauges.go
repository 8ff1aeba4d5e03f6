package chaudhurikaraata

import (
	"math"
	"slices"

	"dmebench/dme"
)

// gauges measure what the paper says of the token and of messages.
func gauges() []dme.Gauge {
	return []dme.Gauge{
		{Quantity: PrivilegedPlanes.ID, Begin: ofColours(func(t *colours) float64 { return float64(t.count[green] + t.count[yellow]) })},
		{Quantity: GreenAndYellow.ID, Begin: ofColours(func(t *colours) float64 {
			t.both += dme.Count(t.count[green] > 0 && t.count[yellow] > 0)
			return float64(t.both)
		})},
		{Quantity: Unprivileged.ID, Begin: newOutside},
		{Quantity: EntriesPerVisit.ID, Begin: func(s dme.Setting) dme.Meter { return &visits{mesh: meshOf(s), last: make([]int, s.Nodes+1)} }},
		{Quantity: PlaneChange.ID, Begin: func(s dme.Setting) dme.Meter { return &changes{mesh: meshOf(s)} }},
		{Quantity: SpaceBits.ID, Begin: newSpace},
		{Quantity: MessageBits.ID, Begin: newBits},
	}
}

// mostEncoded is the largest mesh in which every message is looked at.
const mostEncoded = 64

// colours counts the corners with tokens of each colour.
type colours struct {
	of    []colour // by node, from 1
	count [yellow + 1]int
	both  int // moments with a GREEN and a YELLOW token
}

func newColours(s dme.Setting) colours {
	t := colours{of: make([]colour, s.Nodes+1)}
	t.turn(1, green) // the corner of plane 0, at the beginning
	return t
}

// note follows the colour of a corner.
func (t *colours) note(x *dme.Event) {
	if n, ok := x.Node.(*node); ok && n.corner != nil {
		t.turn(x.ID, n.corner.itsToken().colour)
	}
}

func (t *colours) turn(id dme.NodeID, to colour) {
	t.count[t.of[id]]--
	t.count[to]++
	t.of[id] = to
}

// ofColours measures the largest of what a function says after each moment.
func ofColours(value func(*colours) float64) func(dme.Setting) dme.Meter {
	return func(s dme.Setting) dme.Meter {
		t := newColours(s)
		return dme.Largest(func(x *dme.Event) (float64, bool) {
			t.note(x)
			return value(&t), true
		})
	}
}

// newOutside counts the entries in planes that are not privileged.
func newOutside(s dme.Setting) dme.Meter {
	t, m := newColours(s), meshOf(s)
	entries, outside := 0, 0
	return dme.Largest(func(x *dme.Event) (float64, bool) {
		t.note(x)
		if x.Kind == dme.Enter {
			entries++
			outside += dme.Count(t.of[m.cornerOf(m.planeOf(x.ID))] == red)
		}
		return float64(outside), entries > 0
	})
}

// visits counts the entries of each visit of the token to a plane.
type visits struct {
	mesh    *mesh
	entries []float64 // of each visit
	last    []int     // by node, from 1: during which visit it entered last
}

func (m *visits) Note(x *dme.Event) {
	switch {
	case x.Kind == dme.Receive && x.Msg.Kind == kindPermit && x.Msg.Node == x.ID && m.mesh.isCorner(x.ID):
		m.entries = append(m.entries, 0)
	case x.Kind == dme.Enter && len(m.entries) > 0:
		m.entries[len(m.entries)-1]++
		m.last[x.ID] = len(m.entries) - 1
	}
}

// Value is the mean over the visits after the first round of all planes, until the
// first node has no requests left.
func (m *visits) Value() (mean float64, ok bool) {
	begin, end := m.mesh.planes(), slices.Min(m.last[1:])
	if end <= begin {
		return 0, false
	}
	for _, n := range m.entries[begin:end] {
		mean += n
	}
	return mean / float64(end-begin), true
}

// changes counts, if one request is served at a time, the messages between corners for each.
type changes struct {
	mesh         *mesh
	count, most  int
	requests     int
	simultaneous int
}

func (m *changes) Note(x *dme.Event) {
	switch {
	case x.Kind == dme.Request:
		m.requests++
		m.count = 0
		if m.simultaneous++; m.simultaneous > 1 {
			m.requests = math.MinInt // requests overlap: no message can be attributed to one of them
		}
	case x.Kind == dme.Exit:
		m.simultaneous--
	case x.Kind == dme.Receive && m.mesh.isCorner(x.ID) && m.mesh.isCorner(x.Peer):
		m.count++
		m.most = max(m.most, m.count)
	}
}

func (m *changes) Value() (float64, bool) { return float64(m.most), m.requests > 0 && m.most > 0 }

// newBits tells apart all messages that were received.
func newBits(s dme.Setting) dme.Meter {
	if s.Nodes > mostEncoded {
		return nil
	}
	seen := make(map[string]bool)
	var form []byte
	return dme.Largest(func(x *dme.Event) (float64, bool) {
		if x.Kind == dme.Receive {
			form = dme.AppendMessage(form[:0], &x.Msg)
			seen[string(form)] = true
		}
		return math.Log2(float64(len(seen))), len(seen) > 0
	})
}
