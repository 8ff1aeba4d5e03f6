package quorum

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"dmebench/dme"
)

// rectangle is the family S_i = row of i ∪ column of i, where the nodes fill a
// grid row by row and the last row may be short.
//
// Any two sets meet all the same. The row of i and the column of j cross in the
// grid unless the row is the short one and the column one that it does not
// reach. Then j is in a full row, which crosses the column of i.
type rectangle struct {
	nodes, columns int
}

func grid(cfg Config) (family, error) {
	columns := int(math.Sqrt(float64(cfg.Nodes)))
	for columns*columns < cfg.Nodes {
		columns++
	}
	return rectangle{nodes: cfg.Nodes, columns: columns}, nil
}

func (g rectangle) has(id, member dme.NodeID) bool {
	at, other := int(id)-1, int(member)-1
	return at/g.columns == other/g.columns || at%g.columns == other%g.columns
}

func (g rectangle) appendSet(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	at := int(id) - 1
	first := at - at%g.columns // of the row
	for above := at % g.columns; above < first; above += g.columns {
		to = append(to, dme.NodeID(above+1))
	}
	for beside := first; beside < min(first+g.columns, g.nodes); beside++ {
		to = append(to, dme.NodeID(beside+1))
	}
	for below := at + g.columns; below < g.nodes; below += g.columns {
		to = append(to, dme.NodeID(below+1))
	}
	return to
}

// appendServed: to be in a node's row or column is mutual.
func (g rectangle) appendServed(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	return g.appendSet(to, id)
}

func (g rectangle) count(id dme.NodeID) (size, load int) {
	row, column := (int(id)-1)/g.columns, (int(id)-1)%g.columns
	size = min(g.columns, g.nodes-row*g.columns) + (g.nodes-column-1)/g.columns
	return size, size
}

// cyclic is the family S_i = i + D, counted round a ring of as many nodes as
// there are sets. It has the properties (c) and (d) whatever D is, (b) if 0 is
// in D, and (a) if every number is a difference of two elements of D: for d =
// x − y the sets of i and i + d meet in i + x = (i + d) + y.
type cyclic struct {
	modulus int
	offsets []int // D: ascending, less than modulus, beginning with 0
}

func (c cyclic) has(id, member dme.NodeID) bool {
	d := int(member) - int(id)
	if d < 0 {
		d += c.modulus
	}
	return position(c.offsets, d) >= 0
}

func (c cyclic) appendSet(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	// D is ascending, so that i + D is two ascending runs: the one that has
	// come round the ring, and the one before it.
	to = slices.Grow(to, len(c.offsets))
	at := int(id) - 1
	turn, _ := slices.BinarySearch(c.offsets, c.modulus-at)
	for _, d := range c.offsets[turn:] {
		to = append(to, dme.NodeID(at+d-c.modulus+1))
	}
	for _, d := range c.offsets[:turn] {
		to = append(to, dme.NodeID(at+d+1))
	}
	return to
}

func (c cyclic) appendServed(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	to = slices.Grow(to, len(c.offsets))
	at := int(id) - 1
	turn, exact := slices.BinarySearch(c.offsets, at)
	if exact {
		turn++
	}
	for _, d := range slices.Backward(c.offsets[:turn]) {
		to = append(to, dme.NodeID(at-d+1))
	}
	for _, d := range slices.Backward(c.offsets[turn:]) {
		to = append(to, dme.NodeID(at-d+c.modulus+1))
	}
	return to
}

func (c cyclic) count(dme.NodeID) (size, load int) { return len(c.offsets), len(c.offsets) }

// majority takes the next ⌊N/2⌋ nodes: more than half, so that any two sets
// meet, and round the ring, so that every node serves equally many.
func majority(cfg Config) (family, error) {
	d := make([]int, cfg.Nodes/2+1)
	for k := range d {
		d[k] = k
	}
	return cyclic{modulus: cfg.Nodes, offsets: d}, nil
}

