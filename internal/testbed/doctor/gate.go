package doctor

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"dmebench/internal/platform/clock"
	"dmebench/units"
)

// Gate is what a host opens so that other hosts can try whether they reach it, and from which it
// tries to reach theirs: a TCP port and a UDP port that the system chooses, as it does for
// transports. Neither serves callers without the key.
type Gate struct {
	name  string
	key   []byte
	tcp   net.Listener
	udp   *clock.Port
	wait  sync.WaitGroup
	open  context.Context
	close context.CancelFunc
}

// Doors are where a gate is open.
type Doors struct {
	Name string `json:"name"` // of the host
	TCP  string `json:"tcp"`  // addresses
	UDP  string `json:"udp"`
}

const (
	patience    = 2 * time.Second // for one question over TCP
	reachAtMost = 6 * time.Second // for one host
)

// OpenGate opens a gate at HOST:PORT of this host, for hosts that share a key of at least
// 16 bytes. name tells the host from the others.
func OpenGate(at, name string, key []byte) (*Gate, error) {
	udp, err := clock.Listen(at, name, key)
	if err != nil {
		return nil, err
	}
	tcp, err := net.Listen("tcp", at)
	if err != nil {
		udp.Close()
		return nil, fmt.Errorf("doctor: %w", err)
	}
	g := &Gate{name: name, key: key, tcp: tcp, udp: udp}
	g.open, g.close = context.WithCancel(context.Background())
	g.wait.Go(g.serve)
	return g, nil
}

func (g *Gate) Doors() Doors {
	return Doors{Name: g.name, TCP: g.tcp.Addr().String(), UDP: g.udp.Address()}
}

// Close closes the gate and ends all that goes on through it.
func (g *Gate) Close() error {
	g.close()
	err := errors.Join(g.tcp.Close(), g.udp.Close())
	g.wait.Wait()
	return err
}

func (g *Gate) serve() {
	for {
		conn, err := g.tcp.Accept()
		if err != nil {
			return // the gate is closed, or the host has no descriptor left: a reason not to be reached
		}
		g.wait.Go(func() {
			defer conn.Close()
			defer context.AfterFunc(g.open, func() { conn.Close() })()
			hello := make([]byte, sha256.Size)
			_ = conn.SetDeadline(time.Now().Add(reachAtMost))
			if _, err := io.ReadFull(conn, hello); err == nil && hmac.Equal(hello, g.hello(g.name)) {
				_, _ = io.Copy(conn, conn)
			}
		})
	}
}

// hello proves to a host that its author knows the key, which each examination has anew.
func (g *Gate) hello(host string) []byte {
	h := hmac.New(sha256.New, g.key)
	fmt.Fprintf(h, "dmebench doctor\x00%s", host)
	return h.Sum(nil)
}

// ReachAll tries to reach the gates of several other hosts at the same time, by TCP and
// by UDP, with that many questions each way. It takes three seconds if nothing passes,
// and six at most.
func (g *Gate) ReachAll(ctx context.Context, to []Doors, count int) []Path {
	ctx, cancel := context.WithTimeout(ctx, reachAtMost)
	defer cancel()
	paths := make([]Path, len(to))
	var wait sync.WaitGroup
	for i, d := range to {
		p := &paths[i]
		p.From, p.To = g.name, d.Name
		wait.Go(func() { _ = g.reachTCP(ctx, d, count, p) }) // the path says why
		wait.Go(func() { _ = g.reachUDP(ctx, d, count, p) })
	}
	wait.Wait()
	return paths
}

// reachTCP asks the given number of questions over one connection, one after the other, until one is
// not answered.
func (g *Gate) reachTCP(ctx context.Context, to Doors, count int, p *Path) (err error) {
	var trips []time.Duration
	defer func() { p.TCP = newWay("tcp", min(len(trips)+1, count), trips, err) }()
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", to.TCP)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := conn.Write(g.hello(to.Name)); err != nil {
		return err
	}
	question, answer := make([]byte, sha256.Size), make([]byte, sha256.Size)
	for len(trips) < count {
		_, _ = rand.Read(question) // never fails
		_ = conn.SetDeadline(time.Now().Add(patience))
		begin := time.Now()
		if _, err = conn.Write(question); err == nil {
			_, err = io.ReadFull(conn, answer)
		}
		took := time.Since(begin)
		if err == nil && !bytes.Equal(answer, question) {
			err = errors.New("another program answers at this address")
		}
		if err != nil {
			return err
		}
		trips = append(trips, took)
	}
	return nil
}

// reachUDP compares the clocks, too.
func (g *Gate) reachUDP(ctx context.Context, to Doors, count int, p *Path) error {
	path, err := g.udp.Probe(ctx, clock.Peer{Name: to.Name, Address: to.UDP}, count)
	errno := syscall.Errno(0)
	switch {
	case len(path.Exchanges) > 0:
		err = nil
	case errors.As(err, &errno):
		err = errno
	default:
		err = fmt.Errorf("no answer to %s: %w", units.Counted(path.Sent, "datagram"), os.ErrDeadlineExceeded)
	}
	var relation clock.Relation
	var trips []time.Duration
	for _, e := range path.Exchanges {
		trips = append(trips, time.Duration(e.Delay()))
		relation.Add(e)
	}
	p.UDP = newWay("udp", path.Sent, trips, err)
	if p.ContradictionNS = int64(relation.Contradiction()); p.ContradictionNS == 0 && err == nil {
		offset, bound := relation.Offset(path.Exchanges[len(path.Exchanges)-1].Returned)
		p.OffsetNS, p.BoundNS = &offset, &bound
	}
	return err
}
