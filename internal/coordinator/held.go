package coordinator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"dmebench/dme"
	"dmebench/internal/control"
	"dmebench/workload/fault"
)

// What is here tells a standstill of the algorithm from one of the network: on links that
// lose nothing, a message that was sent and not handled is held by somebody.

// way is an ordered pair of nodes.
type way struct{ from, to dme.NodeID }

// account is what each node has sent to each other one, and what has come from it.
type account map[way]control.Traffic

func newAccount(replies []control.Reply) account {
	a := make(account)
	for _, r := range replies {
		for _, x := range r.Traffic {
			a[way{x.Node, x.Peer}] = x
		}
	}
	return a
}

// held returns the ways between nodes that are there on which messages are missing, in
// ascending order.
func (a account) held(there dme.NodeSet) []way {
	var all []way
	for w := range a {
		if there.Has(w.from) && there.Has(w.to) && a.missing(w) > 0 {
			all = append(all, w)
		}
	}
	slices.SortFunc(all, func(v, w way) int { return cmp.Or(cmp.Compare(v.from, w.from), cmp.Compare(v.to, w.to)) })
	return all
}

// missing returns how many messages have been sent on a way and have not arrived. Both of
// its nodes have told.
func (a account) missing(w way) int { return int(int32(a[w].Sent - a[way{w.to, w.from}].Came)) }

// came returns how many messages have come to a node.
func (a account) came(id dme.NodeID) (n uint64) {
	for w, x := range a {
		if w.from == id {
			n += uint64(x.Came)
		}
	}
	return n
}

// traffic asks the nodes that are there what they have sent each other, where messages are
// missing that cannot have been lost; nil elsewhere. A partition on purpose loses them.
func (c *coordinator) traffic(ctx context.Context, seen sums) (account, error) {
	cut := func(f fault.Fault) bool { return f.What == fault.Partition }
	if seen.sent <= seen.handled || !c.job.Guarantees().Reliable || slices.ContainsFunc(c.job.Faults, cut) {
		return nil, nil
	}
	replies, err := c.all(ctx, control.Command{Op: control.OpTraffic})
	return newAccount(replies), err
}

// suspect says of a stall who holds messages, if anybody does: the network, or nodes that do
// not take what has reached them.
func (c *coordinator) suspect(s *stall, a account) {
	if a == nil {
		return
	}
	there := dme.MakeNodeSet(c.job.Spec.Nodes)
	for _, id := range c.nodes(func(p presence) bool { return p == present || p == leaving }) {
		there.Add(id)
	}
	if ways := a.held(there); ways != nil {
		s.held = true
		s.what += "; the network holds messages " + c.describe(ways, a) + "; mend the way between them, and run again"
		return
	}
	if c.faults.recount() != "" {
		return // the rest went down with nodes
	}
	s.held = true
	for id := range there.All() {
		if n := a.came(id); n > c.looked[id-1].Handled {
			s.nodes = append(s.nodes, id)
			s.what += fmt.Sprintf("; node %d does not take %d messages that have reached it", id, n-c.looked[id-1].Handled)
		}
	}
}

// describe names ways, and how many messages are missing on each.
func (c *coordinator) describe(ways []way, a account) string {
	const most = 6
	var all []string
	for _, w := range ways[:min(most, len(ways))] {
		all = append(all, fmt.Sprintf("from %s to %s (%d)", c.whereabouts(w.from), c.whereabouts(w.to), a.missing(w)))
	}
	if more := len(ways) - most; more > 0 {
		all = append(all, fmt.Sprintf("and on %d more links", more))
	}
	return strings.Join(all, ", ")
}

// whereabouts names a node and, where there are several, its host.
func (c *coordinator) whereabouts(id dme.NodeID) string {
	if !c.several() {
		return fmt.Sprintf("node %d", id)
	}
	return fmt.Sprintf("node %d on %s", id, c.hostOf(c.workerOf(id)).Name())
}
