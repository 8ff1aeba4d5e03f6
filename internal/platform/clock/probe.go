package clock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

var errClosed = errors.New("clock: the port was closed")

const tries = 3

// Probe makes count exchanges with a peer, each when the one before is over; if none of the first
// three is answered it gives up. With an error it returns what it got until then. That no question
// at all was answered is an error.
func (p *Port) Probe(ctx context.Context, peer Peer, count int) (Path, error) {
	pr, err := p.prober(peer)
	if err != nil {
		return Path{}, err
	}
	defer pr.forget()
	for k := range count {
		if k == tries && len(pr.path.Exchanges) == 0 {
			break
		}
		pr.ask()
		over := time.NewTimer(Patience)
		for len(pr.waiting) > 0 && err == nil {
			select {
			case a := <-pr.answers:
				pr.take(a)
			case <-over.C:
				pr.forget()
			case <-ctx.Done():
				err = ctx.Err()
			case <-p.life.Done():
				err = errClosed
			}
		}
		if over.Stop(); err != nil {
			break
		}
	}
	path := pr.report()
	if err == nil && count > 0 && len(path.Exchanges) == 0 {
		err = fmt.Errorf("clock: none of %d datagrams to host %s at %s was answered within %v: "+
			"UDP must pass between the hosts, and their agents belong to the same run", path.Sent, peer.Name, peer.Address, Patience)
		if pr.failed != nil {
			err = fmt.Errorf("%w; %w", err, pr.failed)
		}
	}
	return path, err
}

// Follow begins an exchange with a peer each interval until the context ends, and
// reports each time, and at the end, what came of those that are over since.
func (p *Port) Follow(ctx context.Context, peer Peer, interval time.Duration, report func(Path)) error {
	pr, err := p.prober(peer)
	if err != nil {
		return err
	}
	next := time.NewTicker(interval)
	defer next.Stop()
	for {
		select {
		case a := <-pr.answers:
			pr.take(a)
			continue
		case <-p.life.Done():
			err = errClosed
		case <-ctx.Done():
		case <-next.C:
		}
		if err != nil || ctx.Err() != nil {
			pr.forget()
			report(pr.report())
			return err
		}
		pr.expire()
		if pr.path.Sent > len(pr.waiting) {
			report(pr.report())
		}
		pr.ask()
	}
}

type prober struct {
	port    *Port
	peer    Peer
	to      netip.AddrPort
	answers chan answer
	waiting map[uint64]time.Time // numbers of questions without an answer; when they were asked
	path    Path
	failed  error // what kept the last question that could not be sent
}

func (p *Port) prober(peer Peer) (*prober, error) {
	at, err := net.ResolveUDPAddr("udp", peer.Address)
	if err != nil {
		return nil, fmt.Errorf("clock: host %s: %w", peer.Name, err)
	}
	to := at.AddrPort()
	return &prober{
		port: p, peer: peer, to: netip.AddrPortFrom(to.Addr().Unmap(), to.Port()),
		answers: make(chan answer, 64), waiting: make(map[uint64]time.Time),
	}, nil
}

func (r *prober) ask() {
	p := r.port
	q := &question{peer: r.peer.Name, answer: r.answers}
	p.mu.Lock()
	p.counter++
	number := p.counter
	p.asked[number] = q
	b := datagram{Kind: isQuestion, Session: p.session, Number: number}.sealed(p.key, r.peer.Name)
	q.sent = p.now()
	p.mu.Unlock()
	r.path.Sent++
	r.waiting[number] = time.Now()
	if _, err := p.conn.WriteToUDPAddrPort(b, r.to); err != nil {
		r.failed = err
		r.lose(number)
	}
}

func (r *prober) take(a answer) {
	if _, ok := r.waiting[a.number]; ok {
		delete(r.waiting, a.number)
		r.path.Exchanges = append(r.path.Exchanges, a.exchange)
	}
}

func (r *prober) lose(number uint64) {
	r.port.mu.Lock()
	delete(r.port.asked, number)
	r.port.mu.Unlock()
	delete(r.waiting, number)
	r.path.Lost++
}

func (r *prober) expire() {
	for number, at := range r.waiting {
		if time.Since(at) > Patience {
			r.lose(number)
		}
	}
}

func (r *prober) forget() {
	for number := range r.waiting {
		r.lose(number)
	}
}

// report returns what came of the questions that are over since it was last called.
func (r *prober) report() Path {
	path := r.path
	path.Sent -= len(r.waiting)
	if path.Exchanges == nil {
		path.Exchanges = []Exchange{}
	}
	r.path = Path{Sent: len(r.waiting)}
	return path
}
