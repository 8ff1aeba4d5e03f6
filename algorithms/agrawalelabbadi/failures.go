package agrawalelabbadi

import (
	"math"
	"math/bits"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
)

// outcomes counts the sets of failed nodes of a tree: outcomes[f][q] is the
// number of those of f nodes that leave a smallest quorum of q nodes, and
// outcomes[f][0] the number of those that leave none.
type outcomes [][]float64

// afterFailures counts for the tree of n nodes. It follows the definition of
// section 9.9.1 from the leaves to the root, so that not all 2^n sets need be
// tried, as [quorum.System.Resilience] does for any construction.
func afterFailures(n int) outcomes { return subtreeOutcomes(n, 1) }

func subtreeOutcomes(n int, id dme.NodeID) outcomes {
	left, right := 2*id, 2*id+1
	switch {
	case int(left) > n:
		return outcomes{{0, 1}, {1}}
	case int(right) > n:
		child := subtreeOutcomes(n, left)
		o := make(outcomes, len(child)+1)
		for f, sizes := range child {
			for q, count := range sizes {
				o.add(f, after(1, q), count) // with the child's
				o.add(f+1, 0, count)         // one child does not replace it
			}
		}
		return o
	}
	a, b := subtreeOutcomes(n, left), subtreeOutcomes(n, right)
	o := make(outcomes, len(a)+len(b))
	for fa, as := range a {
		for fb, bs := range b {
			for p, x := range as {
				for q, y := range bs {
					o.add(fa+fb, after(1, smaller(p, q)), x*y)
					o.add(fa+fb+1, after(p, q), x*y)
				}
			}
		}
	}
	return o
}

func (o outcomes) add(failed, size int, count float64) {
	if count == 0 {
		return
	}
	for len(o[failed]) <= size {
		o[failed] = append(o[failed], 0)
	}
	o[failed][size] += count
}

// after adds the sizes of two parts of a quorum; 0 stands for none.
func after(p, q int) int {
	if p == 0 || q == 0 {
		return 0
	}
	return p + q
}

// smaller returns the smaller of two quorums; 0 stands for none.
func smaller(p, q int) int {
	if p == 0 || q == 0 {
		return max(p, q)
	}
	return min(p, q)
}

// tolerated returns the most failures after which there can be a quorum.
func (o outcomes) tolerated() float64 {
	most := 0
	for f := range o {
		if o.probability(f) > 0 {
			most = f
		}
	}
	return float64(most)
}

// survived returns the most failures after which there is always a quorum.
func (o outcomes) survived() float64 {
	for f := range o {
		if o[f][0] > 0 {
			return float64(f - 1)
		}
	}
	return float64(len(o) - 1)
}

// largest returns the size of the largest quorum that can be needed.
func (o outcomes) largest() float64 {
	most := 0
	for f := range o {
		most = max(most, len(o[f])-1)
	}
	return float64(most)
}

// probability returns how likely there is a quorum after f failures.
func (o outcomes) probability(f int) float64 {
	var all, formed float64
	for q, count := range o[f] {
		all += count
		if q > 0 {
			formed += count
		}
	}
	return formed / all
}

// cost returns the mean size of the smallest quorum after f failures, where
// there is one.
func (o outcomes) cost(f int) float64 {
	var sum, formed float64
	for q, count := range o[f][1:] {
		sum += float64(q+1) * count
		formed += count
	}
	return sum / formed
}

// likelier counts the numbers of failures after which a quorum is likelier than
// after one fewer.
func (o outcomes) likelier() (rises float64) {
	for f := 1; float64(f) <= o.tolerated(); f++ {
		if o.probability(f) > o.probability(f-1) {
			rises++
		}
	}
	return rises
}

// cheaper counts the numbers of failures, up to most, after which the mean
// quorum is smaller than after one fewer.
func (o outcomes) cheaper(most float64) (falls float64) {
	const rounding = 1e-12
	for f := 1; float64(f) <= most; f++ {
		if o.cost(f) < o.cost(f-1)-rounding {
			falls++
		}
	}
	return falls
}

// quorumsWithout counts the quorums of the tree of n nodes while these have
// failed.
func quorumsWithout(n int, failed ...dme.NodeID) float64 {
	down := dme.MakeNodeSet(n)
	for _, id := range failed {
		down.Add(id)
	}
	count := 0
	for range quorum.TreeQuorums(n, func(id dme.NodeID) bool { return !down.Has(id) }) {
		count++
	}
	return float64(count)
}

// sizeWithout returns the size of the quorum towards a leaf below the node,
// while that node alone has failed; 0 where there is none.
func sizeWithout(n int, failed dme.NodeID) int {
	q, ok := quorum.TreeQuorum(n, failed, func(id dme.NodeID) bool { return id != failed })
	if !ok || n == 1 {
		return 0
	}
	return len(q)
}

// offFormula returns by how much the size of a quorum that passes through a
// failed node at level i differs at most from (k−i)+2i, over all levels but that
// of the leaves.
func offFormula(n int) float64 {
	k := bits.Len(uint(n)) - 1
	most := 0.0
	for level := 1; level <= k; level++ {
		id := dme.NodeID(1) << (k - level)
		most = max(most, math.Abs(float64(sizeWithout(n, id)-(k-level)-2*level)))
	}
	return most
}
