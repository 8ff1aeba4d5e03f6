// Package chaudhurikaraata is the mesh algorithm of
//
//	P. Chaudhuri and M. H. Karaata, An O(n^(1/3)) Algorithm for Distributed
//	Mutual Exclusion, Journal of Systems Architecture 45, 1998, pp. 409–420.
//
// The nodes form a p×q×r mesh; node (i,j,k) is in row i and column j of plane
// k. Node (0,0,k), the corner of its plane, has a token: GREEN or YELLOW in the
// one privileged plane, RED in all others. A node that wants its critical
// section sends REQUEST to its corner and enters when PERMIT comes back; it
// leaves with RELEASE. The corner of the privileged plane has a GREEN token
// while it may permit, and a YELLOW one while a node of its plane has the
// permission. A corner with a RED token asks the other corners for theirs, by
// REQUESTs that speak of the corner, and receives it with a PERMIT that does.
//
// All messages travel along the mesh, and each hop is a message of its own: in a
// plane along the column to row 0 and along that row to the corner, or back; from
// plane to plane along the corners. These links form a spanning tree.
//
// # Nodes and triples
//
// Node k·p·q + i·q + j + 1 is (i,j,k). Any number of nodes will do, the last
// plane may be incomplete: every hop towards the corner leads to a smaller
// number in the same plane, so where a node exists, all of its route exists. By
// default p = q = ⌈∛N⌉, which puts up to 8 nodes into one or two planes; searches
// look at smaller planes too, which compete for the token. In messages a node's number stands for its triple;
// State shows the triples.
//
// The option dimensions makes meshes of 2 or 4 dimensions: the last coordinate
// is still the plane's, and a "plane" is a line or a cube. The paper's mesh has 3.
//
// # Departures from the printed text
//
// The printed algorithm is safe but stops for ever: on a 1×1×3 mesh after two
// requests, though they are far apart in time. A token leaves a plane whose
// queue holds requests, and nobody asks for it again; or it arrives, finds an
// outdated REQUEST of another corner at the head of the queue and goes there,
// while the REQUEST that brought it has been deleted along its way.
// [AsPublished] keeps that text. [Algorithm] repairs it at the corners; messages,
// routes and colours stay:
//
//   - CR1. A corner has two queues: OWN for the nodes of its plane, PL for other
//     planes, each plane at most once.
//   - CR2. ASKED: a corner has at most one REQUEST for the token outstanding. The
//     PERMIT that brings the token clears it.
//   - CR3. The requests that are in OWN when the token arrives are served before
//     PL is looked at. Later ones wait if a plane waits, so none starves.
//   - CR4. A corner that gives the token away while OWN is not empty asks for it
//     again, right behind the PERMIT.
//   - CR5. A PERMIT that passes on its way to a corner removes that one from PL.
//     A token that arrives where there is nothing to do goes on, or rests GREEN.
//   - CR6. No REQUEST leaves the mesh at its end.
//
// REQUESTs of a corner flood all planes; the PERMIT cleans up after those
// between the two corners only. The token follows the outdated others around,
// which a lone request may have to pay for. The option repair says what is done
// about them:
//
//   - numbered: a corner numbers its REQUESTs; the token carries, for every
//     plane, the number of the last one that was served, and whoever has the
//     token drops what is outdated. The token goes only where it is wanted.
//   - suppressed: a corner whose token rests GREEN grants a REQUEST at once and
//     does not pass it on. Messages stay short. Outdated copies become fewer.
//   - directed: no flood. A corner remembers on which side the token left, and
//     asks its neighbour there; the neighbour asks its own in turn, and the token
//     comes back from corner to corner, serving planes as it passes. This is
//     Raymond's algorithm on the line of the corners. Here a corner that gives
//     the token away also asks again where PL is not empty (CR4), and no PERMIT
//     passes a corner (CR5). It costs least; but under saturation the token
//     sweeps to and fro, and planes in the middle have it twice as often as the
//     two at the ends.
//
// Misprints: P1 sends to (i−1,j,k), not (i−i,j,k), and assigns GREEN where an
// equality is printed; a RELEASE goes hop by hop, as the other procedures handle
// it; section 2.1 sends a PERMIT to (i,0,k) first, the procedures to (0,j,k),
// which is done here.
//
// # Guarantees
//
// No two nodes are in their critical sections together, and every request is
// served, on reliable links. The paper assumes that links keep order (A2), and
// so this package declares; a search of all schedules of small systems has found
// nothing in the repaired algorithm that relies on it. With the repairs numbered
// and directed, the mean of any run is at most 3(p+q−2) + 2(r−1) messages per
// entry: 8(n^(1/3)−1) on a cube. Nothing is done about nodes that fail.
package chaudhurikaraata
