package quorum

import (
	"cmp"
	"math"
	"slices"

	"dmebench/dme"
)

// plane returns the lines of a projective plane as request sets, the line of
// node i containing i. A plane of order k has N = k²+k+1 points and as many
// lines of K = k+1 points each; any two lines meet in exactly one point. Planes
// are known for every k that is a power of a prime (Maekawa 1985, section 3).
//
// For any other N the sets are degenerate: see [truncate].
func plane(cfg Config) (family, error) {
	n := cfg.Nodes
	if n <= 2 {
		// The planes of order 0, a point, and 1, a triangle, are not made of
		// fields. Of two nodes each asks both, rather than one of them asking
		// itself alone.
		return majority(cfg)
	}
	order := planeOrder(n)
	size := order*order + order + 1
	lines := cyclic{modulus: size, offsets: []int{0, 1}} // the triangle
	if order > 1 {
		lines.offsets = differenceSet(order)
	}
	if n == size {
		return lines, nil
	}
	return truncate(lines, n), nil
}

// planeOrder returns the order of the smallest plane of at least n ≥ 2 points
// that can be made: 1, or a power of a prime.
func planeOrder(n int) int {
	k := 1
	for k*k+k+1 < n || k > 1 && PrimePower(k) == 0 {
		k++
	}
	return k
}

// truncated is the family of the lines 1 … nodes of a larger plane, in which an
// existing node stands in for each point that is missing, in all lines alike.
// (If the missing points were dropped, lines that met in one of them would no
// longer meet.)
type truncated struct {
	lines   cyclic
	nodes   int
	standIn []dme.NodeID   // for the missing point nodes+1+k, at k
	behind  [][]dme.NodeID // the missing points that node i stands in for, at i-1
	sizes   []int16        // of the set of node i, at i-1
	loads   []int16        // how many sets node i is in, at i-1
}

// truncate chooses the stand-ins, one missing point after the other. Each
// choice adds as little as possible to the sum of the squares of the loads,
// where the load of a node is the number of sets that contain it: this keeps
// the sets small, since a stand-in adds nothing to a line that it is already
// on, and the loads near each other. The lowest of equally good nodes is taken.
func truncate(lines cyclic, nodes int) truncated {
	t := truncated{
		lines: lines, nodes: nodes,
		standIn: make([]dme.NodeID, lines.modulus-nodes),
		behind:  make([][]dme.NodeID, nodes),
		sizes:   slices.Repeat([]int16{int16(len(lines.offsets))}, nodes),
		loads:   make([]int16, nodes),
	}
	loads := t.loads // as if the missing points that are still to come were dropped
	table := lines.lineTable()
	var served []dme.NodeID
	free := make([]int32, nodes) // nodes, those with the smallest loads first, from the first that stands in for none
	for i := range loads {
		// It is on line i+1-d (mod N) for each d in D, which is missing if d is from i+1 to i+len(standIn).
		first, _ := slices.BinarySearch(lines.offsets, i+1)
		last, _ := slices.BinarySearch(lines.offsets, i+1+len(t.standIn))
		loads[i], free[i] = int16(len(lines.offsets)-(last-first)), int32(i)
	}
	slices.SortStableFunc(free, func(i, j int32) int { return cmp.Compare(loads[i], loads[j]) })
	ofNodes := func(line dme.NodeID) (count int16) { // 1 if it is a node's, 0 if it is missing too
		if int(line) <= nodes {
			count = 1
		}
		return count
	}
	again := make([]bool, len(t.standIn)) // the node stands in for an earlier point too
	shared := make([]int16, nodes)        // of the lines of nodes through the missing point: those that contain the node already
	for k := range t.standIn {
		missing := dme.NodeID(nodes + 1 + k)
		served = t.appendLinesThrough(served[:0], missing)
		best, least := int32(-1), int64(math.MaxInt64)
		consider := func(i int32) (cost int64) {
			added := int64(len(served)) - int64(shared[i])
			cost = added * (2*int64(loads[i]) + added)
			if cost < least || cost == least && i < best {
				best, least = i, cost
			}
			return cost
		}
		for j, node := range t.standIn[:k] {
			point := dme.NodeID(nodes + 1 + j)
			own, line := table.through(missing, node), table.through(missing, point)
			if !again[j] {
				shared[node-1] = ofNodes(own)
			}
			if ofNodes(line) == 0 || line == own {
				continue // a line of nodes counts, and once
			}
			if !again[j] || t.firstBehind(node, point, func(other dme.NodeID) bool { return table.through(missing, other) == line }) {
				shared[node-1]++
			}
		}
		for _, node := range t.standIn[:k] {
			consider(int32(node - 1))
		}
		// Of the nodes that stand in for none, the first that is on a line of nodes with the missing point
		// and the first that is not are the best, unless they cost nothing: then the lowest is taken.
		var found [2]bool
		for _, i := range free {
			if t.behind[i] != nil {
				continue
			}
			shared[i] = ofNodes(table.through(missing, dme.NodeID(i+1)))
			if !found[shared[i]] {
				found[shared[i]] = consider(i) > 0
			}
			if found[0] && found[1] {
				break
			}
		}
		loads[best] += int16(len(served)) - shared[best]
		t.standIn[k], again[k] = dme.NodeID(best+1), t.behind[best] != nil
		for _, line := range served {
			if t.has(line, t.standIn[k]) { // the line has one point less
				t.sizes[line-1]--
			}
		}
		t.behind[best] = append(t.behind[best], missing)
		for len(free) > 0 && t.behind[free[0]] != nil {
			free = free[1:]
		}
	}
	return t
}

