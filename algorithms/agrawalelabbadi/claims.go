package agrawalelabbadi

import (
	"math"
	"math/bits"
	"slices"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/claim"
)

// Quantities of section 9.9 that no other paper makes claims about: what quorums there
// are while nodes have failed.
var (
	FailuresTolerated = claim.Quantity{ID: "failures-tolerated", Name: "failures after which a quorum can exist"}
	FailuresSurvived  = claim.Quantity{ID: "failures-survived", Name: "failures after which a quorum exists in any case"}
	LargestQuorum     = claim.Quantity{ID: "largest-quorum", Name: "largest quorum needed, whatever has failed"}
	SizeWithoutRoot   = claim.Quantity{ID: "size-without-root", Name: "quorum size after the root's failure"}
	SizeWithoutParent = claim.Quantity{ID: "size-without-parent", Name: "quorum size after the failure of a leaf's parent"}
	Likelier          = claim.Quantity{ID: "likelier", Name: "failures that make a quorum likelier"}
	Cheaper           = claim.Quantity{ID: "cheaper", Name: "failures that make the mean smallest quorum smaller"}
	OffFormula        = claim.Quantity{
		ID: "off-formula", Name: "largest deviation of a quorum after one failure from (k−i)+2i, over all levels i > 0",
	}
)

// Quantities that describe the quorums and the tree.
var (
	Quorums     = claim.Quantity{ID: "quorums", Name: "quorums"}
	Leaves      = claim.Quantity{ID: "leaves", Name: "leaves of the tree"}
	Disjoint    = claim.Quantity{ID: "disjoint", Name: "pairs of quorums without a common node"}
	Superfluous = claim.Quantity{ID: "superfluous", Name: "pairs of quorums of which one contains the other"}
)

const section = "textbook, section "

// claims lists what the textbook says. n is the number of nodes, k the level of
// a complete tree, n = 2^(k+1)−1; "log n" is log2(n+1) = k+1, the number of nodes
// on a path. The effect of failed nodes on quorums is a property of the tree,
// and needs no run.
func claims() claim.List {
	return slices.Concat(
		claim.SafeAndLive(section+"9.9.6"),
		messages(), multicastClaims(), treeClaims(), failureClaims(), coterieClaims(),
	)
}

func messages() claim.List {
	onPath := claim.MessagesPerCS.Is("K−1, K = log2(n+1)", claim.Light, section+"9.9.5").Where(equalPaths)
	none := onPath
	none.Formula, none.Applies = "0: nobody else asks", nil
	return slices.Concat(claim.List{
		claim.MessagesPerCS.Is("3(K−1), K = log2(n+1)",
			claim.Light, section+"9.9.5: Request, Reply and Relinquish on a path of log n nodes").
			Where(equalPaths),
		claim.MessagesPerCS.Averages("3(K−1), K the mean",
			claim.Light, section+"9.9.5: Request, Reply and Relinquish on a path").
			Where(func(s dme.Setting) bool { return self(s) && !equalPaths(s) }),
		// A path has one chance in n for each of its nodes that the
		// requester is this one.
		claim.MessagesPerCS.Averages("3K(n−1)/n (path=random, uniformly drawn requesters)",
			claim.Light, section+"9.9.5: Request, Reply and Relinquish on a path").With(optPath + "=random").
			Predicting(func(s dme.Setting) (float64, bool) {
				n := float64(s.Nodes)
				return 3 * meanDepth(s.Nodes) * (n - 1) / n, !self(s)
			}),
		claim.MessagesPerCS.AtLeast("3(K−1), K = log2(n+1)",
			claim.AnyLoad, section+"9.9.5: Inquire and Yield come on top").Where(equalPaths),
		// The root is on both paths. Other nodes may be, too, and the entry
		// waits for the slowest of several chains of two messages.
		claim.SyncDelay.AtMost("2T (links of equal delay)",
			claim.Saturated, section+"9.9.5: Relinquish, then Reply").OnEqualDelays(),
		claim.Throughput.AtLeast("1/(2T + E) (links of equal delay)",
			claim.Saturated, section+"9.9.5; textbook, section 9.2.3").OnEqualDelays(),
	}, claim.KindsPerCS(onPath, "Request", "Reply", "Relinquish"), claim.KindsPerCS(none, "Inquire", "Yield"))
}

