package chaudhurikaraata

import (
	"math"
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
)

// Quantities that only this paper mentions.
var (
	// LinksUsed counts the bidirectional links over which messages flow.
	LinksUsed = claim.Quantity{ID: "links-used", Name: "links used"}
	// Distance is the largest number of hops from a node to the corner of its plane.
	Distance = claim.Quantity{ID: "distance", Name: "hops to the corner of a plane"}
	// InPlane counts the messages of an entry for which the token need not move.
	InPlane = claim.Quantity{ID: "in-plane", Name: "messages per CS inside the privileged plane"}
	// PlaneChange counts the messages that bring the token to another plane.
	PlaneChange = claim.Quantity{ID: "plane-change", Name: "messages per change of the privileged plane"}
	// PrivilegedPlanes counts the planes that are privileged at one time.
	PrivilegedPlanes = claim.Quantity{ID: "privileged-planes", Name: "privileged planes"}
	// GreenAndYellow counts the moments at which there are tokens of both colours.
	GreenAndYellow = claim.Quantity{ID: "green-and-yellow", Name: "moments with a green and a yellow token"}
	// Unprivileged counts the entries in other planes than the privileged one.
	Unprivileged = claim.Quantity{ID: "unprivileged", Name: "entries outside the privileged plane"}
	// EntriesPerVisit counts the entries while one plane stays privileged.
	EntriesPerVisit = claim.Quantity{ID: "entries-per-visit", Name: "entries per visit of the token"}
	// MessageBits is the length of a message whose kinds and nodes are encoded
	// in as few bits as their number allows.
	MessageBits = claim.Quantity{ID: "message-bits", Name: "bits per message"}
)

const paper = "Chaudhuri and Karaata 1998, "

// claims lists what the paper says. m is n^(1/3). If a claim extends to a mesh of p rows, q columns
// and r planes, it is evaluated on the mesh at hand, so that it can be judged for any n.
func claims() claim.List {
	return slices.Concat(
		claim.SafeAndLive(paper+"theorem 1"),
		costs(), comparisons(), meshClaims(), tokenClaims(), spaceClaims(),
	)
}

func costs() claim.List {
	return claim.List{
		claim.MessagesPerCS.AtMost("8(m−1); p×q×r: 3(p+q−2) + 2(r−1)", claim.Worst, paper+"section 4").
			Predicting(onMesh(worstEntry, numbered, directed)),
		claim.MessagesPerCS.AtMost("8(m−1); p×q×r: 3(p+q−2) + 2(r−1), repair=suppressed",
			claim.Worst, paper+"section 4").With(optRepair + "=" + string(suppressed)).
			Predicting(onMesh(worstEntry, suppressed)).
			Refuted("copies of REQUESTs stay in planes that the PERMIT does not pass, and the token later goes there for nothing"),
		claim.MessagesPerCS.AtMost("8m", claim.Worst, paper+"theorem 2").Named("theorem-2").
			Where(onCube(numbered, directed)),
		// Each visit of the token is asked for by a plane where a node waits,
		// by one flood of r−1 REQUESTs, and takes at most r−1 PERMITs.
		claim.MessagesPerCS.AtMost("8(m−1) on average; p×q×r: 3(p+q−2) + 2(r−1)",
			claim.AnyLoad, paper+"section 4").Predicting(func(s dme.Setting) (float64, bool) {
			return worstEntry(meshOf(s)), repair(s.Options.Get(optRepair)) != suppressed
		}),
		claim.MessagesPerCS.Averages("3(i+j), and r−1+|k−k'| for a change of plane: mean for uniformly drawn requesters",
			claim.Light, paper+"section 4, as counted there").Predicting(onMesh(func(m *mesh) float64 {
			change, hops := planeChanges(m)
			return 3*meanDistance(m) + change*float64(m.planes()-1) + hops
		}, numbered)),
		claim.MessagesPerCS.Averages("3(i+j) + 2|k−k'|: mean for uniformly drawn requesters",
			claim.Light, paper+"section 4, with REQUESTs to one side only").With(optRepair + "=" + string(directed)).
			Predicting(onMesh(func(m *mesh) float64 {
				_, hops := planeChanges(m)
				return 3*meanDistance(m) + 2*hops
			}, directed)),
		InPlane.AtMost("3(i+j) ≤ 6(m−1); p×q×r: 3(p+q−2)", claim.Static, paper+"section 4; proof of theorem 3").
			Predicting(onMesh(func(m *mesh) float64 { return 3 * farthest(m) }, numbered, directed)).
			MeasuredBy(longestRoutes),
		PlaneChange.AtMost("2(m−1); 2(r−1)", claim.Light, paper+"section 4").Where(severalPlanes).
			Predicting(onMesh(func(m *mesh) float64 { return 2 * float64(m.planes()-1) }, numbered, directed)),
		// Each visit of the token to a plane serves all of its nodes. On two
		// planes this is what it costs, not more: the requests with which a
		// run ends, which find fewer others waiting, would exceed it.
		claim.MessagesPerCS.AtMost("(3m²(m−1) + 2(m−1)) / m²", claim.Saturated, paper+"proof of theorem 3").
			Where(func(s dme.Setting) bool { return onCube(numbered, directed)(s) && meshOf(s).planes() != 2 }),
		claim.MessagesPerCS.Grows(claim.Growth{Exponent: 1. / 3}, "≅ 3(m−1)",
			claim.Saturated, paper+"proof of theorem 3").Where(onCube()),
		claim.MessagesPerCS.AtMost("3m", claim.Saturated, paper+"theorem 3").Named("theorem-3").Where(onCube()),
		EntriesPerVisit.Averages("m²; pq", claim.Saturated, paper+"proof of theorem 3").Where(onCube()),
	}
}

