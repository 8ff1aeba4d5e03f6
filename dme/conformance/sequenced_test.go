package conformance

import (
	"strings"
	"testing"

	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/dme/vnet"
)

// hearer notes who broadcast, in the order in which it hears of it.
type hearer struct {
	me        dme.NodeID
	sequenced bool
	heard     []uint64
}

func (h *hearer) hear(from dme.NodeID) { h.heard = append(h.heard, uint64(from)) }

func (h *hearer) Request(out *dme.Outbox) {
	out.Broadcast(dme.Message{Kind: 1})
	if !h.sequenced {
		h.hear(h.me)
	}
	out.Enter(dme.Stamp{})
}
func (h *hearer) Release(*dme.Outbox)                      {}
func (h *hearer) Transmitted(_ dme.Message, _ *dme.Outbox) { h.hear(h.me) }
func (h *hearer) State(v *dme.Visitor)                     { v.Uints("heard", &h.heard) }
func (h *hearer) Receive(from dme.NodeID, _ dme.Message, _ *dme.Outbox) {
	h.hear(from)
}

type hearers struct{ sequenced bool }

func (s hearers) Node(id dme.NodeID) dme.Node {
	return &hearer{me: id, sequenced: s.sequenced}
}

func hearing(sequenced bool) *dme.Algorithm {
	return &dme.Algorithm{
		Name: "hearing", Kinds: []string{"A"},
		Needs:   dme.Always(dme.Needs{SequencedBroadcast: sequenced}),
		Prepare: func(dme.Config) (dme.System, error) { return hearers{sequenced}, nil },
	}
}

// All nodes hear sequenced broadcasts in one order, their own too; others are
// heard in any.
func TestBroadcastsAreSequenced(t *testing.T) {
	for _, sequenced := range []bool{true, false} {
		orders := map[string]bool{}
		differ := 0
		for seed := range uint64(200) {
			s, err := newSchedule(hearing(sequenced), 3, nil, vnet.Churn, seed)
			if err != nil {
				t.Fatal(err)
			}
			for s.step() {
			}
			first := dme.DescribeState(s.Host(1).Node())
			orders[first] = true
			for i := range s.IDs() {
				if dme.DescribeState(s.Host(i).Node()) != first {
					differ++
				}
			}
			if sequenced && strings.Count(first, " ")+1 != len(s.Entries) {
				t.Errorf("seed %d: %s of %d broadcasts", seed, first, len(s.Entries))
			}
		}
		if sequenced != (differ == 0) {
			t.Errorf("sequenced %v: %d nodes heard another order", sequenced, differ)
		}
		if len(orders) < 20 {
			t.Errorf("sequenced %v: only %d orders", sequenced, len(orders))
		}
	}
}

// Receivers need not hear a broadcast at the same time, only in the same order.
func TestOneMayHearLater(t *testing.T) {
	net, err := New(hearing(true), 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	net.Request(1)
	net.Request(2)
	net.Deliver(1, 3, 0)
	net.Deliver(2, 3, 0)
	net.Deliver(1, 1, 0)
	for i, want := range []string{"heard=[1]", "heard=[]", "heard=[1 2]"} {
		if got := dme.DescribeState(net.Host(dme.NodeID(i + 1)).Node()); got != want {
			t.Errorf("node %d: %s, want %s", i+1, got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("node 2 hears the second broadcast first")
		}
	}()
	net.Deliver(2, 2, 0)
}

func TestSequencedAlgorithmNeedsWhatItSays(t *testing.T) {
	with := func(n dme.Needs) error {
		a := ricartagrawala.Broadcast()
		a.Needs = dme.Always(n)
		a.Options[0].Default = "sequenced"
		return search(a)
	}
	if err := with(dme.Needs{FIFO: true, SequencedBroadcast: true}); err != nil {
		t.Error(err)
	}
	if with(dme.Needs{FIFO: true}) == nil {
		t.Error("no fault, though nobody hears its own broadcasts")
	}
}
