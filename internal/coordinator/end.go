package coordinator

import (
	"context"
	"time"

	"dmebench/internal/control"
	"dmebench/internal/foreign"
)

// endTimeout bounds how long healthy workers may take to close in order.
const endTimeout = 3 * time.Second

// end frees everything; no process is left behind.
func (c *coordinator) end() {
	c.ending.Store(true)
	if c.leader != nil {
		if !c.failed.Load() {
			c.dismiss()
		}
		c.leader.Close()
	}
	c.closeHosts()
	if foreign.Is(c.job.Algorithm.Name) {
		foreign.EndStrays(c.run)
	}
	c.shared.close()
	c.survey.close()
	c.data.close()
	if c.broker != nil {
		c.broker.Close()
	}
	c.lapses.Close()
}

// dismiss lets the workers close their transports and exit, each in its own
// time: no one takes another's end for a failure.
func (c *coordinator) dismiss() {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	workers := c.workers()
	_, err := c.leader.Call(ctx, workers, control.Same(control.Command{Op: control.OpQuit}))
	if err != nil {
		return // they are killed instead
	}
	for _, w := range workers {
		select {
		case <-c.process(w).Ended():
		case <-ctx.Done():
			return
		}
	}
}
