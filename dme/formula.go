package dme

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// between is what stands between the expressions of a formula: signs that separate,
// remarks in brackets, and words.
var between = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[:,;=≅≈≤]| \([^()]*[a-z]{2}[^()]*\)|\b[a-z]{2,}\b`)
})

var found sync.Map // expressions by the texts that they stand in

// expressionIn returns the first expression in a text such as `2(N−1), counting
// receivers` or `fewer than 3√n`, nil if there is none. In `K = √N`, K is no more than
// a name.
func expressionIn(text string) []rune {
	if known, ok := found.Load(text); ok {
		return known.([]rune)
	}
	var expression []rune
	for rest := strings.ReplaceAll(text, "log2", "㏒"); rest != "" && expression == nil; {
		part, sign := rest, ""
		if at := between().FindStringIndex(rest); at != nil {
			part, sign, rest = rest[:at[0]], rest[at[0]:at[1]], rest[at[1]:]
		} else {
			rest = ""
		}
		runes := []rune(strings.ReplaceAll(part, " ", ""))
		if len(runes) == 1 && unicode.IsLetter(runes[0]) && (sign == "=" || sign == "≈") {
			continue
		}
		f := formula{runes, func(name rune) (float64, bool) { return Setting{}.variable(Quantity{}, name) }}
		if _, ok := f.sum(); ok && len(f.rest) == 0 {
			expression = runes
		}
	}
	found.Store(text, expression)
	return expression
}

// variable returns the value of a variable in formulas of a quantity, NaN where it has
// none: m of a number of nodes that is no cube, K of an algorithm without request sets,
// T and E where no message takes any time.
func (s Setting) variable(of Quantity, name rune) (value float64, known bool) {
	n := float64(s.Nodes)
	switch name {
	case 'N', 'n':
		return n, true
	case 'm':
		if m := math.Round(math.Cbrt(n)); m*m*m == n {
			return m, true
		}
	case 'K':
		if sets, ok := s.System.(Quorate); ok {
			others := 0 // a node needs no message for its own consent
			for id := NodeID(1); int(id) <= s.Nodes; id++ {
				set := sets.RequestSet(id)
				others += len(set)
				if slices.Contains(set, id) {
					others--
				}
			}
			return 1 + float64(others)/n, true
		}
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
