package nats

import (
	"fmt"
	"strings"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
)

// topology says which process hosts each node, and by which subject to reach it.
type topology struct {
	*peers.Topology[peer]
	subjects []string // by node: where its frames go; those for all under dme.None. Guarded by Transport.mu

	prefix, via string // of subjects, and of those that frames are published under
}

type process = peers.Process[peer]

// peer is what is known of a process.
type peer struct {
	out window // frames to it
	in  inflow // frames from it
}

// What stands behind the prefix in subjects.
const (
	relay = ".s" // of what the sequencer is to pass on; the subject proper follows
	toAll = ".all"
)

func newTopology(book transport.AddressBook, c *transport.Config, prefix string, sequenced bool) (*topology, error) {
	processes, err := peers.NewTopology[peer]("nats", book, c)
	if err != nil {
		return nil, err
	}
	top := &topology{Topology: processes, subjects: make([]string, len(book)+1), prefix: prefix, via: prefix}
	if sequenced {
		top.via += relay
	}
	top.subjects[dme.None] = top.via + toAll
	for p := range top.All() {
		p.State.in.open = p == top.Self || p.Incarnation <= 1 && c.Incarnation <= 1
		p.State.in.over = p.Absent
		p.State.out.left.Store(p.Absent)
		top.address(p)
	}
	return top, nil
}

// address notes under which subjects the nodes of a process are reached. For one that
// is in use, it is called with Transport.mu held.
func (top *topology) address(p *process) {
	for _, id := range p.Nodes {
		subject := p.Addr + "." + id.String()
		if rest, ours := strings.CutPrefix(subject, top.prefix); ours {
			subject = top.via + rest
		}
		top.subjects[id] = subject
	}
}

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
