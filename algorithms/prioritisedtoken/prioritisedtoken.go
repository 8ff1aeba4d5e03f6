// Package prioritisedtoken is a token algorithm with priorities, after the abstract of
//
//	F. Mueller: Prioritized Token-Based Mutual Exclusion for Distributed Systems,
//	Joint Workshop on Parallel and Distributed Real-Time Systems (WPDRTS), 1997:
//
// a token on a logical tree that changes with the requests, queues at nodes that together are one,
// O(log N) messages for an entry on average and O(N) at worst. The paper's rules were not at hand.
// These are Naimi and Trehel's ([dmebench/algorithms/naimitrehel]) with queues in place of the
// pointers next; the search proves them for a few nodes.
//
// Node i asks at level (i−1) mod levels; of requests that wait at one place, those of the highest
// level go first. The pointers father form trees; a root is a node that is requesting or has the
// token.
//
//  1. A node that wants to enter and has a father sends REQUEST to it and becomes a root. A root
//     has the idle token, and enters.
//  2. A node that receives the REQUEST of k and has a father forwards it, and makes k its father. A
//     root that has the idle token sends it to k and makes k its father. Any other root queues the
//     REQUEST.
//  3. A node that receives TOKEN, with the queue that it carries, appends its own queue to that,
//     and enters.
//  4. Leaving, a node takes the first request of the highest level out of its queue, or before that
//     the first one that others have been preferred to patience times. It sends TOKEN with the rest
//     of the queue to the node that made the request, which becomes its father.
//
// Why requests arrive: let a pointer also lead from each node that waits to where its request is,
// on its way or queued. Then all nodes form one tree, whose root has the token or is about to get
// it: each step above keeps that, and the invariant "one tree" looks at it. The nodes that a
// REQUEST has passed are below its node until that is served, so that it comes to no node twice.
//
// Levels order the queue of the token. A request that is queued where another waits is not in that
// queue before the other is served, even if it is more urgent: under load that is rare, since a
// node that has passed the token on asks where it went.
//
// At the beginning node 1 has the token and is the father of all others. Links need not keep order.
// Loss and duplication are not tolerated.
package prioritisedtoken

import (
	"errors"
	"fmt"
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
)

const (
	kindRequest dme.Kind = iota + 1 // Node: the node that wants to enter
	kindToken                       // Vec: for each request in the queue its node, and how often others were preferred
)

// The options.
const (
	OptionLevels   = "levels"
	OptionPatience = "patience"
)

// Algorithm describes the algorithm.
func Algorithm() *dme.Algorithm {
	count := func(name, value, sample, help string) dme.Option {
		return dme.Option{
			Name: name, Default: value, Forms: []string{"K"}, Valid: dme.Valid(parseCount), Samples: []string{sample}, Help: help,
		}
	}
	return &dme.Algorithm{
		Name:  "prioritised-token",
		Title: "Prioritised token",
		Description: "Naimi and Trehel's tree with queues in place of pointers, so that urgent requests go first: the token carries " +
			"a queue, and a node that waits keeps one, which it adds when it gets the token. An entry costs about ln N messages on " +
			"average, and at most N; a handover takes one delay. A request that is not urgent is overtaken as often as patience " +
			"says. Choose it if some nodes must wait less than others; the loss of the token stops everything.",
		Citation: "this project's rules, after the abstract of F. Mueller: Prioritized Token-Based Mutual Exclusion for " +
			"Distributed Systems, WPDRTS 1997",
		Class:   dme.Token,
		Dynamic: true,
		Needs:   dme.Always(dme.Needs{Reliable: true}),
		Kinds:   []string{"REQUEST", "TOKEN"},
		Options: []dme.Option{
			count(OptionLevels, "2", "3", "how many levels there are: node i asks at level (i−1) mod K, and higher levels go first"),
			count(OptionPatience, "2", "1", "how often others may be preferred to a request in the token's queue"),
		},
		Claims:      claim.Lazy(claims),
		Invariants:  invariants(),
		ValidNodes:  func(n int, _ dme.Options) error { return fits(n) },
		HasToken:    dme.OfNode((*node).HasToken),
		Wanted:      dme.OfNode(func(n *node) bool { return len(n.queue) > 0 }),
		QueueLength: dme.OfNode(func(n *node) int { return len(n.queue) }),
		Waits:       dme.OfNode((*node).Waits),
		Root:        elected,
		Prepare:     prepare,
	}
}

var parseCount = dme.Whole(1, 1<<20)

// fits reports whether a token with requests of all other nodes can be sent.
func fits(n int) error {
	if 2*(n-1) > dme.MaxVec {
		return errors.New("the token's queue would be longer than a message may be")
	}
	return nil
}

// elected is the node that has the token at the beginning.
const elected dme.NodeID = 1

type system struct{ nodes, levels, patience int }

func prepare(c dme.Config) (dme.System, error) {
	levels, err1 := parseCount(c.Options.Get(OptionLevels))
	patience, err2 := parseCount(c.Options.Get(OptionPatience))
	return &system{c.Nodes, levels, patience}, errors.Join(err1, err2)
}

// level returns how urgent the requests of a node are.
func (s *system) level(id dme.NodeID) int { return int(id-1) % s.levels }

