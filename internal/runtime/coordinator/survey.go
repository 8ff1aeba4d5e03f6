package coordinator

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/record/measure"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/host"
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
	peers []clock.Peer // of the hosts
	port  *clock.Port  // of the coordinator; nil if it could not be opened
	links [][]clock.Link
	end   context.CancelFunc // of the coordinator's own exchanges
	going sync.WaitGroup

	mu     sync.Mutex
	silent []string // pairs that cannot reach each other
}

// startSurvey opens the ports of all hosts; without hosts that can do that, it does
// nothing. A failure is a warning: the clocks are compared over the control plane, too.
func (c *coordinator) startSurvey(ctx context.Context) error {
	s := &survey{c: c, end: func() {}}
	for _, h := range c.hosts {
		if surveyor, ok := h.(host.Surveyor); ok {
			s.hosts = append(s.hosts, surveyor)
		}
	}
	if len(s.hosts) < len(c.hosts) || !c.several() {
		return nil
	}
	s.peers = make([]clock.Peer, len(s.hosts))
	key := (*transport.Key)(&c.key).Derive("exchange between hosts")
	if err := c.onHosts(func(k int, _ host.Host) (err error) {
		s.peers[k], err = s.hosts[k].Port(ctx, key)
		return err
	}); err != nil {
		c.warn("the paths between hosts are not measured: %v", err)
		return nil
	}
	s.links = make([][]clock.Link, len(s.hosts))
	for k := range s.links {
		s.links[k] = make([]clock.Link, len(s.hosts))
	}
	var err error
	if s.port, err = clock.Listen(towards(s.peers[0].Address), coordinatorName, key); err != nil {
		c.warn("the coordinator's clock is compared with those of the hosts over the control plane alone: %v", err)
	}
	c.survey = s
	return nil
}

// towards returns a free port at the address of this host from which another is
// reached: the port is open to that network alone.
func towards(peer string) string {
	conn, err := net.Dial("udp", peer) // sends nothing
	if err != nil {
		return ":0"
	}
	defer conn.Close()
	free := *conn.LocalAddr().(*net.UDPAddr)
	free.Port = 0
	return free.String()
}

const coordinatorName = "(coordinator)"

// before measures before the run, and begins what goes on during it.
func (s *survey) before(ctx context.Context) {
	if s == nil {
		return
	}
	s.probe(ctx)
	interval := clock.Interval(len(s.hosts))
	_ = s.c.onHosts(func(k int, _ host.Host) error {
		_, peers := s.others(k)
		if err := s.hosts[k].Follow(ctx, peers, interval); err != nil {
			s.c.warn("the paths from host %s are not measured during the run: %v", s.c.about[k].Name, err)
		}
		return nil
	})
	if s.port == nil {
		return
	}
	following, end := context.WithCancel(ctx)
	s.end = end
	for k, peer := range s.peers {
		relation := s.c.about[k].Clock
		s.going.Go(func() { _ = s.port.Follow(following, peer, interval, func(p clock.Path) { relate(relation, p) }) })
	}
}

// relate lets a relation of clocks know of exchanges with the other.
func relate(r *clock.Relation, p clock.Path) {
	for _, e := range p.Exchanges {
		r.Add(e)
	}
}

