package conformance

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

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

// Silence is a reply only where messages have a bound: the timers of an
// algorithm that says so keep it, those of others do not.
func TestTimersKeepTheBound(t *testing.T) {
	says := func(bounded bool) error {
		a := ricartagrawala.Implicit()
		a.Needs = dme.Always(dme.Needs{Reliable: true, BoundedDelay: bounded})
		return search(a)
	}
	if err := says(true); err != nil {
		t.Errorf("with a bound: %v", err)
	}
	if says(false) == nil {
		t.Error("without a bound: no fault")
	}
}

// hourglass notes when its timers fire and when messages arrive.
type hourglass struct{ events []uint64 }

const (
	messageArrived = 100 + iota
	timerSet
)

func (h *hourglass) Request(out *dme.Outbox) {
	out.Broadcast(dme.Message{Kind: 1})
	out.SetTimer(1, time.Second)
	out.SetTimer(2, 2*time.Second)
	out.SetTimer(3, 2*time.Second)
	h.events = append(h.events, timerSet)
}
func (h *hourglass) Release(*dme.Outbox) {}
func (h *hourglass) Receive(dme.NodeID, dme.Message, *dme.Outbox) {
	h.events = append(h.events, messageArrived)
}
func (h *hourglass) Timeout(id dme.TimerID, _ *dme.Outbox) {
	h.events = append(h.events, uint64(id))
}
func (h *hourglass) State(v *dme.Visitor) { v.Uints("events", &h.events) }

type hourglasses struct{}

func (hourglasses) Node(dme.NodeID) dme.Node { return new(hourglass) }

func TestTimersFireInOrderAndAfterMessages(t *testing.T) {
	a := &dme.Algorithm{
		Name: "hourglass", Kinds: []string{"A"},
		Needs:   dme.Always(dme.Needs{BoundedDelay: true}),
		Prepare: func(dme.Config) (dme.System, error) { return hourglasses{}, nil },
	}
	for seed := range uint64(200) {
		net, err := newNet(a, vnet.Config{Nodes: 2, Requests: func(id dme.NodeID) int { return 2 - int(id) }}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := net.schedule(vnet.Churn, rand.New(rand.NewPCG(seed, 0)))
		for s.step() {
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		if got := dme.DescribeState(s.Host(1).Node()); got != "events=[101 1 2 3]" {
			t.Fatalf("seed %d: %s: timers must fire in the order of their settings", seed, got)
		}
		if got := dme.DescribeState(s.Host(2).Node()); got != "events=[100]" {
			t.Fatalf("seed %d: %s", seed, got)
		}
	}
	net, err := New(a, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	net.Request(1)
	if x, ok := net.network.FirstTimer(); ok {
		t.Errorf("%v is possible while a message that is older is on the way", x)
	}
	net.Settle()
	for timer := range dme.TimerID(3) {
		x := vnet.Step{Kind: dme.Timeout, Node: 1, Timer: timer + 1}
		if net.network.Possible(x) != (timer == 0) {
			t.Errorf("%v: possible %v, want the shortest alone", x, timer != 0)
		}
	}
}
