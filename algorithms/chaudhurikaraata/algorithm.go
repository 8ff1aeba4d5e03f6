// Package chaudhurikaraata is the mesh algorithm of
//
//	P. Chaudhuri and M. H. Karaata, An O(n^(1/3)) Algorithm for Distributed
//	Mutual Exclusion, Journal of Systems Architecture 45, 1998, pp. 409–420.
//
// The nodes form a p×q×r mesh; node (i,j,k) is in row i and column j of plane k. Node (0,0,k), the
// corner of its plane, has a token: GREEN or YELLOW in the one privileged plane, RED in all others.
// A node that wants its critical section sends REQUEST to its corner and enters when PERMIT comes
// back; it leaves with RELEASE. The corner of the privileged plane has a GREEN token while it may
// permit, and a YELLOW one while a node of its plane has the permission. A corner with a RED token
// asks the other corners for theirs, by REQUESTs that speak of the corner, and receives it with a
// PERMIT that does.
//
// All messages travel along the mesh, and each hop is a message of its own: in a plane along the
// column to row 0 and along that row to the corner, or back; from plane to plane along the corners.
// These links form a spanning tree.
//
// # Nodes and triples
//
// Node k·p·q + i·q + j + 1 is (i,j,k). Any number of nodes will do, the last plane may be
// incomplete: every hop towards the corner leads to a smaller number in the same plane, so where a
// node exists, all of its route exists. By default p = q = ⌈∛N⌉, which puts up to 8 nodes into one
// or two planes; searches look at smaller planes too, which compete for the token. In messages a
// node's number stands for its triple; State shows the triples.
//
// The option dimensions makes meshes of 2 or 4 dimensions: the last coordinate is still the
// plane's, and a "plane" is a line or a cube. The paper's mesh has 3.
//
// # Departures from the printed text
//
// The printed algorithm is safe but stops for ever: on a 1×1×3 mesh after two requests, though they
// are far apart in time. A token leaves a plane whose queue holds requests, and it is not asked for
// again; or it arrives, finds an outdated REQUEST of another corner at the head of the queue and
// goes there, while the REQUEST that brought it has been deleted along its way. [AsPublished] keeps
// that text. [Algorithm] repairs it at the corners; messages, routes and colours stay:
//
//   - CR1. A corner has two queues: OWN for the nodes of its plane, PL for other planes, each plane
//     at most once.
//   - CR2. ASKED: a corner has at most one REQUEST for the token outstanding. The PERMIT that
//     brings the token clears it.
//   - CR3. The requests that are in OWN when the token arrives are served before PL is looked at.
//     Later ones wait if a plane waits, so none starves.
//   - CR4. A corner that gives the token away while OWN is not empty asks for it again, right
//     behind the PERMIT.
//   - CR5. A PERMIT that passes on its way to a corner removes that one from PL. A token that
//     arrives where there is nothing to do goes on, or rests GREEN.
//   - CR6. No REQUEST leaves the mesh at its end.
//
// REQUESTs of a corner flood all planes; the PERMIT cleans up after those between the two corners
// only. The token follows the outdated others around, which a lone request may have to pay for. The
// option repair says what is done about them:
//
//   - numbered: a corner numbers its REQUESTs; the token carries, for every plane, the number of
//     the last one that was served, and the corner that has the token drops what is outdated. The
//     token goes only where it is wanted.
//   - suppressed: a corner whose token rests GREEN grants a REQUEST at once and does not pass it
//     on. Messages stay short. Outdated copies become fewer.
//   - directed: no flood. A corner remembers on which side the token left, and asks its neighbour
//     there; the neighbour asks its own in turn, and the token comes back from corner to corner,
//     serving planes as it passes. This is Raymond's algorithm on the line of the corners. Here a
//     corner that gives the token away also asks again if PL is not empty (CR4), and no PERMIT
//     passes a corner (CR5). It costs least; but under saturation the token sweeps to and fro, and
//     planes in the middle have it twice as often as the two at the ends.
//
// Misprints: P1 sends to (i−1,j,k), not (i−i,j,k), and assigns GREEN where an equality is printed;
// a RELEASE goes hop by hop, as the other procedures handle it; section 2.1 sends a PERMIT to
// (i,0,k) first, the procedures to (0,j,k), which is done here.
//
// # Guarantees
//
// No two nodes are in their critical sections together, and every request is served, on reliable
// links. The paper assumes that links keep order (A2), and so this package declares; a search of
// all schedules of small systems has found nothing in the repaired algorithm that relies on it.
// With the repairs numbered and directed, the mean of any run is at most 3(p+q−2) + 2(r−1) messages
// per entry: 8(n^(1/3)−1) on a cube. Nothing is done about nodes that fail.
package chaudhurikaraata

