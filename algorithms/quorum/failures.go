package quorum

import (
	"cmp"
	"slices"

	"dmebench/dme"
)

// Failures is what a node that asks quorums knows of failed nodes, and what its own failure obliges
// it to do. It is for nodes that are a [dme.PeerWatcher] and a [dme.Restarter]; the zero value is
// that of a node that knows of no failure. It keeps nothing, and costs nothing, until there is one.
//
// A node that comes back after a crash has forgotten which node has its permission, and that node
// may still be in its critical section. So there is a grace period: the node grants nothing until
// every other node that is up, hearing that it is back, has said whether it holds that permission.
//
// If a node gives up a request at a site that has not failed, the site may have answered already.
// Both count such withdrawals, and a site's answers say how many it knows of: answers to be ignored
// carry a smaller number.
type Failures struct {
	// Substitutes is the quorum that stands in for the request set; empty if the node asks its
	// request set. For nodes whose quorum is otherwise fixed.
	Substitutes []dme.NodeID

	down    []dme.NodeID // nodes that are down, ascending
	unheard []dme.NodeID // in the grace period: nodes that have yet to say what they hold, ascending
	made    []tally      // withdrawals of own requests, by site
	known   []tally      // withdrawals of others at this site, by node
}

// tally counts something about a node.
type tally struct {
	node  dme.NodeID
	count uint64
}

// Any reports whether some node is down.
func (f *Failures) Any() bool { return len(f.down) > 0 }

// IsDown reports whether the node is down.
func (f *Failures) IsDown(id dme.NodeID) bool { return position(f.down, id) >= 0 }

// IsUp reports whether the node is not down.
func (f *Failures) IsUp(id dme.NodeID) bool { return !f.IsDown(id) }

// NoneOf reports whether none of these nodes is down.
func (f *Failures) NoneOf(nodes []dme.NodeID) bool {
	return len(f.down) == 0 || !slices.ContainsFunc(nodes, f.IsDown)
}

// Down notes that a node is down: it holds nothing, and no withdrawal that it
// made or knew of matters any more. over reports that this ends the grace period.
func (f *Failures) Down(id dme.NodeID) (over bool) {
	at, found := slices.BinarySearch(f.down, id)
	if !found {
		f.down = slices.Insert(f.down, at, id)
	}
	f.made, f.known = forget(f.made, id), forget(f.known, id)
	return f.Heard(id)
}

// Up notes that a node is there again, with nothing kept.
func (f *Failures) Up(id dme.NodeID) {
	if at := position(f.down, id); at >= 0 {
		f.down = slices.Delete(f.down, at, at+1)
	}
}

// Restart begins the grace period of node me of n.
func (f *Failures) Restart(n int, me dme.NodeID) {
	for id := range dme.Others(n, me) {
		if f.IsUp(id) {
			f.unheard = append(f.unheard, id)
		}
	}
}

// Recovering reports whether the grace period lasts.
func (f *Failures) Recovering() bool { return len(f.unheard) > 0 }

// Expects reports whether the node has yet to say what it holds.
func (f *Failures) Expects(id dme.NodeID) bool { return position(f.unheard, id) >= 0 }

// Unheard returns the nodes that have yet to say what they hold, in ascending order.
func (f *Failures) Unheard() []dme.NodeID { return f.unheard }

// Heard notes that a node has said what it holds. over reports that it was the last, which ends the
// grace period.
func (f *Failures) Heard(id dme.NodeID) (over bool) {
	at := position(f.unheard, id)
	if at < 0 {
		return false
	}
	f.unheard = slices.Delete(f.unheard, at, at+1)
	return len(f.unheard) == 0
}

// Withdraw notes that this node withdraws its request at a site.
func (f *Failures) Withdraw(site dme.NodeID) { f.made = increase(f.made, site) }

// Withdrawn returns how often this node has withdrawn a request at the site: the
// number that its answers must have.
func (f *Failures) Withdrawn(site dme.NodeID) uint64 { return count(f.made, site) }

// Withdrew notes that a node has withdrawn its request at this site.
func (f *Failures) Withdrew(id dme.NodeID) { f.known = increase(f.known, id) }

// WithdrawnBy returns how often the node has withdrawn a request at this site:
// the number that answers to it have.
func (f *Failures) WithdrawnBy(id dme.NodeID) uint64 { return count(f.known, id) }

func count(all []tally, id dme.NodeID) uint64 {
	for _, t := range all {
		if t.node == id {
			return t.count
		}
	}
	return 0
}

func increase(all []tally, id dme.NodeID) []tally {
	at, found := slices.BinarySearchFunc(all, id, tally.compare)
	if !found {
		all = slices.Insert(all, at, tally{node: id})
	}
	all[at].count++
	return all
}

func forget(all []tally, id dme.NodeID) []tally {
	return slices.DeleteFunc(all, func(t tally) bool { return t.node == id })
}

func (t tally) compare(id dme.NodeID) int { return int(t.node) - int(id) }

