package peers

import (
	"errors"
	"fmt"

	"dmebench/dme"
	"dmebench/transport"
)

// Replace is Readmit in a transport: the incarnation p of a process is expelled, and then the next
// one admitted, which takes its place by Install. If p is that very incarnation and alive, nothing
// is to be done.
func (t *Topology[State]) Replace(p *Process[State], addr string, incarnation uint32, alive bool,
	expel func(cause error), admit func(next *Process[State]) error,
) error {
	switch {
	case alive && p.Incarnation == incarnation && p.Addr == addr:
		return nil
	case addr == "":
		return fmt.Errorf("%s: %v is to be readmitted without an address", t.name, p)
	case incarnation <= p.Incarnation:
		return fmt.Errorf("%s: incarnation %d of %v is over or was there already; each has a higher number than the one before",
			t.name, incarnation, p)
	}
	expel(fmt.Errorf("%s: %v: incarnation %d has taken its place", t.name, p, incarnation))
	return admit(&Process[State]{Index: p.Index, Addr: addr, Nodes: p.Nodes, Incarnation: incarnation})
}

func (t *Topology[State]) Install(next *Process[State]) {
	t.processes[next.Index].Store(next)
	for _, id := range next.Nodes {
		t.of[id].Store(next)
	}
}

// Up tells a handler that a process is there, unless the transport closes meanwhile.
func Up(h transport.Handler, nodes []dme.NodeID, closing func() bool) {
	if u, ok := h.(transport.UpHandler); ok {
		for _, id := range nodes {
			if !closing() {
				u.Up(id)
			}
		}
	}
}

// IgnoreClosed returns err, but nil for a transport that is closed: that is
// no error of Expel and Readmit.
func IgnoreClosed(err error) error {
	if errors.Is(err, transport.ErrClosed) {
		return nil
	}
	return err
}

// Other returns the process of peer, which must not be this one.
func (t *Topology[State]) Other(peer dme.NodeID) (*Process[State], error) {
	switch p := t.Of(peer); p {
	case nil:
		return nil, fmt.Errorf("%s: no node %d in this run", t.name, peer)
	case t.Self:
		return nil, fmt.Errorf("%s: node %d lives in this very process, which is there as long as this is asked", t.name, peer)
	default:
		return p, nil
	}
}