// ofEarlier is why the earlier algorithms' costs under heavy demand are not those of a
// mesh of two dimensions.
const ofEarlier = "the earlier algorithm is another one, cited and not described: on a mesh of two dimensions a row takes " +
	"3m(m−1)/2 messages for m entries, and 2(m−1) to get the token"

// comparisons lists what the paper says of its algorithm beside others.
func comparisons() claim.List {
	return claim.List{
		claim.MessagesPerCS.Grows(claim.Growth{Exponent: 1. / 3, Order: true}, "O(n^(1/3))",
			claim.Light, paper+"abstract").As("m").Where(onCube(numbered, directed)),
		claim.MessagesPerCS.AtMost("fewer than 3√n, Maekawa's: it crosses the O(√n) barrier",
			claim.Light, paper+"abstract").Where(onCube(numbered, directed)),
		claim.MessagesPerCS.AtMost("fewer than all existing algorithms: 4(n−1)/n, Raymond's under heavy load",
			claim.Saturated, paper+"section 5; abstract: the first below O(√n)").Named("below-others").
			Where(func(s dme.Setting) bool { return onCube(numbered, directed)(s) && s.Nodes >= 27 }).
			Refuted("Raymond's, of 1989, takes 4(n−1)/n under heavy load and O(log n) on average, as section 1 says: " +
				"on 27 nodes 3.9 messages, and this one 6.4"),
		claim.WorkSpread.Is("1: symmetrical", claim.Saturated, paper+"section 5").Where(onCube()).
			Refuted("all nodes run the same program, but the corners handle every message of their planes: " +
				"on 27 nodes the busiest handles 2.7 times the mean"),
		// The mesh of two dimensions has rows for planes.
		claim.MessagesPerCS.AtMost("3.5√n, of Chaudhuri 1991 (dimensions=2)",
			claim.Light, paper+"section 1, of an earlier algorithm on a mesh").Named("chaudhuri-1991").
			With(optDimensions + "=2").Where(onSquare),
		claim.MessagesPerCS.AtMost("3√n, of Chaudhuri 1995 (dimensions=2)",
			claim.Light, paper+"section 1, of an earlier algorithm").Named("chaudhuri-1995").
			With(optDimensions + "=2").Where(onSquare),
		claim.MessagesPerCS.AtMost("about 4, of Chaudhuri 1991 (dimensions=2)",
			claim.Saturated, paper+"section 1, of an earlier algorithm on a mesh").Named("chaudhuri-1991-heavy").
			With(optDimensions + "=2").Where(onSquare).Refuted(ofEarlier),
		claim.MessagesPerCS.AtMost("√n, of Chaudhuri 1995 (dimensions=2)",
			claim.Saturated, paper+"section 1, of an earlier algorithm").Named("chaudhuri-1995-heavy").
			With(optDimensions + "=2").Where(onSquare).Refuted(ofEarlier),
		// One RELEASE for each hop to the corner.
		claim.KindPerCS("RELEASE").Averages("i+j: the mean distance from the corner, for uniformly drawn requesters",
			claim.Light, paper+"section 4").Predicting(onMesh(meanDistance)),
		claim.KindPerCS("RELEASE").Averages("i+j: m−1", claim.Saturated, paper+"proof of theorem 3").
			Where(onCube()),
	}
}

