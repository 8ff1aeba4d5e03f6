package maekawa

import (
	"math"
	"slices"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/claim"
)

// Quantities that describe request sets, with the paper's words.
var (
	Responsibility       = claim.Quantity{ID: "responsibility", Name: "request sets that a node is in"} // D
	ResponsibilitySpread = claim.Quantity{ID: "responsibility-spread", Name: "request sets that a node is in, max/mean"}
	SizeSpread           = claim.Quantity{ID: "size-spread", Name: "quorum size max/mean"}
	DifferentSets        = claim.Quantity{ID: "different-sets", Name: "different request sets"}
	FewestCommon         = claim.Quantity{ID: "fewest-common", Name: "fewest common nodes of two request sets"}
	MostCommon           = claim.Quantity{ID: "most-common", Name: "most common nodes of two request sets"}
	LinesThroughTwo      = claim.Quantity{ID: "lines-through-two", Name: "lines through two points"}
	Planes               = claim.Quantity{ID: "planes", Name: "projective planes found"}
	Points               = claim.Quantity{ID: "points", Name: "points of the plane"}
	GeneralPosition      = claim.Quantity{ID: "general-position", Name: "points of which no three are on a line"}
)

const geometry = slides + "finite projective planes; "

// setClaims lists the claims about all request sets, or about those with equal work and
// responsibility.
func setClaims() claim.List {
	intersecting := FewestCommon.AtLeast("1: property (a)",
		claim.Static, paper+"section 2; "+textbook+"section 9.8, condition M1").Where(claim.AtLeastTwo).
		MeasuredBy(ofPairs(func(fewest, _ int) int { return fewest }))
	optimal := claim.QuorumSize.AtLeast("(1+√(4N−3))/2, with properties (a) to (d)",
		claim.Static, paper+"section 3: K is optimal for a given N").Where(equalWork).MeasuredBy(meanSize)
	most := DifferentSets.AtMost("(D−1)K+1, with properties (a) to (d)", claim.Static, paper+"section 3").
		Predicting(func(s dme.Setting) (float64, bool) {
			k, equal := equalSets(s)
			return float64((k.d-1)*k.Max + 1), equal
		}).MeasuredBy(different)
	same := Responsibility.Is("D = K, with properties (c) and (d)", claim.Static, paper+"section 3").
		Where(func(s dme.Setting) bool {
			_, equal := equalSets(s)
			return equal
		}).MeasuredBy(func(s dme.Setting) (float64, bool) {
		_, largest := loads(s)
		return float64(largest), true
	})
	properties := claim.List{intersecting, optimal, most, same}
	all := slices.Clone(properties)
	for _, construction := range []string{"majority", "grid"} {
		for _, c := range properties {
			all = append(all, named(c, construction))
		}
	}
	return append(all, named(intersecting, "tree"))
}

// named returns the claim as made of another construction.
func named(c claim.Claim, construction string) claim.Claim {
	c.Formula += " (" + construction + ")"
	return c.With(optQuorum + "=" + construction).Where(with(construction))
}

// planeClaims lists the claims about request sets that are the lines of a finite
// projective plane of order k = K−1.
func planeClaims() claim.List {
	says := func(q claim.Quantity, formula, source string, kind claim.Kind,
		measure func(dme.Setting) (float64, bool)) claim.Claim {
		return q.Claim(kind, formula, claim.Static, source).Where(onTruePlane).MeasuredBy(measure)
	}
	points := says(Points, "k(k+1) + 1", geometry+paper+"section 3", claim.Exact,
		func(s dme.Setting) (float64, bool) { return float64(s.Nodes), true })
	points.Expression = "K(K−1) + 1"
	return claim.List{
		claim.QuorumSize.Is("K = (1+√(4N−3))/2",
			claim.Static, paper+"section 3: N = K(K−1)+1; "+slides+"construction").Where(truePlane).
			MeasuredBy(meanSize),
		claim.QuorumSize.Grows(claim.Growth{Exponent: 0.5}, "K ≈ √N", claim.Static, paper+"section 3").
			Where(with("plane")).MeasuredBy(meanSize),
		points,
		says(Planes, "1 for each k that is a power of a prime", geometry+paper+"section 3", claim.Exact,
			func(s dme.Setting) (float64, bool) {
				if p := setsOf(s).Properties(); p.Plane() && p.SelfIncluded() {
					return 1, true
				}
				return 0, true
			}),
		says(DifferentSets, "N: as many lines as points", geometry+paper+"section 3", claim.Exact, different),
		says(SizeSpread, "1: property (c), all lines have as many points", geometry+paper+"section 2", claim.Exact,
			func(s dme.Setting) (float64, bool) {
				k := setSizes(s)
				return float64(k.Max) / k.Mean, true
			}),
		says(ResponsibilitySpread, "1: property (d), all points are on as many lines", geometry+paper+"section 2",
			claim.Exact, responsibility),
		says(MostCommon, "1: two lines meet in one point", geometry+paper+"section 3", claim.Exact,
			ofPairs(func(_, most int) int { return most })),
		says(LinesThroughTwo, "1: two points determine one line", geometry+"axioms", claim.Exact, throughTwo),
		says(GeneralPosition, "4: the four-point axiom", geometry+"axioms", claim.LowerBound,
			inGeneralPosition).Where(func(s dme.Setting) bool { return s.Nodes >= 7 }),
		says(claim.WorkSpread, "1: 3(K−1) messages as a requester and 3(D−1) as a member",
			paper+"section 2, properties (c) and (d)", claim.Exact, alone),
	}
}

