package tcp

import (
	"errors"
	"io"
	"sync"
	"time"

	"dmebench/algorithms"
	"dmebench/transport"
)

// A stream's last message begins with lastOne; the receiver answers it.
const lastOne = 1

func transportStream(o benchOrder, exchange exchange) (func(time.Duration) float64, error) {
	back := make(chan struct{}, 1)
	tr, err := openBench(o, 4<<20, exchange, algorithms.NodeID(2-o.Index), func(tr *Transport) frameFunc {
		return func(from, to algorithms.NodeID, b []byte) {
			switch {
			case o.Index == 0:
				back <- struct{}{}
			case b[0] == lastOne:
				tr.Send(to, from, b)
			}
		}
	})
	return func(d time.Duration) float64 {
		b := make([]byte, messageSize)
		send := func() {
			for errors.Is(tr.Send(1, 2, b), transport.ErrBacklog) {
				tr.Flush()
				time.Sleep(50 * time.Microsecond)
			}
		}
		begin := time.Now()
		var sent int
		for time.Since(begin) < d {
			for range transport.MaxBatch {
				send()
			}
			tr.Flush()
			sent += transport.MaxBatch
		}
		b[0] = lastOne
		send()
		tr.Flush()
		<-back
		return float64(sent+1) / time.Since(begin).Seconds()
	}, err
}

func bareStream(o benchOrder, exchange exchange) (func(time.Duration) float64, error) {
	in, out, err := bareNeighbours(o, exchange)
	if err != nil {
		return nil, err
	}
	if o.Index == 1 {
		go func() {
			b := make([]byte, 64<<10)
			end := 0
			for {
				n, err := in.Read(b[end:])
				if err != nil {
					return
				}
				end += n
				at := 0
				for ; end-at >= messageSize; at += messageSize {
					if b[at] == lastOne {
						out.Write(b[at : at+messageSize])
					}
				}
				end = copy(b, b[at:end])
			}
		}()
		return nil, nil
	}
	w := newCoalescer(out)
	return func(d time.Duration) float64 {
		m := make([]byte, messageSize)
		begin := time.Now()
		var sent int
		for time.Since(begin) < d {
			for range transport.MaxBatch {
				w.add(m)
			}
			sent += transport.MaxBatch
		}
		m[0] = lastOne
		w.add(m)
		io.ReadFull(in, m)
		return float64(sent+1) / time.Since(begin).Seconds()
	}, nil
}

// coalescer is the plainest fast writer: two buffers, swapped under a mutex by
// a goroutine that writes the other one.
type coalescer struct {
	mu      sync.Mutex
	changed sync.Cond
	queue   []byte
}

func newCoalescer(w io.Writer) *coalescer {
	c := &coalescer{}
	c.changed.L = &c.mu
	go func() {
		var out []byte
		for {
			c.mu.Lock()
			for len(c.queue) == 0 {
				c.changed.Wait()
			}
			out, c.queue = c.queue, out[:0]
			c.changed.Broadcast()
			c.mu.Unlock()
			if _, err := w.Write(out); err != nil {
				return
			}
		}
	}()
	return c
}

func (c *coalescer) add(m []byte) {
	c.mu.Lock()
	for len(c.queue) > 4<<20 {
		c.changed.Wait()
	}
	if len(c.queue) == 0 {
		c.changed.Broadcast()
	}
	c.queue = append(c.queue, m...)
	c.mu.Unlock()
}
