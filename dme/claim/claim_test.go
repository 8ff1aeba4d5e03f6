package claim

import (
	"math"
	"testing"
	"time"

	"dmebench/dme"
)

// A measurement agrees with what is claimed of all runs up to what rounding leaves: a
// part in a thousand million or, of less than 1, as much as of 1.
func TestWhatAgrees(t *testing.T) {
	for _, x := range []struct {
		predicted, lo, hi float64
		agrees            map[Kind]bool
	}{
		{8, 8, 8, map[Kind]bool{Exact: true, UpperBound: true, LowerBound: true}},
		{8, 7, 8, map[Kind]bool{Exact: false, UpperBound: true, LowerBound: false}},
		{8, 8, 9, map[Kind]bool{Exact: false, UpperBound: false, LowerBound: true}},
		{8, 7, 9, map[Kind]bool{Exact: false, UpperBound: false, LowerBound: false}},
		{-8, -8, -7, map[Kind]bool{Exact: false, UpperBound: false, LowerBound: true}},
		{1e6, 1e6 - 0.9e-3, 1e6 + 0.9e-3, map[Kind]bool{Exact: true, UpperBound: true, LowerBound: true}},
		{1e6, 1e6 - 1.1e-3, 1e6 + 1.1e-3, map[Kind]bool{Exact: false, UpperBound: false, LowerBound: false}},
		{-1e6, -1e6 - 0.9e-3, -1e6 + 0.9e-3, map[Kind]bool{Exact: true, UpperBound: true, LowerBound: true}},
		{0, -1e-9, 1e-9, map[Kind]bool{Exact: true, UpperBound: true, LowerBound: true}},
		{0, -0.9e-9, 0.9e-9, map[Kind]bool{Exact: true, UpperBound: true, LowerBound: true}},
		{0, -1.1e-9, 1.1e-9, map[Kind]bool{Exact: false, UpperBound: false, LowerBound: false}},
	} {
		for kind, want := range x.agrees {
			if got, judged := kind.Agrees(x.predicted, x.lo, x.hi); got != want || !judged {
				t.Errorf("%s %v, measured %v to %v: %v, %v; want %v", kind, x.predicted, x.lo, x.hi, got, judged, want)
			}
		}
	}
	for _, kind := range []Kind{Mean, Asymptotic} {
		if agrees, judged := kind.Agrees(8, 8, 8); agrees || judged {
			t.Errorf("%s: %v, %v; want that it takes more than a look", kind, agrees, judged)
		}
	}
}

// A load is heavy from where the entries of the others take as long as a request, the
// answer to it and as much again: 4T.
func TestHeavyLoad(t *testing.T) {
	for _, x := range []struct {
		nodes int
		e     time.Duration
		want  bool
	}{
		{3, 2 * time.Second, true}, {3, 2*time.Second - 1, false}, {4, time.Second, true},
		{2, 6 * time.Second, true}, {2, 5 * time.Second, false},
	} {
		for i, c := range HandOver(1, Mean, "a paper") {
			s := dme.Setting{Nodes: x.nodes, T: 2 * time.Second, E: x.e}
			if _, ok := c.Prediction(s); ok != x.want {
				t.Errorf("claim %d of %+v: %v, want %v", i, s, ok, x.want)
			}
		}
	}
	for _, c := range HandOver(1, Mean, "a paper")[1:] {
		if c.Kind != Mean || c.Source != "a paper; textbook, section 9.2.3" {
			t.Errorf("%+v", c)
		}
	}
}