// How nodes are assigned to the points of a construction: by their numbers, or at
// random.
const (
	natural  = "natural"
	shuffled = "shuffled"
)

// relabelled is a family in which the nodes have changed places: node i stands at place place[i-1]
// of the original.
//
// If the sets are S_i = i + D, those of neighbours meet in one of the two, since 0 and 1 are in D:
// S_i and S_(i+1) in i+1. Nodes that enter in the order of their numbers then hand over by a single
// message. That is a property of the numbers, not of the plane.
type relabelled struct {
	family
	place []dme.NodeID // of node i at i-1
	node  []dme.NodeID // at place p, at p-1
}

// shuffle gives the nodes places at random, as the seed decides.
func shuffle(f family, nodes int, seed uint64) relabelled {
	r := relabelled{family: f, place: make([]dme.NodeID, nodes), node: make([]dme.NodeID, nodes)}
	for i, p := range rand.New(rand.NewPCG(seed, 0x1abe1)).Perm(nodes) {
		r.place[i] = dme.NodeID(p + 1)
		r.node[p] = dme.NodeID(i + 1)
	}
	return r
}

func (r relabelled) has(id, member dme.NodeID) bool {
	return r.family.has(r.place[id-1], r.place[member-1])
}

func (r relabelled) appendSet(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	return r.named(r.family.appendSet(to, r.place[id-1]), len(to))
}

func (r relabelled) appendServed(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	return r.named(r.family.appendServed(to, r.place[id-1]), len(to))
}

// named replaces the places from an index on by the nodes that stand there.
func (r relabelled) named(places []dme.NodeID, from int) []dme.NodeID {
	added := places[from:]
	for i, p := range added {
		added[i] = r.node[p-1]
	}
	slices.Sort(added)
	return places
}

// relabels reports why the nodes of a construction cannot change places.
func relabels(construction, labelling string) error {
	if labelling == shuffled && construction != "plane" && construction != "grid" {
		return fmt.Errorf("quorum: labelling=%s moves the nodes of quorum=plane and quorum=grid; with quorum=%s leave it at %s",
			shuffled, construction, natural)
	}
	return nil
}

// relabel does what the option labelling says.
func (s *System) relabel(labelling string, seed uint64) error {
	if err := relabels(s.name, labelling); err != nil {
		return err
	}
	if labelling == shuffled {
		s.sets = shuffle(s.sets, s.nodes, seed)
	}
	return nil
}

// weighted gives each node a set that holds more than half of all votes, so that any two sets have
// a common voter. Node i takes itself and then the heaviest of the others, of equals the next round
// the ring, until they are enough. Then members that are not needed are dropped, the lightest
// first: no proper subset of a set has a majority. Nodes without votes are in no set, not even in
// their own.
//
// Sets depend on i so that equal voters share the work. With all votes at one node that node is the
// set of all: centralized control (Maekawa 1985, section 1).
func weighted(cfg Config) (family, error) {
	votes := cfg.Weights
	if len(votes) == 0 {
		return majority(cfg)
	}
	if err := oneEach(votes, cfg.Nodes); err != nil {
		return nil, err
	}
	var total uint64
	equal := true
	for _, v := range votes {
		if v > math.MaxUint64-total {
			return nil, fmt.Errorf("the votes do not add up in 64 bits; divide all by the same number")
		}
		total += v
		equal = equal && v == votes[0]
	}
	if total == 0 {
		return nil, fmt.Errorf("nobody has a vote; give some node a weight above 0")
	}
	if equal {
		return majority(cfg)
	}
	s := System{nodes: cfg.Nodes, weights: votes}
	sets := make([][]dme.NodeID, cfg.Nodes)
	for i := range sets {
		id := dme.NodeID(i + 1)
		sets[i], _ = s.substituteVoters(id, []dme.NodeID{id}, func(dme.NodeID) bool { return true })
	}
	return list(sets)
}