func meshClaims() claim.List {
	return claim.List{
		LinksUsed.Is("13(m−1)", claim.Static, paper+"section 2").Where(onCube()).MeasuredBy(linksUsed).
			Refuted("the links used form a spanning tree, of n−1 links: 13(m−1) for n = 27 only"),
		LinksUsed.Is("n−1: a spanning tree", claim.Static, paper+"section 2.2, the routes of messages").
			Named("spanning-tree").Where(inSpace()).MeasuredBy(linksUsed),
		Distance.AtMost("2(m−1); p+q−2", claim.Static, paper+"section 4").Predicting(onMesh(farthest)).
			MeasuredBy(func(s dme.Setting) (float64, bool) {
				m, most := meshOf(s), 0
				for id := dme.NodeID(1); int(id) <= m.nodes; id++ {
					most = max(most, m.distance(id))
				}
				return float64(most), true
			}),
	}
}

// tokenClaims lists the claims about the colours at all times.
func tokenClaims() claim.List {
	return claim.List{
		PrivilegedPlanes.AtMost("1", claim.AnyLoad, paper+"invariant I1, lemma 2").Where(severalPlanes),
		GreenAndYellow.Is("0", claim.AnyLoad, paper+"invariant I2").Where(severalPlanes),
		Unprivileged.Is("0", claim.AnyLoad, paper+"assumption A1, lemma 1").Where(severalPlanes),
	}
}

func spaceClaims() claim.List {
	return claim.List{
		claim.QueueLength.AtMost("m(m+1); p×q×r: pq + r", claim.AnyLoad, paper+"theorem 4(ii)").
			Predicting(onMesh(func(m *mesh) float64 { return float64(m.plane + m.planes()) })),
		SpaceBits.AtMost("3m(m+1) log m + 1 = O(n^(2/3) log n)", claim.AnyLoad, paper+"theorem 4(ii)").
			As("3m(m+1)log2 m + 1").Where(onCube()),
		MessageBits.AtMost("3 log m + 1", claim.Static, paper+"theorem 4(i)").As("3log2 m + 1").
			With(optRepair + "=" + string(directed)).Where(onCube(suppressed, directed)).MeasuredBy(messageBits).
			Refuted("the three types take 2 bits, as the proof says itself: 3 log m + 2"),
		// REQUEST and PERMIT for each node, RELEASE for each but the corners.
		MessageBits.AtMost("3 log m + 2 = O(log n)", claim.Static, paper+"theorem 4(i), with 2 bits for the type").
			As("3log2 m + 2").Named("two-bit-types").With(optRepair + "=" + string(directed)).
			Where(onCube(suppressed, directed)).MeasuredBy(messageBits),
		MessageBits.AtMost("3 log m + 2 = O(log n), repair=numbered",
			claim.AnyLoad, paper+"theorem 4(i), with 2 bits for the type").As("3log2 m + 2").
			Where(onCube(numbered)).
			Refuted("a PERMIT that carries the token also carries a number for each plane"),
	}
}

func meshOf(s dme.Setting) *mesh { return &s.System.(*system).mesh }