// others returns which hosts beside one are there to be asked, and their peers.
func (s *survey) others(k int) (hosts []int, peers []clock.Peer) {
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
	s.end()
	s.going.Wait()
	s.probe(ctx)
	_ = s.c.onHosts(func(k int, _ host.Host) error {
		paths, err := s.hosts[k].Paths(ctx)
		if err != nil {
			return nil // lost: the run says so
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
				relate(s.c.about[k].Clock, path)
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
			return nil // lost: the run says so
		}
		for i, path := range paths {
			s.learn(k, hosts[i], path)
			if _, failed := failures[peers[i].Name]; failed {
				s.cannotReach("host "+s.c.about[k].Name, peers[i].Name)
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

func (s *survey) learn(k, j int, p clock.Path) {
	if k == j {
		return
	}
	s.links[k][j].Add(p)
	s.links[j][k].AddReverse(p)
}

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

func (s *survey) close() {
	if s == nil {
		return
	}
	s.end()
	s.going.Wait()
	if s.port != nil {
		s.port.Close()
	}
}

const (
	pingPairs = 32 // ordered pairs that are measured, spread over all edges
	pingCount = 12 // pings along each
	fewCount  = 2  // enough, if all take as long, and that is longer than what they measure beside it

	// pingBudget bounds how long all pings together may take beyond the delay of the links: lost
	// ones cost the time for which an answer is awaited.
	pingBudget = 3 * time.Second
	pingWait   = 250 * time.Millisecond // for an answer; a frame that takes longer counts as lost
	pingBytes  = 64                     // what a ping takes, roughly, for links that are narrow

	// Spaced pings take as long as what is between them, and so are fewer. A core
	// that has slept for mostApart sleeps as deeply as it ever will.
	spacedPairs  = 12
	spacedCount  = 6
	spacedBudget = 600 * time.Millisecond
	mostApart    = 50 * time.Millisecond

	// fewPings is the least number of answers that a mean delay is made of.
	fewPings = 6
)

// ping measures one-way delays, one pair at a time, so that pings do not meet.
// A failed measurement does not fail the run: T is unknown then.
func (c *coordinator) ping(ctx context.Context) error {
	if c.lostPings > 0 && c.delays == nil {
		return nil // nothing came back before the run
	}
	if c.start == 0 {
		c.survey.before(ctx)
	}
	edges := slices.DeleteFunc(slices.Clone(c.edges), func(e [2]uint32) bool {
		return c.at(c.workerOf(dme.NodeID(e[0]))).state != present || c.at(c.workerOf(dme.NodeID(e[1]))).state != present
	})
	delays, err := c.pingAlong(ctx, spread(edges, pingPairs), control.Command{Count: pingCount}, pingBudget)
	if err != nil {
		return err
	}
	c.delays = append(c.delays, delays...)
	apart := min(c.job.Plan.MeanHold(), mostApart)
	if apart <= 0 {
		return nil // one follows the other at once in the run as well
	}
	spaced, err := c.pingAlong(ctx, spread(edges, spacedPairs), control.Command{Count: spacedCount, Apart: apart}, spacedBudget)
	c.spaced = append(c.spaced, spaced...)
	return err
}

// spread returns up to n of the edges, from all over them.
func spread(edges [][2]uint32, n int) [][2]uint32 {
	n = min(n, len(edges))
	chosen := make([][2]uint32, n)
	for k := range chosen {
		chosen[k] = edges[k*len(edges)/n]
	}
	return chosen
}

// pingAlong sends pings along the edges, as ask says, for budget beyond the delay of the links. It
// returns the one-way delays of those that were answered.
func (c *coordinator) pingAlong(ctx context.Context, edges [][2]uint32, ask control.Command, budget time.Duration) ([]int64, error) {
	links := c.job.Links()
	if links.Typical(pingBytes) >= time.Millisecond && links.Steady() {
		edges, ask.Count = spread(edges, spacedPairs), fewCount
	}
	ask.Op, ask.Halves, ask.Told = control.OpPing, len(c.hosts) > 1, 2*links.Typical(pingBytes)
	ask.Wait = pingWait + ask.Told
	byWorker := make(map[int][][2]uint32)
	for _, edge := range edges {
		w := c.workerOf(dme.NodeID(edge[0]))
		byWorker[w] = append(byWorker[w], edge)
	}
	var delays []int64
	left := budget + time.Duration(len(edges))*2*links.Typical(pingBytes)
	for i, w := range slices.Sorted(maps.Keys(byWorker)) {
		ask.Pairs, ask.Within = byWorker[w], left/time.Duration(len(byWorker)-i)
		begin := time.Now()
		replies, err := c.within(ctx, ask.Within+ask.Apart+ask.Wait+answerTime, []int{w}, control.Same(ask))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			// A worker that does not answer is found out by the run itself.
			c.warn("the delays of messages from %s could not be measured: %v", c.name(w), err)
		}
		left -= min(left, time.Since(begin))
		delays = append(delays, replies[0].Delays...)
		c.lostPings += replies[0].Lost
	}
	return delays, nil
}

// measured returns the delays of pings back to back and of spaced ones, each if they are enough to
// speak of, and says what is missing.
func (c *coordinator) measured() (delays, spaced []int64) {
	if c.lostPings > 0 {
		c.warn("%d of the pings were not answered in time, and %d were: the links lose, or are slow; T is the mean of those answered",
			c.lostPings, len(c.delays)+len(c.spaced))
	}
	if len(c.delays) >= fewPings {
		delays = c.delays
	}
	if len(c.spaced) >= fewPings {
		spaced = c.spaced
	}
	return delays, spaced
}
