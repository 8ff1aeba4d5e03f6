package validate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
	"dmebench/workload"
)

// Durations of all runs: T is that of the simulated network.
const (
	messageDelay = time.Millisecond
	cs           = 100 * time.Microsecond
)

// A condition is one way to make a load.
type condition struct {
	claims.Circumstance
	name     string // as a reader finds it in a verdict
	network  string
	workload string
	set      map[string]string // of the workload and the network
	only     []claim.Load      // for claims about these loads; nil for all that it makes

	plain bool // measured at every size; the others at small ones
	wide  bool // measured where growth is
	timed bool // times mean something: every message takes T

	hold    time.Duration // of a critical section, on average; 0 for the usual
	varies  bool          // critical sections are exponentially distributed
	perNode int           // requests per node, at most; 0 for the effort's
	enough  int           // requests of all nodes, at most, if they do not count per node
	rate    float64       // of all nodes, in requests per second
	rare    bool          // rate so low that requests are isolated
}

// closedLoop is the workload in which each node asks again at its exit.
const closedLoop = "saturate"

// conditions returns the ways to make loads on a network. In a simulation
// delays are varied: what is claimed for any run must not rest on messages that
// are all equally fast.
func conditions(network string) []condition {
	set := func(pairs ...string) map[string]string {
		m := make(map[string]string)
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	all := []condition{
		{name: "serial", workload: "serial", plain: true, wide: true, timed: true},
		{name: closedLoop + ", constant delays", workload: closedLoop, plain: true, wide: true, timed: true},
		{name: "burst, uniform delays", workload: "burst", set: set("delay", "uniform"), plain: true, perNode: 20},
		{name: closedLoop + ", uniform delays", workload: closedLoop, set: set("delay", "uniform"), timed: true},
		{name: closedLoop + ", exponential delays", workload: closedLoop, set: set("delay", "exponential")},
		{
			name: "burst at one instant, exponential delays", workload: "burst",
			set: set("delay", "exponential", "window", "0s"), perNode: 20,
		},
		{
			name: "poisson, exponential delays", workload: "poisson",
			set: set("delay", "exponential"), rate: claims.BusyRate(messageDelay, cs),
		},
		{
			name: closedLoop + ", unordered links", workload: closedLoop, set: set("delay", "exponential", "fifo", "false"),
			only: []claim.Load{claim.AnyLoad, claim.Contention, claim.Worst},
		},
		{
			name: "burst of readers, critical sections of 10 T", workload: "burst", set: set("delay", "uniform", "readers", "1"),
			hold: longHold, only: []claim.Load{claim.Burst}, plain: true, perNode: 10,
		},
		{
			name: closedLoop + ", critical sections of 10 T", workload: closedLoop, set: set("delay", "uniform"),
			hold: longHold, only: []claim.Load{claim.Worst}, perNode: 10,
		},
		{
			name: closedLoop + ", node 1 ten times as far away, exponential delays", workload: closedLoop,
			set:  set("delay", "exponential", "links", "1-*:delay=10ms;*-1:delay=10ms"),
			only: []claim.Load{claim.AnyLoad, claim.Worst}, perNode: 20,
		},
		{name: closedLoop + ", half of them readers", workload: closedLoop, set: set("delay", "uniform", "readers", "0.5")},
		{name: "poisson, rare", workload: "poisson", only: []claim.Load{claim.Light}, plain: true, timed: true, rare: true},
		{
			name: "hot spot, rare", workload: "hotspot", set: set("hot", "1", "share", "0.8"),
			only: []claim.Load{claim.HotSpot}, plain: true, timed: true, rare: true,
		},
	}
	all = append(all, queues()...)
	if network != runs.Sim {
		all = []condition{
			all[0],
			{name: closedLoop, workload: closedLoop, plain: true, wide: true, timed: true},
			{name: "burst", workload: "burst", plain: true, perNode: 10},
		}
	}
	n, _ := run.LookupNetwork(network) // known to exist
	for i := range all {
		c := &all[i]
		c.network = network
		options, _ := dme.ResolveOptions(n.Options, c.set) // the others are the workload's
		g := n.Guarantees(options)
		c.Circumstance = claims.Of(c.spec("", nil, 8), g.FIFO, g.Broadcast)
	}
	return all
}

// queues returns open loads in parts of what a server serves that has one request
// at a time for 2T + E, which are those of queueing theory: claims about them are
// asked under no other. The busier a server is, the longer its times depend on one
// another, and the more of them a mean needs.
func queues() []condition {
	const e = messageDelay
	var all []condition
	for _, x := range []struct {
		part   float64
		enough int
	}{{0.3, 10_000}, {0.6, 40_000}, {0.9, 400_000}} {
		c := condition{
			name: fmt.Sprintf("poisson at %v/(2T + E), E = T", x.part), workload: "poisson", only: []claim.Load{claim.Open},
			plain: true, timed: true, hold: e, enough: x.enough, rate: x.part / (2*messageDelay + e).Seconds(),
		}
		all = append(all, c)
		c.name, c.varies = c.name+", exponential", true
		all = append(all, c)
	}
	return all
}

// makes reports whether claims about a load are asked under the condition.
func (c *condition) makes(l claim.Load) bool {
	asked := c.only == nil && l != claim.Open || slices.Contains(c.only, l)
	return slices.Contains(c.Loads, l) && asked
}

// spec is a run under the condition; its number of requests is left open.
func (c *condition) spec(algorithm string, set map[string]string, nodes int) runs.Spec {
	s := runs.Spec{
		Algorithm: algorithm, Nodes: nodes, Transport: c.network, Workload: c.workload,
		CS: workload.Distribution{Mean: cmp.Or(c.hold, cs), Exponential: c.varies}.String(), Requests: nodes, Warmup: runs.DefaultWarmup,
		Set: make(map[string]string), TotalRate: c.rate,
	}
	maps.Copy(s.Set, set)
	maps.Copy(s.Set, c.set)
	if c.rare {
		// Random arrivals come together now and then: at the rate at which they pass for
		// isolated, as often as to change a response time by a hundredth.
		s.TotalRate = claims.RareRate(nodes, messageDelay, cs) / 4
	}
	if c.network == runs.Sim {
		s.Set["t"] = messageDelay.String()
	} else {
		s.NodesPerWorker = (nodes + mostWorkers - 1) / mostWorkers
	}
	return s
}

// mostWorkers bounds the processes of a run; in larger systems nodes share them.
const mostWorkers = 16

// requests returns how many requests to make if an entry costs that many messages; 0 if even the
// fewest cost too much. They are as many more as the warm-up takes.
func (c *condition) requests(nodes int, perEntry float64, dynamic bool, e *effort) int {
	const (
		fewest         = 10 // per node of a contended run
		fewestIsolated = 200
		manyRare       = 800 // between which a perpetual token goes round and round
		slack          = 8   // how far a large system may exceed what a run should cost
		perDynamic     = 20  // per node, if its first request finds the initial state
	)
	affordable := e.messages / max(1, perEntry)
	if c.enough > 0 {
		return int(min(affordable, float64(c.enough)))
	}
	learning := 0 // per node
	if dynamic {
		learning = adaptive
	}
	if c.Isolated() {
		if !dynamic {
			most := float64(e.isolated)
			if c.rare {
				most = manyRare
			}
			return int(max(fewestIsolated, min(affordable, most)))
		}
		least := (learning + perDynamic) * nodes
		if float64(least) > slack*affordable {
			return 0
		}
		return max(e.isolated, int(min(affordable, 100*float64(nodes))), least)
	}
	most := e.perNode
	if c.perNode > 0 {
		most = min(most, c.perNode)
	}
	perNode := int(min(affordable/float64(nodes), float64(most)))
	if perNode < fewest {
		if fewest*float64(nodes) > slack*affordable {
			return 0
		}
		perNode = fewest
	}
	return (learning + perNode) * nodes
}

// adaptive is how many entries per node it takes before the means are steady for an algorithm whose
// nodes learn which others to ask.
const adaptive = 8

// warmup returns how many requests at the beginning are no part of means.
func (c *condition) warmup(nodes, requests int, dynamic bool) string {
	const (
		contended = 2  // per node: the first find no other waiting
		alone     = 20 // of the first holder, until the others' requests arrive: more than T/E
		share     = 20 // one in this many, where a queue has to fill or a token starts at one node
	)
	cut := requests / share
	switch {
	case dynamic:
		cut = max(cut, adaptive*nodes)
	case !c.Isolated():
		cut = max(cut, contended*nodes+alone)
	}
	return strconv.Itoa(max(1, min(cut, requests/2)))
}
