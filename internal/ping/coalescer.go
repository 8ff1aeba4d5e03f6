package ping

import (
	"io"
	"sync"
)

// coalescer is the plainest fast writer: two buffers, swapped under a mutex by a
// goroutine that writes the one while the other fills.
type coalescer struct {
	mu     sync.Mutex
	filled sync.Cond
	queue  []byte
	err    error
}

// newCoalescer returns a coalescer that writes to w until that fails.
func newCoalescer(w io.Writer) *coalescer {
	c := new(coalescer)
	c.filled.L = &c.mu
	go c.run(w)
	return c
}

func (c *coalescer) run(w io.Writer) {
	var out []byte
	for {
		c.mu.Lock()
		for len(c.queue) == 0 {
			c.filled.Wait()
		}
		out, c.queue = c.queue, out[:0]
		c.mu.Unlock()
		if _, err := w.Write(out); err != nil {
			c.mu.Lock()
			c.err = err
			c.mu.Unlock()
			return
		}
	}
}

// write queues a message. What is queued is bounded by what its receiver has
// not yet confirmed.
func (c *coalescer) write(m []byte) error {
	c.mu.Lock()
	if len(c.queue) == 0 {
		c.filled.Signal()
	}
	c.queue = appendFramed(c.queue, m)
	err := c.err
	c.mu.Unlock()
	return err
}

func (c *coalescer) flush() error { return nil }
