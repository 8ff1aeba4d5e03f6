package agrawalelabbadi

import (
	"math"
	"math/bits"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/collections"
)

// outcomes is what is left of a tree, by the number of failed nodes.
type outcomes []quorum.AfterFailures

func afterFailures(n int) outcomes { return quorum.TreeResilience(n).Failed }

// tolerated returns the most failures after which there can be a quorum.
func (o outcomes) tolerated() float64 {
	most := 0
	for f, left := range o {
		if left.Formed > 0 {
			most = f
		}
	}
	return float64(most)
}

// survived returns the most failures after which there is always a quorum.
func (o outcomes) survived() float64 {
	for f, left := range o {
		if left.Formed < left.Patterns {
			return float64(f - 1)
		}
	}
	return float64(len(o) - 1)
}

// largest returns the size of the largest quorum that can be needed.
func (o outcomes) largest() float64 {
	most := 0
	for _, left := range o {
		most = max(most, left.Largest)
	}
	return float64(most)
}

// likelier counts the numbers of failures after which a quorum is likelier than
// after one fewer.
func (o outcomes) likelier() (rises float64) {
	for f := 1; float64(f) <= o.tolerated(); f++ {
		if o[f].Probability() > o[f-1].Probability() {
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
		if o[f].MeanSize() < o[f-1].MeanSize()-rounding {
			falls++
		}
	}
	return falls
}

// quorumsWithout counts the quorums of the tree of n nodes while these have
// failed.
func quorumsWithout(n int, failed ...dme.NodeID) float64 {
	down := collections.MakeNodeSet(n)
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
