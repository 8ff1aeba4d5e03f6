package claim

import "dmebench/dme"

// Rehearsal is a new system without a network, for measurements that need a few steps of
// its nodes: in each round all messages arrive that were sent in the one before.
type Rehearsal struct {
	Nodes    []dme.Node // from 1
	Entered  dme.NodeID // the last node to enter
	Received int        // messages that have arrived

	onWay, arriving []letter
	out             dme.Outbox
}

type letter struct {
	from, to dme.NodeID
	m        dme.Message
}

// Rehearse makes the nodes of a system.
func Rehearse(s dme.Setting) *Rehearsal {
	r := &Rehearsal{Nodes: make([]dme.Node, s.Nodes+1)}
	for id := range dme.Others(s.Nodes, dme.None) {
		r.Nodes[id] = s.System.Node(id)
	}
	return r
}

// Do calls a handler of a node, such as dme.Node.Request.
func (r *Rehearsal) Do(id dme.NodeID, handler func(dme.Node, *dme.Outbox)) {
	handler(r.Nodes[id], &r.out)
	r.note(id)
}

// Round lets arrive what is on its way, in the order of sending, and reports whether
// there was anything.
func (r *Rehearsal) Round() bool {
	r.onWay, r.arriving = r.arriving[:0], r.onWay
	for _, l := range r.arriving {
		r.Nodes[l.to].Receive(l.from, l.m, &r.out)
		r.note(l.to)
	}
	r.Received += len(r.arriving)
	return len(r.arriving) > 0
}

// Settle lets messages arrive until none is on its way, for four rounds for each node at
// most: they may never end.
func (r *Rehearsal) Settle() {
	for left := 4 * len(r.Nodes); left > 0 && r.Round(); left-- {
	}
}

// note takes what a handler of a node has to say.
func (r *Rehearsal) note(id dme.NodeID) {
	for _, e := range r.out.Effects() {
		switch e.Kind {
		case dme.Enter:
			r.Entered = id
		case dme.Send:
			r.onWay = append(r.onWay, letter{id, e.To, e.Msg})
		case dme.Broadcast:
			for to := range dme.Others(len(r.Nodes)-1, id) {
				r.onWay = append(r.onWay, letter{id, to, e.Msg})
			}
		}
	}
	r.out.Reset()
}
