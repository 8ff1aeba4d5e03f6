package quorum

import (
	"math"
	"slices"
	"testing"

	"dmebench/dme"
)

// exactly makes Resilience examine every choice of failed nodes.
const exactly = math.MaxInt32

// smallest returns the search for the smallest quorum.
func smallest(s *System) func(up []bool) (int, bool) {
	if s.Name() == "tree" {
		return func(up []bool) (int, bool) { return smallestSubtreeQuorum(up, 1) }
	}
	return s.search()
}

// allQuorums is the coterie of a construction, spelled out: a dumb twin of
// the search for the smallest quorum.
func allQuorums(t *testing.T, s *System) [][]dme.NodeID {
	t.Helper()
	var all [][]dme.NodeID
	switch s.Name() {
	case "tree":
		// The quorums for every set of nodes that grant.
		patterns(s.Nodes(), func(_ int, grants func(dme.NodeID) bool) {
			for q := range TreeQuorums(s.Nodes(), grants) {
				all = append(all, slices.Clone(q))
			}
		})
	case "majority", "weighted":
		weights := s.weights
		if weights == nil {
			weights = slices.Repeat([]uint64{1}, s.Nodes())
		}
		var total uint64
		for _, w := range weights {
			total += w
		}
		patterns(s.Nodes(), func(_ int, grants func(dme.NodeID) bool) {
			var votes uint64
			var q []dme.NodeID
			for id := dme.NodeID(1); int(id) <= s.Nodes(); id++ {
				if grants(id) {
					votes, q = votes+weights[id-1], append(q, id)
				}
			}
			if 2*votes > total {
				all = append(all, q)
			}
		})
	case "hierarchical":
		var of func(nodes []dme.NodeID) [][]dme.NodeID
		of = func(nodes []dme.NodeID) (all [][]dme.NodeID) {
			n := len(nodes)
			switch n {
			case 1:
				return [][]dme.NodeID{nodes}
			case 2:
				return [][]dme.NodeID{nodes}
			}
			parts := [][][]dme.NodeID{of(nodes[:n/3]), of(nodes[n/3 : 2*n/3]), of(nodes[2*n/3:])}
			for _, two := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
				for _, p := range parts[two[0]] {
					for _, q := range parts[two[1]] {
						all = append(all, slices.Concat(p, q))
					}
				}
			}
			return all
		}
		nodes := make([]dme.NodeID, s.Nodes())
		for i := range nodes {
			nodes[i] = dme.NodeID(i + 1)
		}
		all = of(nodes)
	default:
		for id := dme.NodeID(1); int(id) <= s.Nodes(); id++ {
			all = append(all, s.RequestSet(id))
		}
	}
	return all
}

func TestSmallestQuorumIsThat(t *testing.T) {
	for _, name := range rules() {
		for _, n := range []int{1, 2, 3, 4, 6, 7, 8} {
			s := mustNew(t, name, n)
			if name == "weighted" && n > 1 {
				s = mustWeigh(t, []uint64{3, 1, 1, 2, 0, 4, 1, 2}[:n]...)
			}
			all, find := allQuorums(t, s), smallest(s)
			patterns(n, func(_ int, grants func(dme.NodeID) bool) {
				want := math.MaxInt
				for _, q := range all {
					if !slices.ContainsFunc(q, func(id dme.NodeID) bool { return !grants(id) }) {
						want = min(want, len(q))
					}
				}
				up := make([]bool, n)
				for i := range up {
					up[i] = grants(dme.NodeID(i + 1))
				}
				if size, ok := find(up); ok != (want < math.MaxInt) || ok && size != want {
					t.Fatalf("%s of %d, up %v: a quorum of %d (%v), want %d", name, n, up, size, ok, want)
				}
			})
		}
	}
}

// ups are the probabilities to test with.
func ups() []float64 { return []float64{0, 0.1, 0.5, 0.9, 0.99, 1} }

