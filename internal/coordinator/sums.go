package coordinator

import (
	"dmebench/internal/noderun"
	"dmebench/internal/sharedpage"
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

// sumUp adds up the counters of all nodes. Nodes go on while it reads, so that
// the sums are of no one instant; see quiet.
func sumUp(p *sharedpage.Page) sums {
	var r sums
	nodes := p.Nodes()
	for i := range nodes {
		c := &nodes[i]
		r.sent += c.SentTotal.Load()
		r.handled += c.HandledTotal.Load()
		r.requests += c.Requests.Load()
		r.entries += c.Entries.Load()
		r.timers += c.Timers.Load()
		r.toCome += c.Pending.Load()
		switch noderun.Activity(c.Activity.Load()) {
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
// first and the beginning of the second; if then as much was handled as was
// sent, nothing was in flight at that instant.
func quiet(a, b sums) bool {
	return a == b && a.sent == a.handled && a.served() && a.timers == 0
}

// counts copies the counters of all nodes.
func counts(p *sharedpage.Page) []noderun.Counts {
	nodes := p.Nodes()
	all := make([]noderun.Counts, len(nodes))
	for i := range nodes {
		all[i] = noderun.Read(&nodes[i])
	}
	return all
}