func treeClaims() claim.List {
	return claim.List{
		claim.QuorumSize.Is("log n = log2(n+1)", claim.Static, section+"9.9.2: the best case, without failures").
			Where(func(s dme.Setting) bool { return self(s) && complete(s.Nodes) }).MeasuredBy(meanPath),
		claim.QuorumSize.Grows(claim.Growth{Log: true, Order: true}, "O(log n)", claim.Static, section+"9.9.2").
			As("log2(n+1)").Where(self).MeasuredBy(meanPath),
		Leaves.Is("2^k, n = 2^(k+1)−1", claim.Static, section+"9.9.1").As("(n+1)/2").Where(onComplete).
			MeasuredBy(func(s dme.Setting) (float64, bool) {
				first, last := quorum.TreeLeaves(s.Nodes)
				return float64(last - first + 1), true
			}),
		Quorums.Is("as many as leaves, without failures: 8 on 15 sites", claim.Static, section+"9.9.4").
			As("(n+1)/2").Where(onComplete).
			MeasuredBy(func(s dme.Setting) (float64, bool) { return quorumsWithout(s.Nodes), true }),
		onFigure("8 after the failure of site 3 of 15", 3).Named("without-3"),
		onFigure("16 after the failure of sites 1 and 2 of 15", 1, 2).Named("without-1-2"),
		onFigure("0 after the failure of sites 1, 2, 4 and 8 of 15", 1, 2, 4, 8).Named("without-1-2-4-8"),
	}
}

// onFigure is a claim about the number of quorums on the 15 sites of figure 9.16.
func onFigure(formula string, failed ...dme.NodeID) claim.Claim {
	const sites = 15
	return Quorums.Is(formula, claim.Static, section+"9.9.4, example").
		Where(func(s dme.Setting) bool { return s.Nodes == sites }).
		MeasuredBy(func(s dme.Setting) (float64, bool) { return quorumsWithout(s.Nodes, failed...), true })
}

func failureClaims() claim.List {
	says := func(q claim.Quantity, formula, expression, source string, measure func(outcomes) float64) claim.Claim {
		return q.Is(formula, claim.Static, section+source).As(expression).Where(onComplete).
			MeasuredBy(func(s dme.Setting) (float64, bool) { return measure(afterFailures(s.Nodes)), true })
	}
	const path = "log2(n+1)" // nodes on a path
	falseOfLog := says(FailuresTolerated, "n − ⌊log n⌋, log n = log2 n", "n − ⌊log2 n⌋",
		"9.9.4, taken at its word", outcomes.tolerated).Named("log2-n")
	falseOfLog.KnownFalse = "the smallest quorum is a path, of ⌊log2(n+1)⌋ nodes, which is one more than ⌊log2 n⌋ in a complete tree"
	falseOfCost := says(Cheaper, "0: mutual exclusion is achieved at increasing costs", "", "9.9.4",
		func(o outcomes) float64 { return o.cheaper(o.tolerated()) })
	falseOfCost.KnownFalse = "if most have failed, only short quorums are left: of 15 sites a quorum takes 4 without failures, " +
		"4.92 on average after 6, and 4 again after 11"
	return claim.List{
		claim.Violations.Is("0, whatever has failed: quorums meet", claim.Faults, section+"9.9.3 and 9.9.6").
			TestedBy("TestRandomCrashes"),
		claim.Unserved.Is("0 of live nodes, while fewer than log n sites have failed",
			claim.Faults, section+"9.9.4").TestedBy("TestEverySetOfFailedNodes"),
		says(LargestQuorum, "(n+1)/2", "", "9.9.2: the worst case", outcomes.largest),
		SizeWithoutRoot.Is("(k−i)+2i = 2k, i = k", claim.Static, section+"9.9.4").As("2(" + path + " − 1)").
			Where(onComplete).
			MeasuredBy(func(s dme.Setting) (float64, bool) { return float64(sizeWithout(s.Nodes, 1)), true }),
		SizeWithoutParent.Is("log n, as without failures; (k−i)+2i = k+1, i = 1",
			claim.Static, section+"9.9.2 and 9.9.4").As(path).Where(onComplete).
			MeasuredBy(func(s dme.Setting) (float64, bool) {
				return float64(sizeWithout(s.Nodes, dme.NodeID(s.Nodes+1)/4)), true
			}),
		OffFormula.Is("0", claim.Static, section+"9.9.4").Where(onComplete).
			MeasuredBy(func(s dme.Setting) (float64, bool) { return offFormula(s.Nodes), true }),
		says(FailuresTolerated, "n − ⌊log n⌋, log n = log2(n+1)", "n − ⌊"+path+"⌋", "9.9.4; 9.9.2: n − O(log n)",
			outcomes.tolerated),
		falseOfLog,
		says(FailuresSurvived, "log n − 1 (\"less than log n\"), log n = log2(n+1)", path+" − 1", "9.9.4",
			outcomes.survived),
		says(Likelier, "0: the probability of forming quorums decreases", "", "9.9.4", outcomes.likelier),
		falseOfCost,
		says(Cheaper, "0, while fewer than log n have failed", "", "9.9.4",
			func(o outcomes) float64 { return o.cheaper(o.survived()) }).Named("few-failures"),
	}
}