func oneEach(votes []uint64, nodes int) error {
	if len(votes) != nodes {
		return fmt.Errorf("%d weights for %d nodes; want the votes of each, in the order of the nodes", len(votes), nodes)
	}
	return nil
}

// singleton has all nodes ask node 1.
func singleton(cfg Config) (family, error) {
	return list(slices.Repeat([][]dme.NodeID{{1}}, cfg.Nodes))
}

// Site is what a node of any algorithm has that asks a request set and is asked by others: the set,
// the nodes that ask it, and its messages to itself.
type Site struct {
	ID      dme.NodeID
	Members []dme.NodeID // S_ID, ascending; nil before [Site.Know]
	sets    *System      // nil if all ask all

	// Messages of the node to itself wait here for the end of the handler, so
	// that handlers never nest. Empty between events, hence not part of the state.
	local []dme.Message
}

// Site returns what node id has.
func (s *System) Site(id dme.NodeID) Site {
	s.mustHave(id)
	return Site{ID: id, sets: s}
}

// Know has the site know its request set. It can wait until the node asks: of a
// million nodes most only answer.
func (n *Site) Know() {
	if n.Members == nil {
		n.Members = n.sets.RequestSet(n.ID)
	}
}

// MemberIndex returns the position of a member in S_ID, or −1.
func (n *Site) MemberIndex(id dme.NodeID) int { return position(n.Members, id) }

// Serves reports whether this node is in the request set of id.
func (n *Site) Serves(id dme.NodeID) bool {
	return id >= 1 && int(id) <= n.sets.nodes && n.sets.sets.has(id, n.ID)
}

// position returns where id is among nodes in ascending order, or −1. It stands
// on the way of every message, where slices.BinarySearch takes twice the time.
func position[T int | dme.NodeID](ascending []T, id T) int {
	low, high := 0, len(ascending)
	for low < high {
		if middle := int(uint(low+high) / 2); ascending[middle] < id {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < len(ascending) && ascending[low] == id {
		return low
	}
	return -1
}

// Tell sends a message to a node that may be this one: what it says to itself is kept
// until the handler has ended.
func (n *Site) Tell(to dme.NodeID, m dme.Message, out *dme.Outbox) {
	if to == n.ID {
		n.local = append(n.local, m)
		return
	}
	out.Send(to, m)
}

// Substitute is the flag of a request that a node gets only because others are down.
const Substitute uint8 = 1

// Ask sends a request to node j, unless it is down. own is the node's request set, nil if it has no
// fixed one.
func (n *Site) Ask(j dme.NodeID, request dme.Message, own []dme.NodeID, f *Failures, out *dme.Outbox) {
	if f.IsDown(j) {
		return
	}
	if own != nil && j != n.ID && !slices.Contains(own, j) {
		request.Flags = Substitute
	}
	n.Tell(j, request, out)
}

// Lacking returns the other members that have reports missing, by their positions.
func (n *Site) Lacking(have func(k int) bool) (others []dme.NodeID) {
	for k, j := range n.Members {
		if j != n.ID && !have(k) {
			others = append(others, j)
		}
	}
	return others
}

// Waits joins what the parts of a node wait for, by peer.
func Waits(parts ...[]dme.Wait) []dme.Wait {
	all := slices.Concat(parts...)
	slices.SortStableFunc(all, func(a, b dme.Wait) int { return cmp.Compare(a.For, b.For) })
	return all
}

// HandleLocal handles what the node has said to itself, in order, until it has
// nothing more to say.
func (n *Site) HandleLocal(handle func(dme.NodeID, dme.Message, *dme.Outbox), out *dme.Outbox) {
	for i := 0; i < len(n.local); i++ {
		handle(n.ID, n.local[i], out)
	}
	n.local = n.local[:0]
}

// Believable reports whether a message's clock can be one: it is bounded so that a
// garbled message cannot make a clock overflow.
func Believable(clock uint64) bool { return clock > 0 && clock <= 1<<62 }
