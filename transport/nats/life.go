package nats

import (
	"fmt"
	"time"

	natsgo "github.com/nats-io/nats.go"
)

// On a broker elsewhere, a connection that has fallen silent is noticed: after
// several questions, an interval apart, to which nothing came back.
const (
	pingInterval  = 5 * time.Second
	pingsLost     = 3
	pingsLateness = 2 // intervals; a tick that comes later finds that this process had no processor
)

// watch ends a connection on which nothing comes although the broker was asked, by
// stale. The library's own pings would call a connection stale on which data flows:
// the answer lies behind all that the broker has sent before, and on a machine that is
// busy that alone can take longer than they wait. What counts here is whether
// any byte has come since the last tick, as the socket sees it, and ticks at which this
// process was late itself do not.
func (w *wire) watch(c *natsgo.Conn, interval time.Duration, done <-chan struct{}, stale func(error)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	asking := make(chan struct{}, 1)
	silent, last, arrived := 0, time.Now(), w.arrived.Load()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		now, seen := time.Now(), w.arrived.Load()
		switch late := now.Sub(last) > pingsLateness*interval; {
		case seen != arrived:
			silent = 0
		case !late:
			silent++
		}
		last, arrived = now, seen
		if silent > pingsLost {
			stale(fmt.Errorf("nothing has come from the broker for %v, which was asked %d times; does its host still run?",
				time.Duration(silent)*interval, pingsLost))
			return
		}
		select {
		case asking <- struct{}{}:
			go func() {
				defer func() { <-asking }()
				_ = c.FlushTimeout(interval) // a ping; its answer comes as bytes
			}()
		default: // one is being asked
		}
	}
}
