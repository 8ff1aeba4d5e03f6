package link

import (
	"container/heap"
	"errors"

	"dmebench/dme"
	"dmebench/transport"
)

var errNotReadmitting = errors.New("link: the transport beneath does not let processes come back")

// Expel is that of the transport beneath.
func (t *Transport) Expel(peer dme.NodeID, cause error) error {
	if r, ok := t.inner.(transport.Readmitter); ok {
		return r.Expel(peer, cause)
	}
	return errNotReadmitting
}

// Readmit is that of the transport beneath. Frames that were delayed on the way to
// the incarnation before are dropped.
func (t *Transport) Readmit(peer dme.NodeID, addr string, incarnation uint32) error {
	if r, ok := t.inner.(transport.Readmitter); ok {
		return r.Readmit(peer, addr, incarnation)
	}
	return errNotReadmitting
}

// handler is told what comes from the transport beneath, and drops what waits for
// nodes that are down.
type handler struct {
	transport.Handler
	t *Transport
}

func (h handler) Down(peer dme.NodeID, err error) {
	h.Handler.Down(peer, err)
	h.t.forget(peer) // now that nobody sends to it any more
}

func (h handler) Up(peer dme.NodeID) {
	h.t.know(peer)
	if u, ok := h.Handler.(transport.UpHandler); ok {
		u.Up(peer)
	}
}

func (h handler) Transmitted(from dme.NodeID, b []byte) {
	if m, ok := h.Handler.(transport.Monitor); ok {
		m.Transmitted(from, b)
	}
}

// know notes that a node is there that the address book may not name.
func (t *Transport) know(peer dme.NodeID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.book.Addr(peer) == "" {
		t.book[peer-1] = "readmitted"
	}
}

// forget drops the delayed frames for a node. When it returns, none is about to leave.
func (t *Transport) forget(peer dme.NodeID) {
	t.leaving.Lock()
	defer t.leaving.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.waiting[:0]
	for _, d := range t.waiting {
		if d.link.To != peer {
			kept = append(kept, d)
			continue
		}
		if d.ordered {
			d.state.ordered--
		}
		d.state.bytes -= len(d.frame) + accountedFrame
	}
	clear(t.waiting[len(kept):])
	t.waiting = kept
	heap.Init(&t.waiting)
	t.nothingWaits()
}
