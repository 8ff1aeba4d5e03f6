package clock

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

const Patience = time.Second // for an answer, before it counts as lost

// Interval is how often a host should ask each other one while a run goes on: 50 times a
// second, which keeps what drift adds to a bound near 10 µs, and less on so many hosts that
// one would exchange more than 500 datagrams a second either way.
func Interval(hosts int) time.Duration {
	return max(20*time.Millisecond, time.Duration(hosts)*4*time.Millisecond)
}

type Peer struct {
	Name    string `json:"name"` // with which it listens
	Address string `json:"address"`
}

type Path struct {
	Sent      int        `json:"sent"`
	Lost      int        `json:"lost"` // of these, without an answer in time
	Exchanges []Exchange `json:"exchanges"`
}

// Port answers questions for the time of its host, and asks others. Its methods may
// be called from several goroutines.
type Port struct {
	conn    *net.UDPConn
	name    string
	key     []byte
	now     func() int64 // the host's clock
	wrong   int64        // by how much it may be
	session uint64
	life    context.Context // ends with Close
	end     context.CancelFunc
	reader  sync.WaitGroup

	mu      sync.Mutex
	counter uint64               // of the last question
	asked   map[uint64]*question // waiting for an answer
}

type question struct {
	peer   string
	sent   int64         // when
	answer chan<- answer // has room, or the answer is lost
}

type answer struct {
	number   uint64
	exchange Exchange
}

// Listen opens a port. name tells the host from the others of the run, key is the run's and
// has 16 bytes at least.
func Listen(address, name string, key []byte) (*Port, error) {
	if len(key) < 16 {
		return nil, fmt.Errorf("clock: a key of %d bytes is too short: 16 at least", len(key))
	}
	at, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return nil, fmt.Errorf("clock: listen at %s: %w", address, err)
	}
	c := New()
	return listen(at, name, key, c.Now, c.Error())
}

func listen(at *net.UDPAddr, name string, key []byte, now func() int64, wrong time.Duration) (*Port, error) {
	conn, err := net.ListenUDP("udp", at)
	if err != nil {
		return nil, fmt.Errorf("clock: listen: %w", err)
	}
	var session [8]byte
	rand.Read(session[:])
	p := &Port{
		conn: conn, name: name, key: append([]byte(nil), key...), now: now, wrong: int64(wrong),
		session: binary.BigEndian.Uint64(session[:]), asked: make(map[uint64]*question),
	}
	p.life, p.end = context.WithCancel(context.Background())
	p.reader.Go(p.serve)
	return p, nil
}

func (p *Port) Address() string { return p.conn.LocalAddr().String() }

func (p *Port) Close() error {
	p.end()
	err := p.conn.Close()
	p.reader.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Link is everything that is known of the way between two hosts. Its methods may be called
// from several goroutines.
type Link struct {
	Clock Relation // the clock of the host that answers, compared with that of the host that asks

	mu         sync.Mutex
	sent, lost int
	delays     []int64
}

func (l *Link) Add(p Path) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent += p.Sent
	l.lost += p.Lost
	for _, e := range p.Exchanges {
		l.Clock.Add(e)
		l.delays = append(l.delays, e.Delay())
	}
}

// AddReverse adds exchanges that the second host made with the first: they bound the clocks as
// well.
func (l *Link) AddReverse(p Path) {
	for _, e := range p.Exchanges {
		l.Clock.AddReverse(e)
	}
}

// RoundTrips is what the exchanges took, in nanoseconds, without the time for
// which the other host held them.
type RoundTrips struct {
	Sent, Lost       int
	Min, Median, P99 int64 // 0 if none was answered
}

func (l *Link) RoundTrips() RoundTrips {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := RoundTrips{Sent: l.sent, Lost: l.lost}
	if n := len(l.delays); n > 0 {
		sorted := slices.Sorted(slices.Values(l.delays))
		rank := func(perCent int) int64 { return sorted[(n*perCent+99)/100-1] }
		r.Min, r.Median, r.P99 = sorted[0], rank(50), rank(99)
	}
	return r
}