// firstBehind reports whether point is the first on a line of those that the node stands in for.
func (t truncated) firstBehind(node, point dme.NodeID, onLine func(dme.NodeID) bool) bool {
	return point == t.behind[node-1][slices.IndexFunc(t.behind[node-1], func(p dme.NodeID) bool { return p == point || onLine(p) })]
}

// lineTable finds the one line through two points: every number is a difference of two elements
// of D in one way only.
type lineTable struct {
	modulus int
	larger  []int32 // of the two elements, by their difference
}

func (c cyclic) lineTable() lineTable {
	t := lineTable{c.modulus, make([]int32, c.modulus)}
	for _, x := range c.offsets {
		for _, y := range c.offsets {
			t.larger[(x-y+c.modulus)%c.modulus] = int32(x)
		}
	}
	return t
}

func (t *lineTable) through(p, q dme.NodeID) dme.NodeID {
	d := int(p) - int(q)
	if d < 0 {
		d += t.modulus
	}
	line := int(p) - int(t.larger[d])
	if line < 1 {
		line += t.modulus
	}
	return dme.NodeID(line)
}

func (t truncated) count(id dme.NodeID) (size, load int) {
	return int(t.sizes[id-1]), int(t.loads[id-1])
}

func (t truncated) has(id, member dme.NodeID) bool {
	return t.lines.has(id, member) || slices.ContainsFunc(t.behind[member-1], func(point dme.NodeID) bool { return t.lines.has(id, point) })
}

// appendSet leaves out points that have no stand-in yet; there are none once
// truncate has returned.
func (t truncated) appendSet(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	from := len(to)
	to = t.lines.appendSet(to, id)
	kept := to[:from]
	for _, point := range to[from:] {
		if int(point) > t.nodes {
			point = t.standIn[int(point)-t.nodes-1]
		}
		if point != dme.None {
			kept = append(kept, point)
		}
	}
	slices.Sort(kept[from:])
	return kept[:from+len(slices.Compact(kept[from:]))]
}

func (t truncated) appendServed(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	from := len(to)
	to = t.appendLinesThrough(to, id)
	if len(t.behind[id-1]) == 0 {
		return to
	}
	for _, point := range t.behind[id-1] {
		to = t.appendLinesThrough(to, point)
	}
	slices.Sort(to[from:])
	return to[:from+len(slices.Compact(to[from:]))]
}

// appendLinesThrough appends the lines of existing nodes through a point of the
// plane, ascending.
func (t truncated) appendLinesThrough(to []dme.NodeID, point dme.NodeID) []dme.NodeID {
	from := len(to)
	to = t.lines.appendServed(to, point)
	kept, _ := slices.BinarySearch(to[from:], dme.NodeID(t.nodes+1))
	return to[:from+kept]
}

// field is the finite field of q = p^m elements. An element is a number below
// q: its digits to the base p are the coefficients of a polynomial in x.
type field struct {
	p, q int
	exp  []int // exp[k] is x^k, 0 ≤ k < 2(q−1), so that a sum of two logarithms needs no reduction
	log  []int // log[x^k] is k; log[0] is not used
}

// PrimePower returns p where q = p^m, m ≥ 1, or 0 if q is no prime power.
func PrimePower(q int) int {
	if q < 2 {
		return 0
	}
	p := 2
	for q%p != 0 {
		if p++; p*p > q {
			p = q
		}
	}
	for q%p == 0 {
		q /= p
	}
	if q != 1 {
		return 0
	}
	return p
}

// newField returns the field of q elements, a prime power. It takes the first
// c for which x generates the field's multiplicative group when x^m is replaced
// by the polynomial c; there is one for every prime power.
func newField(q int) *field {
	f := &field{p: PrimePower(q), q: q, exp: make([]int, 2*(q-1)), log: make([]int, q)}
	for c := 1; c < q; c++ {
		if f.generate(c) {
			return f
		}
	}
	panic("quorum: no field; not a prime power")
}

// generate fills the tables with the powers of x, where x^m = c, and reports
// whether they are all q−1 elements but 0.
func (f *field) generate(c int) bool {
	top := f.q / f.p // x^(m−1)
	power := 1
	for k := range f.q - 1 {
		if power == 0 || k > 0 && power == 1 {
			return false
		}
		f.exp[k], f.exp[k+f.q-1] = power, power
		f.log[power] = k
		carry := power / top
		power = power % top * f.p
		for range carry {
			power = f.add(power, c)
		}
	}
	return power == 1
}

func (f *field) add(a, b int) int {
	sum := 0
	for place := 1; place < f.q; place *= f.p {
		sum += (a%f.p + b%f.p) % f.p * place
		a, b = a/f.p, b/f.p
	}
	return sum
}

func (f *field) mul(a, b int) int {
	if a == 0 || b == 0 {
		return 0
	}
	return f.exp[f.log[a]+f.log[b]]
}

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
// s(k+3) = a·s(k+2) + b·s(k+1) + c·s(k); or nil if there are not q+1.
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
