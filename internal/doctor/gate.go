package doctor

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"dmebench/internal/clock"
	"dmebench/internal/clock/exchange"
)

// Gate is what a host opens so that other hosts can try whether they reach it, and
// from which it tries to reach theirs: a TCP port and a UDP port that the system
// chooses, as it does for transports. Whoever does not know the key gets nothing from
// either.
type Gate struct {
	name string
	key  []byte
	tcp  net.Listener
	udp  *exchange.Port
	wait sync.WaitGroup

	mu     sync.Mutex
	guests map[net.Conn]bool // nil once the gate is closed
}

// Doors are where a gate is open.
type Doors struct {
	Name string `json:"name"` // of the host
	TCP  string `json:"tcp"`  // addresses
	UDP  string `json:"udp"`
}

const (
	// mostGuests bounds the connections of others at a time, and knock the time that
	// one has to show that it knows the key.
	mostGuests = 256
	knock      = 2 * time.Second

	// reachAtMost bounds how long a host is tried to be reached.
	reachAtMost = 6 * time.Second

	// visit bounds how long a connection is served.
	visit = 30 * time.Second

	challengeSize = 16
	questionSize  = 32
)

// OpenGate opens a gate at an address of this host, for hosts that share a key of at
// least 16 bytes. name tells the host from the others.
func OpenGate(address, name string, key []byte) (*Gate, error) {
	g := &Gate{name: name, key: append([]byte(nil), key...), guests: make(map[net.Conn]bool)}
	at := net.JoinHostPort(strings.Trim(address, "[]"), "0")
	var err error
	if g.udp, err = exchange.Listen(at, name, key); err != nil {
		return nil, err
	}
	if g.tcp, err = net.Listen("tcp", at); err != nil {
		g.udp.Close()
		return nil, fmt.Errorf("doctor: listen: %w", err)
	}
	g.wait.Go(g.serve)
	return g, nil
}

// Doors says where the gate is open.
func (g *Gate) Doors() Doors {
	return Doors{Name: g.name, TCP: g.tcp.Addr().String(), UDP: g.udp.Address()}
}

// Close closes the gate and ends whatever goes on through it.
func (g *Gate) Close() error {
	g.mu.Lock()
	for guest := range g.guests {
		guest.Close()
	}
	g.guests = nil
	g.mu.Unlock()
	err := errors.Join(g.tcp.Close(), g.udp.Close())
	g.wait.Wait()
	return err
}

func (g *Gate) serve() {
	for {
		conn, err := g.tcp.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // no descriptor is free: one may be soon
			continue
		}
		g.mu.Lock()
		welcome := g.guests != nil && len(g.guests) < mostGuests
		if welcome {
			g.guests[conn] = true
		}
		g.mu.Unlock()
		if !welcome {
			conn.Close()
			continue
		}
		g.wait.Go(func() {
			g.answer(conn)
			conn.Close()
			g.mu.Lock()
			delete(g.guests, conn)
			g.mu.Unlock()
		})
	}
}

// seal proves that its author knows the key, and for whom and what it is meant.
func seal(key []byte, purpose, to string, about []byte) []byte {
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "dmebench doctor\x00%s\x00%s\x00", purpose, to)
	h.Write(about)
	return h.Sum(nil)
}

// answer has a guest prove that it knows the key, and then seals one after the other
// what it sends: it proves in turn that this is the host that was meant.
func (g *Gate) answer(conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(knock))
	challenge := make([]byte, challengeSize)
	_, _ = rand.Read(challenge) // it never fails
	if _, err := conn.Write(challenge); err != nil {
		return
	}
	proof := make([]byte, sha256.Size)
	if _, err := io.ReadFull(conn, proof); err != nil || !hmac.Equal(proof, seal(g.key, "guest", g.name, challenge)) {
		return
	}
	_ = conn.SetDeadline(time.Now().Add(visit))
	question := make([]byte, questionSize)
	for {
		if _, err := io.ReadFull(conn, question); err != nil {
			return
		}
		if _, err := conn.Write(seal(g.key, "host", g.name, question)); err != nil {
			return
		}
	}
}

