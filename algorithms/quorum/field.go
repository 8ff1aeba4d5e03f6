package quorum

// field is the finite field of q = p^m elements. An element is a number below
// q: its digits to the base p are the coefficients of a polynomial in x.
type field struct {
	p, q int
	exp  []int // exp[k] is x^k, 0 ≤ k < 2(q−1), so that a sum of two logarithms needs no reduction
	log  []int // log[x^k] is k; log[0] is not used
}

// PrimePower returns p where q = p^m, m ≥ 1, or 0 where q is no prime power.
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