// Node returns node id, which has the token or whose father has it.
func (s *system) Node(id dme.NodeID) dme.Node {
	if id == elected {
		return &node{system: s, me: id, tokenPresent: true}
	}
	return &node{system: s, me: id, father: elected}
}

// request is one that waits at a node.
type request struct {
	by        dme.NodeID
	preferred uint64 // how often others were preferred to it while it was in the token's queue
}

type node struct {
	*system
	me dme.NodeID

	father       dme.NodeID // receives requests; None at a root
	requestingCS bool       // from the request to the release
	tokenPresent bool
	queue        []request // at a root, in the order of arrival
}

// Request is step 1.
func (n *node) Request(out *dme.Outbox) {
	n.requestingCS = true
	if n.tokenPresent {
		out.Enter(dme.Stamp{})
		return
	}
	out.Send(n.father, dme.Message{Kind: kindRequest, Node: n.me})
	n.father = dme.None
}

func (n *node) Receive(_ dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Kind == kindRequest {
		n.receiveRequest(m.Node, out)
	} else {
		n.receiveToken(m.Vec, out)
	}
}

// receiveRequest is step 2.
func (n *node) receiveRequest(k dme.NodeID, out *dme.Outbox) {
	switch {
	case k < 1 || int(k) > n.nodes || k == n.me:
		out.Refuse("REQUEST that names no other node")
	case n.father == k:
		out.Refuse("REQUEST from a node whose REQUEST has passed and was not served")
	case slices.ContainsFunc(n.queue, func(r request) bool { return r.by == k }):
		out.Refuse("REQUEST that is in the queue")
	case n.father != dme.None:
		out.Send(n.father, dme.Message{Kind: kindRequest, Node: k})
		n.father = k
	case n.requestingCS:
		n.queue = append(n.queue, request{by: k})
	default:
		n.sendToken(k, out)
	}
}

// receiveToken is step 3.
func (n *node) receiveToken(vec []uint64, out *dme.Outbox) {
	switch {
	case !n.requestingCS || n.tokenPresent:
		out.Refuse("TOKEN that is not awaited")
		return
	case !n.wellFormed(vec):
		out.Refuse("TOKEN whose queue is malformed")
		return
	}
	own := n.queue
	n.queue = make([]request, 0, len(vec)/2+len(own))
	for pair := range slices.Chunk(vec, 2) {
		n.queue = append(n.queue, request{by: dme.NodeID(pair[0]), preferred: pair[1]})
	}
	n.queue = append(n.queue, own...)
	n.tokenPresent = true
	out.Enter(dme.Stamp{})
}

// wellFormed reports whether a token's queue has requests of different other nodes, of
// which none is in the node's own queue.
func (n *node) wellFormed(vec []uint64) bool {
	if len(vec)%2 != 0 {
		return false
	}
	seen := map[uint64]bool{uint64(n.me): true}
	for _, r := range n.queue {
		seen[uint64(r.by)] = true
	}
	for pair := range slices.Chunk(vec, 2) {
		if by := pair[0]; by < 1 || by > uint64(n.nodes) || seen[by] || pair[1] > uint64(n.patience) {
			return false
		}
		seen[pair[0]] = true
	}
	return true
}

// Release is step 4.
func (n *node) Release(out *dme.Outbox) {
	n.requestingCS = false
	if len(n.queue) == 0 {
		return
	}
	next := n.next()
	for i := range next {
		n.queue[i].preferred++ // others were preferred to those that came before
	}
	to := n.queue[next].by
	n.queue = slices.Delete(n.queue, next, next+1)
	n.sendToken(to, out)
}

// next returns which request of the queue is served next.
func (n *node) next() (next int) {
	for i, r := range n.queue {
		if r.preferred == uint64(n.patience) {
			return i
		}
		if n.level(r.by) > n.level(n.queue[next].by) {
			next = i
		}
	}
	return next
}

func (n *node) sendToken(to dme.NodeID, out *dme.Outbox) {
	var vec []uint64
	for _, r := range n.queue {
		vec = append(vec, uint64(r.by), r.preferred)
	}
	out.Send(to, dme.Message{Kind: kindToken, Vec: vec})
	n.tokenPresent, n.queue, n.father = false, nil, to
}

func (n *node) State(v *dme.Visitor) {
	v.Node("father", &n.father)
	v.Bool("requesting_CS", &n.requestingCS)
	v.Bool("token_present", &n.tokenPresent)
	if v.Text("queue", n.queued) {
		return
	}
	size := v.Len(len(n.queue))
	n.queue = slices.Grow(n.queue[:0], size)[:size]
	for i := range n.queue {
		r := &n.queue[i]
		v.Node("", &r.by)
		v.Uint("", &r.preferred)
	}
}

// queued prints the queue.
func (n *node) queued() string {
	by := make([]dme.NodeID, len(n.queue))
	for i, r := range n.queue {
		by[i] = r.by
	}
	return fmt.Sprint(by)
}

func (n *node) HasToken() bool { return n.tokenPresent }

// Waits names the token: the node does not know which nodes are served before it.
func (n *node) Waits() []dme.Wait {
	return dme.WaitIf(n.requestingCS && !n.tokenPresent, "TOKEN", dme.None)
}
