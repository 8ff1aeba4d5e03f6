package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/centralized"
	"dmebench/algorithms/raymond"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/runtime/stall"
)

// An exhaustive search that counts finds as much overtaking as there can be: one less is
// a bound that is broken, and random schedules show no more.
func TestGreatestOvertaking(t *testing.T) {
	for _, a := range []*dme.Algorithm{centralized.Algorithm(), ricartagrawala.Algorithm()} {
		o := Options{Nodes: 3, Requests: 5, Bypass: 1000}
		all, err := Exhaustive(t.Context(), a, o)
		if err != nil || !all.Complete {
			t.Fatalf("%v, %+v", err, all)
		}
		o.Bypass = all.MaxBypass
		if r, err := Exhaustive(t.Context(), a, o); err != nil || r.Violation != nil {
			t.Errorf("%s: bound %d: %v, %v", a.Name, o.Bypass, err, r.Violation)
		}
		o.Bypass--
		if r, err := Exhaustive(t.Context(), a, o); err != nil || r.Violation == nil {
			t.Errorf("%s: bound %d holds: %v", a.Name, o.Bypass, err)
		}
		o.Bypass = 0
		s, err := New(a, o)
		if err != nil {
			t.Fatal(err)
		}
		most, schedules := s.Overtaking(t.Context())
		if most < 2 || most > all.MaxBypass || schedules != sampled {
			t.Errorf("%s: %d in %d random schedules, %d in all", a.Name, most, schedules, all.MaxBypass)
		}
		again, _ := s.Overtaking(t.Context())
		if r, _ := s.Exhaustive(t.Context()); r.MaxBypass != 0 || again != most {
			t.Errorf("%s: uncounted, but %d; sampled %d and %d", a.Name, r.MaxBypass, most, again)
		}
	}
}

// The bounds of TR-869's appendix are reached exactly, with and without order, and a
// bound that is one less is broken by as much.
func TestOvertakingIsCountedExactly(t *testing.T) {
	for _, c := range []struct {
		o    Options
		most int
	}{
		{Options{Nodes: 2, Requests: 6, Unordered: true}, 2},
		{Options{Nodes: 2, Requests: 6}, 2},
		{Options{Nodes: 3, Requests: 7, Unordered: true}, 5},
		{Options{Nodes: 3, Requests: 6}, 4},
	} {
		c.o.Bypass = c.most
		r, err := Exhaustive(t.Context(), ricartagrawala.Algorithm(), c.o)
		if err != nil || r.Violation != nil || !r.Complete || r.MaxBypass != c.most {
			t.Errorf("%d nodes, unordered %v: %v, %v, overtaken by %d, want %d",
				c.o.Nodes, c.o.Unordered, err, r.Violation, r.MaxBypass, c.most)
		}
		c.o.Bypass--
		r, err = Exhaustive(t.Context(), ricartagrawala.Algorithm(), c.o)
		want := fmt.Sprintf("%d entries of others since it asked, more than %d", c.most, c.most-1)
		if err != nil || r.Violation == nil || !strings.Contains(r.Violation.Verdict, want) {
			t.Errorf("%d nodes, unordered %v: %v, %v, want %q", c.o.Nodes, c.o.Unordered, err, r.Violation, want)
		}
	}
}

