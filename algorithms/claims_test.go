package algorithms_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/testkit"
)

// claimSizes are the numbers of nodes at which claims are evaluated: small ones,
// and those of projective planes, complete trees, squares, and cubes.
var claimSizes = []int{2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 21, 25, 27, 31, 57, 63, 64, 91}

// settings returns what a claim can be evaluated on.
func settings(t *testing.T, a *dme.Algorithm, c claim.Claim) []dme.Setting {
	t.Helper()
	opt, err := a.Resolve(c.Set)
	if err != nil {
		t.Errorf("%s: %s %q: its options: %v", a.Name, c.Quantity, c.Formula, err)
		return nil
	}
	var all []dme.Setting
	for _, n := range claimSizes {
		if a.CheckNodes(n, opt) != nil {
			continue
		}
		sys, err := a.Prepare(dme.Config{Nodes: n, Seed: 1, Options: opt, Bound: 2 * time.Millisecond})
		if err != nil {
			t.Errorf("%s: N=%d: %s %q: %v", a.Name, n, c.Quantity, c.Formula, err)
			continue
		}
		s := dme.Setting{Algorithm: a, Nodes: n, Options: opt, System: sys, T: time.Millisecond, E: time.Millisecond}
		if c.Load != claim.Open {
			all = append(all, s)
			continue
		}
		s.Rate = 100 // far below what any algorithm can serve
		for _, s.Variability = range []float64{0, 1} {
			all = append(all, s)
		}
	}
	return all
}

// A claim must be made of some system, or nobody would notice that it is never
// judged; what the construction alone determines is judged here.
func TestClaims(t *testing.T) {
	for _, a := range algorithms.All() {
		for i, c := range claim.Of(a) {
			if slices.ContainsFunc(claim.Of(a)[:i], func(d claim.Claim) bool { return same(c, d) }) {
				t.Errorf("%s: %s %q, %s: listed twice", a.Name, c.Quantity, c.Formula, c.Load)
			}
			if c.Load == claim.Static && c.Measure == nil {
				t.Errorf("%s: %s %q: nothing can be run to determine it, and nothing measures it", a.Name, c.Quantity, c.Formula)
			}
			applies, refuted := 0, false
			var ratios []float64
			for _, s := range settings(t, a, c) {
				want, ok := c.Prediction(s)
				if !ok {
					continue
				}
				applies++
				if want < 0 || math.IsNaN(want) || math.IsInf(want, 0) {
					t.Errorf("%s: N=%d: %s %q predicts %v", a.Name, s.Nodes, c.Quantity, c.Formula, want)
				}
				if c.Measure == nil {
					continue
				}
				got, ok := c.Measure(s)
				if !ok {
					t.Errorf("%s: N=%d: %s %q predicts %v and measures nothing", a.Name, s.Nodes, c.Quantity, c.Formula, want)
					continue
				}
				if s.Nodes >= 7 {
					ratios = append(ratios, got/want)
				}
				if agree(c.Kind, got, want) {
					continue
				}
				refuted = true
				if c.KnownFalse == "" {
					t.Errorf("%s: N=%d: %s, %s %q: it is %v, not %v", a.Name, s.Nodes, c.Quantity, c.Kind, c.Formula, got, want)
				}
			}
			if applies == 0 {
				t.Errorf("%s: %s %q, %s, %v: it applies to no number of nodes", a.Name, c.Quantity, c.Formula, c.Load, c.Set)
			}
			if c.Measure == nil {
				continue
			}
			if c.Kind == claim.Asymptotic && slices.Max(ratios) > 2*slices.Min(ratios) {
				t.Errorf("%s: %s %q: it does not grow like that: %.2f times the formula", a.Name, c.Quantity, c.Formula, ratios)
			}
			if c.KnownFalse != "" && !refuted {
				t.Errorf("%s: %s %q is said to be false, and nothing measured here shows it", a.Name, c.Quantity, c.Formula)
			}
		}
	}
}

func agree(k claim.Kind, got, want float64) bool {
	const rounding = 1e-9
	switch k {
	case claim.UpperBound:
		return got <= want+rounding
	case claim.LowerBound:
		return got >= want-rounding
	case claim.Asymptotic:
		return true // judged over all sizes
	}
	return math.Abs(got-want) <= rounding
}

// same reports whether two claims would be told by the same words.
func same(c, d claim.Claim) bool {
	return c.Quantity == d.Quantity && c.Formula == d.Formula && c.Load == d.Load && c.Kind == d.Kind
}