// State names the variables. Without failures nothing is printed.
func (f *Failures) State(v *dme.Visitor) {
	some := 0
	if len(f.Substitutes)+len(f.down)+len(f.unheard)+len(f.made)+len(f.known) > 0 {
		some = 1
	}
	if v.Len(some) == 0 {
		f.Substitutes, f.down, f.unheard, f.made, f.known = f.Substitutes[:0], f.down[:0], f.unheard[:0], f.made[:0], f.known[:0]
		return
	}
	show(v, "substitutes", &f.Substitutes)
	show(v, "down", &f.down)
	show(v, "unheard", &f.unheard)
	showTallies(v, "withdrawn", &f.made)
	showTallies(v, "withdrawn-by", &f.known)
}

// show shows a list of nodes, and prints none that is empty.
func show(v *dme.Visitor, name string, list *[]dme.NodeID) {
	if v.Len(min(len(*list), 1)) == 0 {
		*list = (*list)[:0]
		return
	}
	v.Nodes(name, list)
}

func showTallies(v *dme.Visitor, name string, all *[]tally) {
	n := v.Len(len(*all))
	*all = slices.Grow((*all)[:0], n)[:n]
	for i := range *all {
		v.Node(name, &(*all)[i].node)
		v.Uint("times", &(*all)[i].count)
	}
}

// Substitute returns a quorum for node id among the nodes that are up, in ascending order; ok is
// false if there is none. It meets every quorum that any node uses, whichever nodes are down there:
// the quorums of a construction are a coterie, and this is another one of it.
//
// For majority and weighted, a quorum is any set of nodes with more than half of the votes; for
// tree, what [TreeQuorum] finds; for hierarchical, quorums of two parts of each group; for the
// others, the request set of any node. members are those the node asks now: as many of these are
// kept as the construction allows without a search through all quorums.
func (s *System) Substitute(id dme.NodeID, members []dme.NodeID, up func(dme.NodeID) bool) (quorum []dme.NodeID, ok bool) {
	s.mustHave(id)
	switch s.name {
	case "tree":
		return TreeQuorum(s.nodes, id, up)
	case "majority", "weighted":
		return s.substituteVoters(id, members, up)
	case "hierarchical":
		quorum = group{1, s.nodes}.smallest(id, up)
		return quorum, quorum != nil
	}
	return s.substituteSet(id, members, up)
}

// Survives reports whether there is a quorum without these nodes.
func (s *System) Survives(down []dme.NodeID) bool {
	_, ok := s.Substitute(1, nil, func(id dme.NodeID) bool { return !slices.Contains(down, id) })
	return ok
}

// substituteVoters keeps the members that are up and adds the heaviest others, the next round the
// ring among equals. Then members that a majority does not need are dropped, the lightest first.
func (s *System) substituteVoters(id dme.NodeID, members []dme.NodeID, up func(dme.NodeID) bool) ([]dme.NodeID, bool) {
	vote := func(id dme.NodeID) uint64 {
		if len(s.weights) == 0 {
			return 1
		}
		return s.weights[id-1]
	}
	var total, have uint64
	var set, others []dme.NodeID
	for k := range s.nodes {
		j := dme.NodeID((int(id)-1+k)%s.nodes + 1)
		total += vote(j)
		switch {
		case vote(j) == 0 || !up(j):
		case position(members, j) >= 0:
			set = append(set, j)
			have += vote(j)
		default:
			others = append(others, j)
		}
	}
	slices.SortStableFunc(others, func(a, b dme.NodeID) int { return cmp.Compare(vote(b), vote(a)) })
	for _, j := range others {
		if have > total/2 {
			break
		}
		set = append(set, j)
		have += vote(j)
	}
	if have <= total/2 {
		return nil, false
	}
	// Of equals the last to come goes first, and the node itself, if it is a member, last: it
	// answers itself without a message.
	slices.Reverse(set)
	slices.SortStableFunc(set, func(a, b dme.NodeID) int { return cmp.Compare(vote(a), vote(b)) })
	set = slices.DeleteFunc(set, func(j dme.NodeID) bool {
		superfluous := have-vote(j) > total/2
		if superfluous {
			have -= vote(j)
		}
		return superfluous
	})
	slices.Sort(set)
	return set, true
}

// substituteSet returns the request set that has the fewest new members, and of
// equals that of the next node round the ring, so that others than one neighbour
// share the work of a failed node.
func (s *System) substituteSet(id dme.NodeID, members []dme.NodeID, up func(dme.NodeID) bool) (best []dme.NodeID, ok bool) {
	var set []dme.NodeID
	fewest := 0
	for k := range s.nodes {
		set = s.sets.appendSet(set[:0], dme.NodeID((int(id)-1+k)%s.nodes+1))
		added, all := 0, true
		for _, j := range set {
			if !up(j) {
				all = false
				break
			}
			if position(members, j) < 0 {
				added++
			}
		}
		if all && (!ok || added < fewest) {
			best, fewest, ok = append(best[:0], set...), added, true
		}
	}
	return best, ok
}