// inSpace is about the paper's three dimensions, with any repair or with those named.
func inSpace(with ...repair) func(dme.Setting) bool {
	return func(s dme.Setting) bool {
		ok := len(with) == 0 || slices.Contains(with, repair(s.Options.Get(optRepair)))
		return ok && len(meshOf(s).sizes) == 3
	}
}

// onMesh is a prediction from a mesh of three dimensions.
func onMesh(f func(*mesh) float64, with ...repair) func(dme.Setting) (float64, bool) {
	return func(s dme.Setting) (float64, bool) { return f(meshOf(s)), inSpace(with...)(s) }
}

// onCube is about p = q = r = m, every plane complete.
func onCube(with ...repair) func(dme.Setting) bool {
	return func(s dme.Setting) bool {
		m := meshOf(s)
		side := m.sizes[0]
		return inSpace(with...)(s) && m.nodes == power(side, 3) && m.sizes[1] == side && m.sizes[2] == side
	}
}

// severalPlanes is about more than one plane: of one such a claim would say nothing.
func severalPlanes(s dme.Setting) bool { return meshOf(s).planes() > 1 }

// onSquare is about two dimensions of as many nodes each.
func onSquare(s dme.Setting) bool {
	m := meshOf(s)
	side := m.sizes[0]
	return len(m.sizes) == 2 && m.sizes[1] == side && m.nodes == side*side
}

func linksUsed(s dme.Setting) (float64, bool) { return float64(links(meshOf(s))), true }

func links(m *mesh) int {
	ends := 0
	for id := dme.NodeID(1); int(id) <= m.nodes; id++ {
		ends += len(m.neighbours(id))
	}
	return ends / 2
}

// longestRoutes walks the ways of a node's REQUEST, PERMIT and RELEASE to and
// from the corner of its plane, and returns the most hops that they take.
func longestRoutes(s dme.Setting) (float64, bool) {
	m, most := meshOf(s), 0
	for id := dme.NodeID(1); int(id) <= m.nodes; id++ {
		corner, hops := m.cornerOf(m.planeOf(id)), 0
		for at := id; at != corner; at = m.inward(at) {
			hops += 2 // REQUEST and RELEASE
		}
		for at := corner; at != id; at = m.outward(at, id) {
			hops++
		}
		most = max(most, hops)
	}
	return float64(most), true
}

// messageBits returns how many bits tell all messages apart that can be sent, where a message is a
// type and a node: REQUEST, PERMIT and RELEASE of each node but the corners, and of these, if there
// are several planes, REQUEST and PERMIT.
func messageBits(s dme.Setting) (float64, bool) {
	m, messages := meshOf(s), 0
	for id := dme.NodeID(1); int(id) <= m.nodes; id++ {
		switch {
		case !m.isCorner(id):
			messages += 3
		case m.planes() > 1:
			messages += 2
		}
	}
	return math.Log2(float64(messages)), messages > 0
}

// farthest returns the largest distance of a node from its corner, as if all
// planes were complete.
func farthest(m *mesh) float64 {
	hops := 0
	for _, size := range m.sizes[:len(m.sizes)-1] {
		hops += size - 1
	}
	return float64(hops)
}

// worstEntry returns the messages of an entry by the node farthest away, to whose
// plane the token comes from the other end.
func worstEntry(m *mesh) float64 { return 3*farthest(m) + 2*float64(m.planes()-1) }

// planeChanges returns, for two nodes drawn independently and uniformly, the
// probability that their planes differ and the mean distance of these planes.
func planeChanges(m *mesh) (probability, hops float64) {
	share := func(k int) float64 {
		nodes := min(m.plane, m.nodes-k*m.plane)
		return float64(nodes) / float64(m.nodes)
	}
	for k := range m.planes() {
		for z := range k {
			both := 2 * share(k) * share(z)
			probability += both
			hops += both * float64(k-z)
		}
	}
	return probability, hops
}

func meanDistance(m *mesh) float64 {
	hops := 0
	for id := dme.NodeID(1); int(id) <= m.nodes; id++ {
		hops += m.distance(id)
	}
	return float64(hops) / float64(m.nodes)
}