// A gauge follows systems of any size, or all up to those of 64 nodes and none beyond.
// What is claimed of its quantity there is claimed of 64 nodes, too, and whoever says up
// to which size a claim is made says it as the gauge does.
func TestGaugesReachAsFarAsClaims(t *testing.T) {
	const most = 64
	limited, ends := 0, 0
	for _, a := range algorithms.All() {
		for _, g := range a.Gauges {
			for _, c := range claim.Of(a) {
				if c.Quantity.ID != g.Quantity {
					continue
				}
				claimed, followed := map[int]bool{}, map[int]bool{}
				for n := most - 2; n <= most+2; n++ {
					s := settingOf(t, a, c, n)
					_, claimed[n] = c.Prediction(s)
					followed[n] = g.Begin(s) != nil
					if !followed[n] && n <= most || followed[n] != followed[most+1] && n > most {
						t.Errorf("%s, %d nodes: %s is followed: %v", a.Name, n, g.Quantity, followed[n])
					}
				}
				if followed[most+1] {
					continue
				}
				limited++
				if claimed[most-1] && claimed[most-2] && !claimed[most] {
					t.Errorf("%s: made of %d nodes and not of %d", c.ID(a), most-1, most)
				}
				if claimed[most+1] && !claimed[most+2] {
					t.Errorf("%s: made of %d nodes, of which nothing is followed", c.ID(a), most+1)
				}
				if claimed[most] && !claimed[most+1] {
					ends++
				}
			}
		}
	}
	if limited == 0 || ends == 0 {
		t.Errorf("%d claims are of what is not followed in systems of any size, and %d end where that does", limited, ends)
	}
}

// settingOf is that of a claim in a system of so many nodes.
func settingOf(t *testing.T, a *dme.Algorithm, c claim.Claim, nodes int) dme.Setting {
	t.Helper()
	opt, err := a.Resolve(c.Set)
	if err == nil {
		err = a.CheckNodes(nodes, opt)
	}
	if err != nil {
		t.Fatalf("%s, %d nodes: %v", c.ID(a), nodes, err)
	}
	sys, err := a.Prepare(dme.Config{Nodes: nodes, Seed: 1, Options: opt, Bound: 2 * time.Millisecond})
	if err != nil {
		t.Fatalf("%s, %d nodes: %v", c.ID(a), nodes, err)
	}
	return dme.Setting{Algorithm: a, Nodes: nodes, Options: opt, System: sys, T: time.Millisecond, E: time.Millisecond}
}

// predictedAt are the sizes at which predictions are written down: small ones, planes,
// complete trees, squares and a cube.
var predictedAt = []int{2, 3, 4, 7, 8, 9, 13, 15, 16, 27}

// TestPredictions holds what every claim predicts, number by number: a bound that is
// loosened keeps all measurements happy, and would otherwise go unnoticed.
func TestPredictions(t *testing.T) {
	var text strings.Builder
	for _, a := range algorithms.All() {
		for _, c := range claim.Of(a) {
			var values []string
			for _, s := range settings(t, a, c) {
				if !slices.Contains(predictedAt, s.Nodes) {
					continue
				}
				s.E = 3 * s.T / 10 // unlike T
				if value, ok := c.Prediction(s); ok {
					values = append(values, fmt.Sprintf("%d:%s", s.Nodes, strconv.FormatFloat(value, 'g', 10, 64)))
				}
			}
			fmt.Fprintf(&text, "%s = %s\n  %s\n", c.ID(a), c.Formula, strings.Join(values, " "))
		}
	}
	testkit.FileMustBe(t, "testdata/predictions.txt", []byte(text.String()))
}

// Every statement of the source texts has a claim, or a reason why it has none; and
// every claim states one of them.
func TestInventory(t *testing.T) {
	text, err := os.ReadFile("testdata/inventory.txt")
	if err != nil {
		t.Fatal(err)
	}
	stated := make(map[string]bool) // by a line, of all ids
	for _, a := range algorithms.All() {
		if a.AsPublished {
			continue
		}
		for _, c := range append(claim.SafeAndLive("all texts"), claim.Of(a)...) {
			stated[c.ID(a)] = false
		}
	}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, " | ")
		if len(columns) != 3 || slices.Contains(columns, "") {
			t.Errorf("line %d: want statement | where | claims", i+1)
			continue
		}
		if reason, none := strings.CutPrefix(columns[2], "– "); none {
			if len(strings.Fields(reason)) < 5 {
				t.Errorf("line %d: %q has no claim, and no reason", i+1, columns[0])
			}
			continue
		}
		for begin := range strings.FieldsSeq(columns[2]) {
			found := false
			for id := range stated {
				if begins(id, begin) {
					stated[id], found = true, true
				}
			}
			if !found {
				t.Errorf("line %d: there is no claim %s", i+1, begin)
			}
		}
	}
	for id, ok := range stated {
		if !ok {
			t.Errorf("%s: no statement of the texts has it", id)
		}
	}
}

// begins reports whether an id begins so, with a whole part; * is any algorithm.
func begins(id, begin string) bool {
	if rest, any := strings.CutPrefix(begin, "*"); any {
		_, id, _ = strings.Cut(id, "/")
		id, begin = "/"+id, rest
	}
	rest, ok := strings.CutPrefix(id, begin)
	return ok && (rest == "" || strings.HasSuffix(begin, "/") || strings.ContainsAny(rest[:1], "/,"))
}
