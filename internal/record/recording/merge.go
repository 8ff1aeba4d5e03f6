package recording

import (
	"cmp"
	"container/heap"
	"encoding/binary"
	"fmt"
	"iter"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// Logs is what was recorded of a run.
type Logs struct {
	Algorithm *dme.Algorithm
	Kept
	Slack     time.Duration // by how much the times of two streams may be apart
	FromFirst bool          // times count from the first event
	Repeats   bool          // links may deliver a message more than once

	// Describe returns the kind of a message, and the rest of it as a person reads it;
	// nil for what the algorithm says.
	Describe func(m *dme.Message) (kind, rest string)
}

// Merge yields the events of several logs in one order that agrees with causality. The events of a
// stream keep their order. A message that arrives is paired with the first of its link that was
// sent with the same content and has not arrived: links that keep order deliver just that one, and
// equal ones are interchangeable. A second arrival is that of a copy; a message that was never
// sent, as far as is known, has no ID.
//
// Events are ordered by their times. If clocks disagree by less than the slack, a message's sending
// comes before its arrival all the same, and the time of the arrival is that of the sending at the
// earliest.
func Merge(l Logs) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		m := &merger{Logs: l, yield: yield, flight: make(map[string][]uint64), arrived: make(map[string]uint64)}
		for i, s := range l.Streams {
			c := &cursor{index: i, chunks: s}
			m.cursors = append(m.cursors, c)
			defer c.close()
		}
		m.tidy()
		m.byNode = make(map[dme.NodeID]*cursor)
		for _, c := range m.cursors {
			m.byNode[c.ahead[0].Node] = c
		}
		if m.Dropped > 0 {
			m.Until -= int64(m.Slack) // what one log lacks must be missing in no other's past
		}
		for len(m.cursors) > 0 && !m.over {
			c := m.cursors[0]
			if c.ahead[0].At >= m.Until {
				return // as is what all others have left
			}
			m.strayed = false
			m.step(c)
			if _, more := c.peek(0); more && !m.strayed {
				heap.Fix(&m.cursors, 0)
			} else {
				m.tidy()
			}
		}
	}
}

// recently is how many messages that have arrived are remembered, for copies.
const recently = 1 << 16

type merger struct {
	Logs
	yield   func(Event, error) bool
	over    bool // the reader has stopped
	strayed bool // the step has changed other streams than its own
	cursors cursors
	byNode  map[dme.NodeID]*cursor // where each node's events are, if it has a stream of its own
	flight  map[string][]uint64    // messages on their way, by link and content: their IDs
	sent    uint64
	arrived map[string]uint64 // the last message of that link and content that has arrived
	order   []string          // of its keys, the oldest first
	now     int64             // time of the last event
	first   int64
	began   bool
}

// tidy takes out the streams that have ended, after a step that has changed several.
func (m *merger) tidy() {
	kept := m.cursors[:0]
	for _, c := range m.cursors {
		switch _, more := c.peek(0); {
		case more:
			kept = append(kept, c)
		case c.err != nil && !m.over:
			m.over = true
			m.yield(Event{}, c.err)
		}
	}
	m.cursors = kept
	heap.Init(&m.cursors)
}

// step emits the next record and, before an arrival, what its sender did up to the sending.
func (m *merger) step(c *cursor) {
	r, _ := c.peek(0)
	if r.Kind != dme.Receive && r.Kind != dme.Hear {
		m.emit(c.pop())
		return
	}
	key := keyOf(r.Peer, r.Node, r.Body)
	if sender := m.byNode[r.Peer]; m.isAhead(key) && sender != nil && sender != c && !sender.waits {
		c.waits = true
		for range sender.toSending(key, r.At+int64(m.Slack)) {
			m.strayed = true
			m.step(sender)
		}
		c.waits = false
	}
	m.emit(c.pop())
}

// isAhead reports whether a message that arrives must have been sent by an event that is still to
// come. If links repeat messages, one that has arrived is taken for a copy: to wait for another
// like it might be to wait for what came of it.
func (m *merger) isAhead(key string) bool {
	if len(m.flight[key]) > 0 {
		return false
	}
	_, before := m.arrived[key]
	return !before || !m.Repeats
}

func (m *merger) emit(r Record) {
	if m.over {
		return
	}
	e, err := m.event(r)
	if !m.began {
		m.began = true
		if m.FromFirst {
			m.first = e.At
		}
		m.now = e.At
	}
	m.now = max(m.now, e.At)
	e.At = m.now - m.first
	if !m.yield(e, err) || err != nil {
		m.over = true
	}
}

