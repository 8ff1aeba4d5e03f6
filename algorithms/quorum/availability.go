package quorum

import (
	"math"
	"math/rand/v2"
	"slices"

	"dmebench/dme"
)

// search returns a function that returns the size of the smallest quorum of nodes that are up, node
// i being up if up[i-1]; ok is false if there is none.
//
// A quorum is any set that the construction's rule admits, not only the one that a node asks while
// all are up: of majority and weighted, any nodes with more than half of the votes; of the others,
// the request set of any node. (Of tree it is what [TreeQuorum] may return, which [TreeResilience]
// counts.)
func (s *System) search() func(up []bool) (size int, ok bool) {
	if s.name == "majority" || s.name == "weighted" {
		return func(up []bool) (int, bool) { // the heaviest that are up, none of them superfluous
			set, ok := s.substituteVoters(1, nil, func(id dme.NodeID) bool { return up[id-1] })
			return len(set), ok
		}
	}
	if s.name == "hierarchical" {
		return func(up []bool) (int, bool) {
			set := group{1, s.nodes}.smallest(1, func(id dme.NodeID) bool { return up[id-1] })
			return len(set), set != nil
		}
	}
	sets := s.Sets()
	slices.SortStableFunc(sets, func(a, b []dme.NodeID) int { return len(a) - len(b) })
	return func(up []bool) (int, bool) {
		for _, set := range sets {
			if down := slices.ContainsFunc(set, func(id dme.NodeID) bool { return !up[id-1] }); !down {
				return len(set), true
			}
		}
		return 0, false
	}
}

// Resilience says what becomes of a system while its nodes fail.
type Resilience struct {
	Nodes  int
	Failed []AfterFailures // by the number of failed nodes, from 0 to Nodes
}

// AfterFailures is what is left after a number of nodes have failed, all
// choices of that many being equally likely. Counts are floating point: there
// are more choices than an integer can count.
type AfterFailures struct {
	Patterns float64 // choices of failed nodes that were examined
	Exact    bool    // every choice was examined; else they were drawn

	Formed   float64 // of these, those that leave a quorum
	Smallest float64 // sum of the sizes of the smallest quorum over those
	Largest  int     // the largest of these sizes
}

// add counts choices of failed nodes after which the smallest quorum has that
// size; 0 stands for none.
func (a *AfterFailures) add(choices float64, size int) {
	a.Patterns += choices
	if size > 0 {
		a.Formed += choices
		a.Smallest += choices * float64(size)
		a.Largest = max(a.Largest, size)
	}
}

// Probability returns the part of the choices that leave a quorum.
func (a AfterFailures) Probability() float64 { return a.Formed / a.Patterns }

// MeanSize returns the mean size of the smallest quorum, if one is left; NaN if none ever is.
func (a AfterFailures) MeanSize() float64 { return a.Smallest / a.Formed }

// variance bounds the variance of Probability as an estimate. Drawn patterns
// that all agree are no certainty: two more, of either kind, are added.
func (a AfterFailures) variance() float64 {
	if a.Exact {
		return 0
	}
	p := (a.Formed + 1) / (a.Patterns + 2)
	return p * (1 - p) / a.Patterns
}

// Resilience examines, for each number of failures, all choices of failed nodes if these are at
// most patterns, and else as many that are drawn at random; one stands for all if nodes are
// alike. It takes O(N·patterns) searches, each of O(N·K) steps. Of a tree all choices are counted
// without trying them.
func (s *System) Resilience(patterns int, seed uint64) Resilience {
	if s.name == "tree" {
		return TreeResilience(s.nodes)
	}
	return s.resilience(patterns, seed, s.search())
}

func (s *System) resilience(patterns int, seed uint64, smallest func(up []bool) (int, bool)) Resilience {
	r := Resilience{Nodes: s.nodes}
	up := make([]bool, s.nodes)
	for failures := range s.nodes + 1 {
		a := AfterFailures{Exact: true}
		examine := func() {
			if size, ok := smallest(up); ok {
				a.add(1, size)
			} else {
				a.add(1, 0)
			}
		}
		switch {
		case s.name == "singleton":
			// Node 1 is equally likely to be any of the failed ones.
			a.add(float64(s.nodes-failures), 1)
			a.add(float64(failures), 0)
		case s.symmetric():
			failFirst(up, failures)
			examine()
		case choices(s.nodes, failures, patterns) <= patterns:
			choose(up, failures, examine)
		default:
			a.Exact = false
			rng := rand.New(rand.NewPCG(seed, uint64(failures)))
			for range patterns {
				draw(up, failures, rng)
				examine()
			}
		}
		r.Failed = append(r.Failed, a)
	}
	return r
}

// symmetric reports whether all choices of as many nodes are alike.
func (s *System) symmetric() bool {
	return s.name == "majority" || s.name == "weighted" && len(s.weights) == 0
}

// failFirst takes the first nodes down.
func failFirst(up []bool, down int) {
	for i := range up {
		up[i] = i >= down
	}
}

// choices returns the number of ways to choose k of n, or most+1 if there are
// more.
func choices(n, k, most int) int {
	ways := 1
	for i := 1; i <= min(k, n-k); i++ {
		if ways > math.MaxInt/n {
			return most + 1
		}
		if ways = ways * (n - i + 1) / i; ways > most {
			return most + 1
		}
	}
	return ways
}

// choose calls f with each choice of nodes that are down.
func choose(up []bool, down int, f func()) {
	n := len(up)
	var from func(first, left int)
	from = func(first, left int) {
		if left == 0 {
			f()
			return
		}
		for i := first; i <= n-left; i++ {
			up[i] = false
			from(i+1, left-1)
			up[i] = true
		}
	}
	failFirst(up, 0)
	from(0, down)
}

// draw chooses nodes that are down, each choice as likely as any other (R. W.
// Floyd, CACM 30(9), 1987).
func draw(up []bool, down int, rng *rand.Rand) {
	failFirst(up, 0)
	for last := len(up) - down; last < len(up); last++ {
		if at := rng.IntN(last + 1); up[at] {
			up[at] = false
		} else {
			up[last] = false
		}
	}
}

// Availability is the probability that a quorum of nodes is up, each node being up with probability
// Up, independently of the others.
type Availability struct {
	Up          float64
	Probability float64
	Low, High   float64 // ends of its 95% interval; equal if it is exact
	MeanSize    float64 // of the smallest quorum, if there is one; NaN if there never is
}

// Availability weighs the numbers of failures with their probabilities. The
// interval comes from the failures that were drawn, each number of them a
// stratum, and takes their sum for normal.
func (r Resilience) Availability(up float64) Availability {
	a := Availability{Up: up}
	var variance, size float64
	for failures, after := range r.Failed {
		w := binomial(r.Nodes, failures, 1-up)
		a.Probability += w * after.Probability()
		size += w * after.Smallest / after.Patterns
		variance += w * w * after.variance()
	}
	a.Probability = min(a.Probability, 1) // rounding
	half := 1.96 * math.Sqrt(variance)
	a.Low, a.High = max(0, a.Probability-half), min(1, a.Probability+half)
	a.MeanSize = size / a.Probability
	return a
}

// binomial returns the probability of k successes of n.
func binomial(n, k int, p float64) float64 {
	switch p {
	case 0, 1: // their logarithms are not finite
		if k == n*int(p) {
			return 1
		}
		return 0
	}
	lg := func(x int) float64 { y, _ := math.Lgamma(float64(x) + 1); return y }
	return math.Exp(lg(n) - lg(k) - lg(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}