func coterieClaims() claim.List {
	listed := func(s dme.Setting) bool { return s.Nodes <= largestListed }
	among := func(count func([][]dme.NodeID) float64) func(dme.Setting) (float64, bool) {
		return func(s dme.Setting) (float64, bool) {
			if !listed(s) {
				return 0, false
			}
			return count(slices.Collect(quorum.TreeQuorums(s.Nodes, nil))), true
		}
	}
	literal := func(q claim.Quantity, formula, source string, count func([][]dme.NodeID) float64) claim.Claim {
		sets := setsIn(formula)
		return q.Is(formula, claim.Static, section+source).
			MeasuredBy(func(dme.Setting) (float64, bool) { return count(sets), true })
	}
	return claim.List{
		Disjoint.Is("0: the intersection property", claim.Static, section+"9.9.3").Where(listed).
			MeasuredBy(among(disjoint)),
		Superfluous.Is("0: the minimality property", claim.Static, section+"9.9.3").Where(listed).
			MeasuredBy(among(superfluous)),
		literal(Disjoint, "0 of {1,2,3}, {2,4,5}, {4,1,6}, a coterie", "9.9.6, example", disjoint).Named("coterie-example"),
		literal(Superfluous, "0 of {1,2,3}, {2,4,5}, {4,1,6}, a coterie", "9.9.6, example", superfluous).Named("coterie-example"),
		literal(Disjoint, "1 of {1,2,3}, {2,5,7}, {5,7,9}, which is none", "9.7", disjoint).Named("no-coterie-example"),
		literal(Superfluous, "1 of {1,2,3}, {1,3}, which is none", "9.7", superfluous).Named("no-coterie-example"),
	}
}

// onComplete is about complete trees of three nodes or more.
func onComplete(s dme.Setting) bool { return complete(s.Nodes) && s.Nodes > 1 }

func self(s dme.Setting) bool { return s.Options.Get(optPath) == "self" }

// complete reports whether a tree of n nodes has all its leaves at one level.
func complete(n int) bool { return n&(n+1) == 0 }

// pathsOf describes the paths that the nodes ask.
func pathsOf(s dme.Setting) quorum.Spread { return s.System.(ownPaths).Sizes() }

func meanPath(s dme.Setting) (float64, bool) { return pathsOf(s).Mean, true }

// equalPaths is about path=self if all paths are equally long.
func equalPaths(s dme.Setting) bool {
	return self(s) && pathsOf(s).Equal()
}

// meanDepth returns the mean number of nodes on the path to a leaf of the tree
// of n nodes.
func meanDepth(n int) float64 {
	first, last := quorum.TreeLeaves(n)
	sum := 0
	for leaf := first; leaf <= last; leaf++ {
		sum += len(quorum.AppendTreePath(nil, leaf))
	}
	return float64(sum) / float64(last-first+1)
}

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
	count := 0
	for range quorum.TreeQuorums(n, func(id dme.NodeID) bool { return !slices.Contains(failed, id) }) {
		count++
	}
	return float64(count)
}

// sizeWithout returns the size of the quorum towards a leaf below the node, while that node alone
// has failed; 0 if there is none.
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
