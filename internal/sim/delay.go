package sim

import (
	"math"
	"math/rand/v2"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/run"
)

// delayStream separates the delays' random numbers from the workload's, whose streams begin with 1.
const delayStream = 0xd1 << 56

type delays struct {
	mean time.Duration
	kind string // constant, uniform, exponential or pareto
	fifo bool
	rng  *rand.Rand
	tail float64 // index of a pareto delay
	last lastDelivery

	lastSequenced int64 // when the latest sequenced broadcast arrives
}

func newDelays(job *run.Job) *delays {
	o := job.NetOptions
	mean, _ := time.ParseDuration(o.Get("t")) // checked before
	d := &delays{
		mean: mean, kind: o.Get("delay"), fifo: o.Get("fifo") == "true",
		rng: rand.New(rand.NewPCG(job.Spec.Seed, delayStream)),
	}
	if index, ok := run.ParetoIndex(d.kind); ok {
		d.kind, d.tail = "pareto", index
	}
	if !d.constant() && d.fifo {
		d.last = newLastDelivery(job.Spec.Nodes)
	}
	return d
}

// constant reports whether messages take the same time, and arrive in the order of sending.
func (d *delays) constant() bool { return d.kind == "constant" }

func (d *delays) draw() int64 {
	switch d.kind {
	case "uniform":
		return int64(d.mean)/2 + int64(d.rng.Float64()*float64(d.mean))
	case "exponential":
		return int64(d.rng.ExpFloat64() * float64(d.mean))
	case "pareto":
		least := (d.tail - 1) / d.tail
		return int64(min(least*math.Pow(1-d.rng.Float64(), -1/d.tail), cutTail) * float64(d.mean))
	}
	return int64(d.mean)
}

// cutTail is the longest pareto delay in units of T. Without it a single message
// could take longer than all the others of a run together; with it the mean is
// below T, by 0.4% at an index of 1.5.
const cutTail = 10_000

// longest returns the longest time, ns, in which perhaps nothing but a slow message is on its way.
func (d *delays) longest() float64 {
	if d.kind == "pareto" {
		return 2 * cutTail * float64(d.mean)
	}
	return 0
}

func (d *delays) arrival(now int64, from, to dme.NodeID) int64 {
	at := now + d.draw()
	if d.constant() || !d.fifo {
		return at
	}
	at = max(at, d.last.get(from, to))
	d.last.set(from, to, at)
	return at
}

// sequenced returns when a broadcast that is sent now reaches all other nodes:
// not before the one that was sent before it and, on links that keep order, not
// before any message that from has sent to any of them.
func (d *delays) sequenced(now int64, from dme.NodeID, nodes int) int64 {
	at := max(now+d.draw(), d.lastSequenced)
	if !d.constant() && d.fifo {
		for to := dme.NodeID(1); int(to) <= nodes; to++ {
			at = max(at, d.last.get(from, to))
		}
		for to := dme.NodeID(1); int(to) <= nodes; to++ {
			d.last.set(from, to, at)
		}
	}
	d.lastSequenced = at
	return at
}

// lastDelivery remembers, for each ordered pair of nodes, when the last message
// sent arrives: no later one may arrive before. A table of all pairs is fast
// but grows with N²; beyond denseNodes a map holds the pairs that talk.
type lastDelivery struct {
	nodes  uint64
	dense  []int64
	sparse map[uint64]int64
}

const denseNodes = 1024

func newLastDelivery(nodes int) lastDelivery {
	l := lastDelivery{nodes: uint64(nodes)}
	if nodes <= denseNodes {
		l.dense = make([]int64, nodes*nodes)
	} else {
		l.sparse = make(map[uint64]int64)
	}
	return l
}

func (l *lastDelivery) index(from, to dme.NodeID) uint64 {
	return uint64(from-1)*l.nodes + uint64(to-1)
}

func (l *lastDelivery) get(from, to dme.NodeID) int64 {
	if l.dense != nil {
		return l.dense[l.index(from, to)]
	}
	return l.sparse[l.index(from, to)]
}

func (l *lastDelivery) set(from, to dme.NodeID, at int64) {
	if l.dense != nil {
		l.dense[l.index(from, to)] = at
	} else {
		l.sparse[l.index(from, to)] = at
	}
}
