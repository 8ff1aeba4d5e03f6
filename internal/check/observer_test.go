package check

import (
	"slices"
	"testing"

	"dmebench/algorithms/raymond"
	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/stall"
)

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
