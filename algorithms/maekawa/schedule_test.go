package maekawa

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/internal/noderun"
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

// network is a world whose messages wait on their link until the test delivers
// them. It keeps what the properties of a run are judged by.
type network struct {
	algorithm *dme.Algorithm
	sys       *system
	nodes     int
	hosts     []*noderun.Runner // node i at i-1
	links     [][]dme.Message   // from i to j at (i-1)·nodes + j-1
	busy      []int             // links that hold messages, in no order
	trace     []string          // what happened, if traced
	trail     bool

	inside  dme.NodeID
	entered []dme.NodeID // in order
	last    dme.Stamp    // the request of the last entry
	late    int          // entries whose request precedes that of the entry before

	inquired   []bool    // by link: INQUIRE was sent since the last LOCKED
	travelling []int     // REQUESTs of node i that have not arrived, at i-1
	passed     [][]uint8 // how often node j entered since all REQUESTs of i had arrived, at i-1, j-1
	fault      string    // the first violation
}

func newNetwork(sys *system) *network {
	n := sys.Nodes()
	w := &network{
		algorithm: Algorithm(), sys: sys, nodes: n,
		links: make([][]dme.Message, n*n), travelling: make([]int, n), inquired: make([]bool, n*n),
	}
	counters := make([]noderun.Counters, n)
	for i := range n {
		w.hosts = append(w.hosts, noderun.New(w.algorithm, sys, n, dme.NodeID(i+1), w, &counters[i]))
		w.passed = append(w.passed, make([]uint8, n))
	}
	return w
}

func (w *network) blame(format string, args ...any) {
	if w.fault == "" {
		w.fault = fmt.Sprintf(format, args...)
	}
}

// note records what node does, with whom, if a trace is wanted.
func (w *network) note(id dme.NodeID, what string, kind dme.Kind, peer dme.NodeID) {
	if !w.trail {
		return
	}
	line := fmt.Sprintf("%d %s", id, what)
	if kind != 0 {
		line = fmt.Sprintf("%s %s %d", line, w.algorithm.KindName(kind), peer)
	}
	w.trace = append(w.trace, line)
}

func (w *network) host(id dme.NodeID) *noderun.Runner { return w.hosts[id-1] }

// Send puts a message on its link.
func (w *network) Send(from, to dme.NodeID, m *dme.Message) {
	link := int(from-1)*w.nodes + int(to-1)
	if len(w.links[link]) == 0 {
		w.busy = append(w.busy, link)
	}
	w.links[link] = append(w.links[link], *m)
	switch m.Kind {
	case kindRequest:
		w.travelling[from-1]++
	case kindLocked:
		w.inquired[link] = false
	case kindInquire:
		if w.inquired[link] {
			w.blame("node %d inquires twice about one lock of node %d", from, to)
		}
		w.inquired[link] = true
	}
	w.note(from, "sends", m.Kind, to)
}

// Enter checks mutual exclusion, and that nobody is overtaken for ever.
func (w *network) Enter(id dme.NodeID, stamp dme.Stamp) {
	if w.inside != dme.None {
		w.blame("two nodes in the critical section: %d joins %d", id, w.inside)
	}
	if stamp.Precedes(w.last) {
		w.late++
	}
	w.inside, w.last = id, stamp
	w.entered = append(w.entered, id)
	w.note(id, "enters", 0, 0)
	for i, h := range w.hosts {
		if h.Activity() != noderun.Requesting || w.travelling[i] > 0 {
			continue
		}
		if w.passed[i][id-1]++; w.passed[i][id-1] > 2 {
			w.blame("overtaken: node %d entered %d times since node %d's REQUESTs arrived", id, w.passed[i][id-1], i+1)
		}
	}
}

func (w *network) Broadcast(dme.NodeID, *dme.Message) int          { panic("no broadcast") }
func (w *network) SetTimer(dme.NodeID, dme.TimerID, time.Duration) { panic("no timer") }
func (w *network) CancelTimer(dme.NodeID, dme.TimerID)             { panic("no timer") }

func (w *network) request(id dme.NodeID) {
	w.note(id, "asks", 0, 0)
	clear(w.passed[id-1])
	w.host(id).Request()
}

func (w *network) exit(id dme.NodeID) {
	w.note(id, "leaves", 0, 0)
	w.inside = dme.None
	w.host(id).Release()
}

// deliver delivers the message at position at of the link from → to.
func (w *network) deliver(from, to dme.NodeID, at int) {
	link := int(from-1)*w.nodes + int(to-1)
	m := w.links[link][at]
	w.links[link] = slices.Delete(w.links[link], at, at+1)
	if len(w.links[link]) == 0 {
		k := slices.Index(w.busy, link)
		w.busy[k] = w.busy[len(w.busy)-1]
		w.busy = w.busy[:len(w.busy)-1]
	}
	if m.Kind == kindRequest {
		w.travelling[from-1]--
	}
	w.note(to, "receives", m.Kind, from)
	h := w.host(to)
	refused := h.Counters().Refused.Load()
	h.Receive(from, &m)
	if h.Counters().Refused.Load() != refused {
		w.blame("node %d refused a message of node %d: %s", to, from, h.LastRefusal())
	}
}

