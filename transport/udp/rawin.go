package udp

import (
	"crypto/cipher"
	"fmt"
	"net/netip"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/frame"
)

// seals is the authenticator of the latest incarnation that a process has been
// heard of.
type seals struct {
	epoch uint64
	seal  cipher.AEAD // nil before the first datagram
}

// read is the goroutine that delivers what comes to a socket.
func (r *raw) read(s *socket) {
	arrived, done := r.datagramArrived, r.batchEnded
	if r.group != nil { // two of them share what is the reader's
		arrived = func(b []byte) {
			r.reading.Lock()
			defer r.reading.Unlock()
			r.datagramArrived(b)
		}
		done = func() {
			r.reading.Lock()
			defer r.reading.Unlock()
			r.batchEnded()
		}
	}
	for {
		err := s.receive(arrived, done, r.wasRefused)
		if r.isClosed(err) {
			return
		}
		// The poller reports an error of the socket, such as one that an
		// earlier datagram has brought back. It has been taken note of by now.
		time.Sleep(time.Millisecond)
	}
}

// datagramArrived delivers the frames of a datagram.
func (r *raw) datagramArrived(b []byte) {
	if r.closing.Load() {
		return
	}
	from, body, err := r.open(b)
	if err != nil {
		r.refused.Add(1)
		return
	}
	var f frame.Frame
	for len(body) > 0 {
		size, err := frame.Decode(body, &f)
		if size == 0 || err != nil {
			r.refused.Add(1)
			return
		}
		body = body[size:]
		toAll := f.To == dme.None && r.group != nil
		if r.top.at(f.From) != from || !toAll && r.top.at(f.To) != r.top.self {
			r.refused.Add(1)
			continue
		}
		if !toAll || r.beneath {
			r.deliver(f)
			continue
		}
		for _, id := range r.top.self.nodes {
			if id != f.From {
				r.deliver(frame.Frame{From: f.From, To: id, Body: f.Body})
			}
		}
	}
}

func (r *raw) deliver(f frame.Frame) {
	if r.closing.Load() {
		return
	}
	r.handler.Frame(f.From, f.To, f.Body)
	if r.batch++; r.batch == transport.MaxBatch {
		r.batchEnded()
	}
}

// open returns which process a datagram comes from, and its frames.
func (r *raw) open(b []byte) (*process, []byte, error) {
	node, epoch, err := claimant(b)
	if err != nil {
		return nil, nil, err
	}
	from := r.top.at(node)
	if from == nil {
		return nil, nil, errForeign
	}
	known := &r.seals[from.index]
	seal := known.seal
	fresh := seal == nil || known.epoch != epoch
	if fresh {
		seal = newSeal(&r.config.Key, node, epoch)
	}
	body, err := open(seal, b)
	if err == nil && fresh {
		*known = seals{epoch, seal}
	}
	return from, body, err
}

// batchEnded sends what the handler has sent.
func (r *raw) batchEnded() {
	r.received.Add(uint64(r.batch))
	r.batch = 0
	r.flush()
}

// wasRefused is told that nobody listens at an address.
func (r *raw) wasRefused(at netip.AddrPort) {
	if !r.beneath || r.closing.Load() {
		return
	}
	for _, p := range r.top.all {
		if p.at == at {
			r.handler.Down(p.node(), fmt.Errorf("udp: %v: port unreachable", p))
			return
		}
	}
}
