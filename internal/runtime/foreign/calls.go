package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"dmebench/dme"
)

type calls struct {
	last    int64 // the latest msg_id
	asked   int64 // the request that is pending; 0 if none is
	leaving int64 // the release that was not answered yet; 0 if none is
	again   bool  // the local process asks while that is so
	late    bool  // the release has been waited for long
	stops   bool  // the node wants to hear that no more requests will come

	overdue *time.Timer // calls remind
}

func (c *Child) greet() {
	body := call{Type: typeInit, NodeID: nodeName(c.ID)}
	for id := range dme.NodeID(c.Nodes) {
		body.NodeIDs = append(body.NodeIDs, nodeName(id+1))
	}
	c.call(body, false)
}

// call makes a call, which may have to be answered before the node is idle, and
// returns its number.
func (c *Child) call(body call, awaited bool) int64 {
	c.last++
	body.ID = c.last
	text, _ := json.Marshal(body) // never fails: text and numbers
	line := appendLine(nil, clientName(c.ID), nodeName(c.ID), text)
	c.mu.Lock()
	c.unanswered = awaited
	c.push(line, item{})
	c.mu.Unlock()
	return c.last
}

func (c *Child) request() {
	if c.leaving != 0 {
		c.again = true
		return
	}
	c.asked = c.call(call{Type: typeRequest}, false)
}

func (c *Child) release() {
	c.leaving = c.call(call{Type: typeRelease}, true)
	c.late = false
	c.overdue.Reset(c.Answer)
}

// remind is called when a release has not been answered for long. It gives the node as much time
// again: perhaps this process was the one that could not hear it.
func (c *Child) remind() {
	c.host.Do(func() {
		switch {
		case c.leaving == 0:
		case !c.late:
			c.late = true
			c.overdue.Reset(c.Answer)
		default:
			c.fail("does not answer release with released, for %v%s", 2*c.Answer, c.lastWords())
		}
	})
}

func (c *Child) stop() {
	if c.stops {
		c.call(call{Type: typeStop}, false)
	}
}

// begin hears the first line of a node, which answers init. It returns what is wrong
// with the line, as heard does.
func (c *Child) begin(line []byte) error {
	e, err := parse(line)
	if err != nil {
		return err
	}
	var a answer
	_ = json.Unmarshal(e.Body, &a) // what is wrong with it is seen below
	switch {
	case a.Type == typeError:
		return fmt.Errorf("answers init with error %d (%s)", a.Code, a.Text)
	case e.Dest != clientName(c.ID) || a.Type != typeInitOK:
		return errors.New("must first answer init with init_ok")
	case a.InReplyTo != nil && *a.InReplyTo != 1:
		return fmt.Errorf("answers init with in_reply_to %d, not 1", *a.InReplyTo)
	}
	c.host.Do(func() { c.stops = a.Stop })
	return nil
}

// heard takes a line that the node has written, as a part of an event of the node.
func (c *Child) heard(line []byte) error {
	e, err := parse(line)
	if err != nil {
		return err
	}
	if e.Src != "" && e.Src != nodeName(c.ID) {
		return fmt.Errorf("calls itself %q in src; it is %s", e.Src, nodeName(c.ID))
	}
	if e.Dest == clientName(c.ID) {
		return c.answered(e.Body)
	}
	to, ok := nodeNumber(e.Dest, c.Nodes)
	switch {
	case !ok:
		return fmt.Errorf("writes to %q; there are n1 to n%d, and its client %s", e.Dest, c.Nodes, clientName(c.ID))
	case to == c.ID:
		return errors.New("sends a message to itself, which should take none")
	}
	c.host.Send(to, typeOf(e.Body), e.Body)
	return nil
}

func (c *Child) answered(body []byte) error {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return fmt.Errorf("does not answer in the form of an answer (%w)", err)
	}
	to := func(call int64) bool { return call != 0 && (a.InReplyTo == nil || *a.InReplyTo == call) }
	switch a.Type {
	case typeEntered:
		if !to(c.asked) {
			c.host.Unasked()
			return errors.New("enters the critical section, for which no request of its own is pending")
		}
		c.asked = 0
		stamp := dme.Stamp{}
		if a.Clock != 0 {
			stamp = dme.Stamp{Clock: a.Clock, Node: c.ID}
		}
		c.host.Enter(stamp)
	case typeReleased:
		if !to(c.leaving) {
			return errors.New("answers a release that is not pending")
		}
		c.leaving = 0
		c.overdue.Stop()
		c.mu.Lock()
		c.unanswered = false
		c.mu.Unlock()
		if c.again {
			c.again = false
			c.request()
		}
	case typeError:
		return fmt.Errorf("answers its client with error %d (%s)", a.Code, a.Text)
	default:
		return fmt.Errorf("says %q to its client; want entered or released", tidy(a.Type))
	}
	return nil
}