// kinds returns the number of messages sent, by kind, and in all.
func (w *network) kinds() (byKind [dme.MaxKinds + 1]uint64, total uint64) {
	for _, h := range w.hosts {
		for k := range byKind {
			byKind[k] += h.Counters().Sent[k].Load()
		}
		total += h.Counters().SentTotal.Load()
	}
	return byKind, total
}

func (w *network) describe() string {
	var b strings.Builder
	for _, h := range w.hosts {
		fmt.Fprintf(&b, "  node %d: %s\n", h.ID(), dme.DescribeState(h.Node()))
	}
	return b.String()
}

// schedule is one random run.
type schedule struct {
	seed    uint64
	rounds  int          // requests of each node
	burst   bool         // all nodes ask before anything is delivered
	reorder bool         // links do not keep order
	steps   int          // stop after so many events; 0: when nothing is left to do
	only    []dme.NodeID // who asks; nil: all
}

// run drives w through the schedule until nothing is left to do. Half of the
// seeds pick the next event uniformly. The others prefer the links that they
// happen to find fast, which strands messages for long, as a network does.
func (s schedule) run(w *network) {
	rng := rand.New(rand.NewPCG(s.seed, 1))
	left := make([]int, w.nodes)
	for i := range left {
		if s.only == nil || slices.Contains(s.only, dme.NodeID(i+1)) {
			left[i] = s.rounds
		}
	}
	rounds := slices.Clone(left)
	biased := s.seed%2 == 1
	speed := make([]uint32, len(w.links))
	ask := []float64{0.02, 0.1, 0.4}[rng.IntN(3)]
	leave := []float64{0.03, 0.2, 0.8}[rng.IntN(3)]

	idle := make([]int, 0, w.nodes)
	for step := 0; w.fault == "" && (s.steps == 0 || step < s.steps); step++ {
		if biased && step%64 == 0 {
			for i := range speed {
				speed[i] = rng.Uint32()
			}
		}
		idle = idle[:0]
		for i, h := range w.hosts {
			if left[i] > 0 && h.Activity() == noderun.Idle {
				idle = append(idle, i)
			}
		}
		canAsk, canLeave, canDeliver := len(idle) > 0, w.inside != dme.None, len(w.busy) > 0
		cold := s.burst && len(w.entered) == 0 && canAsk
		switch {
		case canAsk && (cold || !canLeave && !canDeliver || rng.Float64() < ask):
			i := idle[rng.IntN(len(idle))]
			left[i]--
			w.request(dme.NodeID(i + 1))
		case canLeave && (!canDeliver || rng.Float64() < leave):
			w.exit(w.inside)
		case canDeliver:
			link := w.busy[rng.IntN(len(w.busy))]
			if biased && rng.IntN(16) > 0 {
				link = slices.MaxFunc(w.busy, func(a, b int) int { return int(int64(speed[a]) - int64(speed[b])) })
			}
			at := 0
			if s.reorder {
				at = rng.IntN(len(w.links[link]))
			}
			w.deliver(dme.NodeID(link/w.nodes+1), dme.NodeID(link%w.nodes+1), at)
		default:
			w.judge(rounds)
			return
		}
	}
}

// judge examines a run after which nothing is left to do. rounds[i-1] is the
// number of requests of node i.
func (w *network) judge(rounds []int) {
	requests := 0
	for _, r := range rounds {
		requests += r
	}
	if len(w.entered) != requests {
		w.blame("stalled: %d of %d requests were served and nothing is in flight", len(w.entered), requests)
		return
	}
	var asked, members uint64
	yieldAlways := false
	for i, h := range w.hosts {
		n := h.Node().(*node)
		if !n.request.IsZero() || !n.locked.Empty() || !n.failed.Empty() || !n.inquired.Empty() ||
			!n.locking.IsZero() || len(n.waiting) > 0 || n.inquiring {
			w.blame("not quiescent: node %d", i+1)
		}
		if h.Counters().Unasked.Load() > 0 {
			w.blame("node %d entered without a request", i+1)
		}
		yieldAlways = n.yieldAlways
		self := 0
		if n.MemberIndex(n.ID) >= 0 {
			self = 1
		}
		asked += uint64(rounds[i] * (len(n.Members) - self))
		members += uint64(rounds[i] * len(n.Members))
	}
	k, total := w.kinds()
	for _, x := range []struct {
		holds bool
		what  string
	}{
		{k[kindRequest] == asked, "one REQUEST for each other member"},
		{k[kindRelease] == asked, "one RELEASE for each other member"},
		{k[kindLocked] == asked+k[kindRelinquish], "one LOCKED for each REQUEST and each RELINQUISH"},
		{k[kindRelinquish] <= k[kindInquire] && k[kindInquire] <= k[kindLocked], "RELINQUISH ≤ INQUIRE ≤ LOCKED"},
		{k[kindFailed]+k[kindInquire] <= members, "a REQUEST causes a FAILED or an INQUIRE, not both"},
		{!yieldAlways || k[kindFailed] == 0, "no FAILED with yield=always"},
		{total <= 3*asked+3*members, "3(K−1) messages and 3 for each arrival at most"},
	} {
		if !x.holds {
			w.blame("message counts %v: want %s", k[1:kindRelease+1], x.what)
		}
	}
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
