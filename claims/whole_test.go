package claims

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// family is a system of request sets of the given sizes.
type family []int

func (f family) Node(dme.NodeID) dme.Node { return nil }

func (f family) RequestSet(id dme.NodeID) []dme.NodeID { return make([]dme.NodeID, f[id-1]) }

// of predicts x at every number of nodes but 1.
func of(x float64) func(dme.Setting) (float64, bool) {
	return func(s dme.Setting) (float64, bool) { return x, s.Nodes > 1 }
}

// sized makes evidence of a growth: three values at each size, around y.
func sized(transport string, y, claimed func(n float64) float64, sizes ...int) (all []Evidence) {
	for _, n := range sizes {
		x := y(float64(n))
		values := []float64{x * 0.99, x * 1.005, x * 1.005}
		all = append(all, Evidence{Point{
			Condition: "serial", Transport: transport, Nodes: n, Runs: 3, Predicted: claimed(float64(n)), Mean: &x, Max: &values[2],
		}, values})
	}
	return all
}

// delayed is a run with these times, in milliseconds: T, a critical section, a
// synchronization delay and its largest.
func delayed(t, cs, delay, longest float64) *runs.Result {
	t, cs = t*1e6, cs*1e6
	over := delay * 1e6 / t
	return &runs.Result{
		Status: runs.OK, Entries: 10, T: &t, CS: &cs, SyncDelayOverT: &over,
		SyncDelay:    &runs.Quantiles{Count: 9, Mean: delay * 1e6, Max: int64(longest * 1e6)},
		ResponseTime: &runs.Quantiles{Count: 10, Mean: 1e6 * (2 + cs/1e6)}, WaitingTime: &runs.Quantiles{Count: 10, Mean: 3e9},
	}
}

