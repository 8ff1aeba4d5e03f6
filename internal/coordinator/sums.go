package coordinator

import (
	"time"

	"dmebench/internal/host"
	"dmebench/internal/noderun"
)

// sums are the counters of a run, added up over its nodes.
type sums struct {
	sent, handled     uint64
	requests, entries uint64
	requesting        int // nodes that wait for the critical section
	inside            int // nodes in the critical section
	timers            uint64
	toCome            uint64 // requests that local processes have still to make
}

// sumUp adds up the readings of all nodes.
func sumUp(nodes []host.Reading) sums {
	var r sums
	for i := range nodes {
		c := &nodes[i]
		r.sent += c.Sent
		r.handled += c.Handled
		r.requests += c.Requests
		r.entries += c.Entries
		r.timers += c.Timers
		r.toCome += c.Pending
		switch c.Activity {
		case noderun.Requesting:
			r.requesting++
		case noderun.Inside:
			r.inside++
		}
	}
	return r
}

// served reports whether all requests have been made and served; messages may
// still be on their way.
func (r sums) served() bool { return r.requesting == 0 && r.inside == 0 && r.toCome == 0 }

// quiet reports whether the system was quiescent at some instant between two
// successive sums: no message in flight, no node active, no timer armed.
//
// All counters only grow, and a handled message is counted after what its
// handler sent. If two sums agree, no counter moved between the end of the
// first and the beginning of the second, on no host; if then as much was handled
// as was sent, nothing was in flight at that instant.
func quiet(a, b sums) bool {
	return a == b && a.sent == a.handled && a.served() && a.timers == 0
}

// settling is for how long nothing may have moved in a run with faults, where
// messages are lost with nodes and no sum tells whether any is on its way.
const (
	settling      = 50 * time.Millisecond // beside what the links take
	settlingTimer = time.Second           // while timers are armed, which some algorithm keeps for ever
)

// quiet returns what until asks whether the system is quiescent. Once nodes were
// killed, messages to them are missing for ever: then the system is quiescent
// where nothing has moved for longer than a message takes, and from then on while
// no more are missing than were.
func (c *coordinator) quiet() func(before, now sums) bool {
	if c.faults == nil {
		return quiet
	}
	links := c.job.Links()
	longest, bounded := links.Longest()
	if !bounded {
		longest = 20 * links.Typical(pingBytes)
	}
	pause := settling + 2*longest
	since := time.Now()
	return func(a, b sums) bool {
		if a != b || !b.served() {
			since = time.Now()
			return false
		}
		missing := b.sent - b.handled
		if b.timers == 0 && missing == c.missed {
			return true
		}
		if still := time.Since(since); still < pause || b.timers > 0 && still < settlingTimer {
			return false
		}
		c.missed = missing
		return true
	}
}
