package dme

import (
	"testing"
	"time"
)

// A measurement agrees with what is claimed of all runs up to what rounding leaves: a
// part in a thousand million or, of less than 1, as much as of 1.
func TestWhatAgrees(t *testing.T) {
	for _, x := range []struct {
		predicted, lo, hi float64
		agrees            map[ClaimKind]bool
	}{
		{8, 8, 8, map[ClaimKind]bool{Exact: true, UpperBound: true, LowerBound: true}},
		{8, 7, 8, map[ClaimKind]bool{Exact: false, UpperBound: true, LowerBound: false}},
		{8, 8, 9, map[ClaimKind]bool{Exact: false, UpperBound: false, LowerBound: true}},
		{8, 7, 9, map[ClaimKind]bool{Exact: false, UpperBound: false, LowerBound: false}},
		{-8, -8, -7, map[ClaimKind]bool{Exact: false, UpperBound: false, LowerBound: true}},
		{1e6, 1e6 - 0.9e-3, 1e6 + 0.9e-3, map[ClaimKind]bool{Exact: true, UpperBound: true, LowerBound: true}},
		{1e6, 1e6 - 1.1e-3, 1e6 + 1.1e-3, map[ClaimKind]bool{Exact: false, UpperBound: false, LowerBound: false}},
		{-1e6, -1e6 - 0.9e-3, -1e6 + 0.9e-3, map[ClaimKind]bool{Exact: true, UpperBound: true, LowerBound: true}},
		{0, -1e-9, 1e-9, map[ClaimKind]bool{Exact: true, UpperBound: true, LowerBound: true}},
		{0, -0.9e-9, 0.9e-9, map[ClaimKind]bool{Exact: true, UpperBound: true, LowerBound: true}},
		{0, -1.1e-9, 1.1e-9, map[ClaimKind]bool{Exact: false, UpperBound: false, LowerBound: false}},
	} {
		for kind, want := range x.agrees {
			if got, judged := kind.Agrees(x.predicted, x.lo, x.hi); got != want || !judged {
				t.Errorf("%s %v, measured %v to %v: %v, %v; want %v", kind, x.predicted, x.lo, x.hi, got, judged, want)
			}
		}
	}
	for _, kind := range []ClaimKind{Mean, Asymptotic} {
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
			s := Setting{Nodes: x.nodes, T: 2 * time.Second, E: x.e}
			if _, ok := c.Predict(s); ok != x.want {
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

// Predictions of what comes of messages are none for a node that is alone, and those of
// times none where no message takes any.
func TestWhereNothingIsPredicted(t *testing.T) {
	times := FromTimes(func(n, t, e float64) float64 { return n + t + e })
	for _, x := range []struct {
		nodes      int
		t          time.Duration
		two, timed bool
	}{{1, time.Second, false, false}, {2, time.Second, true, true}, {2, 0, true, false}, {3, time.Second, true, true}} {
		s := Setting{Nodes: x.nodes, T: x.t, E: 2 * time.Second}
		if got, ok := AtLeastTwo(3)(s); ok != x.two || got != 3 {
			t.Errorf("%+v: %v, %v; want 3, %v", s, got, ok, x.two)
		}
		if got, ok := times(s); ok != x.timed || ok && got != float64(x.nodes)+3 {
			t.Errorf("%+v: %v, %v; want N+3, %v", s, got, ok, x.timed)
		}
	}
	if got, ok := times(Setting{Nodes: 2, T: 1}); !ok || got < 2 || got > 2+1e-8 {
		t.Errorf("messages that take a nanosecond: %v, %v", got, ok)
	}
	many := func(s Setting) bool { return s.Nodes > 2 }
	few := func(s Setting) bool { return s.Nodes < 5 }
	twice := Claim{Predict: Constantly(3)}.Where(many).Where(few)
	for n, want := range map[int]bool{2: false, 3: true, 4: true, 5: false} {
		if got, ok := twice.Predict(Setting{Nodes: n}); got != 3 || ok != want {
			t.Errorf("%d nodes: %v, %v", n, got, ok)
		}
	}
}

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
