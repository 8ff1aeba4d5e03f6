package agent

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"dmebench/internal/platform/clock"
)

// survey is how a host measures the ways to the others of a run, by datagrams.
type survey struct {
	port      atomic.Pointer[clock.Port] // nil if it was not opened
	mu        sync.Mutex
	end       context.CancelFunc
	followers sync.WaitGroup
	paths     map[string]*clock.Path // to peers, since they were last asked for
}

const (
	firstTries   = 3                // exchanges with a peer that may not be there
	probeTimeout = 30 * time.Second // for all peers
)

var errNoPort = errors.New("agent: the port for datagrams was not opened")

func (s *survey) open(address, name string, key []byte) (clock.Peer, error) {
	port, err := clock.Listen(net.JoinHostPort(address, "0"), name, key)
	if err != nil {
		return clock.Peer{}, err
	}
	if !s.port.CompareAndSwap(nil, port) {
		port.Close()
		return clock.Peer{}, errors.New("agent: the port for datagrams is open already")
	}
	return clock.Peer{Name: name, Address: port.Address()}, nil
}

func (s *survey) opened() (*clock.Port, error) {
	if port := s.port.Load(); port != nil {
		return port, nil
	}
	return nil, errNoPort
}

// probe measures the ways to all peers at the same time. A peer that does not answer
// at first is not tried for long.
func (s *survey) probe(ctx context.Context, peers []clock.Peer, count int) (p probed, err error) {
	port, err := s.opened()
	if err != nil {
		return p, err
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	paths, errs := make([]clock.Path, len(peers)), make([]error, len(peers))
	var wg sync.WaitGroup
	for k, peer := range peers {
		wg.Go(func() {
			first := min(count, firstTries)
			if paths[k], errs[k] = port.Probe(ctx, peer, first); errs[k] != nil || first == count {
				return
			}
			rest, err := port.Probe(ctx, peer, count-first)
			join(&paths[k], rest)
			if len(paths[k].Exchanges) == 0 {
				errs[k] = err
			}
		})
	}
	wg.Wait()
	p = probed{Paths: paths, Failures: make(map[string]string)}
	for k, err := range errs {
		if err != nil {
			p.Failures[peers[k].Name] = err.Error()
		}
	}
	return p, nil
}

func join(p *clock.Path, later clock.Path) {
	p.Sent += later.Sent
	p.Lost += later.Lost
	p.Exchanges = append(p.Exchanges, later.Exchanges...)
}

// follow measures from now on, in place of what it measured before.
func (s *survey) follow(peers []clock.Peer, interval time.Duration) error {
	port, err := s.opened()
	if err != nil {
		return err
	}
	s.rest()
	ctx, end := context.WithCancel(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end, s.paths = end, make(map[string]*clock.Path)
	for _, peer := range peers {
		path := new(clock.Path)
		s.paths[peer.Name] = path
		s.followers.Go(func() { // what fails shows as exchanges that were lost, or never made
			_ = port.Follow(ctx, peer, interval, func(p clock.Path) {
				s.mu.Lock()
				defer s.mu.Unlock()
				join(path, p)
			})
		})
	}
	return nil
}

func (s *survey) take() map[string]clock.Path {
	s.mu.Lock()
	defer s.mu.Unlock()
	paths := make(map[string]clock.Path)
	for name, p := range s.paths {
		paths[name], *p = *p, clock.Path{}
	}
	return paths
}

// rest ends what goes on by itself.
func (s *survey) rest() {
	s.mu.Lock()
	end := s.end
	s.mu.Unlock()
	if end != nil {
		end()
	}
	s.followers.Wait()
}

func (s *survey) close() {
	s.rest()
	if port, err := s.opened(); err == nil {
		_ = port.Close() // of an unused socket
	}
}

// The coordinator's end.

func (h *Remote) Port(ctx context.Context, key []byte) (clock.Peer, error) {
	return ask(ctx, h, askPort, key)
}

// Probe asks the agent, which tries all peers at the same time.
func (h *Remote) Probe(ctx context.Context, peers []clock.Peer, count int) ([]clock.Path, map[string]string, error) {
	x, err := ask(ctx, h, askProbe, probeRequest{peers, count})
	if err == nil && len(x.Paths) != len(peers) {
		err = h.errorf("paths to %d of %d peers", len(x.Paths), len(peers))
	}
	return x.Paths, x.Failures, err
}

// Follow asks the agent.
func (h *Remote) Follow(ctx context.Context, peers []clock.Peer, interval time.Duration) error {
	_, err := ask(ctx, h, askFollow, followRequest{peers, interval})
	return err
}

func (h *Remote) Paths(ctx context.Context) (map[string]clock.Path, error) {
	return ask(ctx, h, askPaths, nothing{})
}
