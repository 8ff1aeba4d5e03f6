package foreign

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"dmebench/dme"
)

// Deliver gives the node a message of another one. It does not wait for the process.
func (c *Child) Deliver(from dme.NodeID, kind, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line = appendLine(c.line[:0], nodeName(from), nodeName(c.ID), body)
	c.push(c.line, item{kind: kind})
}

// push writes a line to the process, as far as it takes it at once, and leaves the rest to
// write. It is called with the lock held.
func (c *Child) push(line []byte, i item) {
	if c.failed || c.closed {
		return
	}
	c.touch()
	c.lastTo = append(c.lastTo[:0], line[:min(len(line)-1, excerptBytes+1)]...)
	i.rest = line
	if len(c.queue) == 0 {
		i.rest = line[c.try(line):]
	}
	if len(i.rest) == 0 {
		c.written(i)
		return
	}
	if c.waiting += len(i.rest); c.waiting > maxWaiting {
		c.failHeld(fmt.Sprintf("does not read what is sent to it: %d lines wait; the latest: %s",
			len(c.queue)+1, excerpt(bytes.TrimSuffix(i.rest, []byte("\n")))))
		return
	}
	i.rest = bytes.Clone(i.rest)
	if i.kind != nil {
		i.kind = bytes.Clone(i.kind)
	}
	c.queue = append(c.queue, i)
	c.wake.Signal()
}

func (c *Child) written(i item) {
	if i.kind != nil {
		c.host.Handled(i.kind)
	}
}

func (c *Child) try(line []byte) (n int) {
	_ = c.in.raw.Write(func(fd uintptr) bool { // a pipe that is closed is noticed elsewhere
		for {
			var err error
			if n, err = unix.Write(int(fd), line); err != unix.EINTR {
				n = max(n, 0)
				return true
			}
		}
	})
	return n
}

func (c *Child) write() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		for len(c.queue) == 0 && !c.closed {
			c.wake.Wait()
		}
		if c.closed {
			return
		}
		i := c.queue[0]
		c.mu.Unlock()
		_, err := c.in.file.Write(i.rest)
		c.mu.Lock()
		if err != nil {
			return // the process is gone or going, and await reports it
		}
		c.touch()
		c.written(i)
		c.waiting -= len(i.rest)
		c.queue[0] = item{}
		if c.queue = c.queue[1:]; len(c.queue) == 0 {
			c.queue = nil
		}
	}
}

// batch is how many lines are taken as one event; others wait for the node meanwhile.
const batch = 64

func (c *Child) read() {
	defer close(c.drained)
	r := bufio.NewReaderSize(output{c}, MaxLine+1)
	answered := false // init
	for {
		line := nextLine(r)
		rest, _ := r.Peek(r.Buffered())
		var fault error
		switch {
		case line == nil && len(rest) > MaxLine:
			line, fault = rest, fmt.Errorf("writes a line of more than %d bytes", MaxLine)
		case line == nil:
			_, err := r.Peek(len(rest) + 1) // waits
			if err == nil {
				continue
			}
			if len(rest) > 0 {
				c.noteLine(rest) // a line without an end
			}
			c.finished(err)
			return
		case !answered:
			c.noteLine(line)
			if fault = c.begin(line); fault == nil {
				answered = true
				close(c.ready)
				<-c.begun
			}
		default:
			if c.gone() {
				return
			}
			c.host.Do(func() { line, fault = c.hear(line, r) })
		}
		if fault != nil {
			c.fail("%v: %s", fault, excerpt(line))
			return
		}
	}
}

// nextLine returns the next line if all of it has arrived, else nil. It is valid until
// r waits for more.
func nextLine(r *bufio.Reader) []byte {
	b, _ := r.Peek(r.Buffered())
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		return nil
	}
	_, _ = r.Discard(end + 1)
	return b[:end]
}

// hear takes a line, and those behind it that have arrived. With an error it returns the
// line that is wrong.
func (c *Child) hear(line []byte, r *bufio.Reader) ([]byte, error) {
	for n := 0; line != nil; line = nextLine(r) {
		if len(bytes.TrimSpace(line)) > 0 {
			c.noteLine(line)
			if err := c.heard(line); err != nil {
				return line, err
			}
		}
		if n++; n == batch {
			break
		}
	}
	return nil, nil
}

func (c *Child) gone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

func (c *Child) noteLine(line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastFrom = append(c.lastFrom[:0], line[:min(len(line), excerptBytes+1)]...)
}

// output is what the process writes. Once it has been read, everything read before has been
// handled; from the read until then, the node is not idle.
type output struct{ *Child }

func (c output) Read(b []byte) (n int, err error) {
	c.mu.Lock()
	c.reading = false
	c.mu.Unlock()
	wait := c.out.raw.Read(func(fd uintptr) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for {
			if n, err = unix.Read(int(fd), b); err != unix.EINTR {
				break
			}
		}
		if n > 0 {
			c.reading = true
			c.touch()
		}
		return err != unix.EAGAIN
	})
	switch {
	case wait != nil:
		return 0, wait
	case n == 0 && err == nil:
		return 0, io.EOF
	}
	return max(n, 0), err
}

func (c *Child) finished(err error) {
	what := "has closed its standard output"
	if err != io.EOF {
		what = fmt.Sprintf("cannot be read any more (%v)", err)
	}
	go c.outlives(what)
}

func (c *Child) deaf() (deaf bool) {
	_ = c.in.raw.Control(func(fd uintptr) {
		p := []unix.PollFd{{Fd: int32(fd)}}
		_, _ = unix.Poll(p, 0)
		deaf = p[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	})
	return deaf
}

// quiet is what is known of whether a node has anything left to do.
type quiet struct {
	timer            *time.Timer // calls look
	latest           time.Time   // when something was last written or read
	busy             bool        // as reported to the host
	reading          bool        // something was read and has not been heard to its end
	unanswered       bool        // a release is
	lost             bool        // what is written to it is not read
	line             []byte      // for lines to be written
	lastTo, lastFrom []byte      // the beginnings of the latest lines to it, and of it
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

const lookEvery = time.Second

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

// idle reports whether the node has nothing left to do, as far as can be seen: it has been silent,
// it has read everything written to it, everything that it wrote has been handled, it has answered
// release, and, where the system shows it, none of its threads runs. One that sleeps, to say
// something later, looks like one that waits for the next line: the silence has to be long enough
// for that.
func (c *Child) idle() bool {
	return !c.reading && len(c.queue) == 0 && !c.unanswered && c.rests()
}

func (c *Child) lastWords() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lastFrom) == 0 {
		return "; it had not written a line"
	}
	return "; its last line was " + excerpt(c.lastFrom)
}

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
	if len(c.lastTo) > 0 {
		s += "; last line to it: " + excerpt(c.lastTo)
	}
	if len(c.lastFrom) > 0 {
		s += "; last line from it: " + excerpt(c.lastFrom)
	}
	return s
}