// The availabilities that can be written down: of one node p, of a majority a
// sum of binomial terms, and of a tree of level k a recursion (Agrawal and El
// Abbadi 1991): its root is up and a subtree has a quorum, or it is down and
// both have one; of a hierarchy two of three parts have one (Kumar 1991).
func formulas() map[string]func(n int, p float64) float64 {
	var tree func(n int, p float64) float64
	tree = func(n int, p float64) float64 {
		if n == 1 {
			return p
		}
		a := tree(n/2, p)
		return p*(1-(1-a)*(1-a)) + (1-p)*a*a
	}
	var hierarchical func(n int, p float64) float64
	hierarchical = func(n int, p float64) float64 {
		switch n {
		case 1:
			return p
		case 2:
			return p * p
		}
		a, b, c := hierarchical(n/3, p), hierarchical(2*n/3-n/3, p), hierarchical(n-2*n/3, p)
		return a*b + a*c + b*c - 2*a*b*c
	}
	return map[string]func(int, float64) float64{
		"hierarchical": hierarchical,
		"singleton":    func(_ int, p float64) float64 { return p },
		"tree":         tree,
		"majority": func(n int, p float64) float64 {
			// Pascal's triangle, so that it shares nothing with binomial.
			row := []float64{1}
			for range n {
				next := make([]float64, len(row)+1)
				for k, x := range row {
					next[k] += x * (1 - p)
					next[k+1] += x * p
				}
				row = next
			}
			var sum float64
			for _, x := range row[n/2+1:] {
				sum += x
			}
			return sum
		},
	}
}

func TestAvailabilityFormulas(t *testing.T) {
	for name, formula := range formulas() {
		for _, n := range []int{1, 3, 7, 15} {
			r := mustNew(t, name, n).Resilience(exactly, 1)
			for _, p := range ups() {
				a := r.Availability(p)
				if want := formula(n, p); math.Abs(a.Probability-want) > 1e-9 || a.Low != a.Probability || a.High != a.Probability {
					t.Errorf("%s of %d, p=%v: %v, want exactly %v", name, n, p, a, want)
				}
			}
		}
	}
}

// By the very definition: the sum over all patterns of their probabilities.
func TestAvailabilityByDefinition(t *testing.T) {
	for _, name := range []string{"plane", "grid"} {
		for _, n := range []int{7, 10, 13} {
			s := mustNew(t, name, n)
			r, find := s.Resilience(exactly, 1), smallest(s)
			largest := make([]int, n+1) // by failures
			for _, p := range []float64{0.3, 0.9} {
				var want, size float64
				patterns(n, func(failed int, grants func(dme.NodeID) bool) {
					up := make([]bool, n)
					for i := range up {
						up[i] = grants(dme.NodeID(i + 1))
					}
					if k, ok := find(up); ok {
						chance := math.Pow(p, float64(n-failed)) * math.Pow(1-p, float64(failed))
						want += chance
						largest[failed] = max(largest[failed], k)
						size += chance * float64(k)
					}
				})
				for failed, after := range r.Failed {
					if after.Largest != largest[failed] {
						t.Errorf("%s of %d, %d failed: up to %d in a quorum, want %d", name, n, failed, after.Largest, largest[failed])
					}
				}
				a := r.Availability(p)
				if math.Abs(a.Probability-want) > 1e-9 || math.Abs(a.MeanSize-size/want) > 1e-9 {
					t.Errorf("%s of %d, p=%v: %v of mean size %v, want %v and %v", name, n, p, a.Probability, a.MeanSize, want, size/want)
				}
			}
		}
	}
}

// smallestSubtreeQuorum returns the size of the smallest quorum of the subtree of id,
// by the definition of one.
func smallestSubtreeQuorum(up []bool, id int) (size int, ok bool) {
	left, right := 2*id, 2*id+1
	hasLeft, hasRight := left <= len(up), right <= len(up)
	if !hasLeft {
		return 1, up[id-1]
	}
	l, okLeft := smallestSubtreeQuorum(up, left)
	r, okRight := 0, false
	if hasRight {
		r, okRight = smallestSubtreeQuorum(up, right)
	}
	switch {
	case !up[id-1]:
		return l + r, okLeft && okRight
	case okLeft && okRight:
		return 1 + min(l, r), true
	case okLeft:
		return 1 + l, true
	}
	return 1 + r, okRight
}

