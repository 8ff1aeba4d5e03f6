package ricartagrawala

import (
	"slices"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/dme/collections"
	"dmebench/dme/conformance"
)

// A REPLY overtakes the DEFERRED that it follows.
func TestReplyBeforeItsDeferred(t *testing.T) {
	net := conformance.Make(t, Implicit(), 2, nil)
	net.Request(1)
	net.Request(2)
	net.Deliver(1, 2, 0) // node 2 says nothing: node 1 wins the tie
	net.Deliver(2, 1, 0) // node 1 says DEFERRED
	net.Fire()           // the first legs of both
	net.Fire()
	net.Fire() // the second of node 1
	net.WantInside(t, 1)
	net.Release(1)
	net.Deliver(1, 2, 1) // the REPLY
	net.Deliver(1, 2, 0) // the DEFERRED
	if len(net.Inside()) != 0 {
		t.Error("node 2 has entered before its wait was over")
	}
	net.Fire()
	if !slices.Equal(net.Inside(), []dme.NodeID{2}) || net.Err() != nil || net.Refused() != 0 {
		t.Errorf("node 2 has been replied to and waits; %v\n%s", net.Err(), net.States())
	}
}

// A message that takes longer than the bound brings two nodes in: here the
// DEFERRED of a node that is inside.
func TestBrokenBoundIsUnsafe(t *testing.T) {
	net := conformance.Make(t, Implicit(), 2, nil)
	net.Request(1)
	net.Request(2)
	net.Deliver(1, 2, 0)
	net.Deliver(2, 1, 0)
	for net.Fire() { // and the DEFERRED stays on its way
	}
	if len(net.Inside()) != 2 || net.Err() == nil {
		t.Fatalf("%v are in the critical section", net.Inside())
	}
	net.Deliver(1, 2, 0)
	if net.Refused() != 1 {
		t.Error("a DEFERRED that comes too late is not refused")
	}
}

// The wait is a round trip, in legs of the bound.
func TestImplicitWait(t *testing.T) {
	for _, c := range []struct {
		option string
		known  time.Duration
		want   time.Duration
	}{
		{"auto", 3 * time.Millisecond, 3 * time.Millisecond},
		{"auto", 0, anyBound},
		{"50ms", 3 * time.Millisecond, 50 * time.Millisecond},
	} {
		a := Implicit()
		opt, err := a.Resolve(map[string]string{"bound": c.option})
		if err != nil {
			t.Fatal(err)
		}
		sys, err := a.Prepare(dme.Config{Nodes: 2, Options: opt, Bound: c.known})
		if err != nil {
			t.Fatal(err)
		}
		n := sys.Node(1)
		var out dme.Outbox
		n.Request(&out)
		timers := 0
		for timer(t, &out, c.want) {
			timers++
			out.Reset()
			n.(dme.Timed).Timeout(waited, &out)
		}
		if timers != 2 || len(out.Effects()) != 1 || out.Effects()[0].Kind != dme.EffectEnter {
			t.Errorf("%+v: %d legs, then %+v", c, timers, out.Effects())
		}
		for _, claim := range a.Claims {
			if claim.Quantity != dme.ResponseTime || claim.Load != dme.Light {
				continue
			}
			got, ok := claim.Prediction(dme.Setting{Nodes: 2, Options: opt, System: sys, E: time.Millisecond})
			if want := (2*c.want + time.Millisecond).Seconds(); !ok || got != want {
				t.Errorf("%+v: predicts a response of %v s, want %v", c, got, want)
			}
		}
	}
}

// timer reports whether a timer is the last effect, and checks its length.
func timer(t *testing.T, out *dme.Outbox, want time.Duration) bool {
	t.Helper()
	e := out.Effects()[len(out.Effects())-1]
	if e.Kind != dme.EffectSetTimer {
		return false
	}
	if e.Delay != want {
		t.Errorf("a leg of %v, want %v", e.Delay, want)
	}
	return true
}

func TestImplicitBounds(t *testing.T) {
	for value, ok := range map[string]bool{
		"auto": true, "1ns": true, "500ms": true, "1h": true, "61m": false, "0s": false, "-1s": false, "5": false, "": false, "soon": false,
	} {
		if _, err := Implicit().Resolve(map[string]string{"bound": value}); (err == nil) != ok {
			t.Errorf("bound=%s: %v", value, err)
		}
	}
}

// A reply and the news of its deferral may come in either order, and then nothing is owed;
// a second one of either is no news. What one request was owed does not count for the next.
func TestBalance(t *testing.T) {
	const j = 2
	for order, first := range map[string]bool{"news first": true, "reply first": false} {
		b := makeBalance(3)
		for round := range 2 {
			step := func(news, want bool) {
				t.Helper()
				if got := map[bool]func(dme.NodeID) bool{true: b.deferred, false: b.replied}[news](j); got != want {
					t.Errorf("%s, round %d: news %v is taken: %v", order, round, news, got)
				}
			}
			step(first, true)
			step(first, false)
			if b.settled() == first {
				t.Errorf("%s, round %d: settled %v after one", order, round, b.settled())
			}
			step(!first, true)
			if !b.settled() {
				t.Errorf("%s, round %d: not settled after both", order, round)
			}
		}
		b.replied(j)
		b.clear()
		if !b.deferred(j) || b.settled() {
			t.Errorf("%s: a reply to the last request settles this one", order)
		}
	}
}

// A newcomer is taken on by a part of the group that stays.
func TestWhoSponsors(t *testing.T) {
	for _, admitted := range []bool{false, true} {
		for _, leaving := range []bool{false, true} {
			n := &robustNode{admitted: admitted, leaving: leaving, newcomers: collections.MakeNodeSet(3)}
			want := admitted && !leaving
			if got := n.sponsors(2); got != want || n.newcomers.Has(2) != want {
				t.Errorf("admitted %v, leaving %v: sponsors %v, has taken it on %v", admitted, leaving, got, n.newcomers.Has(2))
			}
		}
	}
}
