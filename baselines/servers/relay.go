package servers

import (
	"context"
	"net"
	"sync"
	"time"
)

// relay passes on what comes by each connection, both ways, delayed as configured, and not while
// one of the two ends is cut off.
type relay struct {
	Listen, To string
	Delay      time.Duration
}

func (r relay) start(ctx context.Context, g *gate) error {
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
			go r.pass(c, g)
		}
	}()
	return nil
}

func (r relay) pass(from net.Conn, g *gate) {
	by := &caller{port: from.RemoteAddr().(*net.TCPAddr).Port, of: make(map[int]bool)}
	g.wait(by)
	to, err := net.Dial("tcp", r.To)
	if err != nil {
		from.Close() // as a server does that is not there
		return
	}
	go r.copy(from, to, g, by)
	r.copy(to, from, g, by)
}

// held is what has come and is not due yet.
type held struct {
	due time.Time
	b   []byte
}

// most is how many pieces a direction of a connection may hold: a sender of more waits.
const most = 4096

// copy passes on one direction, and ends both when it ends.
func (r relay) copy(to, from net.Conn, g *gate, by *caller) {
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
		g.wait(by)
		if _, err := to.Write(p.b); err != nil {
			break
		}
	}
	to.Close()
	from.Close()
	for range pieces { // so that the reader ends
	}
}

// cut is the coordinator's message to all servers that one of them, by its process, is cut off from
// the others, or is not any more.
type cut struct {
	PID int
	Off bool
}

// gate says which connections pass nothing, of a server.
type gate struct {
	self    int // the server's process
	mu      sync.Mutex
	changed *sync.Cond
	off     map[int]bool // servers that are cut off, by their processes
}

func newGate(self int) *gate {
	g := &gate{self: self, off: make(map[int]bool)}
	g.changed = sync.NewCond(&g.mu)
	return g
}

func (g *gate) set(c cut) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.off, c.PID)
	if c.Off {
		g.off[c.PID] = true
	}
	g.changed.Broadcast()
}

// caller is the process that has made a connection.
type caller struct {
	port int
	of   map[int]bool // by process: whether the port is its own, as far as looked up
}

// wait returns once neither the server nor the caller is cut off.
func (g *gate) wait(by *caller) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.off[g.self] || g.callerIsOff(by) {
		g.changed.Wait()
	}
}

func (g *gate) callerIsOff(by *caller) bool {
	for pid := range g.off {
		is, known := by.of[pid]
		if !known {
			is = owns(pid, by.port)
			by.of[pid] = is
		}
		if is {
			return true
		}
	}
	return false
}