// The counts of a tree, made from the leaves to the root, are those of all sets of
// failed nodes, tried one after the other.
func TestTreeResilience(t *testing.T) {
	for n := 1; n <= 15; n++ {
		s := mustNew(t, "tree", n)
		tried := s.resilience(1<<n, 1, smallest(s))
		if counted := s.Resilience(1, 1); !slices.Equal(counted.Failed, tried.Failed) {
			t.Fatalf("n=%d: counted %+v, tried %+v", n, counted.Failed, tried.Failed)
		}
	}
}

// Where patterns are drawn the interval holds the exact value, nearly always;
// with this seed, always.
func TestDrawnPatterns(t *testing.T) {
	for name, formula := range formulas() {
		for _, n := range []int{31, 63} {
			s := mustNew(t, name, n)
			r := s.resilience(2000, 1, smallest(s)) // also of the tree, as if it were not counted
			drawn := !r.Failed[n/2].Exact
			if want := name == "tree" || name == "hierarchical"; drawn != want || drawn && r.Failed[n/2].Patterns != 2000 || !r.Failed[1].Exact {
				t.Errorf("%s of %d: %+v", name, n, r.Failed)
			}
			for _, p := range ups() {
				a := r.Availability(p)
				if want := formula(n, p); want < a.Low-1e-12 || want > a.High+1e-12 || a.High-a.Low > 0.05 {
					t.Errorf("%s of %d, p=%v: %v, want about %v", name, n, p, a, want)
				}
			}
			again := s.resilience(2000, 1, smallest(s))
			if !slices.Equal(again.Failed, r.Failed) {
				t.Errorf("%s of %d: the same seed gives something else", name, n)
			}
		}
	}
}

// The textbook's sections 9.9.2 and 9.9.4 on the tree of 15 nodes, log n being
// 4: fewer failures than log n always leave a quorum, log n may not, up to
// n−log n may, and quorums grow from log n to at most (n+1)/2.
func TestTreeDegradesGracefully(t *testing.T) {
	const n, logN = 15, 4
	r := mustNew(t, "tree", n).Resilience(exactly, 1)
	before := AfterFailures{Patterns: 1, Formed: 1, Smallest: logN}
	for failures, after := range r.Failed {
		p := after.Probability()
		if certain := failures < logN; (p == 1) != certain {
			t.Errorf("%d failures leave a quorum with probability %v", failures, p)
		}
		if possible := failures <= n-logN; (p > 0) != possible {
			t.Errorf("%d failures leave a quorum with probability %v", failures, p)
		}
		if p > before.Probability() {
			t.Errorf("a quorum is likelier after %d failures than after %d", failures, failures-1)
		}
		if size := after.MeanSize(); p > 0 && (size < logN || size > (n+1)/2) {
			t.Errorf("after %d failures a quorum has %v nodes on the average", failures, size)
		}
		before = after
	}
	// Then log n nodes are up.
	if last := r.Failed[n-logN]; last.MeanSize() != logN {
		t.Errorf("after %d failures a quorum has %v nodes; only a path can be left", n-logN, last.MeanSize())
	}
}

// What is left whatever fails is there with probability 1, and not with what rounding
// makes of the sum.
func TestAvailabilityIsAProbability(t *testing.T) {
	for n := 1; n <= 30; n++ {
		always := Resilience{Nodes: n}
		for range n + 1 {
			always.Failed = append(always.Failed, AfterFailures{Patterns: 1, Exact: true, Formed: 1, Smallest: 2})
		}
		for _, up := range ups() {
			a := always.Availability(up)
			if a.Probability > 1 || a.Probability < 1-1e-12 || a.High != a.Probability || a.Low != a.Probability || math.Abs(a.MeanSize-2) > 1e-11 {
				t.Errorf("%d nodes, up %v: %+v", n, up, a)
			}
		}
	}
}
