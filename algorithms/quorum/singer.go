package quorum

// differenceSet returns a perfect difference set modulo N = q²+q+1, for a prime
// power q: q+1 numbers, ascending and beginning 0, 1, such that every number
// but 0 is the difference of exactly one ordered pair of them, modulo N. Their
// N translates are the lines of a projective plane of order q.
//
// The construction is Singer's (Trans. AMS 43, 1938). In the field of q³
// elements take an α none of whose first N−1 powers is in the subfield of q
// elements; its powers are then the points of the plane, and those on which a
// linear function vanishes are a line. The values of such a function on
// successive powers obey a linear recurrence of order 3 over the subfield, so
// that no arithmetic of q³ elements is needed: the recurrences are tried in
// order until the zeros of one are a difference set. About one in four is.
func differenceSet(q int) []int {
	f := newField(q)
	modulus := q*q + q + 1
	seen := make([]bool, modulus)
	for a := range q {
		for b := range q {
			for c := 1; c < q; c++ {
				zeros := f.zeros(a, b, c)
				if isDifferenceSet(zeros, modulus, seen) {
					return zeros
				}
			}
		}
	}
	panic("quorum: no difference set; Singer's theorem says that there is one")
}

// zeros returns the k < q²+q+1 for which s(k) = 0, where s begins 0, 0, 1 and
// s(k+3) = a·s(k+2) + b·s(k+1) + c·s(k); or nil where there are not q+1.
func (f *field) zeros(a, b, c int) []int {
	zeros := make([]int, 0, f.q+1)
	s0, s1, s2 := 0, 0, 1
	for k := range f.q*f.q + f.q + 1 {
		if s0 == 0 {
			if len(zeros) == f.q+1 {
				return nil
			}
			zeros = append(zeros, k)
		}
		next := f.mul(c, s0)
		if b != 0 {
			next = f.add(next, f.mul(b, s1))
		}
		if a != 0 {
			next = f.add(next, f.mul(a, s2))
		}
		s0, s1, s2 = s1, s2, next
	}
	if len(zeros) != f.q+1 {
		return nil
	}
	return zeros
}

// isDifferenceSet reports whether all differences of two elements of set are
// different modulo modulus. seen is working memory.
func isDifferenceSet(set []int, modulus int, seen []bool) bool {
	if set == nil {
		return false
	}
	clear(seen)
	for i, x := range set {
		for _, y := range set[:i] {
			d := x - y
			if seen[d] || seen[modulus-d] {
				return false
			}
			seen[d], seen[modulus-d] = true, true
		}
	}
	return true
}
