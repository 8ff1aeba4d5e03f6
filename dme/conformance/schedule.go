package conformance

import (
	"fmt"
	"math/rand/v2"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// schedule runs a Net to its end, choosing each step at random.
type schedule struct {
	*Net
	*vnet.Schedule
	rng *rand.Rand
}

// maxSteps ends a schedule that never comes to rest.
const maxSteps = 200_000

// runSchedule runs one schedule of a, drawn from seed, and returns what was
// wrong with it.
func runSchedule(a *dme.Algorithm, nodes int, set map[string]string, load vnet.Load, seed uint64) error {
	s, err := newSchedule(a, nodes, set, load, seed)
	if err != nil {
		return err
	}
	s.network.Measure()
	if err := s.run(s.verdict); err != nil {
		return fmt.Errorf("on %d nodes, %v, %s, seed %d: %w", nodes, set, load, seed, err)
	}
	return nil
}

// newSchedule returns a schedule in which each node asks up to four times. Nodes may be told to
// stop while their last request is pending, and while others still ask.
func newSchedule(a *dme.Algorithm, nodes int, set map[string]string, load vnet.Load, seed uint64) (*schedule, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	return drawSchedule(a, vnet.Config{Nodes: nodes, Seed: seed}, set, load, rng)
}

func drawSchedule(a *dme.Algorithm, c vnet.Config, set map[string]string, load vnet.Load, rng *rand.Rand) (*schedule, error) {
	most := 1 + rng.IntN(4)
	c.StopEarly, c.Recover, c.Requests = true, true, func(dme.NodeID) int { return 1 + rng.IntN(most) }
	net, err := newNet(a, c, set, &reloader{now: func() bool { return rng.IntN(8) == 0 }})
	if err != nil {
		return nil, err
	}
	return net.schedule(load, rng), nil
}

// schedule returns a schedule of the network, which must be new.
func (n *Net) schedule(load vnet.Load, rng *rand.Rand) *schedule {
	s := &schedule{Net: n, rng: rng, Schedule: &vnet.Schedule{
		Network: n.network, Rand: rng, Load: load, Readers: 0.5, Choose: newPreferences(n.Setting.Nodes, rng),
	}}
	s.Begin()
	return s
}

// patience is how many steps a schedule takes without a request, an entry or an exit once too many
// nodes are down for any to be served.
const patience = 2000

// run takes steps until nothing moves any more, or what moves does not help, and returns what end
// says then.
func (s *schedule) run(end func() error) error {
	for range maxSteps {
		more := s.step()
		if err := s.Err(); err != nil {
			return err
		}
		if !more || s.network.QuietFor > patience && s.network.Hopeless() {
			return end()
		}
	}
	return fmt.Errorf("no end after %d steps\n%s", maxSteps, s.States())
}

func (s *schedule) step() bool { return s.doIf(s.Next()) }

// verdict judges a schedule in which nothing moves any more.
func (s *schedule) verdict() error {
	if s.MayGoOn() {
		return fmt.Errorf("messages flow without end, and the nodes have no Stop\n%s", s.States())
	}
	if err := s.ending(); err != nil {
		return err
	}
	return s.checkClaims()
}

// ending returns what is wrong with the state in which nothing moves any more.
func (s *schedule) ending() error {
	if !s.Served() {
		return fmt.Errorf("nodes %v "+Stalled+"\n%s", s.Waiting(), s.States())
	}
	if count, reason := s.network.Refused(); count > 0 {
		return fmt.Errorf("nodes refused %d messages: %s\n%s", count, reason, s.States())
	}
	return nil
}

// preferences are what a schedule favours: a kind of step, and a node that
// messages reach and leave last.
type preferences struct {
	rng    *rand.Rand
	weight [dme.PeerUp + 1]int // of a kind of step, if one of it is possible
	slow   dme.NodeID          // often none
	some   []int               // scratch
}

func newPreferences(nodes int, rng *rand.Rand) *preferences {
	p := &preferences{rng: rng, slow: dme.NodeID(rng.IntN(2 * nodes))}
	p.weight[dme.Receive], p.weight[dme.Exit] = 1+rng.IntN(20), 1+rng.IntN(20)
	p.weight[dme.Request], p.weight[dme.Timeout], p.weight[dme.Stop] = 1+rng.IntN(20), 1+rng.IntN(4), 1
	p.weight[dme.PeerDown], p.weight[dme.PeerUp] = p.weight[dme.Receive], p.weight[dme.Receive]
	p.weight[dme.Restart], p.weight[dme.Join] = 1, 1
	return p
}

// Pick implements [vnet.Chooser].
func (p *preferences) Pick(_ *vnet.Network, steps []vnet.Step) int {
	var possible [len(p.weight)]bool
	total := 0
	for _, x := range steps {
		if k := kindOf(x); !possible[k] {
			possible[k] = true
			total += p.weight[k]
		}
	}
	kind, at := dme.EventKind(0), p.rng.IntN(total)
	for k, weight := range p.weight {
		if possible[k] && at >= 0 {
			kind, at = dme.EventKind(k), at-weight
		}
	}
	p.some = p.some[:0]
	for i, x := range steps {
		if kindOf(x) == kind {
			p.some = append(p.some, i)
		}
	}
	pick := p.some[p.rng.IntN(len(p.some))]
	for range 5 {
		if x := steps[pick]; kind != dme.Receive || x.From != p.slow && x.Node != p.slow {
			break
		}
		pick = p.some[p.rng.IntN(len(p.some))]
	}
	return pick
}

// kindOf takes a reader's request for any.
func kindOf(x vnet.Step) dme.EventKind {
	if x.Kind == dme.RequestShared {
		return dme.Request
	}
	return x.Kind
}