// A prediction is what the first expression in a formula says, or the claim's own.
func TestPredictions(t *testing.T) {
	a := &dme.Algorithm{RequestSet: dme.OfSystem(asking.RequestSet)}
	s := dme.Setting{Algorithm: a, Nodes: 8, System: asking{}, T: 2 * time.Second, E: 3 * time.Second}
	number := func(x float64) func(dme.Setting) (float64, bool) {
		return func(dme.Setting) (float64, bool) { return x, true }
	}
	many := func(s dme.Setting) bool { return s.Nodes > 2 }
	few := func(s dme.Setting) bool { return s.Nodes < 8 }
	with := func(f func(*dme.Setting)) dme.Setting { x := s; f(&x); return x }
	one := with(func(s *dme.Setting) { s.Nodes = 1 })
	for _, x := range []struct {
		c    Claim
		s    dme.Setting
		want float64 // NaN: none
	}{
		{Claim{Formula: "2(N−1), counting receivers"}, s, 14},
		{Claim{Formula: "(N−1)/N: 1, but 0 for one"}, s, 7. / 8},
		{Claim{Formula: "3⌊N/3⌋ + ⌈n/3⌉ (majority)"}, s, 9},
		{Claim{Formula: "fewer than 3√(2N), others'"}, s, 12},
		{Claim{Formula: "(N² − n)/2 - 2·3"}, s, 22},
		{Claim{Formula: "N/2/2"}, s, 2},
		{Claim{Formula: "3m(m+1)log2 N + 0.5"}, s, 54.5},
		{Claim{Formula: "2(m−1); 2(r−1)"}, s, 2},
		{Claim{Formula: "m²"}, one, 1},
		{Claim{Formula: "m²"}, with(func(s *dme.Setting) { s.Nodes = 9 }), math.NaN()},
		{Claim{Formula: "3(K−1), K = log2(n+1)"}, s, 3 * 21. / 8},
		{Claim{Formula: "K = N/2 (half)"}, s, 4},
		{Claim{Formula: "K−1"}, with(func(s *dme.Setting) { s.System = nil }), math.NaN()},
		{Claim{Formula: "≅ log n = log2(n+1)"}, with(func(s *dme.Setting) { s.Nodes = 7 }), 3},
		{Claim{Formula: "1/(2T + E)"}, s, 1. / 7},
		{Claim{Formula: "N(2T + E)", Quantity: SyncDelay}, s, 28},
		{Claim{Formula: "T: a trip", Quantity: SyncDelay}, with(func(s *dme.Setting) { s.T = 0 }), 1},
		{Claim{Formula: "T", Quantity: SyncDelay}, one, math.NaN()},
		{Claim{Formula: "N + T"}, with(func(s *dme.Setting) { s.T = 0 }), math.NaN()},
		{Claim{Formula: "N + E"}, with(func(s *dme.Setting) { s.T = 1 }), 11},
		{Claim{Formula: "N + E"}, with(func(s *dme.Setting) { s.Nodes = 2 }), 5},
		{Claim{Formula: "E"}, one, math.NaN()},
		{Claim{Formula: "1/(N−8)"}, s, math.NaN()},
		{Claim{Formula: "0 or N", Expression: "N"}, s, 8},
		{Claim{Formula: "N", Expression: "2N", Predict: number(3)}, s, 3},
		{Claim{Predict: number(math.NaN())}, s, math.NaN()},
		{Claim{Predict: number(math.Inf(-1))}, s, math.NaN()},
		{Claim{Predict: func(dme.Setting) (float64, bool) { return 3, false }}, s, math.NaN()},
		{Claim{Formula: "3"}.Where(many).Where(few), s, math.NaN()},
		{Claim{Formula: "3"}.Where(many).Where(few), with(func(s *dme.Setting) { s.Nodes = 7 }), 3},
		{Claim{Formula: "3"}.Where(many).Where(few), one, math.NaN()},
		{Claim{Predict: number(3), Applies: AtLeastTwo}, one, math.NaN()},
		{Claim{Predict: number(3), Applies: AtLeastTwo}, with(func(s *dme.Setting) { s.Nodes = 2 }), 3},
		{Claim{}, s, math.NaN()},
		{Claim{Formula: "fewer than others"}, s, math.NaN()},
		{Claim{Formula: "2(N−1"}, s, math.NaN()},
		{Claim{Formula: "O(√N)"}, s, math.NaN()},
	} {
		got, ok := x.c.Prediction(x.s)
		if ok == math.IsNaN(x.want) || ok && math.Abs(got-x.want) > 1e-8 {
			t.Errorf("%q %q, %+v: %v, %v; want %v", x.c.Formula, x.c.Expression, x.s, got, ok, x.want)
		}
	}
}

// asking is a system in which every node asks the first three.
type asking struct{ dme.System }

func (asking) RequestSet(dme.NodeID) []dme.NodeID { return []dme.NodeID{1, 2, 3} }

// A claim about kinds of messages is one about each, and quantities say what they are of.
func TestKindsAndQuantities(t *testing.T) {
	all := KindsPerCS(CostPerPeer(1, Light, Exact, "a paper"), "REQUEST", "GREEN TOKEN")
	if len(all) != 2 || all[0].Quantity.Kind != "REQUEST" || all[1].Quantity.Name != "GREEN TOKEN messages per CS" ||
		all[1].Quantity.ID != "green-token-per-cs" || all[1].Quantity.Per != "" || all[0].Formula != "N−1" {
		t.Errorf("%+v", all)
	}
	got, want := KindPerKind("GREEN TOKEN", "RED TOKEN"), Quantity{
		ID: "green-token-per-red-token", Name: "GREEN TOKEN messages per RED TOKEN message", Kind: "GREEN TOKEN", Per: "RED TOKEN",
	}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	timed := map[Quantity]bool{SyncDelay: true, ResponseTime: true, WaitingTime: true, Throughput: true}
	ofEntries := map[Quantity]bool{NumberRange: true, ReadersInside: true, ReadersBeforeWriter: true}
	for _, q := range []Quantity{
		MessagesPerCS, TransmissionsPerCS, SyncDelay, ResponseTime, WaitingTime, Throughput, QuorumSize, QueueLength, MessageLength,
		Bypass, BypassByOne, EntryOrder, LongestRun, NumberRange, ReadersInside, ReadersBeforeWriter, WorkSpread, Violations, Unserved,
	} {
		if q.Timed() != timed[q] || q.OfEntries() != ofEntries[q] {
			t.Errorf("%s: timed %v, of entries %v", q, q.Timed(), q.OfEntries())
		}
		if text, err := q.MarshalText(); string(text) != q.Name || err != nil || q.String() != q.Name {
			t.Errorf("%s is written %s, %v", q.Name, text, err)
		}
	}
}