// A node that hands the token on in the event in which it comes never has it
// between two events. The token is known all the same where it is lost behind it.
func TestTokenLostOnItsSecondHop(t *testing.T) {
	a := raymond.Algorithm()
	opt, err := a.Resolve(map[string]string{"tree": "line"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := vnet.NewModel(vnet.Config{Algorithm: a, Nodes: 3, Options: opt, Lose: 1})
	if err != nil {
		t.Fatal(err)
	}
	n := vnet.New(m)
	o := newObserver(n)
	for _, x := range []vnet.Step{
		{Kind: vnet.Ask, Node: 3},
		{Kind: vnet.Deliver, From: 3, Node: 2}, {Kind: vnet.Deliver, From: 2, Node: 1}, // REQUEST
		{Kind: vnet.Deliver, From: 1, Node: 2}, {Kind: vnet.Lose, From: 2, Node: 3}, // PRIVILEGE
	} {
		o.see(n.Do(x))
	}
	want := []string{
		"nobody has the token: it was lost with PRIVILEGE 2→3",
		"3 waits for 2's PRIVILEGE; 2 waits for nobody: lost on the link PRIVILEGE 2→3",
	}
	if got := o.Standstill().Explain().Lines(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if waiting := n.Waiting(); !slices.Equal(waiting, []dme.NodeID{3}) {
		t.Errorf("%v wait", waiting)
	}
}

// The token is not lost with a message that does not carry it.
func TestLossWithoutTheToken(t *testing.T) {
	s := searchOf(t, raymond.Algorithm(), Options{Nodes: 3, Requests: 3, Lose: 1, Set: map[string]string{"tree": "line"}})
	n := vnet.New(s.model)
	o := newObserver(n)
	for _, x := range []vnet.Step{{Kind: vnet.Ask, Node: 3}, {Kind: vnet.Lose, From: 3, Node: 2}} {
		o.see(n.Do(x))
	}
	still := o.Standstill()
	if want := (stall.Loss{From: 3, To: 2, Kind: "REQUEST"}); len(still.Losses) != 1 || still.Losses[0] != want {
		t.Errorf("lost: %+v, want %+v", still.Losses, want)
	}
	if still.Tokens != 1 || still.Holder != 1 {
		t.Errorf("%d tokens, at node %v", still.Tokens, still.Holder)
	}
}

// Who crashes is absent until it comes back, and the token with it, also one that is on
// the way to it.
func TestCrashesOfTheTokensHolder(t *testing.T) {
	a := suzukikasami.Algorithm()
	ask := vnet.Step{Kind: vnet.Ask, Node: 2}
	request := vnet.Step{Kind: vnet.Deliver, From: 2, Node: 1} // which node 1 answers with the token
	token := vnet.Step{Kind: vnet.Deliver, From: 1, Node: 2}
	for name, c := range map[string]struct {
		steps  []vnet.Step
		absent stall.Absent
		tokens int
	}{
		"the holder":      {[]vnet.Step{ask, {Kind: vnet.Crash, Node: 1}}, stall.Absent{Node: 1, Since: -1, Token: true}, 0},
		"another":         {[]vnet.Step{ask, {Kind: vnet.Crash, Node: 3}}, stall.Absent{Node: 3, Since: -1}, 1},
		"the next holder": {[]vnet.Step{ask, request, {Kind: vnet.Crash, Node: 2}}, stall.Absent{Node: 2, Since: -1, Token: true}, 0},
		"the last holder": {[]vnet.Step{ask, request, {Kind: vnet.Crash, Node: 1}}, stall.Absent{Node: 1, Since: -1}, 0},
		"a holder before the last": {[]vnet.Step{ask, request, token, {Kind: vnet.Exit, Node: 2}, {Kind: vnet.Ask, Node: 1},
			{Kind: vnet.Deliver, From: 1, Node: 2}, {Kind: vnet.Crash, Node: 2}}, stall.Absent{Node: 2, Since: -1}, 0},
	} {
		n := vnet.New(searchOf(t, a, Options{Nodes: 3, Requests: 3, Faults: 1, Unordered: true}).model)
		o := newObserver(n)
		for _, x := range c.steps {
			if !n.Possible(x) {
				t.Fatalf("%s: %v is not possible", name, x)
			}
			o.see(n.Do(x))
		}
		if s := o.Standstill(); !slices.Equal(s.Absent, []stall.Absent{c.absent}) || s.Tokens != c.tokens {
			t.Errorf("%s crashes: %+v, %d tokens; want %+v, %d", name, s.Absent, s.Tokens, c.absent, c.tokens)
		}
	}
}
