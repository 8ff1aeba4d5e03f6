package tcp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
)

// inbound is a connection that another process (or this one) has dialed.
type inbound struct {
	t       *Transport
	conn    *net.TCPConn
	session net.Conn      // conn, as it is read and written
	from    *process      // nil before Start
	done    chan struct{} // closed when nothing from it is delivered any more

	mu       sync.Mutex // orders what is written: welcome, goodbye
	farewell bool       // this side has said goodbye
	packets  packets
}

func (t *Transport) accept() {
	pause := 5 * time.Millisecond
	for {
		c, err := t.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			// Out of descriptors or the like: what is open goes on.
			select {
			case <-time.After(pause):
				pause = min(2*pause, time.Second)
			case <-t.leaving.Done():
			}
			continue
		}
		pause = 5 * time.Millisecond
		t.life.Running.Go(func() { t.greet(c.(*net.TCPConn)) })
	}
}

func (t *Transport) greet(conn *net.TCPConn) {
	conn.SetDeadline(time.Now().Add(t.limits.handshake))
	stop := context.AfterFunc(t.leaving, func() { conn.SetDeadline(time.Unix(1, 0)) })
	var who ends
	s, err := t.newSession(conn, t.Addr(), tls.Server)
	if err == nil {
		who, err = receive(s, &t.config)
	}
	if !stop() && err == nil {
		err = t.life.Closed()
	}
	if err == nil {
		err = t.prepare(conn)
	}
	in := &inbound{t: t, conn: conn, session: s, done: make(chan struct{})}
	if err == nil {
		err = in.welcome()
	}
	if err == nil {
		// Peers may have the address book before this process has.
		select {
		case <-t.started:
			err = t.register(in, who.From, who.FromIncarnation)
		case <-t.leaving.Done():
		}
	}
	if err != nil {
		if !t.life.Closing() {
			t.refusedConns.Add(1)
		}
		abort(conn)
		return
	}
	in.run()
}

// welcome tells the dialer that Close says goodbye to it: from the welcome on, it takes any
// other end for a death.
func (in *inbound) welcome() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	t := in.t
	t.life.Mu.Lock()
	closing := t.life.Closing()
	if !closing {
		t.inbounds = append(t.inbounds, in)
	}
	t.life.Mu.Unlock()
	if closing {
		return t.life.Closed()
	}
	_, err := io.WriteString(in.session, welcome)
	return err
}

// register gives the connection to the process that node lives in. One of an incarnation not yet
// announced waits until it is.
func (t *Transport) register(in *inbound, node dme.NodeID, incarnation uint32) error {
	for {
		wait, err := t.tryRegister(in, node, incarnation)
		if wait == nil {
			return err
		}
		select {
		case <-wait:
		case <-t.leaving.Done():
			return t.life.Closed()
		}
	}
}

func (t *Transport) tryRegister(in *inbound, node dme.NodeID, incarnation uint32) (wait <-chan struct{}, err error) {
	p := t.life.Top().Of(node)
	t.life.Mu.Lock()
	defer t.life.Mu.Unlock()
	switch {
	case p == nil:
		return nil, fmt.Errorf("tcp: no node %d in this run", node)
	case incarnation > p.Incarnation || p.State.arriving:
		return t.readmitted, nil
	case incarnation < p.Incarnation:
		return nil, fmt.Errorf("tcp: %v: incarnation %d is over", p, incarnation)
	case p.State.fate == down || p.State.fate == absent || p.State.expelled:
		return nil, fmt.Errorf("tcp: %v has died; only a later incarnation can come back", p)
	case p.State.in != nil:
		return nil, fmt.Errorf("tcp: %v is connected already", p)
	}
	in.from, p.State.in = p, in
	return nil, nil
}

func (in *inbound) run() {
	if err := in.deliver(in.session); err != nil {
		in.countPackets()
		in.conn.Close()
		close(in.done)
		in.t.lostInbound(in.from, fmt.Errorf("tcp: %v: connection lost: %w; did its worker end?", in.from, err))
		return
	}
	close(in.done)
	in.t.hasLeft(in.from)
	in.leave()
	if !in.t.life.Closing() {
		// The peer closes first: it must see the answer before a reset.
		var b [1]byte
		in.session.Read(b[:])
	}
	in.countPackets()
	abort(in.conn)
}

func (in *inbound) countPackets() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.packets.read(in.conn)
}

// deliver hands the frames in r to the handler until the peer says goodbye. While this side
// closes, frames are read and dropped, so that a peer that closes too can get rid of its own.
func (in *inbound) deliver(r io.Reader) error {
	t := in.t
	stream := peers.NewStream(r)
	handler, top := t.handler, t.life.Top()
	var f peers.Frame
	for {
		if err := stream.Fill(); err != nil {
			if err == io.EOF && stream.Buffered() > 0 {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		var batch uint64
		for {
			ok, err := stream.Next(&f)
			if err != nil {
				t.refusedFrames.Add(1)
				t.delivered(batch)
				return err
			}
			if !ok {
				break
			}
			if f.IsGoodbye() {
				t.delivered(batch)
				return nil
			}
			if t.life.Closing() {
				continue
			}
			if !top.Hosts(in.from, f.From, f.To) {
				t.refusedFrames.Add(1)
				continue
			}
			handler.Frame(f.From, f.To, f.Body)
			if batch++; batch == transport.MaxBatch {
				t.delivered(batch)
				batch = 0
			}
		}
		t.delivered(batch)
	}
}

func (t *Transport) delivered(frames uint64) {
	if frames > 0 {
		t.received.Add(frames)
		t.flush()
	}
}

// leave says goodbye. The socket has room for the little that is written in this direction.
func (in *inbound) leave() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.farewell {
		in.farewell = true
		io.WriteString(in.session, peers.Goodbye)
	}
}
