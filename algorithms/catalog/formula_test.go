package catalog_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/dme"
)

// TestFormulas evaluates the formulas that claims show to readers, where they are nothing
// but a formula, and compares them with what the claims predict.
func TestFormulas(t *testing.T) {
	read := 0
	for _, a := range catalog.All() {
		for _, c := range a.Claims {
			before, _, _ := strings.Cut(c.Formula, ":")
			before, _, _ = strings.Cut(before, " (")
			before, defined, more := strings.Cut(before, ", ")
			if more && !strings.Contains(defined, " = ") || strings.Contains(c.Formula, "(complete graph): n(n−1)/n") {
				continue // what follows says that it is not always so
			}
			evaluated := false
			for _, s := range settings(t, a, c) {
				s.E = 3 * s.T / 10
				want, ok := c.Predict(s)
				got, readable := evaluate(strings.TrimSpace(before), variablesOf(c, s))
				if !ok || !readable {
					continue
				}
				evaluated = true
				if math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
					t.Errorf("%s: N=%d: %q is %v, predicted is %v", a.ClaimID(c), s.Nodes, before, got, want)
					break
				}
			}
			if evaluated {
				read++
			}
		}
	}
	t.Logf("%d formulas", read)
	if read < 300 {
		t.Errorf("%d formulas could be read: what reads them is broken", read)
	}
}

// variablesOf returns the values of the letters in a formula.
func variablesOf(c dme.Claim, s dme.Setting) map[string]float64 {
	n := float64(s.Nodes)
	v := map[string]float64{"N": n, "n": n, "T": s.T.Seconds(), "E": s.E.Seconds()}
	if c.Quantity == dme.SyncDelay {
		v["T"] = 1 // it is in units of T
	}
	if sets, ok := s.System.(dme.Quorate); ok {
		v["K"] = float64(len(sets.RequestSet(1)))
	}
	if side := math.Round(math.Cbrt(n)); side*side*side == n {
		v["m"] = side
	}
	return v
}

func TestEvaluate(t *testing.T) {
	v := map[string]float64{"N": 13, "K": 4, "T": 2, "E": 3}
	for text, want := range map[string]float64{
		"2(N−1)": 24, "N(N+1)/2 − 1": 90, "3√N": 3 * math.Sqrt(13), "(1+√(4N−3))/2": 4, "⌊N/2⌋ + 1": 7, "3(K−1)": 9,
		"1/(2T + E)": 1. / 7, "2T(N−1)/N + E": 48./13 + 3, "4": 4, "(2 − 2/K)T": 3, "2·K": 8, "N²": 169, "log2(N+3)": 4,
	} {
		if got, ok := evaluate(text, v); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "2(N−1", "more than 2", "X", "2N)", "N −"} {
		if got, ok := evaluate(text, v); ok {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

// evaluate reads a formula as papers write it; ok is false where it is none, or has
// letters without a value.
func evaluate(text string, values map[string]float64) (value float64, ok bool) {
	f := formula{rest: []rune(text), values: values}
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	value = f.sum()
	return value, len(f.rest) == 0
}

// formula is what is left to read. What cannot be read panics.
type formula struct {
	rest   []rune
	values map[string]float64
}

func (f *formula) peek() rune {
	for len(f.rest) > 0 && f.rest[0] == ' ' {
		f.rest = f.rest[1:]
	}
	if len(f.rest) == 0 {
		return 0
	}
	return f.rest[0]
}

func (f *formula) take(any string) (r rune, ok bool) {
	if r = f.peek(); r == 0 || !strings.ContainsRune(any, r) {
		return 0, false
	}
	f.rest = f.rest[1:]
	return r, true
}

func (f *formula) sum() float64 {
	value := f.product()
	for {
		switch r, _ := f.take("+−-"); r {
		case '+':
			value += f.product()
		case '−', '-':
			value -= f.product()
		default:
			return value
		}
	}
}

// product is what is written side by side, or with · or /.
func (f *formula) product() float64 {
	value := f.factor()
	for {
		r, _ := f.take("/·")
		switch next := f.peek(); {
		case r == '/':
			value /= f.factor()
		case r == '·':
			value *= f.factor()
		case next == '(' || next == '√' || next == '⌊' || next >= 'A' && next <= 'z':
			value *= f.factor()
		default:
			return value
		}
	}
}

func (f *formula) factor() float64 {
	value := f.atom()
	if _, squared := f.take("²"); squared {
		value *= value
	}
	return value
}

func (f *formula) atom() float64 {
	switch r := f.peek(); {
	case r == '(' || r == '⌊':
		f.rest = f.rest[1:]
		value := f.sum()
		if _, closed := f.take(map[rune]string{'(': ")", '⌊': "⌋"}[r]); !closed {
			panic("not closed")
		}
		if r == '⌊' {
			return math.Floor(value)
		}
		return value
	case r == '√':
		f.rest = f.rest[1:]
		return math.Sqrt(f.atom())
	case r >= '0' && r <= '9':
		return f.number()
	case strings.HasPrefix(string(f.rest), "log2("):
		f.rest = f.rest[len("log2"):]
		return math.Log2(f.atom())
	default:
		value, known := f.values[string(r)]
		if !known {
			panic("no such letter")
		}
		f.rest = f.rest[1:]
		return value
	}
}

func (f *formula) number() float64 {
	n := 0
	for n < len(f.rest) && (f.rest[n] >= '0' && f.rest[n] <= '9' || f.rest[n] == '.') {
		n++
	}
	value, err := strconv.ParseFloat(string(f.rest[:n]), 64)
	if err != nil {
		panic(err)
	}
	f.rest = f.rest[n:]
	return value
}
