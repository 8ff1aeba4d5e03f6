package quorum

// TreeResilience says what becomes of the tree of n nodes while its nodes fail.
// It follows the definition of the textbook's section 9.9.1 from the leaves to the
// root, so that not all 2^n sets of failed nodes need be tried.
func TreeResilience(n int) Resilience {
	r := Resilience{Nodes: n}
	for _, sizes := range subtreeOutcomes(n, 1) {
		a := AfterFailures{Exact: true}
		for size, count := range sizes {
			a.add(count, size)
		}
		r.Failed = append(r.Failed, a)
	}
	return r
}

// outcomes counts the sets of failed nodes of a tree: outcomes[f][q] is the
// number of those of f nodes that leave a smallest quorum of q nodes, and
// outcomes[f][0] the number of those that leave none.
type outcomes [][]float64

// subtreeOutcomes counts for the subtree of id in the tree of n nodes.
func subtreeOutcomes(n, id int) outcomes {
	if id > n {
		return outcomes{{1}} // no node, and no quorum
	}
	if 2*id > n {
		return outcomes{{0, 1}, {1}}
	}
	a, b := subtreeOutcomes(n, 2*id), subtreeOutcomes(n, 2*id+1)
	o := make(outcomes, len(a)+len(b))
	for fa, as := range a {
		for fb, bs := range b {
			for p, x := range as {
				for q, y := range bs {
					o.add(fa+fb, together(1, smaller(p, q)), x*y)
					o.add(fa+fb+1, together(p, q), x*y)
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

// together adds the sizes of two parts of a quorum; 0 stands for none.
func together(p, q int) int {
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
