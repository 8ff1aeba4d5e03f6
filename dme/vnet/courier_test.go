package vnet

import (
	"time"

	"dmebench/dme"
)

// courier remembers, as a digest, all that has happened to it. It sends and broadcasts
// numbered messages, and sets timers of several lengths again and again.
type courier struct {
	id, n        dme.NodeID
	digest, sent uint64
	asking       bool
}

func couriers() *dme.Algorithm {
	return &dme.Algorithm{
		Name: "courier", Title: "courier", Citation: "none", Class: dme.Permission, Kinds: []string{"ASK", "ANSWER"},
		Needs:   dme.Always(dme.Needs{}),
		Prepare: dme.Unshared(func(n int, id dme.NodeID) dme.Node { return &courier{id: id, n: dme.NodeID(n)} }),
	}
}

func (c *courier) note(what uint64) { c.digest = 31*c.digest + what }

func (c *courier) message(kind dme.Kind) dme.Message {
	c.sent++
	return dme.Message{Kind: kind, Num: 100*uint64(c.id) + c.sent, Vec: []uint64{c.sent}}
}

func (c *courier) tellAll(kind dme.Kind, out *dme.Outbox) {
	m := c.message(kind)
	m.Flags = 1 // a broadcast
	out.Broadcast(m)
}

func (c *courier) Request(out *dme.Outbox) {
	c.asking = true
	c.tellAll(kindAsk, out)
	out.SetTimer(1, time.Second)
	out.SetTimer(2, 5*time.Second/2)
}

func (c *courier) Release(out *dme.Outbox) {
	c.tellAll(kindAnswer, out)
	out.SetTimer(3, time.Second/2)
}

func (c *courier) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	c.note(100*uint64(m.Kind) + m.Num)
	if m.Kind == kindAsk {
		out.Send(from, c.message(kindAnswer))
		out.Send(from, dme.Message{Kind: kindAnswer}) // as often before
	}
	switch {
	case m.Kind == kindAnswer && c.asking:
		c.asking = false
		out.Enter(dme.Stamp{})
	case m.Num%5 == 0:
		out.SetTimer(2, 2*time.Second)
	case m.Num%5 == 1:
		out.CancelTimer(1)
	case m.Num%5 == 2:
		out.Send(c.id%c.n+1, c.message(kindAnswer))
	}
}

func (c *courier) Timeout(id dme.TimerID, out *dme.Outbox) {
	c.note(uint64(id))
	if c.sent < 6 {
		out.Send(c.id%c.n+1, c.message(kindAnswer))
		out.SetTimer(id%3+1, time.Duration(id)*time.Second)
	}
}

func (c *courier) State(v *dme.Visitor) {
	v.Uint("digest", &c.digest)
	v.Uint("sent", &c.sent)
	v.Bool("asking", &c.asking)
}
