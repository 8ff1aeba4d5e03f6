package measure

import (
	"math"
	"sort"

	"dmebench/dme"
	"dmebench/internal/noderun"
	"dmebench/result"

	"dmebench/workload"
)

// steady is the part of a run between the warm-up cut and the moment when the
// first node runs out of requests.
type steady struct {
	warmup     result.Warmup
	settled    bool // the run was long enough for its warm-up to be seen
	begin, end int64
	entries    uint64
	byNode     []uint64
	held       int64 // how long their critical sections lasted, together
}

func (t *timeline) steady(o *Observation) steady {
	s := steady{begin: o.Start, end: t.ranOut(o), settled: true, byNode: make([]uint64, o.Job.Spec.Nodes)}
	cut := o.Job.Warmup
	switch {
	case cut == 0 || t.len() == 0:
		cut, s.warmup.Method = 0, "none"
	case cut > 0:
		cut, s.warmup.Method = min(cut, t.len()), "given"
	default:
		// What comes after the end would look like a load that never settles.
		n := sort.Search(t.len(), func(k int) bool { return t.exited(k).Exited > s.end })
		cut, s.settled = MSER5(t.times(response)[:n])
		s.warmup.Method = "mser-5"
	}
	s.warmup.Entries = uint64(cut)
	if cut > 0 {
		s.begin = t.exited(cut - 1).Exited
	}
	for k := cut; k < t.len(); k++ {
		e := t.exited(k)
		if e.Exited > s.end {
			break
		}
		s.entries++
		s.held += held(&t.local[t.byExit[k]])
		if i := int(e.Node) - 1; i >= 0 && i < len(s.byNode) {
			s.byNode[i]++
		}
	}
	return s
}

// ranOut returns the instant at which the load begins to fall: when the first
// node makes its last exit, or when the duration ends. The load of an open
// workload does not fall before its last arrival, of all nodes together: one that
// asks rarely may have made its last exit long before. In a stepped workload
// nodes do not ask by themselves, and in a trace their ends mean nothing: there
// it is the last exit. Where the log was too small for all entries, it is the
// first moment from which a node's entries may be missing.
func (t *timeline) ranOut(o *Observation) int64 {
	if t.len() == 0 {
		return o.Stop
	}
	plan := o.Job.Plan
	end := t.exited(t.len() - 1).Exited
	if plan.Duration() > 0 && o.Status == result.OK {
		end = o.Stop
	}
	if plan.Drive() == workload.Stepped || o.Job.Spec.Workload == "trace" {
		return end
	}
	last := make([]int64, o.Job.Spec.Nodes)
	for i := range last {
		last[i] = math.MaxInt64
	}
	var arrived int64 // the last, of an open workload
	count := make([]uint64, len(last))
	for k := range t.len() {
		e := t.exited(k)
		if i := int(e.Node) - 1; i >= 0 && i < len(last) {
			last[i] = e.Exited
			count[i]++
		}
		if plan.Drive() == workload.Open {
			arrived = max(arrived, e.Intended)
		}
	}
	for i := range last {
		share := plan.Share(dme.NodeID(i + 1))
		switch {
		case o.Dropped > 0:
			end = min(end, last[i])
		case share > 0 && count[i] >= uint64(share):
			end = min(end, max(last[i], arrived))
		}
	}
	return end
}

// throughput is in entries per second; nil where it cannot be told.
func (s *steady) throughput() *float64 {
	if s.entries < 2 || s.end <= s.begin {
		return nil
	}
	return number(float64(s.entries) / (float64(s.end-s.begin) / 1e9))
}

// delay is what passes between critical sections, from an exit to the next entry, on
// average: 1/throughput less what they last themselves; nil where it cannot be told. It
// needs no clock but for how long the part is.
func (s *steady) delay() *float64 {
	if s.throughput() == nil {
		return nil
	}
	return number(float64(s.end-s.begin-s.held) / float64(s.entries))
}

// jain returns the index of R. Jain, D. Chiu and W. Hawe, A quantitative
// measure of fairness and discrimination (1984), over the nodes that asked at
// all: 1 where all entered equally often, 1/n where one of n did alone.
func (s *steady) jain(nodes []noderun.Counts) *float64 {
	var n, sum, squares float64
	for i, x := range s.byNode {
		if x == 0 && (i >= len(nodes) || nodes[i].Requests == 0) {
			continue
		}
		n++
		sum += float64(x)
		squares += float64(x) * float64(x)
	}
	return ratio(sum*sum, n*squares)
}