import (
	"fmt"
	"strconv"

	"dmebench/dme"
	"dmebench/dme/claim"
)

// The kinds of messages, in the order of [dme.Algorithm.Kinds]. Node is the ⟨node id⟩ of section
// 2.2: the node that asks, is permitted, or has left.
const (
	kindRequest dme.Kind = iota + 1 // of a corner, repair numbered: Num is the REQUEST's number
	kindPermit                      // to a corner, repair numbered: Vec is served
	kindRelease
)

const citation = "P. Chaudhuri, M. H. Karaata: An O(n^(1/3)) algorithm for distributed mutual exclusion, " +
	"Journal of Systems Architecture 45, 1998, section 2"

const (
	optMesh       = "mesh"
	optRepair     = "repair"
	optDimensions = "dimensions"

	meshAuto = "auto"
)

// repair is what is done about outdated REQUESTs of corners.
type repair string

const (
	numbered   repair = "numbered"
	suppressed repair = "suppressed"
	directed   repair = "directed"

	asPrinted repair = "" // nothing of CR1 to CR5 either
)

// Algorithm describes the repaired algorithm.
func Algorithm() *dme.Algorithm {
	sizes := func(n int, opt dme.Options) ([]int, error) {
		dimensions, err := strconv.Atoi(opt.Get(optDimensions))
		if err != nil {
			return nil, fmt.Errorf("%s=%s: want 2, 3 or 4", optDimensions, opt.Get(optDimensions))
		}
		return sizesOf(n, opt, cubic(n, dimensions))
	}
	a := describe(sizes, func(opt dme.Options) repair { return repair(opt.Get(optRepair)) })
	a.Name, a.Title = "chaudhuri-karaata", "Chaudhuri–Karaata"
	a.Description = "The nodes form a mesh of three dimensions, of about the cube root of N on each side. One corner of each plane speaks " +
		"for it, and one plane at a time has the privilege; its corner serves the requests of its plane and then passes the " +
		"privilege on. A message is counted on every hop along the mesh, and an entry costs no more than some eight times the " +
		"cube root of N hops. Nodes talk to neighbours only. Good for many nodes whose links are a mesh; otherwise Raymond's " +
		"tree costs less."
	a.Options[0].Help = "sizes of the mesh; auto: ⌈N^(1/d)⌉ in all d dimensions but the last, " +
		"and as many planes as are needed (PxQxauto: of P×Q nodes)"
	a.Options = append(a.Options,
		dme.Choice(optRepair, "how outdated requests of planes are kept from moving the token",
			"numbered", "suppressed", "directed"),
		dme.Option{
			Name: optDimensions, Default: "3", Words: []string{"2", "3", "4"},
			Help: "dimensions of the mesh; the paper's has 3",
		},
	)
	// Up to 8 nodes make a single plane, or two, and planes do not compete.
	a.Searched = []map[string]string{
		{optMesh: "1x1xauto"},
		{optMesh: "1x2xauto", optRepair: string(directed)},
	}
	a.Claims = claim.Lazy(claims)
	a.Invariants = repairedInvariants()
	a.Gauges = gauges()
	return a
}

// AsPublished describes the algorithm as printed, which stops for ever; only
// what cannot be carried out is read as it must have been meant. By default its
// planes have ⌊∛N⌋ rows and columns, so that three nodes are three planes: the
// smallest mesh on which it fails.
func AsPublished() *dme.Algorithm {
	sizes := func(n int, opt dme.Options) ([]int, error) {
		return sizesOf(n, opt, filled(n, root(n, 3), 3))
	}
	a := describe(sizes, func(dme.Options) repair { return asPrinted })
	a.Name, a.Title = "chaudhuri-karaata-as-published", "Chaudhuri–Karaata (as published)"
	a.Description = "Chaudhuri and Karaata's paper to the letter. It is safe but stops for ever: the token can leave a plane whose requests " +
		"nobody asks for again; on three nodes two requests are enough. Kept as a negative control; use chaudhuri-karaata."
	a.Options[0].Help = "sizes of the mesh; auto: ⌊∛N⌋ rows and columns, and as many planes as are needed"
	a.Invariants = invariants()
	a.AsPublished = true
	return a
}

