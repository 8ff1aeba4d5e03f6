package recording

import (
	"cmp"
	"iter"

	"dmebench/internal/eventlog"
	"dmebench/internal/noderun"
)

// cursor is a place in a stream.
type cursor struct {
	index  int
	chunks eventlog.Stream
	next   func() (eventlog.Record, error, bool)
	stop   func()
	ahead  []eventlog.Record // read, not yet emitted
	err    error             // ends the stream, behind what was read
	waits  bool              // its next record waits for another stream
}

// peek returns the k-th record from here on.
func (c *cursor) peek(k int) (*eventlog.Record, bool) {
	for k >= len(c.ahead) {
		if c.next == nil {
			if len(c.chunks) == 0 {
				return nil, false
			}
			c.next, c.stop = iter.Pull2(eventlog.Decode(c.chunks[0]))
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

func (c *cursor) pop() eventlog.Record {
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

// toSending counts the records up to the sending of a message, 0 where it is not
// among those up to a time.
func (c *cursor) toSending(key string, until int64) int {
	for k := 0; ; k++ {
		r, ok := c.peek(k)
		if !ok || r.At > until {
			return 0
		}
		if r.What == noderun.Sends && keyOf(r.Node, r.Peer, r.Body) == key {
			return k + 1
		}
	}
}

// cursors is a heap: the earliest next record first.
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
