package catalog_test

import (
	"fmt"
	"iter"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"dmebench/algorithms/catalog"
	"dmebench/dme"
)

// What a claim predicts is what its formula says, as the paper writes it and reports
// print it: a bound that was loosened in one of the two would go unnoticed otherwise,
// for every measurement is below it.
func TestPredictionsAreTheirFormulas(t *testing.T) {
	evaluated := 0
	for _, a := range catalog.All() {
		for _, c := range a.Claims {
			compared := false
			for _, s := range settings(t, a, c) {
				s.T, s.E = 3*time.Millisecond, 7*time.Millisecond
				got, ok := c.Predict(s)
				if !ok {
					continue
				}
				delay, stay := s.T.Seconds(), s.E.Seconds()
				if c.Quantity == dme.SyncDelay {
					delay, stay = 1, stay/delay // it is told in units of T
				}
				values := evaluate(c.Formula, variables(s, delay, stay))
				if len(values) == 0 || slices.Contains(inWords, c.Formula) {
					break // in words, or in variables of the paper's own
				}
				compared = true
				if !slices.ContainsFunc(values, func(x float64) bool { return math.Abs(got-x) <= 1e-9*max(1, math.Abs(x)) }) {
					t.Errorf("%s: N=%d: %q is %v, and %v is predicted", a.ClaimID(c), s.Nodes, c.Formula, values, got)
					break
				}
			}
			if compared {
				evaluated++
			}
		}
	}
	t.Logf("%d formulas", evaluated)
	if evaluated < 150 {
		t.Errorf("the formulas of %d claims could be evaluated; most can", evaluated)
	}
}

// inWords are formulas whose numbers are no more than a part of what they say.
var inWords = []string{
	"3 log m + 1",
	"3 log m + 2 = O(log n)",
	"3 log m + 2 = O(log n), repair=numbered",
	"log2(2N−1) bits for a number",
	"less than 1: (D+1)/2D (increments=random)",
	"at most that of degree 3 (radiating star of degree 6): higher fan-outs are preferred",
	"half of 2 · (N+1)/3 · (N−1)/N ≈ 2N/3 (line, uniformly drawn requesters)",
	"N − |CSet|, and |CSet| = 1",
	"N/2 permissions (majority)",
	"above 1: weights 4, 2, 1, 1, 1, 1, 1 of 7 nodes",
	"3(K−1), K = log2(n+1)",
	"K−1, K = log2(n+1)",
	"2^k, n = 2^(k+1)−1",
	"as many as leaves, without failures: 8 on 15 sites",
	"log n, as without failures; (k−i)+2i = k+1, i = 1",
	"n − ⌊log n⌋, log n = log2(n+1)",
	"n − ⌊log n⌋, log n = log2 n",
	"log n − 1 (\"less than log n\"), log n = log2(n+1)",
}

// variables are those of a setting in which a message takes so long, and a critical
// section.
func variables(s dme.Setting, delay, stay float64) map[string]float64 {
	all := map[string]float64{"N": float64(s.Nodes), "n": float64(s.Nodes), "T": delay, "E": stay}
	if sets, ok := s.System.(interface {
		RequestSets() iter.Seq2[dme.NodeID, []dme.NodeID]
	}); ok {
		others := 0
		for id, set := range sets.RequestSets() {
			others += len(set)
			if slices.Contains(set, id) {
				others--
			}
		}
		all["K"] = 1 + float64(others)/float64(s.Nodes) // a node needs no message for its own consent
	}
	return all
}

// between is what stands between formulas: words, and signs that separate.
var between = regexp.MustCompile(`[:,;=≅≈]| \([^()]*[a-z]{2}[^()]*\)|\b[a-z]{2,}\b`)

// evaluate computes the formulas in a text, such as `2(N−1), counting receivers` or `0 or
// N: N(N−1)/N`.
func evaluate(text string, variables map[string]float64) (values []float64) {
	text = strings.ReplaceAll(text, "log2", "㏒")
	for part := range strings.SplitSeq(between.ReplaceAllString(text, "\n"), "\n") {
		p := &formula{variables: variables}
		for _, r := range part {
			if !unicode.IsSpace(r) {
				p.rest = append(p.rest, r)
			}
		}
		if len(p.rest) == 0 {
			continue
		}
		if x, err := p.sum(); err == nil && len(p.rest) == 0 {
			values = append(values, x)
		}
	}
	return values
}

// formula is the rest of a text that is evaluated: sums of products of factors, where a
// product needs no sign.
type formula struct {
	rest      []rune
	variables map[string]float64
}

func (p *formula) next(any string) rune {
	if len(p.rest) == 0 || !strings.ContainsRune(any, p.rest[0]) {
		return 0
	}
	r := p.rest[0]
	p.rest = p.rest[1:]
	return r
}

func (p *formula) sum() (float64, error) {
	x, err := p.product()
	for err == nil {
		sign := p.next("+−-")
		if sign == 0 {
			break
		}
		var y float64
		if y, err = p.product(); sign == '+' {
			x += y
		} else {
			x -= y
		}
	}
	return x, err
}

func (p *formula) product() (float64, error) {
	x, err := p.factor()
	for err == nil && len(p.rest) > 0 && !strings.ContainsRune("+−-)⌋⌉", p.rest[0]) {
		if p.next("·"); p.next("/") != 0 {
			var y float64
			y, err = p.factor()
			x /= y
			continue
		}
		var y float64
		y, err = p.factor()
		x *= y
	}
	return x, err
}

func (p *formula) factor() (float64, error) {
	if open := p.next("(⌊⌈√㏒"); open != 0 {
		if open == '√' || open == '㏒' {
			x, err := p.factor()
			if open == '㏒' {
				return math.Log2(x), err
			}
			return math.Sqrt(x), err
		}
		x, err := p.sum()
		if err == nil && p.next(")⌋⌉") == 0 {
			err = fmt.Errorf("a bracket is not closed")
		}
		switch open {
		case '⌊':
			x = math.Floor(x)
		case '⌈':
			x = math.Ceil(x)
		}
		return x, err
	}
	digits := slices.IndexFunc(p.rest, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' })
	if digits < 0 {
		digits = len(p.rest)
	}
	if digits > 0 {
		x, err := strconv.ParseFloat(string(p.rest[:digits]), 64)
		p.rest = p.rest[digits:]
		return x, err
	}
	if len(p.rest) > 0 {
		if x, ok := p.variables[string(p.rest[0])]; ok {
			p.rest = p.rest[1:]
			return x, nil
		}
	}
	return 0, fmt.Errorf("%q is no number", string(p.rest))
}

func TestEvaluate(t *testing.T) {
	values := map[string]float64{"N": 5, "n": 5, "T": 2, "E": 3, "K": 3}
	for text, want := range map[string][]float64{
		"2(N−1), counting receivers": {8}, "N(T + E)": {25}, "(N−1)/N: 1, but 0 for one": {0.8, 1, 0}, "3⌊N/2⌋ (majority)": {6},
		"(1+√(4N−3))/2 at least": {(1 + math.Sqrt(17)) / 2}, "N(N+1)/2 − 1": {14}, "1/(2T(N−1)/N + E)": {1 / (16./5 + 3)},
		"0 or N: N(N−1)/N for uniformly drawn requesters": {0, 5, 4}, "K−1, K = log2(n+1)": {2, 3, math.Log2(6)},
		"": nil, "fewer than others": nil, "2(N−1": nil, "m²": nil, "O(√N)": nil,
	} {
		if got := evaluate(text, values); !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("%q is %v; want %v", text, got, want)
		}
	}
}
