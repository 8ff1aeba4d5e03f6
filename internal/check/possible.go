package check

import (
	"dmebench/dme"
	"dmebench/internal/noderun"
)

// moves appends every step that is possible now but requests and the faults of
// links: exits, arrivals, timers, and the stops that end a run.
func (s *system) moves(to []Step) []Step {
	for _, id := range s.inside {
		to = append(to, Step{Kind: Leave, Node: id})
	}
	for _, at := range s.busy {
		from, node := s.ends(at)
		for i := range s.deliverable(at) {
			to = append(to, Step{Kind: Deliver, Node: node, From: from, Index: i})
		}
	}
	for i, a := range s.alarms {
		if s.mayFire(i) {
			to = append(to, Step{Kind: Fire, Node: a.node, Timer: a.id})
		}
	}
	if s.stops && s.served() {
		for id := range s.ids() {
			if !s.stopped[id] {
				to = append(to, Step{Kind: Stop, Node: id})
			}
		}
	}
	return to
}

// deliverable returns how many of a link's messages, from the oldest, may be
// the next to arrive.
func (s *system) deliverable(link int) int {
	q := s.links[link].queue
	if s.Unordered || len(q) == 0 {
		return len(q)
	}
	if _, to := s.ends(link); q[0].broadcast && !s.audible(&q[0], to) {
		return 0
	}
	return 1
}

// requests appends every request that is possible now, shared ones too where
// nodes distinguish them.
func (s *system) requests(to []Step) []Step {
	for id := range s.ids() {
		if !s.mayAsk(id) {
			continue
		}
		to = append(to, Step{Kind: Ask, Node: id})
		if s.shares {
			to = append(to, Step{Kind: AskShared, Node: id})
		}
	}
	return to
}

// faults appends every loss and duplication that is possible now.
func (s *system) faults(to []Step) []Step {
	for _, at := range s.busy {
		from, node := s.ends(at)
		for i := range s.deliverable(at) {
			if s.links[at].queue[i].copy {
				continue // a second copy arrives or, like any copy, was never made
			}
			if s.Duplicate {
				to = append(to, Step{Kind: Copy, Node: node, From: from, Index: i})
			}
			if s.lose > 0 {
				to = append(to, Step{Kind: Lose, Node: node, From: from, Index: i})
			}
		}
	}
	return to
}

func (s *system) mayAsk(id dme.NodeID) bool {
	return s.budget[id] > 0 && s.hosts[id].Activity() == noderun.Idle && !s.stopped[id]
}

func (s *system) mayFire(i int) bool {
	a := s.alarms[i]
	if !s.first(s.alarms, i) {
		return false
	}
	free := true
	if a.reach > 0 {
		s.eachLetter(func(l *letter) { free = free && !waitsFor(l.marks, a.node, a.id) })
	}
	return free
}

// possible reports whether a step that was possible in one schedule is so in
// this one.
func (s *system) possible(x Step) bool {
	if x.Node < 1 || int(x.Node) > s.Nodes {
		return false
	}
	switch x.Kind {
	case Ask:
		return s.mayAsk(x.Node)
	case AskShared:
		return s.shares && s.mayAsk(x.Node)
	case Leave:
		return s.hosts[x.Node].Activity() == noderun.Inside
	case Deliver, Copy, Lose:
		at := s.linkOf(x.From, x.Node)
		if x.Index >= s.deliverable(at) {
			return false
		}
		first := !s.links[at].queue[x.Index].copy
		return x.Kind == Deliver || first && (x.Kind == Copy && s.Duplicate || x.Kind == Lose && s.lose > 0)
	case Fire:
		i := find(s.alarms, x.Node, x.Timer)
		return i >= 0 && s.mayFire(i)
	case Stop:
		return s.stops && s.served() && !s.stopped[x.Node]
	}
	return false
}
