package measure

import (
	"dmebench/dme"
	"dmebench/runs"
)

// fillSites says of each site how long its nodes waited, and how often the critical section stayed
// there. It does nothing if all nodes are at one place.
func (t *timeline) fillSites(r *runs.Result, o *Observation) {
	sites := o.Job.Sites()
	if sites == nil {
		return
	}
	var far uint64
	for i := range o.Nodes {
		far += o.Nodes[i].Far
	}
	r.Messages.BetweenSites = &far
	r.Sites = make([]runs.Site, len(sites.Names))
	waits := make([][]int64, len(r.Sites))
	for i := range r.Sites {
		r.Sites[i].Name = sites.Names[i]
		for to := range r.Sites {
			r.Sites[i].DelayNS = append(r.Sites[i].DelayNS, int64(sites.Delay(i, to)))
		}
	}
	for i := range o.Nodes {
		r.Sites[sites.Of(dme.NodeID(i+1))].Nodes++
	}
	before := -1
	for k := range t.len() {
		at := sites.Of(t.entered(k).Node)
		s := &r.Sites[at]
		s.Entries++
		if at == before {
			s.Stays++
		}
		before = at
		waits[at] = append(waits[at], waiting(&t.local[t.inOrder[k]]))
	}
	for i := range r.Sites {
		r.Sites[i].Waiting = quantiles(waits[i])
	}
}
