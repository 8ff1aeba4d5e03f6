package vnet

import (
	"fmt"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// Property is what a schedule can break.
type Property string

// The properties that every step is judged by. Exclusion: a node is in the critical section alone,
// or with readers as a reader. Asked: no node enters without a request. Overtaking: no more entries
// of others than the bound come before a request's. Sanity: no node panics.
const (
	Exclusion  Property = "mutual exclusion"
	Asked      Property = "entry on request only"
	Overtaking Property = "bounded bypass"
	Sanity     Property = "sanity"
)

// Violation is a broken property.
type Violation struct {
	Property Property     `json:"property"`
	Verdict  string       `json:"verdict"` // in one sentence
	Nodes    []dme.NodeID `json:"nodes"`   // the nodes concerned
}

func (v *Violation) String() string { return v.Verdict }

func violated(p Property, id dme.NodeID, format string, args ...any) *Violation {
	return &Violation{p, fmt.Sprintf("node %d "+format, append([]any{id}, args...)...), []dme.NodeID{id}}
}

func twoInside(first, second dme.NodeID, firstReads, secondReads bool) *Violation {
	if second < first {
		first, second, firstReads, secondReads = second, first, secondReads, firstReads
	}
	as := func(id dme.NodeID, reads bool) string {
		if reads {
			return id.String() + " (reading)"
		}
		return id.String()
	}
	return &Violation{
		Exclusion, fmt.Sprintf("two nodes are in the critical section: %s and %s", as(first, firstReads), as(second, secondReads)),
		[]dme.NodeID{first, second},
	}
}

// The view of a network from outside.

// Node returns a node, for reading: steps are the network's.
func (n *Network) Node(id dme.NodeID) dme.Node { return n.runners[id].Node() }

// Activity says where the local process of a node stands.
func (n *Network) Activity(id dme.NodeID) dme.Activity { return n.runners[id].Activity() }

// Reads reports whether a node's pending request, or its current entry, is a reader's.
func (n *Network) Reads(id dme.NodeID) bool { return n.runners[id].Shared() }

// Describe says where a node stands and what its variables are.
func (n *Network) Describe(id dme.NodeID) string { return noderun.Describe(&n.runners[id]) }

// Counts are of one node, or of all.
type Counts struct {
	Entries        uint64
	Sent           uint64                   // messages, one for each receiver
	SentOf         [dme.MaxKinds + 1]uint64 // by kind
	Transmissions  uint64                   // a broadcast is one
	Refused        uint64                   // messages
	LongestQueue   uint64                   // see [dme.Algorithm.QueueLength]
	LongestMessage uint64                   // in bytes
}

// Counts returns what has been counted of a node until now, or with None of all.
func (n *Network) Counts(of dme.NodeID) Counts {
	var read []noderun.Counts
	var traffic noderun.TrafficCounts
	for id := range n.IDs() {
		if of == dme.None || of == id {
			read = append(read, noderun.Read(&n.counters[id]))
			one := noderun.ReadTraffic(&n.traffic[id])
			noderun.AddTraffic(&traffic, &one)
		}
	}
	c := noderun.Total(read)
	return Counts{c.Entries, c.Sent, traffic.Sent, traffic.Transmissions, c.Refused, c.LongestQueue, c.LongestMessage}
}

// Measure begins to read the algorithm's gauges, if it has any; see [Network.Figures].
func (n *Network) Measure() {
	n.meters = noderun.NewMeters(n.Algorithm, n.setting(), n.node, func() time.Duration { return 0 })
	if n.meters == nil {
		return
	}
	for id := range n.IDs() {
		n.runners[id].SetObserver(n.meters)
	}
}

// Figures returns what the gauges have measured until now, by the ids of quantities.
func (n *Network) Figures() map[string]float64 {
	n.meters.Settle()
	return n.meters.Figures()
}

// Refused returns how many messages nodes have refused, and the first reason by the alphabet.
func (n *Network) Refused() (count uint64, reason string) {
	for id := range n.IDs() {
		count += n.counters[id].Refused.Load()
		if r := n.runners[id].LastRefusal(); r != "" && (reason == "" || r < reason) {
			reason = r
		}
	}
	return count, reason
}

// Inside returns the nodes in the critical section, in the order of their entries.
func (n *Network) Inside() []dme.NodeID { return n.inside }

// Timers returns the timers that are set, in the order in which they were.
func (n *Network) Timers() []Timer { return n.common.timers }

// Flight is a message on its way, and what the network knows about it.
type Flight struct {
	dme.Message
	passage
}

// Arrival returns the kind of its arrival: Receive or, of news of its sender, PeerDown or PeerUp.
func (f *Flight) Arrival() dme.EventKind { return f.arrival() }

// InFlight returns all messages and news that are on their way, in the order of sending.
func (n *Network) InFlight() []Flight {
	sent := n.bySending()
	all := make([]Flight, len(sent))
	for i, l := range sent {
		all[i] = Flight{l.msg, l.passage}
	}
	return all
}

// OnTheWay returns the messages on the way between two nodes, in the order in which they were sent.
func (n *Network) OnTheWay(from, to dme.NodeID) []dme.Message {
	var all []dme.Message
	for _, l := range n.links[n.link(from, to)].messages {
		all = append(all, l.msg)
	}
	return all
}

// Message returns the message of a step, which must be possible.
func (n *Network) Message(x Step) *dme.Message {
	return &n.links[n.link(x.From, x.Node)].messages[x.Index].msg
}

// News reports whether news arrive next on a link, and of which kind.
func (n *Network) News(from, to dme.NodeID) (kind dme.EventKind, ok bool) {
	if link := n.link(from, to); n.length(link) > 0 {
		kind = n.passage(link, 0).arrival()
	}
	return kind, kind == dme.PeerDown || kind == dme.PeerUp
}

// Busy reports whether a message is on the way.
func (n *Network) Busy() bool { return len(n.occupied) > 0 }

func (n *Network) allIdle() bool { return n.waiting == 0 && len(n.inside) == 0 }

// Stuck reports whether a node waits and nothing can happen but that others ask.
func (n *Network) Stuck() bool {
	return n.waiting > 0 && !n.Busy() && len(n.inside) == 0 && len(n.common.timers) == 0 && (!n.faulty || n.mustGoOn(n))
}

// Served reports whether all requests have been made, and their entries left.
func (n *Network) Served() bool { return n.allIdle() && n.served(n) }

// Waiting returns the nodes that have asked and not entered.
func (n *Network) Waiting() []dme.NodeID {
	var nodes []dme.NodeID
	for id := range n.IDs() {
		if n.runners[id].Activity() == noderun.Requesting {
			nodes = append(nodes, id)
		}
	}
	return nodes
}

// States describes every node, one on a line.
func (n *Network) States() []string {
	var lines []string
	for id := range n.IDs() {
		lines = append(lines, n.Describe(id))
	}
	return lines
}
