package foreign

import (
	"fmt"
	"time"
)

// quiet is what is known of whether a node has anything left to do. It is guarded
// by the lock of the Child.
type quiet struct {
	timer      *time.Timer // calls look
	latest     time.Time   // when something was last written or read
	busy       bool        // as the host was told
	reading    bool        // something was read and has not been heard to its end
	unanswered bool        // a release is
	lost       bool        // nobody reads what is written to it
	line       []byte      // for lines to be written
	told, said []byte      // the beginnings of the latest lines to it, and of it
}

// touch notes that something has been written or read: the node may do something.
func (c *Child) touch() {
	c.latest = time.Now()
	if !c.busy {
		c.busy = true
		c.host.Busy(true)
		c.timer.Reset(c.Settle)
	}
}

// lookEvery is how often it is seen whether a node that is idle can still hear anything.
const lookEvery = time.Second

// look tells the host that the node is idle, once it is, and that it is deaf.
func (c *Child) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.failed {
		return
	}
	if !c.lost && c.deaf() {
		c.lost = true
		go c.outlives("has closed its standard input")
	}
	wait := c.Settle - time.Since(c.latest)
	switch {
	case !c.busy:
		wait = lookEvery
	case wait <= 0 && c.idle():
		c.busy, wait = false, lookEvery
		c.host.Busy(false)
	case wait <= 0:
		wait = c.Settle
	}
	c.timer.Reset(wait)
}

// idle reports whether the node has nothing left to do, as far as can be told: it
// has been silent, everything written to it has been read by it, everything that it
// wrote has been heard, it has answered release, and, where the system tells, none
// of its threads runs. One that sleeps, to say something later, cannot be told from
// one that waits for the next line: silence has to be long enough for that.
func (c *Child) idle() bool {
	return !c.reading && len(c.queue) == 0 && !c.unanswered && c.rests()
}

// lastWords quotes what the node has last said, for an error.
func (c *Child) lastWords() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.said) == 0 {
		return "; it had not written a line"
	}
	return "; its last line was " + excerpt(c.said)
}

// Describe says where the node stands, for a report on a stalled run. It is called
// from inside an event of the node.
func (c *Child) Describe() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.Command
	switch {
	case c.asked != 0:
		s += fmt.Sprintf(", has not answered request %d", c.asked)
	case c.leaving != 0:
		s += fmt.Sprintf(", has not answered release %d", c.leaving)
	}
	if len(c.queue) > 0 {
		s += fmt.Sprintf(", does not read: %d lines wait", len(c.queue))
	}
	if len(c.told) > 0 {
		s += "; last told: " + excerpt(c.told)
	}
	if len(c.said) > 0 {
		s += "; last said: " + excerpt(c.said)
	}
	return s
}
