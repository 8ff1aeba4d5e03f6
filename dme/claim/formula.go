package claim

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"dmebench/dme"
)

// expressionIn returns the first expression in a text such as `2(N−1), counting
// receivers` or `fewer than 3√n`, nil if there is none. In `K = √N`, K is no more than
// a name.
func expressionIn(text string) []rune {
	for rest := []rune(strings.ReplaceAll(text, "log2", "㏒")); len(rest) > 0; {
		var part []rune
		var sign rune
		part, sign, rest = cut(rest)
		part = slices.DeleteFunc(part, unicode.IsSpace)
		if len(part) == 1 && unicode.IsLetter(part[0]) && (sign == '=' || sign == '≈') {
			continue
		}
		f := formula{part, func(name rune) (float64, bool) { return variable(dme.Setting{}, Quantity{}, name) }}
		if _, ok := f.sum(); ok && len(f.rest) == 0 {
			return part
		}
	}
	return nil
}

// cut returns what stands before and after the first sign that separates, word, or remark
// in brackets, and the sign.
func cut(text []rune) (before []rune, sign rune, after []rune) {
	for i, r := range text {
		if strings.ContainsRune(":,;=≅≈≤", r) {
			return slices.Clone(text[:i]), r, text[i+1:]
		}
		if n := letters(text[i:]); n >= 2 && (i == 0 || !unicode.IsLetter(text[i-1])) {
			return slices.Clone(text[:i]), 0, text[i+n:]
		}
		if r != '(' || i == 0 || text[i-1] != ' ' {
			continue
		}
		for k := i + 1; k < len(text) && text[k] != '('; k++ {
			if text[k] != ')' {
				continue
			}
			for at := i + 1; at < k; at++ {
				if letters(text[at:k]) >= 2 {
					return slices.Clone(text[:i]), 0, text[k+1:]
				}
			}
			break
		}
	}
	return slices.Clone(text), 0, nil
}

// letters returns how many small letters a text begins with.
func letters(text []rune) int {
	end := slices.IndexFunc(text, func(r rune) bool { return r < 'a' || r > 'z' })
	if end < 0 {
		return len(text)
	}
	return end
}

// variable returns the value of a variable in formulas of a quantity, NaN if it has none: m of a
// number of nodes that is no cube, K of an algorithm without request sets, T and E if no message
// takes any time.
func variable(s dme.Setting, of Quantity, name rune) (value float64, known bool) {
	n := float64(s.Nodes)
	switch name {
	case 'N', 'n':
		return n, true
	case 'm':
		if m := math.Round(math.Cbrt(n)); m*m*m == n {
			return m, true
		}
	case 'K':
		others := 0 // a node needs no message for its own consent
		for id := dme.NodeID(1); int(id) <= s.Nodes; id++ {
			set := s.RequestSet(id)
			if set == nil {
				return math.NaN(), true
			}
			others += len(set)
			if slices.Contains(set, id) {
				others--
			}
		}
		return 1 + float64(others)/n, true
	case 'T', 'E':
		unit := time.Second
		if of == SyncDelay {
			unit = s.T
		}
		switch {
		case s.Nodes < 2: // no message is sent
		case name == 'T' && of == SyncDelay:
			return 1, true
		case s.T > 0 && name == 'T':
			return s.T.Seconds(), true
		case s.T > 0:
			return s.E.Seconds() / unit.Seconds(), true
		}
	default:
		return 0, false
	}
	return math.NaN(), true
}

// formula is the rest of an expression: sums of products of factors, where a product
// needs no sign.
type formula struct {
	rest     []rune
	variable func(rune) (float64, bool)
}

func (f *formula) next(any string) rune {
	if len(f.rest) == 0 || !strings.ContainsRune(any, f.rest[0]) {
		return 0
	}
	r := f.rest[0]
	f.rest = f.rest[1:]
	return r
}

func (f *formula) sum() (x float64, ok bool) {
	x, ok = f.product()
	for ok {
		sign := f.next("+−-")
		if sign == 0 {
			break
		}
		var y float64
		if y, ok = f.product(); sign == '+' {
			x += y
		} else {
			x -= y
		}
	}
	return x, ok
}

func (f *formula) product() (x float64, ok bool) {
	x, ok = f.factor()
	for ok && len(f.rest) > 0 && !strings.ContainsRune("+−-)⌋⌉", f.rest[0]) {
		divided := f.next("·/") == '/'
		var y float64
		if y, ok = f.factor(); divided {
			x /= y
		} else {
			x *= y
		}
	}
	return x, ok
}

func (f *formula) factor() (x float64, ok bool) {
	x, ok = f.base()
	if ok && f.next("²") != 0 {
		x *= x
	}
	return x, ok
}

func (f *formula) base() (x float64, ok bool) {
	switch open := f.next("(⌊⌈√㏒"); open {
	case '√':
		x, ok = f.factor()
		return math.Sqrt(x), ok
	case '㏒':
		x, ok = f.factor()
		return math.Log2(x), ok
	case '(', '⌊', '⌈':
		x, ok = f.sum()
		ok = ok && f.next(")⌋⌉") != 0
		switch open {
		case '⌊':
			x = math.Floor(x)
		case '⌈':
			x = math.Ceil(x)
		}
		return x, ok
	}
	digits := 0
	for digits < len(f.rest) && (unicode.IsDigit(f.rest[digits]) || f.rest[digits] == '.') {
		digits++
	}
	if digits > 0 {
		x, err := strconv.ParseFloat(string(f.rest[:digits]), 64)
		f.rest = f.rest[digits:]
		return x, err == nil
	}
	if len(f.rest) == 0 {
		return 0, false
	}
	x, ok = f.variable(f.rest[0])
	f.rest = f.rest[1:]
	return x, ok
}
