package lodhakshemkalyani

import (
	"fmt"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
)

// concurrency watches a run to tell which requests are concurrent, by
// definition 9.1.
type concurrency struct {
	now      int
	requests []*request                // in the order in which they were made
	of       map[dme.NodeID][]*request // by process
	arrived  map[[2]dme.NodeID]int     // REQUESTs delivered, by sender and receiver
}

type request struct {
	stamp   dme.Stamp
	made    int
	arrived map[dme.NodeID]int // by process
}

func newConcurrency() *concurrency {
	return &concurrency{of: make(map[dme.NodeID][]*request), arrived: make(map[[2]dme.NodeID]int)}
}

// note notes a step. A process can make its next request before the last one has
// arrived everywhere; links in order tell which is which.
func (c *concurrency) note(e *vnet.Event) {
	c.now++
	switch {
	case e.Step.Kind == vnet.Ask:
		r := &request{made: c.now, arrived: make(map[dme.NodeID]int)}
		r.stamp.Node = e.Node
		c.requests = append(c.requests, r)
		c.of[e.Node] = append(c.of[e.Node], r)
	case e.Step.Kind == vnet.Deliver && e.Msg.Kind == kindRequest:
		link := [2]dme.NodeID{e.From, e.Node}
		r := c.of[e.From][c.arrived[link]]
		c.arrived[link]++
		r.stamp.Clock = e.Msg.Clock
		r.arrived[e.Node] = c.now
	}
}

func (r *request) concurrent(s *request) bool {
	return r.stamp.Node != s.stamp.Node && r.arrived[s.stamp.Node] > s.made && s.arrived[r.stamp.Node] > r.made
}

// judge compares a run that has ended with section 9.6.4: N−1 REQUEST and
// N−|CSet| REPLY messages for each entry, and a FLUSH where some request of the
// concurrency set has a lower priority. It also checks that nothing was refused
// and that entries were in order.
func (c *concurrency) judge(net *conformance.Net) error {
	n := net.Setting.Nodes
	var want [kindFlush + 1]int
	for _, r := range c.requests {
		cset, successor := 1, false
		for _, s := range c.requests {
			if r.concurrent(s) {
				cset++
				successor = successor || r.stamp.Precedes(s.stamp)
			}
		}
		want[kindRequest] += n - 1
		want[kindReply] += n - cset
		if successor {
			want[kindFlush]++
		}
	}
	for k := kindRequest; k <= kindFlush; k++ {
		if got := int(net.SentOf(k)); got != want[k] {
			return fmt.Errorf("%d messages of kind %d, section 9.6.4 says %d", got, k, want[k])
		}
	}
	if net.Refused() > 0 {
		return fmt.Errorf("%d messages refused", net.Refused())
	}
	var last dme.Stamp
	for _, e := range net.Entries {
		if !last.Precedes(e.Stamp) {
			return fmt.Errorf("entries out of order: %v after %v", e.Stamp, last)
		}
		last = e.Stamp
	}
	return nil
}
