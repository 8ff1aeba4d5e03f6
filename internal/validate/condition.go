package validate

import (
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/result"
)

// Durations of all runs: T is that of the simulated network.
const (
	messageDelay = time.Millisecond
	cs           = 100 * time.Microsecond
)

// A condition is one way to make a load.
type condition struct {
	name     string // as a reader finds it in a verdict
	workload string
	set      map[string]string // of the workload and the network
	loads    []dme.Load

	plain bool // measured at every size; the others at small ones
	wide  bool // measured where growth is
	timed bool // times mean something: every message takes T

	hold    time.Duration // of a critical section; 0 for the usual
	perNode int           // requests per node, at most; 0 for the effort's
	rate    float64       // of all nodes, in requests per second
	rare    bool          // rate so low that requests are isolated
	readers bool          // for algorithms that know readers
}

// closedLoop is the workload in which each node asks again at its exit.
const closedLoop = "saturate"

// conditions returns the ways to make loads on a network. In a simulation
// delays are varied: what is claimed for any run must not rest on messages that
// are all equally fast.
func conditions(network string) []condition {
	const (
		light, saturated, burst = dme.Light, dme.Saturated, dme.Burst
		contention, worst, any  = dme.Contention, dme.Worst, dme.AnyLoad
	)
	moderate := 0.5 / (2*messageDelay + cs).Seconds()
	if network != result.Sim {
		return []condition{
			{name: "serial", workload: "serial", loads: []dme.Load{light, any, worst}, plain: true, wide: true, timed: true},
			{name: closedLoop, workload: "saturate", loads: []dme.Load{saturated, any, contention, worst}, plain: true, wide: true, timed: true},
			{name: "burst", workload: "burst", loads: []dme.Load{burst, any, contention, worst}, plain: true, perNode: 10},
		}
	}
	return []condition{
		{name: "serial", workload: "serial", loads: []dme.Load{light, any, worst}, plain: true, wide: true, timed: true},
		{
			name: closedLoop + ", constant delays", workload: "saturate",
			loads: []dme.Load{saturated, any, contention, worst}, plain: true, wide: true, timed: true,
		},
		{
			name: "burst, uniform delays", workload: "burst", set: map[string]string{"delay": "uniform"},
			loads: []dme.Load{burst, any, contention, worst}, plain: true, perNode: 20,
		},
		{
			name: closedLoop + ", uniform delays", workload: "saturate", set: map[string]string{"delay": "uniform"},
			loads: []dme.Load{saturated, any, contention, worst}, timed: true,
		},
		{
			name: closedLoop + ", exponential delays", workload: "saturate", set: map[string]string{"delay": "exponential"},
			loads: []dme.Load{saturated, any, contention, worst},
		},
		{
			name: "burst at one instant, exponential delays", workload: "burst", set: map[string]string{"delay": "exponential", "window": "0s"},
			loads: []dme.Load{burst, any, contention, worst}, perNode: 20,
		},
		{
			name: "poisson, exponential delays", workload: "poisson", set: map[string]string{"delay": "exponential"},
			loads: []dme.Load{any, contention}, rate: moderate,
		},
		{
			name: closedLoop + ", unordered links", workload: "saturate", set: map[string]string{"delay": "exponential", "fifo": "false"},
			loads: []dme.Load{any, contention, worst},
		},
		{
			name: closedLoop + ", half of them readers", workload: "saturate", set: map[string]string{"delay": "uniform", "readers": "0.5"},
			loads: []dme.Load{any, contention}, readers: true,
		},
		{name: "poisson, rare", workload: "poisson", loads: []dme.Load{light}, plain: true, timed: true, rare: true},
		{
			name: "hot spot, rare", workload: "hotspot", set: map[string]string{"hot": "1", "share": "0.8"},
			loads: []dme.Load{dme.HotSpot}, plain: true, timed: true, rare: true,
		},
	}
}

// makes reports whether runs under the condition are runs of a load.
func (c *condition) makes(l dme.Load) bool { return slices.Contains(c.loads, l) }

// totalRate returns the requests per second of an open workload. Where requests
// are to be isolated, a message can go round all nodes ten times between them.
func (c *condition) totalRate(nodes int) float64 {
	if c.rare {
		return 1 / (10 * (float64(nodes+2)*messageDelay.Seconds() + cs.Seconds()))
	}
	return c.rate
}

// isolated reports whether there is one request at a time.
func (c *condition) isolated() bool { return c.workload == "serial" || c.rare }

// ordered reports whether links keep the order of messages.
func (c *condition) ordered() bool { return c.set["fifo"] != "false" }

// constant reports whether the network lets every message take the same time; a
// real one does what it can.
func (c *condition) constant() bool { return c.set["delay"] == "" }

// requests returns how many requests to make where an entry costs so many
// messages; 0 where even the fewest cost too much. A dynamic algorithm needs
// many before its initial state no longer matters.
func (c *condition) requests(nodes int, perEntry float64, dynamic bool, e *effort) int {
	const (
		fewest         = 10 // per node of a contended run: the first and the last are not saturated
		fewestIsolated = 200
		manyIsolated   = 2000
		slack          = 8  // how far a large system may exceed what a run should cost
		perDynamic     = 20 // per node, where its first request finds the initial state
	)
	affordable := e.messages / max(1, perEntry)
	if c.isolated() {
		if !dynamic {
			return int(max(fewestIsolated, min(affordable, manyIsolated)))
		}
		if perDynamic*float64(nodes) > slack*affordable {
			return 0
		}
		return max(manyIsolated, int(min(affordable, 100*float64(nodes))), perDynamic*nodes)
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
	return perNode * nodes
}
