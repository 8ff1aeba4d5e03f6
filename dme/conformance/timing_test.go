package conformance

import (
	"math/rand/v2"
	"testing"
	"time"

	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/dme/vnet"
)

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
		x := vnet.Step{Kind: vnet.Fire, Node: 1, Timer: timer + 1}
		if net.network.Possible(x) != (timer == 0) {
			t.Errorf("%v: possible %v, want the shortest alone", x, timer != 0)
		}
	}
}