// smallestSet returns K where N = K(K−1)+1.
func smallestSet(n float64) float64 { return (1 + math.Sqrt(4*n-3)) / 2 }

// truePlane reports whether the sets should be the lines of a plane: N is
// k(k+1)+1, and k a power of a prime. The point and the triangle count, though
// they are degenerate.
func truePlane(s dme.Setting) bool {
	k := int(smallestSet(float64(s.Nodes))) - 1
	return s.Options.Get(optQuorum) == "plane" && k*(k+1)+1 == s.Nodes && (k <= 1 || quorum.PrimePower(k) > 0)
}

// onTruePlane is about planes of several nodes.
func onTruePlane(s dme.Setting) bool { return truePlane(s) && s.Nodes >= 2 }

// shape is what sets that are equal have in common: K and D.
type shape struct {
	sizes
	d int
}

// equalSets describes the sets, and reports whether they have the properties (b),
// (c) and (d).
func equalSets(s dme.Setting) (shape, bool) {
	k := setSizes(s)
	least, largest := loads(s)
	return shape{k, largest}, k.self && k.Equal() && least == largest
}

// equalWork is about sets with equal work and responsibility.
func equalWork(s dme.Setting) bool {
	_, equal := equalSets(s)
	return equal && s.Nodes >= 2
}

// loads returns the smallest and the largest number of sets that a node is in.
func loads(s dme.Setting) (least, largest int) {
	all := setsOf(s).Loads()
	return slices.Min(all), slices.Max(all)
}

func setsOf(s dme.Setting) *quorum.System { return s.System.(*system).System }

func meanSize(s dme.Setting) (float64, bool) { return setSizes(s).Mean, true }

func responsibility(s dme.Setting) (float64, bool) {
	_, largest := loads(s)
	return float64(largest) / setSizes(s).Mean, true // the mean of D is that of K
}

// different counts the request sets that are not equal to an earlier one.
func different(s dme.Setting) (float64, bool) {
	sets := setsOf(s).Sets()
	slices.SortFunc(sets, slices.Compare)
	return float64(len(slices.CompactFunc(sets, slices.Equal))), true
}

// ofPairs measures what choose says of the fewest and the most common nodes of
// any two request sets.
func ofPairs(choose func(fewest, most int) int) func(dme.Setting) (float64, bool) {
	return func(s dme.Setting) (float64, bool) {
		fewest, most := s.Nodes, 0
		for p := range quorum.Pairs(setsOf(s).Sets()) {
			fewest, most = min(fewest, p.Common), max(most, p.Common)
		}
		return float64(choose(fewest, most)), s.Nodes >= 2
	}
}

// throughTwo returns the number of lines through any two points, if it is the
// same for all of them.
func throughTwo(s dme.Setting) (float64, bool) {
	var through [][]dme.NodeID // each point
	for id := range dme.Others(s.Nodes, dme.None) {
		through = append(through, setsOf(s).Served(id))
	}
	lines := -1
	for p := range quorum.Pairs(through) {
		if lines < 0 {
			lines = p.Common
		}
		if p.Common != lines {
			return 0, false
		}
	}
	return float64(lines), lines >= 0
}

// inGeneralPosition adds points one by one to a set with no three points on a line, and returns its
// size.
func inGeneralPosition(s dme.Setting) (float64, bool) {
	sets := setsOf(s)
	var chosen []dme.NodeID
	for id := dme.NodeID(1); int(id) <= s.Nodes; id++ {
		fits := true
		for _, line := range sets.Served(id) {
			on := 0
			for _, member := range sets.RequestSet(line) {
				if slices.Contains(chosen, member) {
					on++
				}
			}
			fits = fits && on < 2
		}
		if fits {
			chosen = append(chosen, id)
		}
	}
	return float64(len(chosen)), true
}

// alone returns how many messages the busiest node sends and receives over the
// mean, where every node enters once, alone.
func alone(s dme.Setting) (float64, bool) {
	sets := setsOf(s)
	busiest, all := 0, 0
	for id := dme.NodeID(1); int(id) <= s.Nodes; id++ {
		work := 0
		for _, partners := range [][]dme.NodeID{sets.RequestSet(id), sets.Served(id)} {
			for _, other := range partners {
				if other != id {
					work += 3 // REQUEST, LOCKED, RELEASE
				}
			}
		}
		busiest, all = max(busiest, work), all+work
	}
	return float64(busiest) * float64(s.Nodes) / float64(all), all > 0
}
