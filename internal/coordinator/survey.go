package coordinator

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"dmebench/internal/clock"
	"dmebench/internal/clock/exchange"
	"dmebench/internal/host"
	"dmebench/internal/measure"
	"dmebench/transport"
)

const (
	surveyCount  = 40 // exchanges of each ordered pair of hosts, before the run and after it
	surveyBudget = 15 * time.Second
)

// survey measures the ways between the hosts of a run and compares their clocks,
// before the run, while it goes on and after it. The coordinator takes part, so that
// its clock is compared with each host's by the shortest way there is.
type survey struct {
	c     *coordinator
	hosts []host.Surveyor
	peers []exchange.Peer // of the hosts
	port  *exchange.Port  // of the coordinator; nil where it could not be opened
	links [][]exchange.Link
	end   context.CancelFunc // of the coordinator's own exchanges
	going sync.WaitGroup

	mu     sync.Mutex
	silent []string // who cannot reach whom
}

// startSurvey opens the ports of all hosts; without hosts that can do that, it does
// nothing. What fails is a warning: the clocks are compared over the control plane, too.
func (c *coordinator) startSurvey(ctx context.Context) {
	s := &survey{c: c}
	for _, h := range c.hosts {
		if surveyor, ok := h.(host.Surveyor); ok {
			s.hosts = append(s.hosts, surveyor)
		}
	}
	if len(s.hosts) < len(c.hosts) || !c.several() {
		return
	}
	s.peers = make([]exchange.Peer, len(s.hosts))
	key := (*transport.Key)(&c.key).Derive("exchange between hosts")
	if err := c.onHosts(func(k int, _ host.Host) (err error) {
		s.peers[k], err = s.hosts[k].Port(ctx, key)
		return err
	}); err != nil {
		c.warn("the ways between hosts are not measured: %v", err)
		return
	}
	s.links = make([][]exchange.Link, len(s.hosts))
	for k := range s.links {
		s.links[k] = make([]exchange.Link, len(s.hosts))
	}
	var err error
	if s.port, err = exchange.Listen(towards(s.peers[0].Address), coordinatorName, key); err != nil {
		c.warn("the coordinator's clock is compared with those of the hosts over the control plane alone: %v", err)
	}
	c.survey = s
}

// towards returns a free port at the address of this host from which another is
// reached: the port is open to that network alone.
func towards(peer string) string {
	conn, err := net.Dial("udp", peer) // which sends nothing
	if err != nil {
		return ":0"
	}
	defer conn.Close()
	host, _, err := net.SplitHostPort(conn.LocalAddr().String())
	if err != nil {
		return ":0"
	}
	return net.JoinHostPort(host, "0")
}

// coordinatorName is under what name the coordinator exchanges datagrams.
const coordinatorName = "(coordinator)"

// before measures before the run, and begins what goes on during it.
func (s *survey) before(ctx context.Context) {
	if s == nil {
		return
	}
	s.probe(ctx)
	interval := exchange.Interval(len(s.hosts))
	_ = s.c.onHosts(func(k int, _ host.Host) error {
		_, peers := s.others(k)
		if err := s.hosts[k].Follow(ctx, peers, interval); err != nil {
			s.c.warn("the ways from host %s are not measured during the run: %v", s.hosts[k].Name(), err)
		}
		return nil
	})
	if s.port == nil {
		return
	}
	following, end := context.WithCancel(ctx)
	s.end = end
	for k, peer := range s.peers {
		relation := s.hosts[k].Clock()
		s.going.Go(func() { _ = s.port.Follow(following, peer, interval, func(p exchange.Path) { relate(relation, p) }) })
	}
}

// relate lets a relation of clocks know of exchanges with the other.
func relate(r *clock.Relation, p exchange.Path) {
	for _, e := range p.Exchanges {
		r.Add(e)
	}
}

// others returns which hosts beside one are there to be asked, and their peers.
func (s *survey) others(k int) (hosts []int, peers []exchange.Peer) {
	for j, peer := range s.peers {
		if j != k && !s.c.lost[j].Load() {
			hosts, peers = append(hosts, j), append(peers, peer)
		}
	}
	return hosts, peers
}

// after measures once more, and collects what was measured during the run.
func (s *survey) after(ctx context.Context) {
	if s == nil {
		return
	}
	if s.end != nil {
		s.end()
		s.going.Wait()
	}
	s.probe(ctx)
	_ = s.c.onHosts(func(k int, _ host.Host) error {
		paths, err := s.hosts[k].Paths(ctx)
		if err != nil {
			return nil // it is lost, which the run says
		}
		for j, peer := range s.peers {
			s.learn(k, j, paths[peer.Name])
		}
		return nil
	})
}

// probe has all hosts measure the ways to all others, each one after the other.
func (s *survey) probe(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, surveyBudget)
	defer cancel()
	s.mu.Lock()
	s.silent = nil
	s.mu.Unlock()
	var own sync.WaitGroup
	if s.port != nil {
		own.Go(func() {
			for k, peer := range s.peers {
				if s.c.lost[k].Load() {
					continue
				}
				path, err := s.port.Probe(limited, peer, surveyCount)
				relate(s.hosts[k].Clock(), path)
				if err != nil && limited.Err() == nil {
					s.cannotReach("the coordinator", peer.Name)
				}
			}
		})
	}
	_ = s.c.onHosts(func(k int, _ host.Host) error {
		hosts, peers := s.others(k)
		paths, failures, err := s.hosts[k].Probe(limited, peers, surveyCount)
		if err != nil {
			return nil // it is lost, which the run says
		}
		for i, path := range paths {
			s.learn(k, hosts[i], path)
			if _, failed := failures[peers[i].Name]; failed {
				s.cannotReach("host "+s.hosts[k].Name(), peers[i].Name)
			}
		}
		return nil
	})
	own.Wait()
}

func (s *survey) cannotReach(from, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = append(s.silent, fmt.Sprintf("%s to host %s", from, to))
}

// learn takes exchanges of host k with host j into account.
func (s *survey) learn(k, j int, p exchange.Path) {
	if k == j {
		return
	}
	s.links[k][j].Add(p)
	s.links[j][k].AddReverse(p)
}

// report says what was measured.
func (s *survey) report(o *measure.Observation) {
	if s == nil {
		return
	}
	for k := range s.links {
		for j := range s.links[k] {
			if j != k {
				o.Links = append(o.Links, measure.Link{From: k, To: j, Link: &s.links[k][j]})
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.silent) > 0 {
		slices.Sort(s.silent)
		o.Warnings = append(o.Warnings, fmt.Sprintf("no datagram was answered from %s: UDP does not pass there; "+
			"'dmebench doctor --agents URL' says more", strings.Join(s.silent, ", ")))
	}
}

// close ends the exchanges of the coordinator.
func (s *survey) close() {
	if s == nil {
		return
	}
	if s.end != nil {
		s.end()
		s.going.Wait()
	}
	if s.port != nil {
		s.port.Close()
	}
}
