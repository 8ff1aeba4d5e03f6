package link

import (
	"container/heap"
	"errors"
	"fmt"
	"strings"
	"time"

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

// Partition is a time during which frames between different groups of nodes
// vanish. Times count from Start, at each process for itself; a frame is judged
// when it is sent.
type Partition struct {
	From, Until time.Duration // Until is not part of it
	// Groups are the sides. Nodes that are in none are one more side together.
	Groups [][]dme.NodeID
}

// ParsePartitions reads GROUP|…@FROM-UNTIL, where a group is node numbers and
// ranges of them separated by commas; several partitions are separated by
// semicolons: "1,2|3-5@1s-2.5s;1@4s-5s".
func ParsePartitions(s string) ([]Partition, error) {
	var all []Partition
	for part := range strings.SplitSeq(s, ";") {
		p, err := parsePartition(part)
		if err == nil {
			err = p.check()
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", part, err)
		}
		all = append(all, p)
	}
	return all, nil
}

func parsePartition(s string) (p Partition, err error) {
	sides, times, ok := strings.Cut(s, "@")
	if !ok {
		return p, errors.New("want GROUP|…@FROM-UNTIL, such as 1,2|3-5@1s-2s")
	}
	if p.From, p.Until, err = parseTimes(times); err != nil {
		return p, err
	}
	for side := range strings.SplitSeq(sides, "|") {
		group, err := dme.ParseNodes(side)
		if err != nil {
			return p, err
		}
		p.Groups = append(p.Groups, group)
	}
	return p, nil
}

func (p *Partition) check() error {
	if p.From < 0 || p.Until <= p.From {
		return fmt.Errorf("link: partition from %v until %v: want an end after the beginning", p.From, p.Until)
	}
	return checkGroups(p.Groups)
}

// separates reports whether a frame that is sent at the time now vanishes.
func (p *Partition) separates(l Link, now time.Duration) bool {
	return now >= p.From && now < p.Until && side(p.Groups, l.From) != side(p.Groups, l.To)
}
