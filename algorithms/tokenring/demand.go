package tokenring

import "dmebench/dme"

// demand is a site whose token moves only if it is asked for.
//
//  1. A site that needs the token, for itself or for the next site, and does not have it, sends
//     REQUEST to the previous site, once.
//  2. A site that receives REQUEST owes the token to the next site. If it has the token and does
//     not use it, it passes it on; else it is in need of it (step 1), and asks the previous site in
//     turn.
//  3. A site that receives TOKEN executes if it is waiting,
//  4. and after that passes the token on if it owes it. Otherwise the token rests here.
//
// So a REQUEST stops at a site that has asked already, or has the token, and the token comes back
// along the same way, in the direction of the ring: with the token d hops behind the requester, d
// REQUESTs and d TOKENs. Safe, because there is one token; live, because the sites that have asked
// form a chain from every requester back to the token, which is passed on after at most one
// execution at each of them: at most N−1 others come first.
//
// Order of messages does not matter: between two sites TOKEN goes one way and REQUEST the other. In
// a ring of two both go both ways, and a REQUEST may overtake the TOKEN that was sent before it:
// the receiver then owes a token that it has not received yet, which step 4 covers.
type demand struct {
	place
	token     bool // the token is here
	waiting   bool // needs the critical section
	executing bool // it
	asked     bool // the previous site owes us the token
	owed      bool // we owe the token to the next site
}

// Request is step 1, or step 3 if the token rests here.
func (d *demand) Request(out *dme.Outbox) {
	d.waiting = true
	d.use(out)
}

func (d *demand) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Kind == kindRequest {
		d.receiveRequest(from, out)
	} else {
		d.receiveToken(from, out)
	}
}

// receiveRequest is step 2.
func (d *demand) receiveRequest(from dme.NodeID, out *dme.Outbox) {
	if from != d.next || d.owed {
		out.Refuse("REQUEST from a site that is not the next one, or that has asked already")
		return
	}
	d.owed = true
	d.use(out)
}

// receiveToken is step 3.
func (d *demand) receiveToken(from dme.NodeID, out *dme.Outbox) {
	if from != d.previous || !d.asked {
		out.Refuse("TOKEN from a site that is not the previous one, or that was not asked")
		return
	}
	d.token = true
	d.asked = false
	d.use(out)
}

// Release is step 4.
func (d *demand) Release(out *dme.Outbox) {
	d.executing = false
	d.use(out)
}

// use does what the site can do now: execute, pass the token on, ask for it.
func (d *demand) use(out *dme.Outbox) {
	if d.token && !d.executing {
		switch {
		case d.waiting:
			d.waiting = false
			d.executing = true
			out.Enter(dme.Stamp{})
		case d.owed:
			d.owed = false
			d.token = false
			out.Send(d.next, dme.Message{Kind: kindToken})
		}
	}
	if !d.token && !d.asked && (d.waiting || d.owed) {
		d.asked = true
		out.Send(d.previous, dme.Message{Kind: kindRequest})
	}
}

func (d *demand) State(v *dme.Visitor) {
	v.Bool("token", &d.token)
	v.Bool("waiting", &d.waiting)
	v.Bool("executing", &d.executing)
	v.Bool("asked", &d.asked)
	v.Bool("owed", &d.owed)
}

func (d *demand) HasToken() bool { return d.token }

// Waits names the previous site, once it has been asked.
func (d *demand) Waits() []dme.Wait { return dme.WaitIf(d.asked, "TOKEN", d.previous) }