// What is said of claims, word by word and figure by figure: a verdict is read by people,
// and by programs. What the file holds was worked out by hand where it is more than a
// formula.
func TestWholeVerdicts(t *testing.T) {
	var all []Verdict
	ask := func(name string, c claim.Claim, evidence ...Evidence) {
		c.Name = name
		q := asked(c)
		q.Network, q.Set = "tcp", map[string]string{"mode": name}
		all = append(all, q.Judge(evidence))
	}
	construct := func(c claim.Claim, nodes int, sizes ...int) (e []Evidence) {
		a := &dme.Algorithm{RequestSet: dme.OfSystem(family.RequestSet)}
		if x, ok := Construct(c, dme.Setting{Algorithm: a, Nodes: nodes, System: family(sizes)}); ok {
			e = append(e, x)
		}
		return e
	}
	exact := claim.Claim{Quantity: claim.QuorumSize, Formula: "K", Load: claim.Static, Kind: claim.Exact, Source: "here", Predict: of(2)}
	mean, upper, lower := exact, exact, exact
	mean.Kind, upper.Kind, lower.Kind = claim.Mean, claim.UpperBound, claim.LowerBound
	upper.Predict, lower.Predict = of(4), of(1)
	ask("equal sets", exact, construct(exact, 3, 2, 2, 2)...)
	ask("unequal sets", exact, construct(exact, 3, 1, 3, 2)...)
	ask("equal on average", mean, construct(mean, 3, 1, 3, 2)...)
	ask("at most", upper, construct(upper, 3, 1, 3, 2)...)
	ask("at least", lower, append(construct(lower, 3, 1, 3, 2), construct(lower, 2, 2, 2)...)...)
	ask("nothing is claimed", exact, construct(exact, 1, 2)...)
	measured := exact
	measured.Measure = func(s dme.Setting) (float64, bool) { return float64(s.Nodes), s.Nodes != 3 }
	ask("measured", measured, append(construct(measured, 2), append(construct(measured, 3), construct(measured, 5)...)...)...)
	if _, ok := Construct(exact, dme.Setting{Nodes: 3}); ok {
		t.Error("a system without sets has sizes of them")
	}

	// Times over a simulated and a real network: T is 2 ms, a critical section 1 ms.
	delays := []*runs.Result{delayed(2, 1, 2.02, 2.1), delayed(2, 1, 2, 2.6), delayed(2, 1, 1.98, 2)}
	hand := claim.Claim{Quantity: claim.SyncDelay, Formula: "T", Load: claim.Saturated, Kind: claim.Mean, Predict: of(1)}
	respond := claim.Claim{Quantity: claim.ResponseTime, Formula: "T + E", Load: claim.Light, Kind: claim.Mean}
	respond.Predict = func(s dme.Setting) (float64, bool) { return (s.T + s.E).Seconds(), s.Nodes > 1 }
	for _, transport := range []string{runs.Sim, "tcp"} {
		cell := &Cell{Condition: "saturate", Spec: runs.Spec{Nodes: 4, Requests: 1000, Transport: transport}, Compared: 9, Results: delays}
		cell.Setting = dme.Setting{Nodes: 4}
		for _, c := range []claim.Claim{hand, respond} {
			if e, ok := cell.Compare(c, 1); ok {
				ask("times over "+transport, c, e)
			}
		}
	}
	slow := &Cell{Spec: runs.Spec{Nodes: 1, Transport: "tcp"}, Results: delays}
	if _, ok := slow.Compare(respond, 1); ok {
		t.Error("a claim was compared at a size for which it is not made")
	}
	if _, ok := slow.Compare(claim.Claim{Quantity: claim.MessagesPerCS, Kind: claim.Mean}, 1); ok {
		t.Error("runs that measured nothing were compared")
	}

	// Growths: as claimed, with another coefficient, of another kind, slower than a bound,
	// over a real network only, and at too few sizes.
	root := func(c, a float64) func(float64) float64 { return func(n float64) float64 { return c*math.Sqrt(n) + a } }
	linear := func(n float64) float64 { return n }
	sizes := []int{4, 9, 16, 36, 64, 100}
	growth := claim.Claim{
		Quantity: claim.MessagesPerCS, Formula: "3√N", Load: claim.Light, Kind: claim.Asymptotic, Growth: claim.Growth{Exponent: 0.5},
	}
	order, log := growth, growth
	order.Growth.Order, log.Growth, log.Formula = true, claim.Growth{Log: true, Order: true}, "O(log N)"
	ask("grows", growth, sized(runs.Sim, root(3, -1), root(3, 0), sizes...)...)
	ask("grows faster", growth, sized(runs.Sim, linear, root(3, 0), sizes...)...)
	ask("grows faster than its order", order, sized(runs.Sim, linear, root(3, 0), sizes...)...)
	ask("grows slower than its order", order, sized(runs.Sim, math.Log, root(3, 0), sizes...)...)
	ask("a logarithm", log, sized(runs.Sim, func(n float64) float64 { return 1 + math.Log(n) }, math.Log, sizes...)...)
	both := append(sized(runs.Sim, root(3, 1), root(3, 0), sizes...), sized("tcp", linear, root(3, 0), sizes...)...)
	ask("over one network", growth, both...)
	ask("out of order", growth, sized(runs.Sim, root(3, -1), root(3, 0), 100, 4, 64, 9, 36, 16)...)
	ask("four sizes", growth, sized(runs.Sim, root(3, 1), root(3, 0), 4, 9, 16, 100)...)
	ask("five sizes, too close", growth, sized(runs.Sim, root(3, 1), root(3, 0), 4, 9, 16, 25, 39)...)
	ask("five sizes, just apart", growth, sized(runs.Sim, root(3, 1), root(3, 0), 4, 9, 16, 25, 40)...)
	ask("no run", growth)

	var b strings.Builder
	for _, v := range rounded(all).([]any) {
		v := v.(map[string]any)
		for _, field := range slices.Sorted(maps.Keys(v)) {
			text, err := json.Marshal(v[field])
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s: %s\n", field, text)
		}
		b.WriteString("\n")
	}
	testkit.FileMustBe(t, "testdata/verdicts.txt", []byte(b.String()))
}

// rounded leaves six digits of the numbers in verdicts: fits differ in the last ones
// between processors.
func rounded(all []Verdict) any {
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	var tree any
	if err := d.Decode(&tree); err != nil {
		return err
	}
	var walk func(x any) any
	walk = func(x any) any {
		switch x := x.(type) {
		case map[string]any:
			for k, v := range x {
				x[k] = walk(v)
			}
		case []any:
			for i, v := range x {
				x[i] = walk(v)
			}
		case float64:
			if math.Abs(x) < 1e-9 {
				return 0
			}
			return json.Number(fmt.Sprintf("%.6g", x))
		}
		return x
	}
	return walk(tree)
}
