package vnet

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// Save appends everything on which the network's further way depends: nodes,
// local processes, messages in the order of sending, timers. Equal states give
// equal bytes. The counters of nodes are no part of it.
func (n *Network) Save(b []byte) []byte {
	put := func(numbers ...int) {
		for _, x := range numbers {
			b = binary.AppendUvarint(b, uint64(x))
		}
	}
	for id := range n.IDs() {
		p := &n.processes[id]
		put(int(p.activity), flag(p.reads), flag(p.stopped), flag(p.leaving), flag(p.absent), p.requests, n.common.overtaken[id])
		b = dme.SaveState(b, n.runners[id].Node())
	}
	messages := n.bySending()
	put(len(messages))
	for _, l := range messages {
		put(int(l.From), int(l.To), flag(l.copied), int(l.news), flag(l.broadcast), int(l.place), len(l.marks))
		for _, m := range l.marks {
			put(int(m.node), int(m.id), m.hops)
		}
		message := dme.AppendMessage(nil, &l.msg)
		put(len(message))
		b = append(b, message...)
	}
	put(n.common.lose, n.common.crashes, n.common.departures, len(n.common.timers))
	for _, t := range n.common.timers {
		put(int(t.Node), int(t.ID), int(t.Delay))
	}
	return b
}

// SaveAlike is Save, but that states give equal bytes which differ in the values
// of logical clocks alone, up to their order and up to which of them are
// successors: those of one class (see [Classes], fine ones).
func (n *Network) SaveAlike(b []byte) []byte {
	low := unjudged(n.Model)
	if err := low.Load(n.Save(nil)); err != nil {
		panic("vnet: " + err.Error()) // never happens: the network saved this state itself
	}
	for id := range n.IDs() {
		if n.Bypass == 0 || n.processes[id].activity != noderun.Requesting {
			low.common.overtaken[id] = 0
		}
	}
	if n.Algorithm.Clocks != nil {
		low.lower()
	}
	return low.Save(b)
}

// lower makes the clocks of nodes and messages as low as can be in their class.
func (n *Network) lower() {
	messages := n.bySending()
	visit := func(each func(dme.ClockVariable)) {
		for id := range n.IDs() {
			dme.VisitClocks(n.runners[id].Node(), each)
		}
		for _, x := range messages {
			dme.VisitMessageClocks(n.Algorithm, n.Nodes, x.From, &x.msg, each)
		}
	}
	var all []level
	visit(func(x dme.ClockVariable) {
		if x.Live {
			all = append(all, makeLevel(x.Domain, *x.Value))
		}
	})
	slices.Sort(all)
	all = slices.Compact(all)
	low := lowest(nil, all)
	visit(func(x dme.ClockVariable) {
		if !x.Live {
			*x.Value = 0
			return
		}
		at, _ := slices.BinarySearch(all, makeLevel(x.Domain, *x.Value))
		*x.Value = low[at]
	})
}

// Load puts the network into a state that was saved by one of the same model;
// other bytes are an error, or bring it into a state of no meaning.
func (n *Network) Load(b []byte) error {
	take := func() int {
		x, size := binary.Uvarint(b)
		b = b[max(0, size):]
		return int(x)
	}
	clear(n.links)
	n.occupied, n.inside, n.waiting, n.sent, n.Violation = n.occupied[:0], nil, 0, 0, nil
	for id := range n.IDs() {
		p := process{
			activity: noderun.Activity(take()), reads: take() == 1, stopped: take() == 1, leaving: take() == 1, absent: take() == 1,
			requests: take(),
		}
		n.processes[id], n.common.overtaken[id] = p, take()
		n.runners[id].Restore(p.activity, p.reads)
		var err error
		if b, err = dme.LoadState(b, n.runners[id].Node()); err != nil {
			return err
		}
		switch p.activity {
		case noderun.Requesting:
			n.waiting++
		case noderun.Inside:
			n.inside = append(n.inside, id)
		}
	}
	for range min(take(), len(b)) {
		n.sent++
		x := transit{number: n.sent}
		x.From, x.To = dme.NodeID(take()), dme.NodeID(take())
		x.copied, x.news, x.broadcast, x.place = take() == 1, dme.EventKind(take()), take() == 1, int32(take())
		for range min(take(), len(b)) {
			x.marks = append(x.marks, mark{dme.NodeID(take()), dme.TimerID(take()), take()})
		}
		size := min(take(), len(b))
		if err := dme.DecodeMessage(b[:size], &x.msg, nil); err != nil {
			return err
		}
		b = b[size:]
		n.put(&x)
	}
	n.common.lose, n.common.crashes, n.common.departures, n.common.timers = take(), take(), take(), nil
	n.disturbed, n.judgeAll = n.struck(&n.common), true
	for range min(take(), len(b)) {
		t := Timer{Node: dme.NodeID(take()), ID: dme.TimerID(take()), Delay: time.Duration(take())}
		t.reach = n.reach(t.Delay)
		n.common.timers = append(n.common.timers, t)
	}
	if len(b) > 0 {
		return errors.New("vnet: more was saved than a network of this model has")
	}
	return nil
}

func flag(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func (n *Network) bySending() []*transit {
	var all []*transit
	for _, x := range n.occupied {
		q := n.links[n.link(x.From, x.Node)].messages
		for i := range q {
			all = append(all, &q[i])
		}
	}
	slices.SortFunc(all, func(x, y *transit) int { return cmp.Compare(x.number, y.number) })
	return all
}
