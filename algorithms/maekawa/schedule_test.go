package maekawa

import (
	"fmt"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
	"dmebench/internal/runtime/noderun"
)

// setup is a system to run.
type setup struct {
	construction string
	nodes        int
	yield        string
	grants       string
}

func (s setup) String() string {
	return fmt.Sprintf("%s of %d, yield=%s, grants=%s", s.construction, s.nodes, s.yield, s.grants)
}

func (s setup) options() map[string]string {
	return map[string]string{"quorum": s.construction, "yield": s.yield, "grants": s.grants}
}

func (s setup) prepare() *system {
	sys, err := Algorithm().New(s.nodes, 1, s.options())
	if err != nil {
		panic(err)
	}
	return sys.(*system)
}

// on is the algorithm on a system that is there already.
func on(sys *system) *dme.Algorithm {
	a := Algorithm()
	a.Prepare = func(dme.Config) (dme.System, error) { return sys, nil }
	return a
}

// walk is one in which each node asks so many times. In a burst all do before
// anything is delivered.
func walk(sys *system, seed uint64, burst bool, requests int) conformance.Walk {
	w := conformance.Walk{Algorithm: on(sys), Nodes: sys.Nodes(), Requests: conformance.Each(requests), Load: vnet.Churn, Seed: seed}
	if burst {
		w.Load = vnet.Bursts
	}
	return w
}

// judged walks and judges what happens by what the paper promises of every run.
func judged(w conformance.Walk) (*conformance.Net, error) {
	j := &judge{inquired: map[[2]dme.NodeID]bool{}, travelling: make([]int, w.Nodes+1), passed: make([][]uint8, w.Nodes+1)}
	for i := range j.passed {
		j.passed[i] = make([]uint8, w.Nodes+1)
	}
	w.Look = j.look
	net, err := w.Run()
	if err == nil {
		err = atRest(net, w.Requests)
	}
	return net, err
}

// judge keeps what the steps of a run are judged by.
type judge struct {
	inquired   map[[2]dme.NodeID]bool // by link: INQUIRE was sent since the last LOCKED
	travelling []int                  // REQUESTs of node i that have not arrived
	passed     [][]uint8              // how often node j entered since all REQUESTs of i had arrived
}

// look checks that no lock is inquired about twice, and that nobody is overtaken
// for ever.
func (j *judge) look(net *conformance.Net, e *vnet.Event) error {
	switch {
	case e.Step.Kind == vnet.Ask:
		clear(j.passed[e.Node])
	case e.Step.Kind == vnet.Deliver && e.Msg.Kind == kindRequest:
		j.travelling[e.From]--
	}
	for _, x := range e.Effects {
		link := [2]dme.NodeID{e.Node, x.To}
		switch {
		case x.Kind == dme.EffectEnter:
			if err := j.entry(net, e.Node); err != nil {
				return err
			}
		case x.Msg.Kind == kindRequest:
			j.travelling[e.Node]++
		case x.Msg.Kind == kindLocked:
			j.inquired[link] = false
		case x.Msg.Kind == kindInquire:
			if j.inquired[link] {
				return fmt.Errorf("node %d inquires twice about one lock of node %d", e.Node, x.To)
			}
			j.inquired[link] = true
		}
	}
	return nil
}

func (j *judge) entry(net *conformance.Net, id dme.NodeID) error {
	for i := dme.NodeID(1); int(i) <= net.Setting.Nodes; i++ {
		if net.Host(i).Activity() != noderun.Requesting || j.travelling[i] > 0 {
			continue
		}
		if j.passed[i][id]++; j.passed[i][id] > 2 {
			return fmt.Errorf("overtaken: node %d entered %d times since node %d's REQUESTs arrived", id, j.passed[i][id], i)
		}
	}
	return nil
}

// atRest examines a run after which nothing is left to do.
func atRest(net *conformance.Net, requests func(dme.NodeID) int) error {
	var asked, members uint64
	yieldAlways := false
	for id := dme.NodeID(1); int(id) <= net.Setting.Nodes; id++ {
		n := net.Host(id).Node().(*node)
		if !n.request.IsZero() || !n.locked.Empty() || !n.failed.Empty() || !n.inquired.Empty() ||
			!n.locking.IsZero() || len(n.waiting) > 0 || n.inquiring {
			return fmt.Errorf("not quiescent: node %d\n%s", id, net.States())
		}
		yieldAlways = n.yieldAlways
		self := 0
		if n.MemberIndex(n.ID) >= 0 {
			self = 1
		}
		asked += uint64(requests(id) * (len(n.Members) - self))
		members += uint64(requests(id) * len(n.Members))
	}
	sent := net.SentOf
	for _, x := range []struct {
		holds bool
		what  string
	}{
		{sent(kindRequest) == asked, "one REQUEST for each other member"},
		{sent(kindRelease) == asked, "one RELEASE for each other member"},
		{sent(kindLocked) == asked+sent(kindRelinquish), "one LOCKED for each REQUEST and each RELINQUISH"},
		{sent(kindRelinquish) <= sent(kindInquire) && sent(kindInquire) <= sent(kindLocked), "RELINQUISH ≤ INQUIRE ≤ LOCKED"},
		{sent(kindFailed)+sent(kindInquire) <= members, "a REQUEST causes a FAILED or an INQUIRE, not both"},
		{!yieldAlways || sent(kindFailed) == 0, "no FAILED with yield=always"},
		{net.Sent() <= 3*asked+3*members, "3(K−1) messages and 3 for each arrival at most"},
	} {
		if !x.holds {
			return fmt.Errorf("message counts: %d REQUEST, %d LOCKED, %d INQUIRE, %d RELINQUISH, %d FAILED, %d RELEASE: want %s",
				sent(kindRequest), sent(kindLocked), sent(kindInquire), sent(kindRelinquish), sent(kindFailed), sent(kindRelease), x.what)
		}
	}
	return nil
}

// listed makes a system of given sets.
func listed(sets [][]dme.NodeID, set map[string]string) *system {
	opt, err := Algorithm().Resolve(set)
	if err != nil {
		panic(err)
	}
	s, err := quorum.List("listed", sets)
	if err != nil {
		panic(err)
	}
	return &system{s, func(s site) dme.Node { return newNode(s, rulesOf(opt)) }}
}