// clocks shows the numbers of REQUESTs of planes in a message: repair numbered.
func clocks(_ int, _ dme.NodeID, m *dme.Message, v *dme.Visitor) {
	v.ClockWhile(m.Num != 0, dme.None, "", &m.Num)
	v.ClocksOf(dme.None, "", &m.Vec)
}

// describe returns what the two have in common; sizes says how large the mesh of
// n nodes is.
func describe(sizes func(n int, opt dme.Options) ([]int, error), how func(dme.Options) repair) *dme.Algorithm {
	return &dme.Algorithm{
		Citation: citation,
		Class:    dme.Token,
		Dynamic:  true,
		Needs:    dme.Always(dme.Needs{Reliable: true, FIFO: true}),
		Kinds:    []string{"REQUEST", "PERMIT", "RELEASE"},
		Clocks:   clocks,
		Options: []dme.Option{{
			Name: optMesh, Default: meshAuto, Words: []string{meshAuto}, Forms: []string{"PxQxR"},
			Valid: dme.Valid(parseSizes),
		}},
		ValidNodes: func(n int, opt dme.Options) error {
			_, err := sizes(n, opt)
			return err
		},
		HasToken:    dme.OfNode((*node).HasToken),
		QueueLength: dme.OfNode((*node).QueueLength),
		Waits:       dme.OfNode((*node).Waits),
		Peers:       dme.OfSystem((*system).Peers),
		Place:       dme.OfSystem((*system).Place),
		Prepare: func(c dme.Config) (dme.System, error) {
			s, err := sizes(c.Nodes, c.Options)
			if err != nil {
				return nil, err
			}
			return newSystem(s, c.Nodes, how(c.Options)), nil
		},
	}
}

// sizesOf returns the sizes of the mesh of n nodes that option mesh names, with as
// many dimensions as there are by default.
func sizesOf(n int, opt dme.Options, byDefault []int) ([]int, error) {
	text := opt.Get(optMesh)
	if text == meshAuto {
		return byDefault, nil
	}
	sizes, err := parseSizes(text)
	if err != nil {
		return nil, err
	}
	if d := len(byDefault); len(sizes) != d {
		return nil, fmt.Errorf("%s=%s has %d dimensions, not %d; give %d sizes, or another %s",
			optMesh, text, len(sizes), d, d, optDimensions)
	}
	if last := len(sizes) - 1; sizes[last] == 0 {
		plane := newMesh(sizes, n).plane
		sizes[last] = (n + plane - 1) / plane
	}
	return sizes, checkSizes(sizes, n)
}

// system is what the nodes share.
type system struct {
	mesh
	repair repair

	queued []string // how State names a node in OWN (in Q, as printed), by node from 1
	planed []string // how State names a plane in PL, by plane
}

func newSystem(sizes []int, nodes int, r repair) *system {
	s := &system{mesh: newMesh(sizes, nodes), repair: r, queued: make([]string, nodes+1)}
	queue := "OWN"
	if r == asPrinted {
		queue = "Q"
	}
	for id := dme.NodeID(1); int(id) <= nodes; id++ {
		s.queued[id] = queue + s.triple(id)
	}
	for k := range s.planes() {
		s.planed = append(s.planed, "PL"+s.triple(s.cornerOf(k)))
	}
	return s
}

// Place returns where a node lies in the mesh.
func (s *system) Place(id dme.NodeID) []int {
	at := make([]int, len(s.sizes))
	for l := range at {
		at[l] = s.coordinate(id, l)
	}
	return at
}

// Peers returns the node's neighbours on the links that are used.
func (s *system) Peers(id dme.NodeID) []dme.NodeID { return s.neighbours(id) }

// Node returns node id, idle. The token of plane 0 is GREEN, the others are RED.
func (s *system) Node(id dme.NodeID) dme.Node {
	n := &node{system: s, self: id, label: "mutex" + s.triple(id)}
	if !s.isCorner(id) {
		return n
	}
	t := newToken(n)
	if s.repair == asPrinted {
		n.corner = &publishedCorner{token: t}
	} else {
		n.corner = newRepairedCorner(t)
	}
	return n
}