// ReachAll tries to reach the gates of several hosts, at the same time, as Reach does.
func (g *Gate) ReachAll(ctx context.Context, to []Doors, count int) []Path {
	paths := make([]Path, len(to))
	var wait sync.WaitGroup
	for i := range to {
		wait.Go(func() { paths[i] = g.Reach(ctx, to[i], count) })
	}
	wait.Wait()
	return paths
}

// Reach tries to reach another host's gate by TCP and by UDP, and asks that many
// questions each way. It takes two seconds where nothing passes, and six at most.
func (g *Gate) Reach(ctx context.Context, to Doors, count int) Path {
	p := Path{From: g.name, To: to.Name}
	ctx, cancel := context.WithTimeout(ctx, reachAtMost)
	defer cancel()
	var wait sync.WaitGroup
	wait.Go(func() {
		asked, trips, err := g.reachTCP(ctx, to, count)
		p.TCP = NewWay(asked, trips)
		if !p.TCP.Passes() && err != nil {
			p.TCP.Error, p.TCP.Reason = err.Error(), whyNot("tcp", err)
		}
	})
	g.reachUDP(ctx, to, count, &p)
	wait.Wait()
	return p
}

var errStranger = errors.New("somebody else answers at this address")

// reachTCP returns how many questions it has asked over one connection, and the round
// trips of those that were answered.
func (g *Gate) reachTCP(ctx context.Context, to Doors, count int) (asked int, trips []time.Duration, err error) {
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", to.TCP)
	if err != nil {
		return 1, nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	_ = conn.SetDeadline(time.Now().Add(knock))
	challenge := make([]byte, challengeSize)
	if _, err := io.ReadFull(conn, challenge); err != nil {
		return 1, nil, err
	}
	if _, err := conn.Write(seal(g.key, "guest", to.Name, challenge)); err != nil {
		return 1, nil, err
	}
	question, answer := make([]byte, questionSize), make([]byte, sha256.Size)
	for asked = 1; asked <= count; asked++ {
		_, _ = rand.Read(question)
		_ = conn.SetDeadline(time.Now().Add(patience))
		begin := time.Now()
		if _, err := conn.Write(question); err != nil {
			return asked, trips, err
		}
		if _, err := io.ReadFull(conn, answer); err != nil {
			return asked, trips, err
		}
		trips = append(trips, time.Since(begin))
		if !hmac.Equal(answer, seal(g.key, "host", to.Name, question)) {
			return asked, nil, errStranger
		}
	}
	return count, trips, nil
}

// reachUDP compares the clocks, too.
func (g *Gate) reachUDP(ctx context.Context, to Doors, count int, p *Path) {
	// Where none of a few passes, the others need not be waited for.
	const few = 2
	peer := exchange.Peer{Name: to.Name, Address: to.UDP}
	path, err := g.udp.Probe(ctx, peer, min(few, count))
	if err == nil && count > few {
		var rest exchange.Path
		rest, err = g.udp.Probe(ctx, peer, count-few)
		path.Sent, path.Lost = path.Sent+rest.Sent, path.Lost+rest.Lost
		path.Exchanges = append(path.Exchanges, rest.Exchanges...)
	}
	var trips []time.Duration
	relation := new(clock.Relation)
	for _, e := range path.Exchanges {
		trips = append(trips, time.Duration(e.Delay()))
		relation.Add(e)
	}
	p.UDP = NewWay(path.Sent, trips)
	if len(path.Exchanges) == 0 {
		p.UDP.Error = fmt.Sprintf("no answer to %s within %v", plural(path.Sent, "datagram"), exchange.Patience)
		p.UDP.Reason = whyNot("udp", os.ErrDeadlineExceeded)
		if errno := syscall.Errno(0); errors.As(err, &errno) {
			p.UDP.Error, p.UDP.Reason = errno.Error(), whyNot("udp", errno)
		}
		return
	}
	if p.ContradictionNS = int64(relation.Contradiction()); p.ContradictionNS == 0 {
		offset, bound := relation.Offset(path.Exchanges[len(path.Exchanges)-1].Returned)
		p.OffsetNS, p.BoundNS = &offset, &bound
	}
}
