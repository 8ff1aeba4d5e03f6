package tokenring

import "dmebench/dme"

// perpetual is a site whose token circulates for ever: Exercise 9.1.
//
// A run has to end. A site that has been told to stop and has no request is
// finished, and stays so. The token counts the finished sites that it has
// passed in a row; once it has passed all N it comes to rest. A site that was
// told to stop earlier than others hands the token on like any other, so it
// does not matter when, or in which order, sites are told.
type perpetual struct {
	place
	token     bool // the token is here: in use, or at rest
	waiting   bool // needs the critical section
	executing bool // it
	stopped   bool // will not ask again
	passed    uint64
}

// Start dispatches the token from the site where it is at the beginning.
func (p *perpetual) Start(out *dme.Outbox) {
	if p.token && !p.executing {
		p.dispatch(out)
	}
}

// Stop says that the site will not ask again.
func (p *perpetual) Stop(*dme.Outbox) { p.stopped = true }

// Request waits for the token, unless it is here and idle: in a ring of one,
// before Start, or at rest.
func (p *perpetual) Request(out *dme.Outbox) {
	p.waiting = true
	if p.token {
		p.grab(out)
	}
}

// Receive grabs the token or dispatches it at once.
func (p *perpetual) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch {
	case m.Kind != kindToken:
		out.Refuse("REQUEST where the token circulates by itself")
		return
	case from != p.previous:
		out.Refuse("TOKEN from a site that is not the previous one")
		return
	case p.token:
		out.Refuse("TOKEN where the token is")
		return
	}
	p.token = true
	p.passed = m.Num
	if p.waiting {
		p.grab(out)
	} else {
		p.dispatch(out)
	}
}

// Release dispatches the token to the next site.
func (p *perpetual) Release(out *dme.Outbox) {
	p.executing = false
	p.dispatch(out)
}

func (p *perpetual) grab(out *dme.Outbox) {
	p.waiting = false
	p.executing = true
	out.Enter(dme.Stamp{})
}

// dispatch sends the token on, unless no site will want it.
func (p *perpetual) dispatch(out *dme.Outbox) {
	if p.stopped {
		p.passed++
	} else {
		p.passed = 0
	}
	if p.n == 1 || p.passed >= uint64(p.n) {
		return
	}
	out.Send(p.next, dme.Message{Kind: kindToken, Num: p.passed})
	p.token = false
	p.passed = 0
}

func (p *perpetual) State(v *dme.Visitor) {
	v.Bool("token", &p.token)
	v.Bool("waiting", &p.waiting)
	v.Bool("executing", &p.executing)
	v.Bool("stopped", &p.stopped)
	v.Uint("passed", &p.passed)
}

func (p *perpetual) HasToken() bool { return p.token }

// Waits names the previous site: every site awaits the token from it, to use it or to hand it on.
func (p *perpetual) Waits() []dme.Wait { return dme.WaitIf(!p.token, "TOKEN", p.previous) }