func (m *merger) event(r Record) (Event, error) {
	e := Event{At: r.At, Node: r.Node, What: r.Kind, Peer: r.Peer, Reason: r.Reason, Delay: int64(r.Delay)}
	switch r.Kind {
	case dme.Send, dme.Receive, dme.Hear:
		msg, err := r.Message()
		if err != nil {
			return e, fmt.Errorf("recording: a message of node %d: %w", r.Node, err)
		}
		if m.Describe != nil {
			e.Kind, e.Message = m.Describe(&msg)
		} else {
			e.Kind, e.Message = Described(m.Algorithm, &msg)
		}
		if r.Kind == dme.Send {
			m.sent++
			e.ID = m.sent
			key := keyOf(r.Node, r.Peer, r.Body)
			m.flight[key] = append(m.flight[key], e.ID)
		} else if r.Kind == dme.Receive {
			e.ID, e.Copy = m.pair(keyOf(r.Peer, r.Node, r.Body))
		}
	case dme.Enter:
		if !r.Stamp.IsZero() {
			e.Stamp = r.Stamp.String()
		}
	case dme.Timeout, dme.SetTimer:
		timer := int(r.Timer)
		e.Timer = &timer
	}
	return e, nil
}

// pair finds the message that arrives, 0 if none is known.
func (m *merger) pair(key string) (id uint64, again bool) {
	waiting := m.flight[key]
	if len(waiting) == 0 {
		id, again = m.arrived[key]
		return id, again
	}
	if id = waiting[0]; len(waiting) == 1 {
		delete(m.flight, key)
	} else {
		m.flight[key] = waiting[1:]
	}
	if _, there := m.arrived[key]; !there {
		m.order = append(m.order, key)
	}
	m.arrived[key] = id
	if len(m.order) > recently {
		delete(m.arrived, m.order[0])
		m.order = m.order[1:]
	}
	return id, false
}

func keyOf(from, to dme.NodeID, body []byte) string {
	b := make([]byte, 0, 12+len(body))
	b = binary.AppendUvarint(b, uint64(from))
	b = binary.AppendUvarint(b, uint64(to))
	return string(append(b, body...))
}

// Described returns the kind of a message, and its fields as a person reads them.
func Described(a *dme.Algorithm, m *dme.Message) (kind, rest string) {
	kind = a.KindName(m.Kind)
	return kind, strings.TrimPrefix(strings.TrimPrefix(vnet.DescribeMessage(a, m), kind), " ")
}

type cursor struct {
	index  int
	chunks Stream
	next   func() (Record, error, bool)
	stop   func()
	ahead  []Record // read, not yet emitted
	err    error    // ends the stream, behind what was read
	waits  bool     // its next record waits for another stream
}

func (c *cursor) peek(k int) (*Record, bool) {
	for k >= len(c.ahead) {
		if c.next == nil {
			if len(c.chunks) == 0 {
				return nil, false
			}
			c.next, c.stop = iter.Pull2(Decode(c.chunks[0]))
			c.chunks = c.chunks[1:]
		}
		r, err, ok := c.next()
		switch {
		case !ok:
			c.close()
			continue
		case err != nil:
			c.close()
			c.chunks, c.err = nil, err
			return nil, false
		}
		c.ahead = append(c.ahead, r)
	}
	return &c.ahead[k], true
}

func (c *cursor) pop() Record {
	r := c.ahead[0]
	c.ahead = c.ahead[1:]
	return r
}

func (c *cursor) close() {
	if c.next != nil {
		c.stop()
		c.next, c.stop = nil, nil
	}
}

// toSending counts the records up to the sending of a message; 0: it is not sent until then.
func (c *cursor) toSending(key string, until int64) int {
	for k := 0; ; k++ {
		r, ok := c.peek(k)
		if !ok || r.At > until {
			return 0
		}
		if r.Kind == dme.Send && keyOf(r.Node, r.Peer, r.Body) == key {
			return k + 1
		}
	}
}

type cursors []*cursor

func (h cursors) Len() int      { return len(h) }
func (h cursors) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h cursors) Less(i, j int) bool {
	a, b := h[i], h[j]
	return cmp.Or(cmp.Compare(a.ahead[0].At, b.ahead[0].At), cmp.Compare(a.index, b.index)) < 0
}
func (h *cursors) Push(x any) { *h = append(*h, x.(*cursor)) }
func (h *cursors) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
