package lockserver

import (
	"context"
	"net"
	"time"
)

// relay passes on what comes by each connection, both ways, as much later as it is told.
type relay struct {
	Listen, To string
	Delay      time.Duration
}

func (r relay) start(ctx context.Context) error {
	l, err := net.Listen("tcp", r.Listen)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.pass(c)
		}
	}()
	return nil
}

func (r relay) pass(from net.Conn) {
	to, err := net.Dial("tcp", r.To)
	if err != nil {
		from.Close() // as a server does that is not there
		return
	}
	go r.copy(from, to)
	r.copy(to, from)
}

// held is what has come and is not due yet.
type held struct {
	due time.Time
	b   []byte
}

// most is how many pieces a direction of a connection may hold: who sends more waits.
const most = 4096

// copy passes on one direction, and ends both when it ends.
func (r relay) copy(to, from net.Conn) {
	pieces := make(chan held, most)
	go func() {
		defer close(pieces)
		for {
			b := make([]byte, 16<<10)
			n, err := from.Read(b)
			if n > 0 {
				pieces <- held{time.Now().Add(r.Delay), b[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range pieces {
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.b); err != nil {
			break
		}
	}
	to.Close()
	from.Close()
	for range pieces { // so that the reader ends
	}
}
