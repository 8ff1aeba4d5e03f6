package conformance

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/centralized"
	"dmebench/dme"
	"dmebench/dme/vnet"
)

// A walk says what is wrong with an algorithm, and with which steps it came about.
func TestWalkFindsFaults(t *testing.T) {
	for fault, want := range map[string]string{
		"enters at once":         Unsafe,
		"never releases":         Stalled,
		"talks to strangers":     "not among its peers",
		"believes what it reads": "", // only garbage shows it
		"enters unasked":         "without a request",
		"never rests":            "no end after",
		"refuses":                "refused",
	} {
		for load := range vnet.Loads {
			_, err := Walk{Algorithm: withFault(fault), Nodes: 5, Requests: Each(3), Load: load, Seed: 1}.Run()
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s, %s: %v", fault, load, err)
			}
			if want == Unsafe && !strings.Contains(err.Error(), "after [ask ") {
				t.Errorf("%s, %s: no steps in %v", fault, load, err)
			}
		}
	}
}

// The same walk comes to the same end, after its steps or those that it is given;
// nobody asks who is not to; and messages overtake others only where they may.
func TestWalkDoesAsItIsTold(t *testing.T) {
	var taken []vnet.Step
	overtakes := false
	w := Walk{Algorithm: centralized.Algorithm(), Nodes: 6, Requests: Only(2, 5), Load: vnet.Churn, Seed: 7}
	w.Look = func(_ *Net, e *vnet.Event) error {
		taken = append(taken, e.Step)
		overtakes = overtakes || e.Index > 0
		return nil
	}
	net, err := w.Run()
	if err != nil || len(net.Entries) != 2 || net.Sent() != 6 {
		t.Fatalf("%d entries, %d messages, %v", len(net.Entries), net.Sent(), err)
	}
	first := slices.Clone(taken)
	taken = nil
	if _, err := w.Run(); err != nil || !slices.Equal(taken, first) {
		t.Errorf("%v and %v are the same walk; %v", first, taken, err)
	}
	taken, w.Most = nil, 3
	if _, err := w.Run(); err != nil || !slices.Equal(taken, first[:3]) {
		t.Errorf("after 3 steps of %v: %v, %v", first, taken, err)
	}
	w.Requests, w.Most = Each(8), 0
	for w.Seed = range uint64(50) {
		if _, err := w.Run(); err != nil || overtakes {
			t.Fatalf("a message has overtaken another: %t; %v", overtakes, err)
		}
	}
	w.Reorder = true
	for w.Seed = range uint64(50) {
		if _, err := w.Run(); err != nil {
			t.Fatal(err)
		}
	}
	if !overtakes {
		t.Error("no message has overtaken another")
	}
	seen := errors.New("seen enough")
	w.Look = func(*Net, *vnet.Event) error { return seen }
	if _, err := w.Run(); !errors.Is(err, seen) {
		t.Errorf("Look says %v, Run %v", seen, err)
	}
}

// What must be refused and is not, or changes a node, fails a test.
func TestRefusingLooksAtTheNodes(t *testing.T) {
	refuses := func(a *dme.Algorithm) bool {
		inner := new(testing.T)
		Refusing(inner, func() *Net { return Make(t, a, 3, nil) })("GRANT without a request", 1, 2, dme.Message{Kind: grant})
		return !inner.Failed()
	}
	if !refuses(centralized.Algorithm()) || refuses(withFault("never rests")) {
		t.Error("it fails where a message is refused, or not where it is accepted")
	}
}
